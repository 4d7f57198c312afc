// SPDX-License-Identifier: Apache-2.0
// A bench for single memory accesses: one access is compiled to a function of its own, run on random addresses, masks
// and values, and compared with a plain model of memory, findings and counts (memory::count_access, the oracle).
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "codegen/counter_layout.h"
#include "codegen/lane_class.h"
#include "events/events.h"
#include "exec/executor.h"
#include "memory/arena.h"
#include "memory/coalescer.h"
#include "ptx/module.h"

namespace warplens::lab {

/// What is compiled.
struct AccessPlan {
  ptx::Space space = ptx::Space::kGlobal;
  events::Access access = events::Access::kLoad;
  ptx::Type type = ptx::Type::kB32;
  unsigned elements = 1;
  bool narrow_address = false;  ///< 32-bit offsets (shared, local)
  codegen::LaneClass address;
  bool full_mask = true, may_be_empty = false, unguarded = true;
  bool uniform_value = false;  ///< store: the value is the same in all lanes
  bool events = false, avx512 = false;
  bool count = true;
  bool bounds = true;       ///< off: only for runs without findings
  bool many_sites = false;  ///< as in a large kernel, whose masked code is compact
  bool loop = false;        ///< `AccessRun::repeat` times, addresses moved on by `advance` bytes: for benchmarks
  unsigned bytes() const { return ptx::bytes_of(type) * elements; }
  std::string text() const;
};

/// What it runs on, and what comes out; read and written by the compiled function at fixed offsets.
struct AccessRun {
  uint64_t base = 0, scale = 0;
  uint64_t repeat = 1, advance = 0;
  uint32_t mask = ~uint32_t{0};
  uint32_t narrow[32] = {};
  alignas(64) uint64_t lanes[32] = {};    ///< addresses of the vector class
  alignas(64) uint8_t values[1024] = {};  ///< stored values / first operand: element by element, 32 lanes each
  alignas(64) uint8_t second[512] = {};   ///< second operand of atomics
  alignas(64) uint8_t loaded[1024] = {};  ///< results
  uint32_t result_is_uniform = 0;
};

using Compiled = void (*)(exec::WarpContext*, AccessRun*);

struct Outcome {
  std::optional<events::Finding> finding;
  events::LaunchCounts counts;
  std::vector<events::WarpAccess> events;
  std::vector<std::array<uint64_t, 32>> event_addresses;
};

/// Memory, launch and JIT; one for many accesses.
class MemoryLab {
 public:
  MemoryLab();
  ~MemoryLab();

  /// Compiles all plans into one module.
  std::vector<Compiled> compile(const std::vector<AccessPlan>& plans);
  /// Runs with fresh counters and ranges kept from earlier runs (`forget_ranges` drops them).
  Outcome run(Compiled code, const AccessPlan& plan, AccessRun& run);
  /// The same by the plain model: expected memory is written, `run.loaded` filled. `address`: of each lane.
  Outcome expect(const AccessPlan& plan, AccessRun& run, const std::array<uint64_t, 32>& address);
  void forget_ranges();

  /// The allocations (global), and the block's shared and the warp's local memory, as bytes.
  struct Region {
    uint64_t begin = 0, bytes = 0;
  };
  const std::vector<Region>& allocations() const { return allocations_; }
  exec::WarpContext& warp() { return warp_; }
  std::vector<uint8_t> snapshot() const;
  void restore(const std::vector<uint8_t>& bytes);
  bool avx512() const { return avx512_; }

 private:
  class Jit;
  uint8_t* host(events::Space space, uint64_t address, unsigned lane);
  std::optional<events::FindingKind> fault(events::Space space, uint64_t address, unsigned bytes) const;

  std::unique_ptr<Jit> jit_;
  std::unique_ptr<memory::Arena> arena_;
  std::vector<Region> allocations_;
  std::vector<uint8_t> shared_, local_;
  exec::WarpContext warp_;
  std::vector<exec::CachedRange> ranges_;
  std::vector<uint64_t> counters_;
  exec::LoadedKernel kernel_;
  ptx::Function function_;
  exec::LaunchRequest request_;
  exec::LaunchState launch_;
  bool avx512_ = false;
};

}  // namespace warplens::lab
