// SPDX-License-Identifier: Apache-2.0
// The peer that runs GPU kernels on a CPU: PoCL, where Debian's pocl-opencl-icd is installed. The same matrix products
// in OpenCL C, one thread, nothing counted.
#pragma once
#include <memory>
#include <string>

namespace warplens::bench {

class OpenClPeer {
 public:
  /// Null where no PoCL device is.
  static std::unique_ptr<OpenClPeer> create();
  virtual ~OpenClPeer() = default;
  /// Prepares "naive", "coalesced" or "tiled" for n x n matrices of ones, runs it once and checks the product.
  virtual void prepare(const std::string& kernel, int n) = 0;
  virtual void run() = 0;
};

}  // namespace warplens::bench
