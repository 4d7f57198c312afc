// SPDX-License-Identifier: Apache-2.0
// What the experiments of claims/ share: docs/claims.md is made from them (scripts/claims). Where something is seen
// rather than timed, the number seen stands in the row where others have their rate, so that one file and one table
// hold all.
#pragma once
#include "../harness.h"

namespace gallery {

/// When timing: "name,size,us,us,number,unit", the time that of one launch. When counting: `launch` once, counted.
template <class Launch>
void report_seen(Run& run, const char* name, bool counting, size_t size, double number, const char* unit,
                 Launch launch) {
  if (!run.measures() || run.exit_code() != 0) return;
  if (counting) return run.time(size, 0, unit, launch);
  cudaEvent_t begin, end;
  must(cudaEventCreate(&begin), "event");
  must(cudaEventCreate(&end), "event");
  must(cudaEventRecord(begin), "event");
  launch();
  must(cudaEventRecord(end), "event");
  must(cudaEventSynchronize(end), "run");
  float ms = 0;
  must(cudaEventElapsedTime(&ms, begin, end), "event");
  std::printf("%s,%zu,%.2f,%.2f,%.2f,%s\n", name, size, ms * 1000, ms * 1000, number, unit);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

/// The rung is run to be counted (gallery/harness.h).
inline bool is_counting(int argc, char** argv) { return argc > 1 && std::string(argv[1]) == "count"; }

}  // namespace gallery
