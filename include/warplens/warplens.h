/* SPDX-License-Identifier: Apache-2.0
 * The C interface of Warplens: load PTX, give its kernels memory, launch them on the CPU, and read what their warps did
 * to memory. For hosts without a CUDA program: test suites, compilers, the Python module.
 *
 *   warplens_session* s;  warplens_module* m;  const warplens_entry* k;  warplens_launch_result* r;
 *   warplens_session_create(NULL, &s);
 *   warplens_module_load(s, text, strlen(text), "k.ptx", &m);
 *   warplens_entry_find(m, "axpy", &k);
 *   warplens_launch(s, k, &shape, arguments, 4, &r);
 *   puts(warplens_result_text(r));
 *
 * Every function that can fail returns a status; warplens_error() then explains it. Strings are UTF-8 and belong to the
 * object that they came from. Objects of one session must not be used by two threads at once; different sessions are
 * independent. Structures begin with their size, which the caller sets, so that later versions can add members. */
#ifndef WARPLENS_WARPLENS_H
#define WARPLENS_WARPLENS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define WARPLENS_API __attribute__((visibility("default")))
#else
#define WARPLENS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a function or structure changes incompatibly. */
#define WARPLENS_API_VERSION 2
/* The WARPLENS_API_VERSION that the library was built with. */
WARPLENS_API uint32_t warplens_api_version(void);
/* "0.1.0" */
WARPLENS_API const char* warplens_version(void);

typedef enum warplens_status {
  WARPLENS_OK = 0,
  WARPLENS_INVALID = 1,       /* an argument of the call makes no sense: null, a wrong size, an unknown address */
  WARPLENS_INPUT = 2,         /* the PTX, the GPU file or the launch is wrong: the text has file, line and column */
  WARPLENS_OUT_OF_MEMORY = 3, /* of the device, or of this computer */
  WARPLENS_INTERNAL = 4
} warplens_status;

/* Why this thread's last failing call failed: one or more lines. Never null; valid until this thread's next call. */
WARPLENS_API const char* warplens_error(void);

typedef struct warplens_session warplens_session;
typedef struct warplens_module warplens_module;
typedef struct warplens_entry warplens_entry;
typedef struct warplens_launch_result warplens_launch_result;

/* ---- sessions: one virtual GPU each ---- */

typedef struct warplens_session_options {
  size_t struct_bytes;  /* sizeof(warplens_session_options) */
  const char* gpu;      /* null: the default; a name that "warplens gpus" lists; or the path of a GPU file */
  const char* executor; /* null or "jit"; "interpreter" */
  uint32_t workers;     /* threads that run blocks; 0: one a core */
  const char* level;    /* null or "machine": counts as the GPU's assembler lays loops out; "ptx": as the PTX stands */
  const char* counting; /* null or "fast": by closed forms in generated code; "oracle": lane by lane, slowly, and the
                         * same numbers */
} warplens_session_options;

/* `options` may be null. */
WARPLENS_API warplens_status warplens_session_create(const warplens_session_options* options, warplens_session** session);
/* Destroys its modules, entries and memory too; results stay. Null is allowed. */
WARPLENS_API void warplens_session_destroy(warplens_session* session);
/* "NVIDIA H200" */
WARPLENS_API const char* warplens_session_gpu(const warplens_session* session);

/* ---- modules and their kernels ---- */

/* `name` stands in messages and reports for the file; null: "<ptx>". */
WARPLENS_API warplens_status warplens_module_load(warplens_session* session, const char* ptx, size_t ptx_bytes,
                                                  const char* name, warplens_module** module);

WARPLENS_API size_t warplens_entry_count(const warplens_module* module);
/* Null when there is no such entry. */
WARPLENS_API const warplens_entry* warplens_entry_at(const warplens_module* module, size_t index);
/* The mangled or the demangled name, with or without parameters, or a part that only one kernel has; null or "" when the
 * module has one kernel. WARPLENS_INPUT with a list of the kernels when there is none, or several. */
WARPLENS_API warplens_status warplens_entry_find(const warplens_module* module, const char* name,
                                                 const warplens_entry** entry);
WARPLENS_API const char* warplens_entry_name(const warplens_entry* entry);
WARPLENS_API const char* warplens_entry_demangled(const warplens_entry* entry);
WARPLENS_API size_t warplens_parameter_count(const warplens_entry* entry);

typedef struct warplens_parameter {
  size_t struct_bytes;
  const char* name;
  const char* type;   /* as PTX spells it, without the dot: "u64", "f32", "b8" for a structure */
  uint64_t bytes;     /* of the whole parameter */
  uint64_t alignment;
  int is_structure;   /* .b8 name[bytes] */
} warplens_parameter;
/* `parameter->struct_bytes` must be set. */
WARPLENS_API warplens_status warplens_parameter_get(const warplens_entry* entry, size_t index,
                                                    warplens_parameter* parameter);

/* ---- device memory ---- */

/* Zero-filled. 0 bytes give address 0. */
WARPLENS_API warplens_status warplens_allocate(warplens_session* session, uint64_t bytes, uint64_t* address);
/* `address` as warplens_allocate gave it; 0 is allowed. */
WARPLENS_API warplens_status warplens_free(warplens_session* session, uint64_t address);
/* Copies must stay within one allocation. */
WARPLENS_API warplens_status warplens_copy_in(warplens_session* session, uint64_t to, const void* from, uint64_t bytes);
WARPLENS_API warplens_status warplens_copy_out(warplens_session* session, void* to, uint64_t from, uint64_t bytes);

/* ---- launches ---- */

typedef struct warplens_launch_shape {
  size_t struct_bytes;
  uint32_t grid[3], block[3]; /* blocks, threads; all at least 1 */
  uint32_t cluster[3];        /* blocks; 0,0,0: what the kernel demands, or none */
  uint32_t shared_bytes;      /* dynamic shared memory a block */
  uint32_t uncounted;         /* not 0: just run */
  double timeout_seconds;     /* 0: none; a launch that takes longer ends with a finding */
  double sample;              /* 0 or 1: count every block; between: count so large a share of the blocks, and estimate
                               * the numbers of all (docs/selection.md). All blocks run. */
  uint64_t sample_seed;       /* another one chooses other blocks */
} warplens_launch_shape;

/* One parameter: `bytes` bytes at `data`, which must be the parameter's size. An address is 8 bytes. */
typedef struct warplens_argument {
  const void* data;
  uint64_t bytes;
} warplens_argument;

/* Runs the kernel to its end. A kernel that misbehaves is WARPLENS_OK with findings; WARPLENS_INPUT means that it could
 * not begin, and no result is made. */
WARPLENS_API warplens_status warplens_launch(warplens_session* session, const warplens_entry* entry,
                                             const warplens_launch_shape* shape, const warplens_argument* arguments,
                                             size_t argument_count, warplens_launch_result** result);
WARPLENS_API void warplens_result_destroy(warplens_launch_result* result);
/* 1: the kernel ran to its end. */
WARPLENS_API int warplens_result_complete(const warplens_launch_result* result);
/* The report as people read it, and as docs/report-schema.md describes it. */
WARPLENS_API const char* warplens_result_text(const warplens_launch_result* result);
WARPLENS_API const char* warplens_result_json(const warplens_launch_result* result);

typedef enum warplens_memory {
  WARPLENS_GLOBAL = 0,
  WARPLENS_SHARED = 1,
  WARPLENS_LOCAL = 2,
  WARPLENS_CONSTANT = 3
} warplens_memory;
typedef enum warplens_access { WARPLENS_READ = 0, WARPLENS_WRITE = 1, WARPLENS_ATOMIC = 2 } warplens_access;

/* What accesses of one kind did. See docs/glossary.md for the words. */
typedef struct warplens_counters {
  size_t struct_bytes;
  uint64_t requests;        /* warp instructions with at least one active lane */
  uint64_t lanes;           /* active lanes, summed */
  uint64_t bytes_asked;     /* lanes x bytes each */
  uint64_t sectors;         /* 32-byte sectors; 0 for a block's own shared memory */
  uint64_t ideal_sectors;
  uint64_t lines;           /* 128-byte lines */
  uint64_t wavefronts;      /* passes of shared memory; 0 for all other */
  uint64_t ideal_wavefronts;
  uint64_t repeated_sectors; /* of sectors: those that atomics ask for again because threads of a warp share a place */
  uint64_t estimate;         /* 1: some of it is modelled, not shown equal to a GPU's (docs/fidelity.md) */
} warplens_counters;
/* The sum over the launch of accesses of one kind to one memory (warplens_memory, warplens_access).
 * `counters->struct_bytes` must be set. An uncounted launch has zeros. */
WARPLENS_API warplens_status warplens_result_totals(const warplens_launch_result* result, int memory, int access,
                                                    warplens_counters* counters);
/* Which blocks were counted. `sample->struct_bytes` must be set. */
typedef struct warplens_sample {
  size_t struct_bytes;
  double share;             /* as asked for; 1: counts are exact, because every block was counted */
  uint64_t seed;
  uint64_t counted_blocks;  /* 0: not counted at all */
  uint64_t blocks;          /* of the launch */
  int scaled;               /* 1: counts are estimates for all blocks. 0 with share < 1: the launch did not run to its
                             * end, and counts are those of the counted blocks */
} warplens_sample;
WARPLENS_API warplens_status warplens_result_sample(const warplens_launch_result* result, warplens_sample* sample);

/* Standard errors of warplens_counters' numbers: 0 when every block was counted. Errors of sums over several accesses
 * are the sums of their errors, which is never too small. */
typedef struct warplens_errors {
  size_t struct_bytes;
  double requests, lanes, bytes_asked, sectors, ideal_sectors, lines, wavefronts, ideal_wavefronts, repeated_sectors;
} warplens_errors;
/* Of what warplens_result_totals gives. `errors->struct_bytes` must be set. */
WARPLENS_API warplens_status warplens_result_errors(const warplens_launch_result* result, int memory, int access,
                                                    warplens_errors* errors);
/* PTX instructions executed by warps. */
WARPLENS_API uint64_t warplens_result_instructions(const warplens_launch_result* result);
/* The same with the active lanes, and the standard errors of a sample (else 0). */
typedef struct warplens_executed {
  size_t struct_bytes;
  uint64_t instructions, lanes;
  double instructions_error, lanes_error;
} warplens_executed;
/* `executed->struct_bytes` must be set. */
WARPLENS_API warplens_status warplens_result_executed(const warplens_launch_result* result,
                                                      warplens_executed* executed);

#define WARPLENS_NO_LIMIT UINT32_MAX
/* How many blocks of the launch one SM of the GPU holds, and what limits it (docs/occupancy.md). */
typedef struct warplens_occupancy {
  size_t struct_bytes;
  double theoretical;           /* warps of the most that an SM holds, 0 to 1 */
  uint32_t blocks_per_sm, warps_per_sm;
  const char* limited_by;       /* in words */
  /* Blocks that each resource alone would allow, or WARPLENS_NO_LIMIT. */
  uint32_t limit_warps, limit_blocks, limit_registers, limit_shared_memory, limit_barriers;
  uint32_t registers_per_thread;
  uint32_t registers_estimated; /* 1: the number of registers is an estimate from the PTX */
  uint32_t registers_per_block; /* allocated */
  uint64_t shared_bytes_per_block; /* allocated */
  uint32_t carveout_kib;        /* shared memory that the driver sets aside in the SM for this launch */
  uint32_t carveout_estimated;  /* 1: by a rule that was not measured on this GPU */
  double waves;                 /* blocks of the grid / blocks that all SMs hold at once */
} warplens_occupancy;
/* `occupancy->struct_bytes` must be set. */
WARPLENS_API warplens_status warplens_result_occupancy(const warplens_launch_result* result,
                                                       warplens_occupancy* occupancy);

typedef struct warplens_line {
  size_t struct_bytes;
  const char* file;          /* of the source; the PTX's name when it has no line information */
  uint32_t line;             /* 0: belongs to no line */
  const char* text;          /* of the line, "" when it cannot be read */
  uint64_t instructions;     /* PTX instructions executed by warps */
  uint64_t lanes;            /* active lanes, summed over them */
  warplens_counters global;  /* reads, writes and atomics together */
  warplens_counters shared;
} warplens_line;
/* Lines that access memory or are executed, the worst first. */
WARPLENS_API size_t warplens_result_line_count(const warplens_launch_result* result);
/* `line->struct_bytes` must be set. */
WARPLENS_API warplens_status warplens_result_line(const warplens_launch_result* result, size_t index,
                                                  warplens_line* line);

/* Of the line's counters. Both struct_bytes must be set. */
WARPLENS_API warplens_status warplens_result_line_errors(const warplens_launch_result* result, size_t index,
                                                         warplens_errors* global, warplens_errors* shared);

typedef struct warplens_finding {
  size_t struct_bytes;
  const char* kind;     /* "out of bounds", "null pointer", "misaligned", "trap", "time limit" ... */
  const char* message;  /* one sentence */
  const char* file;     /* of the source; "" when unknown */
  uint32_t line, column;
  uint32_t block[3], thread[3];
  uint64_t address;
} warplens_finding;
WARPLENS_API size_t warplens_result_finding_count(const warplens_launch_result* result);
/* `finding->struct_bytes` must be set. */
WARPLENS_API warplens_status warplens_result_finding(const warplens_launch_result* result, size_t index,
                                                     warplens_finding* finding);

#ifdef __cplusplus
}
#endif
#endif
