// SPDX-License-Identifier: Apache-2.0
// What execution emits. Executors (interpreter, generated code) fill these structs; listeners (counters, traces, later
// caches and checks) receive them. Nothing here knows PTX or LLVM: an access site is a number with a description.
//
// A *machine access* is one warp-level memory instruction as the hardware would issue it. src/machine makes the list of
// them from PTX; each has one AccessSite. Executors emit one WarpAccess per execution of a site with at least one lane.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace warplens::events {

enum class Space : uint8_t { kGlobal, kShared, kLocal, kConst, kParam, kSharedCluster };
enum class Access : uint8_t { kLoad, kStore, kReduction, kAtomic };

/// How the GPU carries an access out, where that changes what it counts (memory/coalescer.h; src/machine decides).
enum class Form : uint8_t {
  kPlain,
  kMatrixRows,      ///< rows of a matrix, eight lanes at a time: loads never share a pass
  kIncrement,       ///< a shared-memory atomic that adds 1 and returns nothing: one pass a word
  kCompareAndSwap,  ///< of shared memory
  kRetried,         ///< a shared-memory atomic that the GPU has no instruction for: a loop around compare and swap
  kRetryLoads,      ///< the loads of that loop; their site is loads_site
  kCopy,            ///< what an asynchronous copy through the L1 writes: places read decide about its passes, too
  kPastL1,          ///< of shared memory, by other ways than the load and store unit: no passes
  kFolded,          ///< part of another site's wider access: nothing is counted here
};

/// When the active lanes of an atomic first combine their operands, for one of them to carry it out.
enum class Combined : uint8_t { kNever, kFullWarps, kAlways };

/// A place in a source file as the report shows it; line 0 = unknown.
struct Place {
  uint32_t file = 0;  ///< index into KernelInfo::files
  uint32_t line = 0, column = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

/// One machine access of a kernel.
struct AccessSite {
  uint32_t pc = 0;  ///< index into KernelInfo::pcs
  Space space = Space::kGlobal;
  Access access = Access::kLoad;
  uint8_t bytes =
      4;  ///< bytes each active lane asks for (element size x vector length): 1, 2, 4, 8, 16 (32 from sm_100)
  std::string parameter;  ///< name of the kernel parameter that the address comes from, when known
  bool generic = false;   ///< one of the sites of a generic access: see resolved_site
  Form form = Form::kPlain;
  Combined combined = Combined::kNever;
  bool estimate = false;  ///< the rule that its counts follow is not shown equal to a GPU's (docs/fidelity.md)
};

/// The lanes of `mask` that carry the access out.
constexpr uint32_t acting_lanes(const AccessSite& site, uint32_t mask) {
  if (site.form == Form::kFolded) return 0;
  const bool one = site.combined == Combined::kAlways || (site.combined == Combined::kFullWarps && mask == ~0u);
  return one ? mask & (~mask + 1) : mask;
}

/// A generic access has three sites, one after another: what goes to global, to shared and to local memory, so that
/// each is counted by the rules of its own memory.
constexpr uint32_t kGenericSites = 3;

/// Site of the lanes of an access that turned out to be in `space`; `first` is the access's first site.
constexpr uint32_t resolved_site(uint32_t first, bool generic, Space space) {
  if (!generic) return first;
  if (space == Space::kShared || space == Space::kSharedCluster) return first + 1;
  return space == Space::kLocal ? first + 2 : first;
}

/// Whether an atomic of shared memory has loads besides: in a loop around compare and swap. They are a site of their
/// own.
constexpr bool has_loads(const AccessSite& site) {
  return site.form == Form::kRetried ||
         (site.form == Form::kCompareAndSwap && site.space == Space::kShared && site.bytes < 4 && !site.generic);
}
/// That site: behind the access's own, of which a generic one has three, the middle one of shared memory.
constexpr uint32_t loads_site(uint32_t site, const AccessSite& description) {
  return site + (description.generic ? kGenericSites - 1 : 1);
}
/// Whether an atomic's address names any memory, or that of any block: its lanes pass through the shared memory's data
/// stage wherever they go (docs/memory-model.md).
constexpr bool names_any_memory(const AccessSite& site) {
  return site.form != Form::kPastL1 && (site.generic || site.space == Space::kSharedCluster) &&
         (site.access == Access::kAtomic || site.access == Access::kReduction || site.form == Form::kRetryLoads);
}

/// One PTX instruction as listeners and reports see it.
struct PcInfo {
  uint32_t ptx_line = 0;
  Place place;       ///< innermost place (may be in a header)
  Place user_place;  ///< outermost call site in inlined code: the user's line; equals `place` when not inlined
  std::string inlined_function;  ///< innermost inlined function, or empty
};

struct KernelInfo {
  std::string name;                ///< as in the PTX (mangled)
  std::vector<std::string> files;  ///< [0] = unknown
  std::string ptx_file;
  std::vector<PcInfo> pcs;  ///< by PTX instruction index
  std::vector<AccessSite> sites;
  /// Basic blocks as (first pc, number of instructions): execution counts come per block.
  std::vector<std::pair<uint32_t, uint32_t>> blocks;
};

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

struct LaunchInfo {
  uint64_t id = 0;  ///< counts launches of the process from 0
  const KernelInfo* kernel = nullptr;
  Dim3 grid, block, cluster;
  uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  unsigned workers = 1;
};

/// What the lanes of an atomic find and leave. How often one that is a loop around compare and swap goes round depends
/// on it.
class AtomicValues {
 public:
  virtual ~AtomicValues() = default;
  /// In memory at the lane's place before the access.
  virtual uint64_t before(unsigned lane) const = 0;
  /// What the lane makes of `old`.
  virtual uint64_t after(unsigned lane, uint64_t old) const = 0;
  /// Lanes that would leave memory as it is do not swap (min, max).
  virtual bool skips_unchanged() const = 0;
};

/// One execution of a site by one warp. address[lane] is meaningful for lanes in `mask`: for kGlobal/kConst the device
/// address, for kShared the byte offset in the block's shared window, for kLocal the lane's own byte offset.
struct WarpAccess {
  uint32_t site;
  uint32_t mask;
  uint64_t block;  ///< linear block index
  uint32_t warp;   ///< warp within the block
  Space space;     ///< resolved
  const std::array<uint64_t, 32>* address;
  /// Of an access by generic address: lanes of the same instruction, told of by another event, in the block's own
  /// shared memory and, if this one's are in global memory, in other blocks'.
  uint32_t beside = 0;
  /// Form::kCopy: the lanes that read something, and from which device addresses.
  uint32_t reading = 0;
  const std::array<uint64_t, 32>* source = nullptr;
  /// Form::kRetried, kRetryLoads: null stands for lanes that all change what they find.
  const AtomicValues* values = nullptr;
};

/// A basic block executed by a warp with `mask`.
struct BlockRun {
  uint32_t block_index;  ///< into KernelInfo::blocks
  uint32_t mask;
  uint64_t block;
  uint32_t warp;
};

struct BarrierArrive {
  uint32_t pc;
  uint32_t barrier;
  uint32_t mask;
  uint64_t block;
  uint32_t warp;
};

enum class FindingKind : uint8_t {
  kOutOfBounds,
  kNullPointer,
  kMisaligned,
  kTrap,
  kAssert,
  kInterrupted,
  kTimeout,
  kDeadlock,
  kUnsupported,
  kDivergentBarrier,  ///< what an aligned barrier does for a part of a warp is undefined
};
/// Whether a launch ends there. Records hold the numbers of kinds, so new ones come last.
constexpr bool ends_launch(FindingKind kind) { return kind != FindingKind::kDivergentBarrier; }

/// The program under test misbehaves.
struct Finding {
  FindingKind kind;
  std::string kernel;
  uint32_t pc = 0;
  Place place;
  std::string file;  ///< of `place`
  uint64_t block = 0;
  Dim3 block_index, thread_index;  ///< of the first offending lane
  uint32_t lane = 0;
  uint64_t address = 0;
  uint32_t bytes = 0;
  std::string message;  ///< one sentence in plain words
};

/// Counts per launch that any executor can deliver without a listener call per event: what the fused counting of
/// generated code accumulates, and what CounterListener computes from WarpAccess events. One per AccessSite.
struct SiteCounts {
  uint64_t requests = 0;          ///< executions with at least one active lane
  uint64_t lanes = 0;             ///< active lanes, summed
  uint64_t sectors = 0;           ///< 32-byte sectors, summed (global, local, another block's shared memory)
  uint64_t lines = 0;             ///< distinct 128-byte lines, summed
  uint64_t ideal_sectors = 0;     ///< sum of min(sectors, ceil(lanes x bytes / 32))
  uint64_t wavefronts = 0;        ///< shared memory passes, summed; of constant memory those of its cache
  uint64_t ideal_wavefronts = 0;  ///< sum of min(wavefronts, ceil(lanes x bytes / 128))
  uint64_t repeated_sectors = 0;  ///< of the sectors: those that atomics ask for again, since lanes share a place
  uint64_t empty_wavefronts = 0;  ///< of the wavefronts: without a lane in the block's own memory (names_any_memory)
  SiteCounts& operator+=(const SiteCounts& o);
  friend bool operator==(const SiteCounts&, const SiteCounts&) = default;
};
struct BlockCounts {
  uint64_t warps = 0;  ///< warp executions
  uint64_t lanes = 0;  ///< active lanes, summed
  BlockCounts& operator+=(const BlockCounts& o);
  friend bool operator==(const BlockCounts&, const BlockCounts&) = default;
};
struct LaunchCounts {
  std::vector<SiteCounts> sites;    ///< by AccessSite
  std::vector<BlockCounts> blocks;  ///< by KernelInfo::blocks
  friend bool operator==(const LaunchCounts&, const LaunchCounts&) = default;
};

enum Interest : uint32_t { kLaunches = 1, kAccesses = 2, kBlocks = 4, kBarriers = 8 };

/// Receives events. `worker` < LaunchInfo::workers tells which thread calls; calls of one worker are sequential,
/// different workers call at the same time, so a listener keeps state per worker and joins it in on_launch_end.
class Listener {
 public:
  virtual ~Listener() = default;
  /// Which events to send (Interest bits). Asked once before each launch.
  virtual uint32_t interest() const = 0;
  virtual void on_launch_begin(const LaunchInfo&) {}
  virtual void on_access(unsigned /*worker*/, const WarpAccess&) {}
  virtual void on_block_run(unsigned /*worker*/, const BlockRun&) {}
  virtual void on_barrier(unsigned /*worker*/, const BarrierArrive&) {}
  virtual void on_launch_end(const LaunchInfo&) {}
};

}  // namespace warplens::events
