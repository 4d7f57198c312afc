// SPDX-License-Identifier: Apache-2.0
// Making and resetting the virtual GPU, and its table of allocations.
#include "cuda/device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>

#include "cuda/pool.h"
#include "gpu/catalogue.h"

namespace warplens::cuda {
namespace {

std::atomic<Device*> g_device{nullptr};

std::string program_path() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : std::string("?");
}

}  // namespace

void say(const std::string& text) { std::fprintf(stderr, "warplens: %s\n", text.c_str()); }

void give_up(const Diagnostics& errors, std::string_view source) {
  std::fflush(nullptr);
  for (const Diagnostic& error : errors) std::fprintf(stderr, "warplens: %s", render(error, source).c_str());
  std::fflush(stderr);
  _exit(2);
}

Device::Device(gpu::Gpu gpu, std::unique_ptr<memory::Arena> arena, std::unique_ptr<Session> session)
    : gpu_(std::move(gpu)), arena_(std::move(arena)), session_(std::move(session)) {
  if (session_->options().cache) code_cache_ = exec::open_code_cache();
  exec::JitOptions jit;
  jit.cache = code_cache_;
  executor_ = session_->options().executor == "interpreter" ? exec::make_interpreter() : exec::make_jit(jit);
  if (auto* records = session_->records()) records->begin_process(program_path(), gpu_.name);
}

Device& Device::instance() {
  static Device* const device = [] {
    auto session = Session::from_environment();
    if (!session) give_up(session.error());
    auto gpu = gpu::find_gpu((*session)->options().gpu);
    if (!gpu) give_up(gpu.error());
    auto arena = memory::Arena::create(gpu->memory_bytes);
    if (!arena) give_up(arena.error());
    auto* made = new Device(std::move(*gpu), std::move(*arena), std::move(*session));
    g_device = made;
    return made;
  }();
  return *device;
}

Device* Device::existing() { return g_device; }

uint32_t Device::target() const {
  return static_cast<uint32_t>(gpu_.compute_capability[0] * 10 + gpu_.compute_capability[1]);
}

void Device::set_sticky(cudaError_t error) {
  cudaError_t none = cudaSuccess;
  sticky_.compare_exchange_strong(none, error);
}

void* Device::allocate(uint64_t bytes, MemoryKind kind) {
  const auto base = arena_->allocate(bytes);
  if (!base) return nullptr;
  const std::lock_guard lock(mutex_);
  kinds_[*base] = kind;
  return reinterpret_cast<void*>(static_cast<uintptr_t>(*base));
}

bool Device::free(const void* pointer, bool host_memory) {
  const uint64_t base = reinterpret_cast<uintptr_t>(pointer);
  {
    const std::lock_guard lock(mutex_);
    const auto it = kinds_.find(base);
    if (it == kinds_.end() || it->second == MemoryKind::kRegistered) return false;
    if ((it->second == MemoryKind::kPinned) != host_memory) return false;
    kinds_.erase(it);
  }
  queues_.drain_all();  // work that was enqueued before may still use it
  return arena_->free(base);
}

bool Device::retire(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto it = kinds_.find(reinterpret_cast<uintptr_t>(pointer));
  if (it == kinds_.end() || it->second == MemoryKind::kPinned || it->second == MemoryKind::kRegistered) return false;
  kinds_.erase(it);
  return true;
}

bool Device::register_host(void* pointer, uint64_t bytes) {
  const uint64_t base = reinterpret_cast<uintptr_t>(pointer);
  if (!arena_->adopt(base, bytes)) return false;
  const std::lock_guard lock(mutex_);
  kinds_[base] = MemoryKind::kRegistered;
  return true;
}

bool Device::unregister_host(const void* pointer) {
  const uint64_t base = reinterpret_cast<uintptr_t>(pointer);
  {
    const std::lock_guard lock(mutex_);
    const auto it = kinds_.find(base);
    if (it == kinds_.end() || it->second != MemoryKind::kRegistered) return false;
    kinds_.erase(it);
  }
  queues_.drain_all();
  return arena_->free(base);
}

uint64_t Device::grid_workspace() {
  if (grid_workspace_ == 0) grid_workspace_ = arena_->allocate(8, "(grid barrier)").value_or(0);
  return grid_workspace_;
}

std::optional<Placed> Device::find(const void* pointer) const {
  const uint64_t address = reinterpret_cast<uintptr_t>(pointer);
  const auto allocation = arena_->find(address);
  if (!allocation) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto it = kinds_.find(allocation->base);
  return Placed{it == kinds_.end() ? MemoryKind::kDevice : it->second, allocation->base, allocation->bytes};
}

bool Device::contains(const void* pointer, uint64_t bytes) const {
  const auto placed = find(pointer);
  const uint64_t address = reinterpret_cast<uintptr_t>(pointer);
  return placed && bytes <= placed->base + placed->bytes - address;
}

void Device::reset() {
  queues_.drain_all();
  executor_->finish_ahead();
  Registry::instance().forget_placement();
  {
    const std::lock_guard lock(mutex_);
    kinds_.clear();
  }
  Pools::instance().reset();
  GraphMemory::instance().reset();
  arena_->reset();
  grid_workspace_ = 0;
  sticky_ = cudaSuccess;
}

}  // namespace warplens::cuda
