// SPDX-License-Identifier: Apache-2.0
#include "warplens/help.h"

namespace warplens::cli {

std::string general_help() {
  return R"(warplens runs CUDA programs without a GPU and shows what every warp does to memory.

usage:
  warplens run [options] FILE [arguments...]   run a CUDA source, a program or a PTX kernel, then report
  warplens cc [nvcc's options] FILES           build as nvcc does; the result runs on the CPU
  warplens demo [n]                            two matrix products and why one is slow
  warplens gallery [TOPIC [RUNG...]]           ladders of kernels: verified, counted, beside what a GPU measured
  warplens measure gallery[/TOPIC[/RUNG]]      time and count them on this machine's GPU
  warplens occupancy [options] [FILE]          blocks an SM holds, what limits them, what other sizes would give
  warplens gpus                                the GPUs that --gpu names
  warplens metrics [NAME...]                   what --csv counts under the profilers' names
  warplens diff BEFORE.json AFTER.json         what got better or worse between two reports
  warplens explain [RULE]                      what a warning means, and what to do about it
  warplens cache [clear]                       show, or empty, the folder of compiled kernels
  warplens env                                 what a launcher must set to run programs without 'warplens run'
  warplens --version
  warplens help run                            all options of 'run', and so on

examples:
  warplens run app.cu                          compile with clang, run, report
  warplens run -O2 -Iinc app.cu util.cu 1024   compiler options, two sources, one argument
  warplens run ./app --steps 10                a program built by: nvcc -cudart shared -lineinfo
  warplens run --json report.json app.cu       the report for other programs
  warplens run k.ptx --entry axpy --grid 64 --block 256 --arg i32:16384 --arg x.npy --arg out:f32[16384] --out y.npy
)";
}

std::string run_help() {
  return R"(usage: warplens run [options] FILE [arguments...]

Runs FILE on a virtual GPU, counts what its warps do to memory, and prints a report to standard error; the
program's own output is left alone. FILE is a CUDA or C++ source (more sources may follow), or a program built by
'nvcc -cudart shared -lineinfo'. Options stand before FILE; all that follows it belongs to the program. Or FILE is PTX,
one kernel of which is launched here.

report:
  --json FILE            write the report as JSON too (- is standard output)
  --csv FILE             a table as 'ncu --csv --page raw' writes it, a line a launch (- is standard output)
  --metrics NAME,...     its columns (default: all that 'warplens metrics' lists)
  --sarif FILE           SARIF 2.1.0, for code scanning (docs/ci.md, as the next three)
  --junit FILE           JUnit's XML: a test case for each kernel and limit
  --markdown FILE        a comment on a pull request
  --annotations FILE     GitHub's ::warning lines, which its log shows beside the code
  --source-root FOLDER   files below it are named relative to it in these (but --csv, which names none)
  --launches all         show every launch by itself (default: folded by kernel and shape)
  --resource-usage       registers, stack and spills of the kernels, as nvcc's option of that name shows them
  -q, --quiet            neither a report nor the progress of long launches on standard error

what is counted:
  --kernel REGEX         only launches of kernels whose name matches
  --nvtx REGEX           only launches while an NVTX range with such a name is open (docs/selection.md)
  --profile-from-start off   only launches between cudaProfilerStart and cudaProfilerStop
  --launch-skip N        of those, leave out the first N
  --launch-count N       then count N
  --level machine|ptx    loops as the GPU's assembler lays them out (default), or as the PTX stands
  --counting oracle      count lane by lane instead of by closed forms: the same numbers, up to a thousand times slower
  --sample SHARE         count a share of each launch's blocks (5% or 0.05), and estimate the rest (docs/selection.md)
  --sample-seed N        choose other blocks
  --no-count             just run

limits, which make the exit code 1 when broken (docs/limits.md):
  --limit NAME=NUMBER    max_sectors_per_request, excessive_sectors, excessive_wavefronts, min_occupancy,
                         max_local_bytes, or max: or min: with the name of a metric (repeatable)
  --baseline FILE        compare with this report (of --json): what is worse breaks the run (warplens help diff)
  --allow-growth N%      numbers may grow by so much (also: N)
  --allow-estimates      let numbers that are estimates break them too
  --config FILE          read this instead of the nearest .warplens.toml in the folder of FILE or above it
  --no-config            read none
  --dump-config          show what is in force, as such a file, and stop

running:
  --timeout SECONDS      end the program after so long (exit code 124), report what was counted
  --workers N            threads that execute blocks (default: one a core)
  --gpu NAME             the GPU whose limits apply: h200 (default), a100, l4 ... (warplens gpus lists them)
  --gpu-file FILE        one described by a file (docs/gpus.md)
  --no-cache             compile all kernels, and keep none (warplens help cache)

compiling, when FILE is a source:
  --compiler clang|nvcc  clang with our own CUDA headers (default), or the nvcc you have
  -I -D -U -O -std -l -L -maxrregcount ...   as nvcc takes them
  -Xc ARG                hand ARG to the compiler as it is (repeatable)
  --keep                 keep the compiled program and say where it is
  --ignore-unknown       leave out compiler options that are not known (before them)
  --device-ptx FILE      use this PTX for the kernels instead of compiling them (once for each CUDA source)

launching a kernel of FILE.ptx (docs/bare-ptx.md); options may follow FILE:
  --entry NAME           the kernel; not needed when there is one
  --grid X[,Y[,Z]]       blocks
  --block X[,Y[,Z]]      threads a block
  --cluster X[,Y[,Z]]    blocks a cluster
  --shared BYTES         dynamic shared memory a block
  --arg ARGUMENT         one for each parameter, in order: x.npy, f32[1024]=random:7, out:f32[1024] (a result),
                         i32:5, f32:0.5, ptr:null, bytes:00ff
  --out [N:]FILE.npy     write the next out: array, or that of argument N, after the launch
  --expect [N:]FILE.npy  compare it; exit code 1 when it differs
  --rtol R, --atol A     tolerance: |actual - expected| <= A + R * |expected|

exit code: the program's own; 1 a limit is broken (and the program returned 0), 2 wrong use, an input that cannot be
run, or a limit on kernels that did not run, 3 a result could not be written, 124 --timeout, 128 + n ended by signal n.
)";
}

std::string cc_help() {
  return R"(usage: warplens cc [options] FILES

Stands in for nvcc: compiles CUDA and C++ sources with clang and our own CUDA headers, and links them to our runtime.
The program runs by itself (./prog: on the virtual GPU, without a report) and is counted under 'warplens run ./prog'.

  make NVCC="warplens cc"                        build files that name their compiler
  make CUDA_PATH=$(warplens cc --print-toolkit)  build files that look for bin/nvcc in a toolkit
  cmake -DCMAKE_CUDA_COMPILER=$(warplens cc --print-toolkit)/bin/nvcc ...

Options are nvcc's:
  -c -dc -dlink -rdc=true -E -M -MD -MF -MT -ptx -fatbin -lib -shared   what to make
  -o FILE, -odir FOLDER, -x cu                                          where to, and from what
  -I -isystem -D -U -include -std -O -g -G -Wall -f... -Xcompiler       compiling
  -L -l -Xlinker -Wl,...                                                linking
  -use_fast_math -ftz -prec-div -prec-sqrt -fmad -maxrregcount          arithmetic and registers of device code
  -v, --dryrun                                                          show the commands
  --resource-usage, -Xptxas -v                                          registers of kernels (needs a CUDA toolkit's
                                                                        ptxas; else an estimate, marked ~)
  @FILE, --options-file FILE                                            options from a file
  -arch, -gencode, -code, -Xptxas, -cudart, -ccbin, ... are accepted: device code is PTX for sm_90 always
Ours:
  -Xc ARG            hand ARG to the compiler as it is
  --ignore-unknown   leave out options that are not known
  --print-toolkit    the folder that stands in for a CUDA toolkit (bin/nvcc, include, lib64)

exit code: 0; 1 errors in a source, 2 wrong use, 128 + n ended by signal n.
)";
}

std::string cache_help() {
  return R"(usage: warplens cache          show where compiled kernels are kept, how many, their bytes and the bound
       warplens cache clear    remove them

A kernel is compiled at its first launch, and its machine code is kept for later runs. The folder is
$XDG_CACHE_HOME/warplens, else ~/.cache/warplens. Entries that were not used for longest go when it outgrows its bound.
  WARPLENS_CACHE=off           no cache at all (for one run: warplens run --no-cache)
  WARPLENS_CACHE_SIZE=500M     another bound (default 1G)
)";
}

std::string demo_help() {
  return R"(usage: warplens demo [n]

Runs two products of n x n matrices (default 512) that differ in one word, and shows why one of them moves several
times more memory. The sources are examples/matmul_naive.cu and examples/matmul_coalesced.cu.
)";
}

}  // namespace warplens::cli
