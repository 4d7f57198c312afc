// SPDX-License-Identifier: Apache-2.0
// The table. Exact: equal on the launches that an H200 counted (docs/fidelity.md has the cells that differ), as long as
// no access of that memory is itself an estimate (AccessSite::estimate) and no sample was taken; else an estimate.
#include "report/metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"

namespace warplens::report {
namespace {

using events::Access;
using Value = std::optional<double>;
using In = const MetricInput&;

Value whole(uint64_t n) { return static_cast<double>(n); }
Value ratio(uint64_t a, uint64_t b, double factor = 1) {
  return b == 0 ? Value() : factor * static_cast<double>(a) / static_cast<double>(b);
}
Value limit(In in, uint32_t gpu::Occupancy::* of) {
  if (!in.occupancy || in.occupancy->of.*of == gpu::kNoLimit) return std::nullopt;
  return in.occupancy->of.*of;
}

template <Memory kMemory, Access kAccess, uint64_t Traffic::* kMember>
Value sum(In in) {
  return whole(in.of(kMemory, kAccess).*kMember);
}
template <Memory kMemory, uint64_t Traffic::* kMember>
Value sum_all(In in) {
  return whole(in.all(kMemory).*kMember);
}
template <Memory kMemory, Access kAccess>
Value sectors_per_request(In in) {
  const Traffic t = in.of(kMemory, kAccess);
  return ratio(t.sectors, t.requests);
}
/// Bytes that threads asked for / bytes of the sectors: 32 of 32 when nothing is wasted.
template <Access kAccess>
Value bytes_per_sector(In in) {
  const Traffic t = in.of(Memory::kGlobal, kAccess);
  return ratio(t.bytes_asked, t.sectors);
}
template <Access kAccess>
Value bytes_per_sector_percent(In in) {
  const Traffic t = in.of(Memory::kGlobal, kAccess);
  return ratio(t.bytes_asked, t.sectors * kSectorBytes, 100);
}
/// The profiler asks for a place of an atomic once, however many threads share it.
uint64_t theoretical(const Traffic& t) { return t.sectors - t.repeated_sectors; }
Value theoretical_sectors(In in) { return whole(theoretical(in.all(Memory::kGlobal))); }
Value excessive_sectors(In in) {
  const Traffic t = in.all(Memory::kGlobal);
  return whole(theoretical(t) - t.ideal_sectors);
}
/// Of loads, stores and atomics, and the passes of atomics that go elsewhere.
Value shared_wavefronts(In in) {
  return whole(in.all(Memory::kShared).wavefronts + in.all(Memory::kGlobal).empty_wavefronts);
}
Value atomic_wavefronts(In in) {
  uint64_t sum = in.all(Memory::kGlobal).empty_wavefronts;
  for (const Access access : {Access::kAtomic, Access::kReduction}) sum += in.of(Memory::kShared, access).wavefronts;
  return whole(sum);
}
/// By source line the profiler leaves out passes that serve nobody.
Value serving_wavefronts(In in) { return whole(in.all(Memory::kShared).serving_wavefronts()); }
Value ideal_serving_wavefronts(In in) {
  const Traffic t = in.all(Memory::kShared);
  return whole(t.ideal_wavefronts - t.empty_wavefronts);
}
Value excessive_wavefronts(In in) { return whole(in.all(Memory::kShared).excess_wavefronts()); }
Value ways(In in) { return ratio(in.all(Memory::kShared).wavefronts, in.all(Memory::kShared).requests); }
Value shared_efficiency(In in) {
  const Traffic t = in.all(Memory::kShared);
  return ratio(t.bytes_asked, t.wavefronts * 128, 100);
}

constexpr auto kRequests = &Traffic::requests;
constexpr auto kSectors = &Traffic::sectors;
constexpr auto kWavefronts = &Traffic::wavefronts;

constexpr bool kExact = false, kEstimate = true;

std::vector<Metric> global_metrics() {
  constexpr Memory kG = Memory::kGlobal;
  return {
      {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
       "",
       "loads from global memory that a warp issued, those of cp.async included",
       kExact,
       {"global_load_requests"},
       sum<kG, Access::kLoad, kRequests>},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
       "",
       "stores to global memory that a warp issued",
       kExact,
       {"global_store_requests"},
       sum<kG, Access::kStore, kRequests>},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
       "",
       "atomics without a result that a warp issued",
       kExact,
       {"global_reduction_requests"},
       sum<kG, Access::kReduction, kRequests>},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
       "",
       "atomics with a result that a warp issued",
       kExact,
       {"global_atomic_requests"},
       sum<kG, Access::kAtomic, kRequests>},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
       "sector",
       "32-byte sectors that loads touched, by request",
       kExact,
       {"gld_transactions"},
       sum<kG, Access::kLoad, kSectors>},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
       "sector",
       "32-byte sectors that stores touched, by request",
       kExact,
       {"gst_transactions"},
       sum<kG, Access::kStore, kSectors>},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
       "sector",
       "sectors of atomics without a result, one for each thread where they share a place",
       kExact,
       {},
       sum<kG, Access::kReduction, kSectors>},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
       "sector",
       "sectors of atomics with a result, one for each thread where they share a place",
       kExact,
       {"atomic_transactions"},
       sum<kG, Access::kAtomic, kSectors>},
      {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
       "sector",
       "sectors of a load, on average",
       kExact,
       {"gld_transactions_per_request"},
       sectors_per_request<kG, Access::kLoad>},
      {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
       "sector",
       "sectors of a store, on average",
       kExact,
       {"gst_transactions_per_request"},
       sectors_per_request<kG, Access::kStore>},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
       "byte",
       "bytes that threads asked for in each sector of a load; bytes that several ask for count several times",
       kEstimate,
       {},
       bytes_per_sector<Access::kLoad>},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio",
       "byte",
       "the same of stores",
       kEstimate,
       {},
       bytes_per_sector<Access::kStore>},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
       "%",
       "of the 32 bytes of a sector, for loads",
       kEstimate,
       {"gld_efficiency"},
       bytes_per_sector_percent<Access::kLoad>},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
       "%",
       "the same of stores",
       kEstimate,
       {"gst_efficiency"},
       bytes_per_sector_percent<Access::kStore>},
      {"memory_l1_tag_requests_global",
       "",
       "128-byte lines that accesses to global memory touched, by request",
       kExact,
       {"memory_l1_sectors_global"},
       sum_all<kG, &Traffic::lines>},
      {"memory_l2_theoretical_sectors_global",
       "sector",
       "sectors that accesses to global memory would ask of L2 if L1 never hit, a place of an atomic once",
       kExact,
       {"memory_l2_sectors_global"},
       theoretical_sectors},
      {"memory_l2_theoretical_sectors_global_ideal",
       "sector",
       "what they would need with addresses side by side: min(sectors, ceil(active lanes x bytes / 32)) each",
       kExact,
       {"memory_l2_sectors_global_ideal"},
       sum_all<kG, &Traffic::ideal_sectors>},
      {"derived__memory_l2_theoretical_sectors_global_excessive",
       "sector",
       "the difference of the two",
       kExact,
       {"derived__memory_l2_sectors_global_excessive"},
       excessive_sectors},
  };
}

std::vector<Metric> shared_and_local_metrics() {
  constexpr Memory kS = Memory::kShared, kL = Memory::kLocal;
  return {
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
       "",
       "passes through shared memory",
       kEstimate,
       {},
       shared_wavefronts},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
       "",
       "passes of loads",
       kExact,
       {"shared_load_transactions"},
       sum<kS, Access::kLoad, kWavefronts>},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
       "",
       "passes of stores",
       kExact,
       {"shared_store_transactions"},
       sum<kS, Access::kStore, kWavefronts>},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
       "",
       "passes of atomics, those included that serve no thread because its memory is elsewhere",
       kEstimate,
       {},
       atomic_wavefronts},
      {"memory_l1_wavefronts_shared",
       "",
       "passes that the addresses need",
       kExact,
       {"memory_l1_sectors_shared"},
       serving_wavefronts},
      {"memory_l1_wavefronts_shared_ideal",
       "",
       "passes without conflicts: min(passes, ceil(active lanes x bytes / 128)) each",
       kExact,
       {"memory_l1_sectors_shared_ideal"},
       ideal_serving_wavefronts},
      {"derived__memory_l1_wavefronts_shared_excessive",
       "",
       "the difference of the two",
       kExact,
       {"derived__memory_l1_sectors_shared_excessive"},
       excessive_wavefronts},
      {"derived__memory_l1_conflicts_shared_nway",
       "",
       "passes of a request, on average; wide accesses need 2 or 4",
       kExact,
       {},
       ways},
      {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct",
       "%",
       "bytes that threads asked for, of the 128 of a pass",
       kEstimate,
       {"shared_efficiency"},
       shared_efficiency},
      {"smsp__inst_executed_op_shared_ld.sum",
       "inst",
       "loads from shared memory that warps issued",
       kEstimate,
       {"inst_executed_shared_loads", "shared_load"},
       sum<kS, Access::kLoad, kRequests>},
      {"smsp__inst_executed_op_shared_st.sum",
       "inst",
       "stores to shared memory that warps issued",
       kEstimate,
       {"inst_executed_shared_stores", "shared_store"},
       sum<kS, Access::kStore, kRequests>},
      {"smsp__inst_executed_op_global_ld.sum",
       "inst",
       "loads from global memory that warps issued",
       kEstimate,
       {"inst_executed_global_loads"},
       sum<Memory::kGlobal, Access::kLoad, kRequests>},
      {"smsp__inst_executed_op_global_st.sum",
       "inst",
       "stores to global memory that warps issued",
       kEstimate,
       {"inst_executed_global_stores"},
       sum<Memory::kGlobal, Access::kStore, kRequests>},
      {"l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
       "",
       "loads from local memory that warps issued",
       kEstimate,
       {"local_load_requests"},
       sum<kL, Access::kLoad, kRequests>},
      {"l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
       "",
       "stores to local memory that warps issued",
       kEstimate,
       {"local_store_requests"},
       sum<kL, Access::kStore, kRequests>},
      {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
       "sector",
       "sectors of loads from local memory",
       kEstimate,
       {"local_load_transactions"},
       sum<kL, Access::kLoad, kSectors>},
      {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
       "sector",
       "sectors of stores to local memory",
       kEstimate,
       {"local_store_transactions"},
       sum<kL, Access::kStore, kSectors>},
      {"memory_l2_theoretical_sectors_local",
       "sector",
       "sectors of local memory that L2 would see without L1",
       kEstimate,
       {"memory_l2_sectors_local"},
       sum_all<kL, kSectors>},
      {"idc__requests.sum",
       "",
       "passes of the constant cache that loads of constants take; the profiler has the kernel's parameters there, too",
       kEstimate,
       {},
       sum_all<Memory::kConstant, kWavefronts>},
  };
}

std::vector<Metric> launch_metrics() {
  return {
      {"launch__grid_size", "", "blocks", kExact, {}, [](In in) { return whole(in.shape.grid.count()); }},
      {"warplens__counted_blocks",
       "",
       "blocks that were counted; fewer than the grid has with --sample, whose counts are estimates for all",
       kExact,
       {},
       [](In in) { return whole(in.counted_blocks); }},
      {"launch__block_size", "", "threads of a block", kExact, {}, [](In in) { return whole(in.shape.block.count()); }},
      {"launch__thread_count",
       "thread",
       "threads",
       kExact,
       {},
       [](In in) { return whole(in.shape.grid.count() * in.shape.block.count()); }},
      {"launch__cluster_size",
       "",
       "blocks of a cluster",
       kExact,
       {},
       [](In in) { return whole(in.shape.cluster.count()); }},
      {"launch__shared_mem_per_block_static",
       "byte",
       "shared memory that the kernel declares",
       kExact,
       {},
       [](In in) { return whole(in.shape.static_shared_bytes); }},
      {"launch__shared_mem_per_block_dynamic",
       "byte",
       "shared memory that the launch adds",
       kExact,
       {},
       [](In in) { return whole(in.shape.dynamic_shared_bytes); }},
      {"launch__shared_mem_per_block_allocated",
       "byte",
       "both, with what is reserved, rounded up",
       kExact,
       {"launch__shared_mem_per_block"},
       [](In in) { return in.occupancy ? whole(in.occupancy->of.shared_per_block) : Value(); }},
      {"launch__registers_per_thread",
       "register/thread",
       "registers of a thread: exact where the GPU's assembler told them, else an estimate",
       kEstimate,
       {},
       [](In in) { return in.occupancy ? whole(in.occupancy->registers) : Value(); }},
      {"launch__occupancy_limit_blocks",
       "block",
       "blocks that an SM holds at most",
       kExact,
       {},
       [](In in) { return limit(in, &gpu::Occupancy::by_blocks); }},
      {"launch__occupancy_limit_warps",
       "block",
       "blocks that fit by their warps",
       kExact,
       {},
       [](In in) { return limit(in, &gpu::Occupancy::by_warps); }},
      {"launch__occupancy_limit_registers",
       "block",
       "blocks that fit by their registers; as exact as those",
       kEstimate,
       {},
       [](In in) { return limit(in, &gpu::Occupancy::by_registers); }},
      {"launch__occupancy_limit_shared_mem",
       "block",
       "blocks that fit by shared memory, in the carve-out that the driver chooses",
       kEstimate,
       {},
       [](In in) { return limit(in, &gpu::Occupancy::by_shared); }},
      {"launch__occupancy_limit_barriers",
       "block",
       "blocks that fit by hardware barriers",
       kEstimate,
       {},
       [](In in) { return limit(in, &gpu::Occupancy::by_barriers); }},
      {"launch__waves_per_multiprocessor",
       "",
       "how often all SMs are filled: blocks of the grid / (SMs x blocks of an SM)",
       kEstimate,
       {},
       [](In in) { return in.occupancy ? in.occupancy->waves : Value(); }},
      {"launch__shared_mem_config_size",
       "byte",
       "shared memory that the driver sets aside in an SM: exact on an H200, elsewhere an estimate",
       kEstimate,
       {},
       [](In in) { return in.occupancy ? whole(in.occupancy->of.carveout_kib * uint64_t{1024}) : Value(); }},
      {"sm__maximum_warps_per_active_cycle_pct",
       "%",
       "warps that an SM holds, of the most: theoretical occupancy",
       kEstimate,
       {},
       [](In in) { return in.occupancy ? Value(100 * in.occupancy->of.share) : Value(); }},
      {"smsp__inst_executed.sum",
       "inst",
       "PTX instructions that warps executed; the machine's may be more or fewer",
       kEstimate,
       {"inst_executed"},
       [](In in) { return whole(in.instructions); }},
      {"smsp__thread_inst_executed.sum",
       "inst",
       "the same, by active threads",
       kEstimate,
       {"thread_inst_executed"},
       [](In in) { return whole(in.thread_instructions); }},
  };
}

}  // namespace

Traffic MetricInput::all(Memory m) const {
  Traffic sum;
  for (const Traffic& t : by[static_cast<int>(m)]) sum += t;
  return sum;
}

MetricInput metric_input(const KernelRecord& kernel, const LaunchRecord& launch) {
  MetricInput in;
  in.shape = launch.shape;
  in.occupancy = launch.occupancy;
  in.counted_blocks = launch.sample ? launch.sample->counted_blocks : launch.shape.grid.count();
  const Totals totals = totals_of(kernel.info, *launch.counts);
  in.instructions = totals.instructions;
  in.thread_instructions = totals.lanes;
  for (size_t i = 0; i < kernel.info.sites.size() && i < launch.counts->sites.size(); ++i) {
    const events::AccessSite& site = kernel.info.sites[i];
    in.by[static_cast<int>(memory_of(site))][static_cast<int>(site.access)] +=
        traffic_of(site, launch.counts->sites[i]);
  }
  return in;
}

std::span<const Metric> metrics() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> joined;
    for (auto part : {global_metrics(), shared_and_local_metrics(), launch_metrics()})
      joined.insert(joined.end(), part.begin(), part.end());
    std::ranges::sort(joined, {}, &Metric::name);
    return joined;
  }();
  return all;
}

const Metric* find_metric(std::string_view name) {
  for (const Metric& m : metrics())
    if (m.name == name || (m.name.ends_with(".sum") && m.name.substr(0, m.name.size() - 4) == name) ||
        std::ranges::find(m.aliases, name) != m.aliases.end())
      return &m;
  return nullptr;
}

Result<std::vector<const Metric*>> metric_list(std::string_view names) {
  std::vector<const Metric*> found;
  Diagnostics faults;
  std::vector<std::string_view> known;
  for (const Metric& m : metrics()) {
    known.push_back(m.name);
    known.insert(known.end(), m.aliases.begin(), m.aliases.end());
  }
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const Metric* metric = find_metric(name);
    if (metric) {
      if (std::ranges::find(found, metric) == found.end()) found.push_back(metric);
      continue;
    }
    const std::string like = nearest(std::string(name), known);
    faults.push_back(make_error(fmt::format("there is no metric '{}'", name),
                                like.empty() ? "warplens metrics lists them" : "did you mean " + like + "?"));
  }
  if (!faults.empty()) return faults;
  if (found.empty()) return make_error("--metrics needs names, joined by commas", "warplens metrics lists them");
  return found;
}

}  // namespace warplens::report
