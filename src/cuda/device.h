// SPDX-License-Identifier: Apache-2.0
// The one virtual GPU of a process: memory, stream queues, executor, the error that a faulting kernel leaves behind.
// Made at the program's first call that needs it, never destroyed: programs call the runtime from destructors of any
// order.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "cuda/registry.h"
#include "cuda/runtime_api.h"
#include "cuda/session.h"
#include "cuda/stream_queue.h"
#include "exec/executor.h"
#include "gpu/gpu.h"
#include "memory/arena.h"

namespace warplens::cuda {

/// What kind of allocation an address of the arena belongs to.
/// kRegistered: the program's own memory, made known by cudaHostRegister.
enum class MemoryKind : uint8_t { kDevice, kPinned, kManaged, kRegistered };

struct Placed {
  MemoryKind kind = MemoryKind::kDevice;
  uint64_t base = 0, bytes = 0;
};

class Device {
 public:
  /// Ends the process with a message when the device cannot be made (no address space, a bad session or GPU file).
  static Device& instance();
  /// Null when no call has needed the device yet.
  static Device* existing();

  const gpu::Gpu& gpu() const { return gpu_; }
  memory::Arena& arena() { return *arena_; }
  Queues& queues() { return queues_; }
  Session& session() { return *session_; }
  exec::Executor& executor() { return *executor_; }
  exec::Level level() const { return session_->options().level == "ptx" ? exec::Level::kPtx : exec::Level::kMachine; }
  /// Why compiled code could not be kept; empty: no trouble.
  std::string cache_trouble() const { return code_cache_ ? code_cache_->trouble() : std::string(); }
  /// Compute capability as PTX targets count: 90 for 9.0.
  uint32_t target() const;

  /// The error of a kernel that faulted: every later call returns it, until the device is reset.
  cudaError_t sticky() const { return sticky_.load(); }
  void set_sticky(cudaError_t error);

  /// Memory of the program. Nothing when memory is used up.
  void* allocate(uint64_t bytes, MemoryKind kind);
  /// False when `pointer` is not the beginning of an allocation of one of the kinds.
  bool free(const void* pointer, bool host_memory);
  /// `pointer` is no longer an allocation that can be freed, but its memory stays until the arena frees it. False when
  /// it is not the beginning of device or managed memory.
  bool retire(const void* pointer);
  /// Memory of the program that kernels may use from now on; false when a part of it is known already.
  bool register_host(void* pointer, uint64_t bytes);
  bool unregister_host(const void* pointer);
  /// The allocation that contains `pointer`; nothing for memory that the device does not know.
  std::optional<Placed> find(const void* pointer) const;
  /// Whether all of [pointer, pointer + bytes) lies in one allocation.
  bool contains(const void* pointer, uint64_t bytes) const;

  /// cudaDeviceReset: waits for all work, frees all memory, clears the sticky error.
  void reset();
  /// Address of the words that cooperative launches' barriers use; 0 when memory is used up.
  uint64_t grid_workspace();
  /// Number of the next launch.
  uint64_t next_launch() { return launches_++; }

 private:
  Device(gpu::Gpu gpu, std::unique_ptr<memory::Arena> arena, std::unique_ptr<Session> session);

  gpu::Gpu gpu_;
  std::unique_ptr<memory::Arena> arena_;
  std::unique_ptr<Session> session_;
  std::shared_ptr<FileCache> code_cache_;  ///< null: off
  std::unique_ptr<exec::Executor> executor_;
  Queues queues_;
  std::atomic<cudaError_t> sticky_{cudaSuccess};
  std::atomic<uint64_t> launches_{0};
  std::atomic<uint64_t> grid_workspace_{0};
  mutable std::mutex mutex_;
  std::map<uint64_t, MemoryKind> kinds_;  ///< by base, of program allocations (module variables are not in it)
};

/// Prints "warplens: ..." and ends the process at once with exit code 2: an input that cannot run. `_exit` because
/// other threads may hold locks that exit handlers want; the program's buffered output is flushed first.
[[noreturn]] void give_up(const Diagnostics& errors, std::string_view source = {});
/// One line on stderr, "warplens: ...".
void say(const std::string& text);

}  // namespace warplens::cuda
