// SPDX-License-Identifier: Apache-2.0
// `warplens gallery` on a small gallery whose numbers are worked out by hand, and on a rung of the real one;
// `warplens measure` as far as it goes without a GPU (the rest: tests/gallery/measure_test.py).
#include <algorithm>
#include <regex>
#include <set>

#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

using nlohmann::json;

constexpr const char* kProgram = R"(
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstring>
__global__ void strided(const float* in, float* out) { out[threadIdx.x] = in[8 * threadIdx.x]; }
__global__ void column(float* out) {
  __shared__ float tile[32][32];
  for (int r = 0; r < 32; ++r) tile[r][threadIdx.x] = r;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x][0];
}
int main(int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], "count") != 0) return 2;
  float *in, *out;
  cudaMalloc(&in, 1024);
  cudaMalloc(&out, 128);
  strided<<<7, 32>>>(in, out);  // verifying: not counted
  cudaDeviceSynchronize();
  for (const char* form : {FORMS}) {
    cudaProfilerStart();
    strided<<<1, 32>>>(in, out);
    column<<<2, 32>>>(out);
    cudaDeviceSynchronize();
    cudaProfilerStop();
    std::printf("%s%s,%d\n", NAME, form, 32);
  }
  return RESULT;
}
)";

/// A rung with two kernels: thread i of a warp reads word 8 i, so a sector each; a warp reads a column of 32 words that
/// lie in one bank. `forms`: what it adds to its name, C strings; `result`: what main returns.
std::string rung(const std::string& name, const std::string& idea, const std::string& forms, int result) {
  return "// Idea: " + idea + " Change: none.\n#define NAME \"" + name + "\"\n#define FORMS " + forms +
         "\n#define RESULT " + std::to_string(result) + kProgram;
}

class GalleryTest : public ToolTest {
 protected:
  void SetUp() override {
    ToolTest::SetUp();
    for (const char* folder : {"g/ladder", "g/other", "g/results/h200"})
      std::filesystem::create_directories(path(folder));
    file("g/topics.txt", "# what it has\nladder: steps: up\nother: nothing yet\n");
    file("g/ladder/01_first.cu", rung("ladder/01_first", "begin here.", "\"\"", 0));
    file("g/ladder/02_forms.cu", rung("ladder/02_forms", "two at once.", "\"1\", \"2\"", 0));
    file("g/ladder/notes.cu", "no rung");
    file("g/results/h200/gallery.json",
         R"({"gpu": "NVIDIA H200", "date": "today", "rows": [
             {"rung": "ladder/01_first", "size": 4096, "us": 2500.0, "figure": 1500.0, "unit": "GB/s"},
             {"rung": "ladder/02_forms2", "size": 4096, "us": 25.0, "figure": 14.62, "unit": "ns/load", "date": "yesterday"}]})");
  }
  ProcessResult gallery(std::vector<std::string> words) const {
    words.insert(words.begin(), {"gallery", "--from", path("g")});
    return tool(words);
  }
  static void expect_has(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in\n" << text;
  }
};

TEST_F(GalleryTest, lists_topics_rungs_and_the_fastest) {
  const auto r = gallery({});
  EXPECT_EQ(r.exit_code, 0) << r.errors;
  expect_has(r.output, "ladder      2  01_first, 1.50 TB/s  steps: up");
  expect_has(r.output, "other       0  not measured         nothing yet");
}

TEST_F(GalleryTest, an_unknown_compiler_is_refused) {
  const auto r = gallery({"ladder", "--compiler", "icc"});
  EXPECT_EQ(r.exit_code, 2);
  expect_has(r.errors, "--compiler is clang or nvcc, not 'icc'");
}

TEST_F(GalleryTest, the_real_one_has_its_topics) {
  const auto r = tool({"gallery"});
  EXPECT_EQ(r.exit_code, 0) << r.errors;
  for (const char* topic : {"access ", "matmul ", "attention ", "Measured: NVIDIA H200."}) expect_has(r.output, topic);
}

TEST_F(GalleryTest, counts_each_kernel_of_each_form_and_shows_the_measured_time) {
  ::setenv("COLUMNS", "160", 1);
  const auto r = gallery({"ladder", "--json", path("out.json"), "--csv", path("out.csv")});
  ::unsetenv("COLUMNS");
  EXPECT_EQ(r.exit_code, 0) << r.errors;
  EXPECT_EQ(r.errors, "");
  expect_has(r.output, "ladder: steps: up\n");
  expect_has(r.output, "01_first: begin here.\n");
  expect_has(r.output, "02_forms2\n");
  expect_has(r.output, "2.50 ms     1.50 TB/s");
  expect_has(r.output, "25.0 us  14.6 ns/load");
  expect_has(r.output, "not measured");
  expect_has(r.output, "at size 32. Time and rate: measured, NVIDIA H200, yesterday, at size 4,096.");

  const json rungs = json::parse(read(path("out.json")))["rungs"];
  ASSERT_EQ(rungs.size(), 2u);
  EXPECT_EQ(rungs[0]["idea"], "begin here.");
  ASSERT_EQ(rungs[1]["forms"].size(), 2u);
  for (const json& form : {rungs[0]["forms"][0], rungs[1]["forms"][0], rungs[1]["forms"][1]}) {
    ASSERT_EQ(form["kernels"].size(), 2u);
    const json &strided = form["kernels"][0]["metrics"], &column = form["kernels"][1]["metrics"];
    EXPECT_EQ(strided["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 1);
    EXPECT_EQ(strided["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], 32);
    EXPECT_EQ(strided["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], 4);
    // Two blocks: 32 rows stored, and a column read in 32 passes.
    EXPECT_EQ(column["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"], 2 * 32);
    EXPECT_EQ(column["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"], 2 * 32);
    EXPECT_EQ(column["derived__memory_l1_wavefronts_shared_excessive"], 2 * 31);
  }
  EXPECT_EQ(rungs[1]["forms"][0]["name"], "ladder/02_forms1");
  EXPECT_EQ(rungs[1]["forms"][0]["measured"], nullptr);
  EXPECT_EQ(rungs[1]["forms"][1]["measured"]["us"], 25.0);
  const std::string csv = read(path("out.csv"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 6);
  expect_has(
      csv,
      R"csv("ladder/02_forms2","yes","32","strided(float const*, float*)","1","NVIDIA H200","4096","25","14.62","ns/load")csv");
}

TEST_F(GalleryTest, a_rung_that_fails_does_not_stop_the_others) {
  file("g/ladder/01_first.cu", rung("ladder/01_first", "wrong.", "\"\"", 1));
  file("g/ladder/02_forms.cu", "// Idea: no program.\nint main( {\n");
  file("g/ladder/03_silent.cu", "// Idea: prints nothing.\nint main() { return 0; }\n");
  file("g/ladder/04_right.cu", rung("ladder/04_right", "right.", "\"\"", 0));
  file("g/ladder/05_uneven.cu",
       "// Idea: says more forms than it launches kernels for.\n#include <cuda_profiler_api.h>\n#include <cstdio>\n"
       "__global__ void f() {}\nint main() {\n  cudaProfilerStart();\n  f<<<1, 1>>>();\n  cudaDeviceSynchronize();\n"
       "  std::puts(\"ladder/05_uneven1,8\\nladder/05_uneven2,8\");\n}\n");
  file("g/ladder/06_killed.cu", "// Idea: ends itself.\n#include <cstdlib>\nint main() { std::abort(); }\n");
  const auto r = gallery({"ladder", "--json", path("out.json"), "--csv", path("out.csv")});
  EXPECT_EQ(r.exit_code, 1) << r.errors;
  const json rungs = json::parse(read(path("out.json")))["rungs"];
  EXPECT_EQ(rungs[0]["exit_code"], 1);
  EXPECT_EQ(rungs[1]["exit_code"], 2);
  EXPECT_EQ(rungs[2]["verified"], true);  // as it says itself; but not counted
  EXPECT_EQ(rungs[3]["verified"], true);
  EXPECT_EQ(rungs[0]["forms"].size(), 1u);  // wrong, but counted
  expect_has(r.errors, "02_forms.cu");
  expect_has(r.errors, "03_silent.cu ended well, but was not counted: nothing was launched between cudaProfilerStart");
  expect_has(r.errors, "05_uneven.cu ended well, but was not counted: 1 launch counted cannot be shared out evenly");
  expect_has(r.output, "not counted");
  EXPECT_EQ(rungs[0]["not_counted"], nullptr);
  EXPECT_EQ(rungs[1]["not_counted"], "not compiled");
  EXPECT_EQ(rungs[5]["not_counted"], "ended by signal 6");
  const std::string csv = read(path("out.csv"));
  expect_has(csv, R"csv("ladder/02_forms","no","","","","","","","","","not compiled","")csv");
  expect_has(csv, R"csv("ladder/05_uneven","yes","","","","","","","","","1 launch counted cannot be shared out)csv");
  const size_t header = static_cast<size_t>(std::count(csv.begin(), csv.begin() + csv.find('\n'), ','));
  const std::string last = csv.substr(csv.rfind('\n', csv.size() - 2) + 1);
  EXPECT_EQ(static_cast<size_t>(std::count(last.begin(), last.end(), ',')), header) << last;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 + 1 + 1 + 2 + 1 + 1);  // two kernels of the counted ones
}

TEST_F(GalleryTest, another_gpu_has_other_measurements) {
  const auto r = gallery({"ladder", "1", "--gpu", "l4"});
  expect_refused(r, "ladder has no rung '1'");
  const auto l4 = gallery({"ladder", "01", "--gpu", "l4"});
  EXPECT_EQ(l4.exit_code, 0) << l4.errors;
  expect_has(l4.output, "not measured");
}

TEST_F(GalleryTest, what_is_not_there_is_told_with_what_is) {
  expect_refused(gallery({"lader"}), "did you mean ladder? It has ladder, other");
  expect_refused(gallery({"ladder", "05"}), "it has 01_first, 02_forms");
  expect_refused(gallery({"ladder", "--jsn", "x"}), "did you mean --json?");
  expect_refused(gallery({"--json", "x"}), "take a topic");
  expect_refused(gallery({"ladder", "--gpu", "h2000"}), "h2000");
  expect_refused(gallery({"ladder", "--json", "-", "--csv=-"}), "only one of");
  file("g/results/h200/gallery.json", "{\"rows\": 7");
  expect_refused(gallery({}), "gallery.json is damaged");
  std::filesystem::remove(path("g/topics.txt"));
  expect_refused(gallery({}), "topics.txt");
}

TEST_F(GalleryTest, a_file_that_cannot_be_written_is_told) {
  const auto r = gallery({"ladder", "01", "--json", path("no/such/out.json")});
  EXPECT_EQ(r.exit_code, 3);
}

TEST_F(GalleryTest, measure_passes_on_what_its_script_says) {
  const auto r = tool({"measure", "nothing"});
  expect_refused(r, "measure what? kernels, or gallery");
  EXPECT_EQ(tool({"measure", "--help"}).output.rfind("usage: warplens measure", 0), 0u);
}

/// The long options that a help text names.
std::set<std::string> options_in(const std::string& text) {
  static const std::regex option("--[a-z][a-z-]*");
  return {std::sregex_token_iterator(text.begin(), text.end(), option), std::sregex_token_iterator()};
}

TEST_F(GalleryTest, measure_helps_with_the_options_of_its_script) {
  const std::string help =
      run_process({"/usr/bin/env", "python3", WARPLENS_SOURCE_DIR "/scripts/measure_gpu", "--help"}).value().output;
  auto script = options_in(help.substr(help.rfind("\noptions:")));  // the last part is the parser's own list
  EXPECT_TRUE(script.contains("--no-counts"));
  script.erase("--help");
  EXPECT_EQ(options_in(tool({"measure", "--help"}).output), script);
}

}  // namespace
}  // namespace warplens::cli_tests
