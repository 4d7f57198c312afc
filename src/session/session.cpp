// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "gpu/catalogue.h"
#include "ops/instruction_set.h"
#include "ptx/parser.h"

namespace warplens::session {
namespace {

void* host(uint64_t address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

uint32_t threads_of(const std::array<uint32_t, 3>& bound) {
  return bound[0] * std::max(bound[1], 1u) * std::max(bound[2], 1u);
}

gpu::LaunchShape shape_of(const Launch& launch, const exec::LoadedKernel& kernel) {
  const auto& bound = launch.entry->maxntid[0] != 0 ? launch.entry->maxntid : launch.entry->reqntid;
  return {.grid = {launch.grid.x, launch.grid.y, launch.grid.z},
          .block = {launch.block.x, launch.block.y, launch.block.z},
          .static_shared_bytes = kernel.static_shared_bytes,
          .dynamic_shared_bytes = launch.dynamic_shared_bytes,
          // What a program asks for with cudaFuncSetAttribute is given to a bare kernel without asking.
          .dynamic_shared_allowed = launch.dynamic_shared_bytes,
          .max_threads = bound[0] == 0 ? 0 : threads_of(bound)};
}

Diagnostic at_entry(const Launch& launch, const std::string& message, std::string hint = {}) {
  return make_error_at(launch.module->ptx().file_name, launch.entry->pos, message, std::move(hint));
}

std::string extents(const events::Dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); }

/// A launch shape that the kernel demands (.reqntid, .reqnctapercluster) must be given as it is.
void check_demanded(const Launch& launch, const std::array<uint32_t, 3>& demanded, const events::Dim3& given,
                    const char* directive, const char* option, Diagnostics& faults) {
  if (demanded[0] == 0) return;
  const events::Dim3 want{demanded[0], std::max(demanded[1], 1u), std::max(demanded[2], 1u)};
  if (want == given) return;
  faults.push_back(at_entry(
      launch, fmt::format("{} demands {} ({}), not {}", launch.entry->name, extents(want), directive, extents(given)),
      fmt::format("{} {}", option, extents(want))));
}

void check_cluster(const Launch& launch, const gpu::Gpu& gpu, Diagnostics& faults) {
  const events::Dim3 &g = launch.grid, &c = launch.cluster;
  if (c == events::Dim3{}) return;
  const uint64_t most = gpu.largest_cluster();
  if (c.count() == 0 || c.count() > most)
    faults.push_back(at_entry(launch, fmt::format("a cluster of {} is not possible; {} has 1 to {} blocks in one",
                                                  extents(c), gpu.name, most)));
  else if (g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0)
    faults.push_back(
        at_entry(launch, fmt::format("the grid {} is not a multiple of the cluster {}", extents(g), extents(c))));
}

}  // namespace

std::vector<const ptx::Function*> Module::entries() const {
  std::vector<const ptx::Function*> found;
  for (const ptx::Function& f : ptx().functions)
    if (f.is_entry && !f.is_declaration) found.push_back(&f);
  return found;
}

Session::Session(gpu::Gpu gpu, std::unique_ptr<memory::Arena> arena, const SessionOptions& options)
    : gpu_(std::move(gpu)), arena_(std::move(arena)), workers_(options.workers), told_registers_(options.registers) {
  if (options.cache) code_cache_ = exec::open_code_cache();
  exec::JitOptions jit;
  jit.cache = code_cache_;
  executor_ = options.executor == "interpreter" ? exec::make_interpreter() : exec::make_jit(jit);
  if (options.level == "ptx") level_ = exec::Level::kPtx;
  by_oracle_ = options.counting == "oracle";
  record_.gpu = gpu_.name;
}

Result<std::unique_ptr<Session>> Session::create(const SessionOptions& options) {
  if (options.executor != "jit" && options.executor != "interpreter")
    return make_error(fmt::format("the executor is jit or interpreter, not '{}'", options.executor));
  if (options.level != "machine" && options.level != "ptx")
    return make_error(fmt::format("the level is machine or ptx, not '{}'", options.level));
  if (options.counting != "fast" && options.counting != "oracle")
    return make_error(fmt::format("counting is fast or oracle, not '{}'", options.counting));
  auto gpu = gpu::find_gpu(options.gpu);
  if (!gpu) return gpu.error();
  auto arena = memory::Arena::create(gpu->memory_bytes);
  if (!arena) return arena.error();
  return std::unique_ptr<Session>(new Session(std::move(*gpu), std::move(*arena), options));
}

Result<Module*> Session::load(std::string text, const std::string& name) {
  auto parsed = ptx::parse(std::move(text), name, ops::instruction_set());
  if (!parsed) return parsed.error();
  auto module = std::make_unique<Module>();
  auto loaded = exec::load_module(std::make_shared<const ptx::Module>(std::move(*parsed)), *arena_);
  if (!loaded) return loaded.error();
  module->loaded_ = std::move(*loaded);
  modules_.push_back(std::move(module));
  return modules_.back().get();
}

Result<uint64_t> Session::allocate(uint64_t bytes) {
  if (bytes == 0) return uint64_t{0};
  if (const auto base = arena_->allocate(bytes)) return *base;
  return make_error(fmt::format("no device memory is left for {} bytes: {} of {} are used", bytes, arena_->used_bytes(),
                                arena_->capacity_bytes()));
}

Status Session::free(uint64_t address) {
  if (address == 0 || arena_->free(address)) return Done{};
  return make_error(fmt::format("no device memory begins at address {:#x}", address));
}

namespace {

Status check_range(const memory::Arena& arena, uint64_t address, uint64_t bytes) {
  const auto allocation = arena.contains(address) ? arena.find(address) : std::nullopt;
  if (!allocation) return make_error(fmt::format("{:#x} is not an address of allocated device memory", address));
  const uint64_t left = allocation->base + allocation->bytes - address;
  if (bytes <= left) return Done{};
  return make_error(fmt::format("{} bytes at {:#x} go {} bytes past the end of an allocation of {} bytes", bytes,
                                address, bytes - left, allocation->bytes));
}

}  // namespace

Status Session::copy_in(uint64_t to, const void* from, uint64_t bytes) {
  if (bytes == 0) return Done{};
  if (Status range = check_range(*arena_, to, bytes); !range) return range;
  std::memcpy(host(to), from, bytes);
  return Done{};
}

Status Session::copy_out(void* to, uint64_t from, uint64_t bytes) {
  if (bytes == 0) return Done{};
  if (Status range = check_range(*arena_, from, bytes); !range) return range;
  std::memcpy(to, host(from), bytes);
  return Done{};
}

Result<const exec::LoadedKernel*> Session::kernel(const Launch& launch) {
  auto& known = launch.module->kernels_[launch.entry];
  if (!known) {
    auto loaded = exec::load_kernel(launch.module->loaded_, *launch.entry, level_);
    if (!loaded) return loaded.error();
    known = std::move(*loaded);
  }
  return known.get();
}

Status Session::check(const Launch& launch) {
  const auto loaded = kernel(launch);
  if (!loaded) return loaded.error();
  Diagnostics faults;
  const gpu::LaunchShape shape = shape_of(launch, **loaded);
  check_demanded(launch, launch.entry->reqntid, launch.block, ".reqntid", "--block", faults);
  if (faults.empty())
    if (const auto fault = gpu::check_launch(gpu_, shape); fault != gpu::LaunchFault::kNone)
      faults.push_back(at_entry(launch, explain(fault, gpu_, shape)));
  if (const machine::ResourceUse& use = resources_of(**loaded); faults.empty() && !use.estimated)
    if (const std::string why = gpu::too_many_registers(gpu_, launch.block.count(), use.registers); !why.empty())
      faults.push_back(at_entry(launch, why, "fewer threads a block, or .maxntid (__launch_bounds__) in the kernel"));
  check_demanded(launch, launch.entry->reqcluster, launch.cluster, ".reqnctapercluster", "--cluster", faults);
  check_cluster(launch, gpu_, faults);
  if (!faults.empty()) return faults;
  return Done{};
}

const machine::ResourceUse& Session::resources_of(const exec::LoadedKernel& kernel) {
  const auto [it, fresh] = resources_.try_emplace(&kernel);
  if (fresh) {
    it->second = machine::resource_use(kernel.graph);
    const auto told = told_registers_.find(kernel.function->name);
    if (told != told_registers_.end()) it->second.set_registers(told->second);
  }
  return it->second;
}

Result<KernelNeeds> Session::needs(Module& module, const ptx::Function& entry) {
  Launch launch;
  launch.module = &module;
  launch.entry = &entry;
  const auto loaded = kernel(launch);
  if (!loaded) return loaded.error();
  return KernelNeeds{resources_of(**loaded), (*loaded)->static_shared_bytes, (*loaded)->local_bytes};
}

report::LaunchOccupancy Session::occupancy_of(const exec::LoadedKernel& kernel, const Launch& launch) {
  const machine::ResourceUse& use = resources_of(kernel);
  const gpu::OccupancyInput input = {.threads = static_cast<uint32_t>(launch.block.count()),
                                     .registers = use.registers,
                                     .shared_bytes = uint64_t{kernel.static_shared_bytes} + launch.dynamic_shared_bytes,
                                     .barriers = use.barriers};
  const uint32_t registers = std::max(use.registers, gpu_.least_registers_per_thread.value_or(0));
  const gpu::Occupancy of = gpu::occupancy(gpu_, input);
  return {of, registers, use.estimated, gpu::waves(gpu_, of, launch.grid.count())};
}

size_t Session::record_kernel(const exec::LoadedKernel& kernel, const ptx::Module& module) {
  const auto [it, fresh] = recorded_.try_emplace(&kernel, record_.kernels.size());
  if (fresh) record_.kernels.push_back(report::kernel_record(kernel.info, module.text));
  return it->second;
}

Result<const report::LaunchRecord*> Session::launch(const Launch& launch) {
  if (Status ready = check(launch); !ready) return ready.error();
  if (!launch.sample.valid())
    return make_error(
        fmt::format("a sample is a share of the blocks above 0 and up to 1, not {}", launch.sample.share));
  if (!launch.sample.all() && by_oracle_) return make_error("the oracle counts all blocks; it takes no sample");
  const exec::LoadedKernel& kernel = **this->kernel(launch);
  exec::LaunchRequest request;
  request.kernel = &kernel;
  request.grid = launch.grid;
  request.block = launch.block;
  request.cluster = launch.cluster;
  request.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  request.params = launch.parameters;
  request.params.resize(launch.entry->param_bytes);
  request.count = launch.count;
  request.by_oracle = by_oracle_;
  request.sample = launch.sample;
  request.listeners = launch.listeners;
  request.workers = workers_;
  request.id = launches_;
  request.progress = launch.progress;
  request.interrupt = launch.interrupt;
  request.print = launch.print;
  exec::LaunchOutcome outcome = exec::run_launch(request, *arena_, *executor_);
  if (!outcome.complete() && outcome.findings.front().kind == events::FindingKind::kUnsupported) {
    Diagnostics lacking;
    for (const events::Finding& f : outcome.findings)
      lacking.push_back(make_error(fmt::format("kernel {}: {}", f.kernel, f.message)));
    return lacking;
  }
  report::LaunchRecord record;
  record.id = launches_++;
  record.kernel = record_kernel(kernel, launch.module->ptx());
  record.shape = {launch.grid, launch.block, launch.cluster, kernel.static_shared_bytes, launch.dynamic_shared_bytes};
  record.param_bytes = launch.entry->param_bytes;
  record.seconds = outcome.seconds;
  record.code = exec::word(outcome.preparation.source);
  record.code_seconds = outcome.preparation.seconds;
  record.complete = outcome.complete();
  record.sample = outcome.sample;
  record.occupancy = occupancy_of(kernel, launch);
  if (launch.count) record.counts = std::make_shared<const events::LaunchCounts>(std::move(outcome.counts));
  record.findings = std::move(outcome.findings);
  record_.launches.push_back(std::move(record));
  notice({"code_cache", code_cache_ ? code_cache_->trouble() : std::string()});
  notice({"interpreted", outcome.preparation.slower});
  return &record_.launches.back();
}

/// Once, however often it is said.
void Session::notice(report::Notice said) {
  if (said.text.empty() || std::ranges::find(record_.notices, said) != record_.notices.end()) return;
  record_.notices.push_back(std::move(said));
}

}  // namespace warplens::session
