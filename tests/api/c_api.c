/* SPDX-License-Identifier: Apache-2.0
 * The C interface, from C: the values and counts of a small kernel, worked out by hand, and each kind of refusal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warplens/warplens.h"

static int failures = 0;
#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      printf("%s:%d: %s is false (last error: %s)\n", __FILE__, __LINE__, #condition, warplens_error());     \
      ++failures;                                                                                            \
    }                                                                                                        \
  } while (0)
#define CHECK_REFUSED(call, status, text) \
  do {                                    \
    CHECK((call) == (status));            \
    CHECK(strstr(warplens_error(), text)); \
  } while (0)

enum { kCount = 200 };

static char* read_text(const char* path) {
  FILE* file = fopen(path, "rb");
  char* text = malloc(1 << 16);
  if (file == NULL || text == NULL) exit(2);
  text[fread(text, 1, (1 << 16) - 1, file)] = '\0';
  fclose(file);
  return text;
}

static warplens_launch_shape shape_of(uint32_t grid, uint32_t block) {
  warplens_launch_shape shape;
  memset(&shape, 0, sizeof shape);
  shape.struct_bytes = sizeof shape;
  shape.grid[0] = grid;
  shape.block[0] = block;
  shape.grid[1] = shape.grid[2] = shape.block[1] = shape.block[2] = 1;
  return shape;
}

static void check_counts(const warplens_launch_result* result) {
  /* 200 of 256 threads: 6 full warps of 4 sectors and one of 8 lanes, 1 sector; two loads, one store. */
  warplens_counters c;
  warplens_line line;
  c.struct_bytes = sizeof c;
  CHECK(warplens_result_totals(result, WARPLENS_GLOBAL, WARPLENS_READ, &c) == WARPLENS_OK);
  CHECK(c.requests == 14 && c.sectors == 50 && c.ideal_sectors == 50 && c.lanes == 400 && c.bytes_asked == 1600);
  CHECK(warplens_result_totals(result, WARPLENS_GLOBAL, WARPLENS_WRITE, &c) == WARPLENS_OK);
  CHECK(c.requests == 7 && c.sectors == 25 && c.lines == 7 && c.wavefronts == 0);
  CHECK(warplens_result_totals(result, WARPLENS_SHARED, WARPLENS_READ, &c) == WARPLENS_OK && c.requests == 0);
  CHECK_REFUSED(warplens_result_totals(result, 4, WARPLENS_READ, &c), WARPLENS_INVALID, "unknown");
  CHECK_REFUSED(warplens_result_totals(result, WARPLENS_GLOBAL, -1, &c), WARPLENS_INVALID, "unknown");
  /* 8 warps reach the branch: 10 instructions; 7 warps go on with 7; all return. */
  CHECK(warplens_result_instructions(result) == 8 * 10 + 7 * 7 + 8);
  line.struct_bytes = sizeof line;
  CHECK(warplens_result_line_count(result) >= 1);
  CHECK(warplens_result_line(result, 0, &line) == WARPLENS_OK);
  CHECK(strcmp(line.file, "axpy.cu") == 0 && line.line == 4);
  CHECK(line.global.requests == 21 && line.global.sectors == 75 && line.shared.requests == 0);
  CHECK_REFUSED(warplens_result_line(result, 999, &line), WARPLENS_INVALID, "no line 999");
  CHECK(strstr(warplens_result_text(result), "axpy  grid 4, block 64, 1 launch"));
  CHECK(strstr(warplens_result_json(result), "\"requests\": 14"));
}

static void check_axpy(warplens_session* session, const warplens_module* module) {
  const warplens_entry* axpy = NULL;
  warplens_parameter parameter;
  warplens_launch_result* result = NULL;
  warplens_launch_shape shape = shape_of(4, 64);
  float x[kCount], y[kCount], a = 2;
  int32_t n = kCount;
  uint64_t dx = 0, dy = 0;
  warplens_argument arguments[4] = {{&n, 4}, {&a, 4}, {&dx, 8}, {&dy, 8}};
  CHECK(warplens_entry_find(module, "axpy", &axpy) == WARPLENS_OK);
  CHECK(strcmp(warplens_entry_name(axpy), "_Z4axpyifPKfPf") == 0);
  CHECK(strcmp(warplens_entry_demangled(axpy), "axpy(int, float, float const*, float*)") == 0);
  CHECK(warplens_parameter_count(axpy) == 4);
  parameter.struct_bytes = sizeof parameter;
  CHECK(warplens_parameter_get(axpy, 1, &parameter) == WARPLENS_OK);
  CHECK(strcmp(parameter.type, "f32") == 0 && parameter.bytes == 4 && !parameter.is_structure);
  CHECK_REFUSED(warplens_parameter_get(axpy, 4, &parameter), WARPLENS_INVALID, "has 4 parameters");
  for (int i = 0; i < kCount; ++i) {
    x[i] = (float)i;
    y[i] = (float)(1000 - 3 * i);
  }
  CHECK(warplens_allocate(session, sizeof x, &dx) == WARPLENS_OK);
  CHECK(warplens_allocate(session, sizeof y, &dy) == WARPLENS_OK);
  CHECK(warplens_copy_in(session, dx, x, sizeof x) == WARPLENS_OK);
  CHECK(warplens_copy_in(session, dy, y, sizeof y) == WARPLENS_OK);
  CHECK(warplens_launch(session, axpy, &shape, arguments, 4, &result) == WARPLENS_OK);
  CHECK(warplens_result_complete(result) == 1);
  CHECK(warplens_result_finding_count(result) == 0);
  CHECK(warplens_copy_out(session, y, dy, sizeof y) == WARPLENS_OK);
  for (int i = 0; i < kCount; ++i) CHECK(y[i] == (float)(1000 - i));
  check_counts(result);
  warplens_result_destroy(result);

  shape.uncounted = 1;
  CHECK(warplens_launch(session, axpy, &shape, arguments, 4, &result) == WARPLENS_OK);
  CHECK(warplens_result_instructions(result) == 0 && warplens_result_line_count(result) == 0);
  warplens_result_destroy(result);
  shape.uncounted = 0;

  CHECK_REFUSED(warplens_launch(session, axpy, &shape, arguments, 3, &result), WARPLENS_INPUT, "3 arguments");
  CHECK(result == NULL);
  arguments[0].bytes = 8;
  CHECK_REFUSED(warplens_launch(session, axpy, &shape, arguments, 4, &result), WARPLENS_INPUT,
                "k.ptx:8:14: error: parameter 1");
  arguments[0].bytes = 4;
  shape.block[0] = 2048;
  CHECK_REFUSED(warplens_launch(session, axpy, &shape, arguments, 4, &result), WARPLENS_INPUT, "over the limits");
  shape.struct_bytes = 0;
  CHECK_REFUSED(warplens_launch(session, axpy, &shape, arguments, 4, &result), WARPLENS_INVALID, "struct_bytes");

  /* A fault: 256 threads on 200 elements. */
  shape = shape_of(4, 64);
  n = 256;
  CHECK(warplens_launch(session, axpy, &shape, arguments, 4, &result) == WARPLENS_OK);
  CHECK(warplens_result_complete(result) == 0);
  CHECK(warplens_result_finding_count(result) >= 1);
  warplens_finding finding;
  finding.struct_bytes = sizeof finding;
  CHECK(warplens_result_finding(result, 0, &finding) == WARPLENS_OK);
  CHECK(strcmp(finding.kind, "out of bounds") == 0 && strcmp(finding.file, "axpy.cu") == 0);
  CHECK(finding.line == 4 && finding.column == 10 && finding.block[0] == 3 && finding.thread[0] == 8);
  CHECK(finding.address == dx + 4 * kCount);
  CHECK_REFUSED(warplens_result_finding(result, 9, &finding), WARPLENS_INVALID, "no finding 9");
  warplens_result_destroy(result);

  CHECK(warplens_free(session, dx) == WARPLENS_OK);
  CHECK_REFUSED(warplens_free(session, dx), WARPLENS_INVALID, "no device memory begins");
  CHECK_REFUSED(warplens_copy_out(session, y, dy + 4, sizeof y), WARPLENS_INVALID, "4 bytes past the end");
  CHECK_REFUSED(warplens_copy_in(session, 64, y, 4), WARPLENS_INVALID, "not an address");
  CHECK(warplens_copy_in(session, 0, NULL, 0) == WARPLENS_OK);
  CHECK(warplens_free(session, dy) == WARPLENS_OK);
  CHECK(warplens_free(session, 0) == WARPLENS_OK);
}

static void check_names(const warplens_module* module) {
  const warplens_entry* entry = NULL;
  CHECK(warplens_entry_count(module) == 7);
  CHECK(warplens_entry_at(module, 7) == NULL);
  CHECK(strcmp(warplens_entry_name(warplens_entry_at(module, 1)), "pair") == 0);
  CHECK_REFUSED(warplens_entry_find(module, "sum", &entry), WARPLENS_INPUT, "void sum<double>(double*)");
  CHECK(entry == NULL);
  CHECK_REFUSED(warplens_entry_find(module, "gemm", &entry), WARPLENS_INPUT, "no kernel 'gemm'");
  CHECK_REFUSED(warplens_entry_find(module, NULL, &entry), WARPLENS_INPUT, "there are 7 kernels");
  CHECK(warplens_entry_find(module, "sum<float>", &entry) == WARPLENS_OK);
  CHECK(strcmp(warplens_entry_name(entry), "_Z3sumIfEvPT_") == 0);
}

static void check_limits(warplens_session* session, const warplens_module* module) {
  const warplens_entry* endless = NULL;
  warplens_launch_result* result = NULL;
  warplens_launch_shape shape = shape_of(1, 32);
  warplens_finding finding;
  uint64_t address = 1;
  CHECK_REFUSED(warplens_allocate(session, (uint64_t)1 << 50, &address), WARPLENS_OUT_OF_MEMORY, "no device memory");
  CHECK(address == 0);
  CHECK(warplens_allocate(session, 0, &address) == WARPLENS_OK && address == 0);
  CHECK(warplens_entry_find(module, "endless", &endless) == WARPLENS_OK);
  shape.timeout_seconds = 0.2;
  CHECK(warplens_launch(session, endless, &shape, NULL, 0, &result) == WARPLENS_OK);
  CHECK(warplens_result_complete(result) == 0);
  finding.struct_bytes = sizeof finding;
  CHECK(warplens_result_finding(result, 0, &finding) == WARPLENS_OK);
  CHECK(strstr(finding.message, "time limit"));
  warplens_result_destroy(result);
}

/* 64 blocks of 128 threads for 8000 elements: the last blocks are partly, or wholly, beyond the end. Two loads of 4 bytes
 * a thread: 8 sectors a full warp. */
static void check_sample(const char* text, warplens_session* session, warplens_module* module) {
  const warplens_entry* axpy = NULL;
  warplens_launch_result* result = NULL;
  uint64_t x = 0;
  CHECK(warplens_entry_find(module, "axpy", &axpy) == WARPLENS_OK);
  CHECK(warplens_allocate(session, 8192 * 4, &x) == WARPLENS_OK);
  uint32_t n = 8000;
  float a = 2;
  warplens_argument arguments[] = {{&n, 4}, {&a, 4}, {&x, 8}, {&x, 8}};
  warplens_launch_shape shape = {sizeof shape, {64, 1, 1}, {128, 1, 1}, {0, 0, 0}, 0, 0, 0, 0, 0};
  warplens_counters all, some;
  warplens_errors errors;
  warplens_sample sample;
  memset(&all, 0, sizeof all);
  all.struct_bytes = some.struct_bytes = sizeof all;
  errors.struct_bytes = sizeof errors;
  sample.struct_bytes = sizeof sample;
  CHECK(warplens_launch(session, axpy, &shape, arguments, 4, &result) == WARPLENS_OK);
  CHECK(warplens_result_totals(result, WARPLENS_GLOBAL, WARPLENS_READ, &all) == WARPLENS_OK);
  CHECK(all.requests == 2 * 250 && all.sectors == 2 * 1000);
  CHECK(warplens_result_sample(result, &sample) == WARPLENS_OK);
  CHECK(sample.share == 1 && sample.counted_blocks == 64 && sample.blocks == 64 && !sample.scaled);
  CHECK(warplens_result_errors(result, WARPLENS_GLOBAL, WARPLENS_READ, &errors) == WARPLENS_OK);
  CHECK(errors.requests == 0 && errors.sectors == 0);
  warplens_result_destroy(result);
  shape.sample = 0.25;
  shape.sample_seed = 3;
  CHECK(warplens_launch(session, axpy, &shape, arguments, 4, &result) == WARPLENS_OK);
  CHECK(warplens_result_sample(result, &sample) == WARPLENS_OK);
  CHECK(sample.share == 0.25 && sample.seed == 3 && sample.counted_blocks == 18 && sample.blocks == 64 && sample.scaled);
  CHECK(warplens_result_totals(result, WARPLENS_GLOBAL, WARPLENS_READ, &some) == WARPLENS_OK);
  CHECK(warplens_result_errors(result, WARPLENS_GLOBAL, WARPLENS_READ, &errors) == WARPLENS_OK);
  /* Block 62 has half its warps; it is the only one in the interior that differs, in a stratum of 7 or 8. */
  CHECK(some.sectors <= all.sectors + 8 * 16 && some.sectors + 8 * 16 >= all.sectors);
  CHECK(errors.sectors >= 0 && errors.sectors <= 8 * 16);
  warplens_line line;
  warplens_errors shared;
  line.struct_bytes = sizeof line;
  shared.struct_bytes = sizeof shared;
  CHECK(warplens_result_line_count(result) > 0);
  CHECK(warplens_result_line_errors(result, 0, &errors, &shared) == WARPLENS_OK);
  CHECK(shared.wavefronts == 0);
  CHECK_REFUSED(warplens_result_line_errors(result, 10000, &errors, &shared), WARPLENS_INVALID, "no line");
  warplens_result_destroy(result);
  shape.sample = 1.5;
  CHECK_REFUSED(warplens_launch(session, axpy, &shape, arguments, 4, &result), WARPLENS_INPUT, "above 0 and up to 1");

  /* The oracle: the same counts, and no sample. */
  warplens_session* slow = NULL;
  warplens_module* again = NULL;
  warplens_session_options options;
  memset(&options, 0, sizeof options);
  options.struct_bytes = sizeof options;
  options.counting = "oracle";
  CHECK(warplens_session_create(&options, &slow) == WARPLENS_OK);
  CHECK(warplens_module_load(slow, text, strlen(text), "k.ptx", &again) == WARPLENS_OK);
  CHECK(warplens_entry_find(again, "axpy", &axpy) == WARPLENS_OK);
  CHECK(warplens_allocate(slow, 8192 * 4, &x) == WARPLENS_OK);
  shape.sample = 0.5;
  CHECK_REFUSED(warplens_launch(slow, axpy, &shape, arguments, 4, &result), WARPLENS_INPUT, "takes no sample");
  shape.sample = 0;
  CHECK(warplens_launch(slow, axpy, &shape, arguments, 4, &result) == WARPLENS_OK);
  CHECK(warplens_result_totals(result, WARPLENS_GLOBAL, WARPLENS_READ, &some) == WARPLENS_OK);
  CHECK(memcmp(&some, &all, sizeof all) == 0);
  warplens_result_destroy(result);
  warplens_session_destroy(slow);
}

/* Two warps of which all threads add to one place: 32 sectors each, 31 of them again. A block of 64 threads: 32 an SM. */
static void check_one_place(warplens_session* session, const warplens_module* module) {
  const warplens_entry* one_place = NULL;
  warplens_launch_result* result = NULL;
  warplens_launch_shape shape = shape_of(66, 64);
  warplens_counters c;
  warplens_executed executed;
  warplens_occupancy occupancy;
  uint64_t to = 0;
  warplens_argument argument = {&to, 8};
  CHECK(warplens_entry_find(module, "one_place", &one_place) == WARPLENS_OK);
  CHECK(warplens_allocate(session, 4, &to) == WARPLENS_OK);
  CHECK(warplens_launch(session, one_place, &shape, &argument, 1, &result) == WARPLENS_OK);
  CHECK(warplens_result_complete(result) == 1);
  c.struct_bytes = sizeof c;
  CHECK(warplens_result_totals(result, WARPLENS_GLOBAL, WARPLENS_ATOMIC, &c) == WARPLENS_OK);
  CHECK(c.requests == 132 && c.sectors == 132 * 32 && c.repeated_sectors == 132 * 31 && c.estimate == 0);
  executed.struct_bytes = sizeof executed;
  CHECK(warplens_result_executed(result, &executed) == WARPLENS_OK);
  CHECK(executed.instructions == 132 * 9 && executed.lanes == 132 * 9 * 32 && executed.instructions_error == 0);
  CHECK_REFUSED(warplens_result_executed(NULL, &executed), WARPLENS_INVALID, "null");
  occupancy.struct_bytes = sizeof occupancy;
  CHECK(warplens_result_occupancy(result, &occupancy) == WARPLENS_OK);
  CHECK(occupancy.blocks_per_sm == 32 && occupancy.warps_per_sm == 64 && occupancy.theoretical == 1);
  CHECK(occupancy.limit_blocks == 32 && occupancy.limit_warps == 32 && occupancy.registers_per_thread == 16);
  CHECK(strcmp(occupancy.limited_by, "warps and blocks") == 0 && occupancy.registers_estimated == 1);
  CHECK(occupancy.shared_bytes_per_block == 1280 && occupancy.carveout_kib == 64 && !occupancy.carveout_estimated);
  CHECK(occupancy.waves == 66 / (132.0 * 32));
  CHECK_REFUSED(warplens_result_occupancy(NULL, &occupancy), WARPLENS_INVALID, "null");
  warplens_result_destroy(result);
  CHECK(warplens_free(session, to) == WARPLENS_OK);
}

static void check_refusals(warplens_session* session) {
  warplens_session* none = NULL;
  warplens_module* module = NULL;
  warplens_session_options options;
  memset(&options, 0, sizeof options);
  CHECK_REFUSED(warplens_session_create(&options, &none), WARPLENS_INVALID, "struct_bytes");
  options.struct_bytes = sizeof options;
  options.gpu = "abacus";
  CHECK_REFUSED(warplens_session_create(&options, &none), WARPLENS_INPUT, "no GPU 'abacus'");
  options.gpu = "h200";
  options.executor = "slow";
  CHECK_REFUSED(warplens_session_create(&options, &none), WARPLENS_INPUT, "jit or interpreter");
  options.executor = NULL;
  options.counting = "roughly";
  CHECK_REFUSED(warplens_session_create(&options, &none), WARPLENS_INPUT, "fast or oracle");
  CHECK_REFUSED(warplens_session_create(NULL, NULL), WARPLENS_INVALID, "null");
  const char* broken = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret }\n";
  CHECK_REFUSED(warplens_module_load(session, broken, strlen(broken), "broken.ptx", &module), WARPLENS_INPUT,
                "broken.ptx:4:");
  CHECK(module == NULL);
  CHECK_REFUSED(warplens_module_load(session, NULL, 0, NULL, &module), WARPLENS_INVALID, "ptx is null");
}

int main(int argc, char** argv) {
  warplens_session* session = NULL;
  warplens_module* module = NULL;
  if (argc != 2) return 2;
  char* text = read_text(argv[1]);
  CHECK(warplens_api_version() == WARPLENS_API_VERSION);
  CHECK(strlen(warplens_version()) >= 5);
  CHECK(warplens_session_create(NULL, &session) == WARPLENS_OK);
  CHECK(strstr(warplens_session_gpu(session), "H200"));
  CHECK(warplens_module_load(session, text, strlen(text), "k.ptx", &module) == WARPLENS_OK);
  if (module != NULL) {
    check_names(module);
    check_axpy(session, module);
    check_limits(session, module);
    check_sample(text, session, module);
    check_one_place(session, module);
    check_refusals(session);
  }
  warplens_session_destroy(session);
  warplens_session_destroy(NULL);
  warplens_result_destroy(NULL);
  free(text);
  printf(failures == 0 ? "all checks passed\n" : "%d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}
