// SPDX-License-Identifier: Apache-2.0
// One kernel of the committed PTX, ready to launch on arrays in device memory: what the engine's benchmarks share.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "exec/executor.h"

namespace warplens::bench {

/// The path of a file of the source tree.
std::string source_path(const std::string& name);

/// A module in a device memory of its own.
class EngineModule {
 public:
  explicit EngineModule(const std::string& path);
  memory::Arena& arena() { return *arena_; }
  const exec::LoadedModule& loaded() const { return loaded_; }
  /// `count` elements of device memory, which the host reads and writes in place.
  template <typename T>
  T* array(size_t count) {
    return reinterpret_cast<T*>(arena_->allocate(count * sizeof(T)).value());
  }

 private:
  std::unique_ptr<memory::Arena> arena_;
  exec::LoadedModule loaded_;
};

class EngineKernel {
 public:
  /// `entry`: mangled name.
  EngineKernel(EngineModule& module, const std::string& entry, events::Dim3 grid, events::Dim3 block);
  /// The next parameter, of the size that the kernel declares.
  template <typename T>
  EngineKernel& argument(T value) {
    add_argument(&value, sizeof value);
    return *this;
  }
  /// One launch; a launch that does not run to its end is our own failure.
  exec::LaunchOutcome launch(exec::Executor& executor, bool count, unsigned workers, events::Dim3 grid = {0, 0, 0},
                             double sample = 1);
  /// Of one launch: sum over basic blocks of PTX instructions x active lanes, from a counted launch.
  double thread_instructions(const exec::LaunchOutcome& counted) const;
  /// PTX instructions of the kernel's text.
  size_t instructions() const { return kernel_->function->body.size(); }
  double warps() const { return double(grid_.count()) * double((block_.count() + 31) / 32); }

 private:
  void add_argument(const void* value, size_t bytes);

  memory::Arena* arena_;
  std::unique_ptr<exec::LoadedKernel> kernel_;
  events::Dim3 grid_, block_;
  std::vector<uint8_t> params_;
  size_t next_ = 0;
};

}  // namespace warplens::bench
