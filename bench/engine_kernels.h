// SPDX-License-Identifier: Apache-2.0
// A kernel of the committed probe PTX, ready to launch on arrays of its own: what the engine's benchmarks share.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "exec/executor.h"

namespace warplens::bench {

/// Square matrix product kernels of truth/ptx/ladder.ptx with parameters (A, B, C, M, N, K).
class MatmulKernel {
 public:
  /// `entry`: mangled name; `n`: matrix size; `grid` and `block` as the probe launches it.
  MatmulKernel(const std::string& entry, int n, events::Dim3 grid, events::Dim3 block);
  ~MatmulKernel();
  /// One launch on `workers` cores; returns its outcome. The result is checked against double precision on first use.
  exec::LaunchOutcome launch(exec::Executor& executor, bool count, unsigned workers);
  /// Thread-instructions of one launch: sum over basic blocks of PTX instructions x active lanes (from a counted
  /// launch).
  double thread_instructions(const exec::LaunchOutcome& counted) const;
  double flops() const { return 2.0 * n_ * n_ * n_; }
  /// Largest relative error of 50 sampled elements of C against a double-precision product.
  double worst_error() const;

 private:
  int n_;
  events::Dim3 grid_, block_;
  std::unique_ptr<memory::Arena> arena_;
  exec::LoadedModule module_;
  std::unique_ptr<exec::LoadedKernel> kernel_;
  uint64_t a_ = 0, b_ = 0, c_ = 0;
};

}  // namespace warplens::bench
