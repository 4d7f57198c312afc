// SPDX-License-Identifier: Apache-2.0
// What the engine's benchmark prints: one line a kernel, from all repetitions of all its variants.
#pragma once
#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

namespace warplens::bench {

/// Collects the runs; prints the table at the end. Benchmarks are called KERNEL/VARIANT; the counters that it knows:
/// "thread_instructions" and "flops" (of one iteration), "warps", "fma" (lane operations a second at that moment).
class TableReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

  struct Sample {
    double cpu_seconds = 0, seconds = 0;  ///< of one iteration
    double fma = 0;
    std::map<std::string, double> counters;
  };
  using Samples = std::map<std::string, std::vector<Sample>>;

 private:
  Samples samples_;
  bool failed_ = false;
};

}  // namespace warplens::bench
