// SPDX-License-Identifier: Apache-2.0
// WarpContext: everything one warp can see. Generated code reads it at fixed offsets (codegen takes them from offsetof
// of this struct), the reference interpreter by name. No LLVM and no PTX here.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>

namespace warplens::exec {

class BlockRunner;
class JitPrepared;
struct LaunchState;

/// A range of device memory known to be allocated: generated code's bounds check compares with it first.
struct CachedRange {
  uint64_t begin = 1, end = 0;  ///< empty at first
  /// The same in the form of generated code: an access of 2^k bytes, the first of which `extent` bytes belong together,
  /// is inside when rotate_right(address - aligned_begin, k) < limit. The rotation makes misaligned addresses huge.
  uint64_t aligned_begin = 0, limit = 0;
};

struct WarpContext {
  // --- read by generated code on the hot path
  const uint8_t* params = nullptr;  ///< the launch's parameter block (PTX .param offsets)
  uint8_t* shared =
      nullptr;  ///< host address of the block's shared offset 0 (only [kSharedReservedBytes, shared_end) is valid)
  uint8_t* local = nullptr;  ///< host address of this warp's local memory: lane-interleaved, see local_byte()
  uint64_t shared_window = 0, local_window = 0, global_begin = 0;  ///< generic windows (memory/address_space.h)
  uint32_t shared_end = 0;            ///< first invalid shared offset: reserved + static + dynamic bytes
  uint32_t local_end = 0;             ///< bytes of local memory per thread
  const uint64_t* symbols = nullptr;  ///< device addresses of the module's variables, by index (.global, .const);
                                      ///< shared offsets for module-scope .shared
  uint64_t* counters = nullptr;       ///< where this warp counts: of worker_counters (layout: codegen/counter_layout.h)
  CachedRange* ranges = nullptr;      ///< this worker's cached allocation per access site
  uint32_t ntid[3] = {1, 1, 1};
  uint32_t nctaid[3] = {1, 1, 1};
  uint32_t ctaid[3] = {0, 0, 0};
  uint32_t entry_mask = 0;             ///< lanes that exist (the last warp of a block may be partial)
  uint32_t warp = 0;                   ///< index in the block
  uint32_t dynamic_shared_offset = 0;  ///< shared offset where extern (unsized) arrays begin
  uint32_t static_shared_offset = 0;   ///< shared offset of the first static variable
  alignas(64) uint32_t tid_x[32] = {};
  alignas(64) uint32_t tid_y[32] = {};
  alignas(64) uint32_t tid_z[32] = {};
  // --- slower paths
  const std::atomic<uint32_t>* stop =
      nullptr;                    ///< non-zero: the launch is being ended (timeout, Ctrl-C, fault elsewhere)
  BlockRunner* runner = nullptr;  ///< barriers, warp switches
  LaunchState* launch = nullptr;  ///< kernel, listeners, findings
  uint64_t block = 0;             ///< linear block index
  unsigned worker = 0;
  uint64_t* worker_counters = nullptr;
  const JitPrepared* code =
      nullptr;                     ///< that this warp runs: the launch's, or made from it later; the interpreter: null
  uint32_t waiting_pc = 0;         ///< of the barrier instruction that it last came to, for findings
  void* executor_state = nullptr;  ///< the interpreter's; kept from one warp to the next that uses this context
  void (*free_executor_state)(void*) = nullptr;
  /// Host addresses of the shared memory of the cluster's blocks, by rank; their number, and this block's rank.
  uint8_t* const* cluster_shared = nullptr;
  const uint8_t* cluster_ended = nullptr;  ///< by rank: 1 for blocks whose threads have all ended
  uint32_t cluster_size = 1, cluster_rank = 0;
  uint32_t cluster_ctaid[3] = {0, 0, 0}, cluster_nctaid[3] = {1, 1, 1}, clusterid[3] = {0, 0, 0},
           nclusterid[3] = {1, 1, 1};
};

/// Host offset of byte `offset` of lane `lane`'s local memory within its warp's: the same 4-byte word of all lanes is
/// one 128-byte line, as on the hardware (documented: local memory is interleaved by lane).
constexpr uint64_t local_byte(uint64_t offset, unsigned lane) { return (offset / 4) * 128 + lane * 4 + offset % 4; }

}  // namespace warplens::exec
