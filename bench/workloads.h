// SPDX-License-Identifier: Apache-2.0
// What the engine's benchmark runs: kernels with their data, and whether what they left is right.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine_kernel.h"

namespace warplens::bench {

struct Workload {
  EngineKernel* kernel = nullptr;
  double flops = 0;              ///< of one launch; 0: none worth a figure
  std::function<bool()> right;   ///< after a launch: memory is as plain C++ says
  std::function<void()> rewind;  ///< before a launch that changes its own input; empty: need not
  double warp_atomics = 0;       ///< atomics that warps of one launch issue; 0: not a benchmark of them
};

class Workloads {
 public:
  Workloads();
  ~Workloads();
  /// A reference that stays good; an unknown name is our own failure.
  Workload& operator[](const std::string& name);

 private:
  EngineKernel& kernel(EngineModule& module, const std::string& entry, events::Dim3 grid, events::Dim3 block);
  void add_matmul(const std::string& name, const std::string& entry, int n, unsigned tile, events::Dim3 block);
  void add_axpy(const std::string& name, int n);
  void add_divergent();
  void add_random_loads(const std::string& name, uint32_t elements, uint32_t threads);
  void add_barriers();
  void add_atomics();  ///< atomic_workloads.cpp

  std::unique_ptr<EngineModule> ladder_, kernels_;
  std::vector<std::unique_ptr<EngineKernel>> owned_;
  std::map<std::string, Workload> all_;
};

}  // namespace warplens::bench
