// SPDX-License-Identifier: Apache-2.0
// See launch.h. Limits are the GPU file's; which error a broken limit gives differs by major version of the runtime
// (CUDA 12: invalid configuration, as documented; CUDA 13: invalid value, observed on an H200 with driver 580).
#include "cuda/launch.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <fstream>

#include "cuda/capture.h"
#include "cuda/entry.h"
#include "cuda/interruption.h"
#include "cuda/kernel_occupancy.h"
#include "memory/trace_listener.h"

namespace warplens::cuda {
namespace {

uint64_t count(const dim3& d) { return uint64_t{d.x} * d.y * d.z; }
/// The launch does not say what a cluster is.
bool no_cluster_given(const LaunchCall& call) { return call.cluster.x == 0; }

/// What the kernel was compiled for (__cluster_dims__); 1 x 1 x 1 when for nothing.
events::Dim3 demanded_cluster(const ptx::Function& function) {
  const auto& demanded = function.reqcluster;
  return {std::max(demanded[0], 1u), std::max(demanded[1], 1u), std::max(demanded[2], 1u)};
}

events::Dim3 cluster_of(const LaunchCall& call, const ptx::Function& function) {
  if (no_cluster_given(call)) return demanded_cluster(function);
  return {call.cluster.x, call.cluster.y, call.cluster.z};
}

gpu::LaunchShape shape_of(const LaunchCall& call, const Function& function, const exec::LoadedKernel& kernel) {
  const auto& bound = function.ptx->maxntid[0] != 0 ? function.ptx->maxntid : function.ptx->reqntid;
  uint32_t max_threads = 0;
  if (bound[0] != 0) max_threads = bound[0] * std::max(bound[1], 1u) * std::max(bound[2], 1u);
  const events::Dim3 cluster = cluster_of(call, *function.ptx);
  return {.grid = {call.grid.x, call.grid.y, call.grid.z},
          .block = {call.block.x, call.block.y, call.block.z},
          .static_shared_bytes = kernel.static_shared_bytes,
          .dynamic_shared_bytes = call.shared_bytes,
          .dynamic_shared_allowed = function.dynamic_shared_allowed,
          .max_threads = max_threads,
          .cluster = {cluster.x, cluster.y, cluster.z},
          .any_cluster_size = function.any_cluster_size};
}

cudaError_t error_of(gpu::LaunchFault fault) {
  switch (fault) {
    case gpu::LaunchFault::kNone: return cudaSuccess;
    case gpu::LaunchFault::kZero:
    case gpu::LaunchFault::kBlockTooLarge:
    case gpu::LaunchFault::kGridTooLarge:
      return kRuntimeMajor >= 13 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;
    case gpu::LaunchFault::kClusterTooLarge:
    case gpu::LaunchFault::kClusterDoesNotDivide: return cudaErrorInvalidClusterSize;
    case gpu::LaunchFault::kSharedTooLarge:
    case gpu::LaunchFault::kThreadsOverBound: return cudaErrorInvalidValue;
  }
  return cudaErrorUnknown;
}

std::vector<uint8_t> pack(const ptx::Function& function, void** arguments) {
  std::vector<uint8_t> block(function.param_bytes);
  for (size_t i = 0; i < function.params.size(); ++i) {
    const ptx::Param& param = function.params[i];
    std::memcpy(block.data() + param.offset, arguments[i], param.bytes);
  }
  return block;
}

cudaError_t error_of(events::FindingKind kind) {
  switch (kind) {
    case events::FindingKind::kOutOfBounds:
    case events::FindingKind::kNullPointer: return cudaErrorIllegalAddress;
    case events::FindingKind::kMisaligned: return cudaErrorMisalignedAddress;
    case events::FindingKind::kAssert: return cudaErrorAssert;
    case events::FindingKind::kTimeout: return cudaErrorLaunchTimeout;
    default: return cudaErrorLaunchFailure;
  }
}

/// "out of bounds ... at file:line:column, block (0,0,0), thread (3,0,0)".
std::string describe(const events::Finding& f) {
  std::string text = fmt::format("kernel {}: {}", f.kernel, f.message);
  if (f.place.line != 0) text += fmt::format(", at {}:{}:{}", f.file, f.place.line, f.place.column);
  if (f.kind == events::FindingKind::kInterrupted || f.kind == events::FindingKind::kTimeout) return text;
  const auto &b = f.block_index, &t = f.thread_index;
  return text + fmt::format(", block ({},{},{}), thread ({},{},{})", b.x, b.y, b.z, t.x, t.y, t.z);
}

/// A launch that waits in its queue.
struct Prepared {
  exec::LaunchRequest request;
  std::string_view ptx;
  bool selected = false;  ///< counted
  std::optional<report::LaunchOccupancy> occupancy;
};

void append_trace(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::app | std::ios::binary);
  if (!(out << text << std::flush)) say(fmt::format("cannot write the trace file {}", path));
}

report::LaunchEvent event_of(const Prepared& launch) {
  const exec::LaunchRequest& r = launch.request;
  report::LaunchEvent event;
  event.kernel = &r.kernel->info;
  event.ptx = launch.ptx;
  event.id = r.id;
  event.shape = {r.grid, r.block, r.cluster, r.kernel->static_shared_bytes, r.dynamic_shared_bytes};
  event.param_bytes = r.params.size();
  event.occupancy = launch.occupancy;
  return event;
}

void record_end(Device& device, const Prepared& launch, const exec::LaunchOutcome& outcome) {
  report::LaunchEvent event = event_of(launch);
  event.seconds = outcome.seconds;
  event.code = exec::word(outcome.preparation.source);
  event.code_seconds = outcome.preparation.seconds;
  event.counts = launch.request.count ? &outcome.counts : nullptr;
  event.sample = outcome.sample.get();
  event.findings = outcome.findings;
  event.complete = outcome.complete();
  device.session().records()->end_launch(event);
  const std::string trouble = device.cache_trouble();
  if (!trouble.empty()) device.session().records()->notice("code_cache", trouble);
  const std::string& slower = outcome.preparation.slower;
  if (!slower.empty()) device.session().records()->notice("interpreted", slower);
}

void fail(Device& device, const exec::LaunchOutcome& outcome) {
  const events::Finding& first = outcome.findings.front();
  if (first.kind == events::FindingKind::kUnsupported) {
    Diagnostics errors;
    for (const events::Finding& finding : outcome.findings)
      errors.push_back(make_error(fmt::format("kernel {}: {}", finding.kernel, finding.message)));
    give_up(errors);
  }
  device.set_sticky(error_of(first.kind));
}

void tell(Device& device, const exec::LaunchOutcome& outcome) {
  if (device.session().records()) return;  // the tool reports them
  for (const events::Finding& finding : outcome.findings) say(describe(finding));
}

/// While it lives, the launch's progress is on the terminal, if that is wanted.
class ShownProgress {
 public:
  ShownProgress(Session& session, exec::LaunchRequest& request) : watcher_(session.progress()) {
    if (watcher_ == nullptr) return;
    request.progress = &progress_;
    watcher_->begin({request.kernel->info.name, request.grid.count(), (request.block.count() + 31) / 32,
                     [this] { return progress_.done(); }, [this] { return progress_.seconds(); }});
  }
  ~ShownProgress() {
    if (watcher_ != nullptr) watcher_->end();
  }
  ShownProgress(const ShownProgress&) = delete;
  ShownProgress& operator=(const ShownProgress&) = delete;

 private:
  report::ProgressWatcher* watcher_;
  exec::LaunchProgress progress_;
};

/// On the engine thread.
void execute(Device& device, Prepared& launch) {
  if (device.sticky() != cudaSuccess) return;  // a fault before this one ended the work of the device
  // Launches that are not selected are recorded too, without counts.
  const bool recorded = device.session().records() != nullptr;
  if (recorded) device.session().records()->begin_launch(event_of(launch));
  memory::TraceListener trace(device.arena().space().global_begin());
  const std::string& trace_file = device.session().options().trace;
  if (launch.selected && !trace_file.empty()) launch.request.listeners.push_back(&trace);

  exec::LaunchOutcome outcome;
  {
    const RunningLaunch running;
    launch.request.interrupt = running.flag();
    const ShownProgress shown(device.session(), launch.request);
    outcome = exec::run_launch(launch.request, device.arena(), device.executor());
  }
  if (launch.selected && !trace_file.empty()) append_trace(trace_file, trace.text());
  if (recorded) record_end(device, launch, outcome);
  if (!outcome.complete()) fail(device, outcome);
  tell(device, outcome);
  end_by_signal();
}

}  // namespace

cudaError_t find_function(const void* host, Function*& to) {
  if (!host) return cudaErrorInvalidDeviceFunction;
  to = Registry::instance().function(host);
  if (to) return cudaSuccess;
  // Observed with CUDA 13; CUDA 12 documents the other.
  return kRuntimeMajor >= 13 ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
}

const ptx::Function& ptx_of(Device& device, Function& function) {
  const auto found = Registry::instance().find_ptx(function, device.arena(), device.target());
  if (!found) give_up(found.error());
  return **found;
}

const exec::LoadedKernel& kernel_of(Device& device, Function& function) {
  const auto kernel = Registry::instance().load(function, device.arena(), device.target(), device.level());
  if (!kernel) give_up(kernel.error(), function.binary->parsed ? function.binary->parsed->text : std::string_view());
  return **kernel;
}

uint64_t resident_blocks(Device& device, Function& function, uint64_t threads, uint64_t dynamic_shared_bytes) {
  return uint64_t{occupancy_of(device, function, threads, dynamic_shared_bytes).blocks_per_sm} *
         static_cast<uint64_t>(device.gpu().sms);
}

namespace {

void say_refused(Device& device, const Function& function, const std::string& why) {
  const std::string text = fmt::format("launch of {} refused: {}", function.name, why);
  if (auto* records = device.session().records())
    records->notice("launch_refused", text);
  else
    say(text);
}

/// Empty, or why the cluster that the launch names is not the one the kernel was compiled for.
std::string other_cluster(const LaunchCall& call, const ptx::Function& function) {
  const events::Dim3 given = cluster_of(call, function), demanded = demanded_cluster(function);
  if (function.reqcluster[0] == 0 || given == demanded) return {};
  return fmt::format("a cluster of {} x {} x {}, and the kernel was compiled for {} x {} x {} (__cluster_dims__)",
                     given.x, given.y, given.z, demanded.x, demanded.y, demanded.z);
}

cudaError_t check_shape(Device& device, Function& function, const LaunchCall& call) {
  const gpu::LaunchShape shape = shape_of(call, function, kernel_of(device, function));
  if (const auto fault = gpu::check_launch(device.gpu(), shape); fault != gpu::LaunchFault::kNone) {
    say_refused(device, function, explain(fault, device.gpu(), shape));
    return error_of(fault);
  }
  if (const std::string why = other_cluster(call, *function.ptx); !why.empty()) {
    say_refused(device, function, why);
    return cudaErrorInvalidClusterSize;
  }
  if (!call.arguments && !function.ptx->params.empty()) return cudaErrorInvalidValue;
  // An estimate of the registers is no reason to refuse.
  if (const machine::ResourceUse& use = resources_of(device, function); !use.estimated)
    if (const std::string why = gpu::too_many_registers(device.gpu(), count(call.block), use.registers); !why.empty()) {
      say_refused(device, function, why);
      return cudaErrorLaunchOutOfResources;
    }
  const uint64_t resident = resident_blocks(device, function, count(call.block), call.shared_bytes);
  if (call.cooperative && count(call.grid) > resident) {
    say_refused(device, function,
                fmt::format("a cooperative launch of {} blocks, of which {} holds {} at once", count(call.grid),
                            device.gpu().name, resident));
    return cudaErrorCooperativeLaunchTooLarge;
  }
  return cudaSuccess;
}

KernelWork captured_work(Device& device, Function& function, const LaunchCall& call) {
  KernelWork work = {call.function, call.grid, call.block, call.cluster, call.shared_bytes, call.cooperative, {}, {}};
  const auto& params = ptx_of(device, function).params;
  for (size_t i = 0; i < params.size(); ++i) {
    const auto* bytes = static_cast<const uint8_t*>(call.arguments[i]);
    work.arguments.emplace_back(bytes, bytes + params[i].bytes);
  }
  return work;
}

}  // namespace

cudaError_t check_launch(Device& device, const LaunchCall& call) {
  Function* function = nullptr;
  if (const cudaError_t error = find_function(call.function, function); error != cudaSuccess) return error;
  return check_shape(device, *function, call);
}

cudaError_t launch(Device& device, const LaunchCall& call) {
  Function* function = nullptr;
  if (const cudaError_t error = find_function(call.function, function); error != cudaSuccess) return error;
  const auto stream = stream_of(device, call.stream);
  if (!stream) return cudaErrorInvalidResourceHandle;
  const exec::LoadedKernel& kernel = kernel_of(device, *function);
  if (const cudaError_t error = check_shape(device, *function, call); error != cudaSuccess) return error;
  const auto work = [&] { return captured_work(device, *function, call); };
  if (const auto answer = captured(device, *stream, cudaGraphNodeTypeKernel, work)) return *answer;

  auto prepared = std::make_shared<Prepared>();
  prepared->ptx = function->binary->parsed->text;
  prepared->selected = device.session().select(function->name);
  if (device.session().records())
    prepared->occupancy = launch_occupancy(device, *function, count(call.grid), count(call.block), call.shared_bytes);
  exec::LaunchRequest& request = prepared->request;
  request.kernel = &kernel;
  request.grid = {call.grid.x, call.grid.y, call.grid.z};
  request.block = {call.block.x, call.block.y, call.block.z};
  request.cluster = cluster_of(call, *kernel.function);
  request.dynamic_shared_bytes = static_cast<uint32_t>(call.shared_bytes);
  request.params = pack(*function->ptx, call.arguments);
  request.count = prepared->selected && device.session().options().count;
  request.by_oracle = device.session().options().counting == "oracle";
  request.sample = device.session().options().sample;
  request.workers = device.session().options().workers;
  request.id = device.next_launch();
  request.resident_blocks = resident_blocks(device, *function, count(call.block), call.shared_bytes);
  if (call.cooperative) request.grid_workspace = device.grid_workspace();
  // What listens to a launch needs other code, made when its turn comes.
  const bool listened = !device.session().options().trace.empty() || request.by_oracle;
  if (!prepared->selected || !listened) device.executor().prepare_ahead(request);
  device.queues().push(*stream, Engine::kKernel, [&device, prepared] { execute(device, *prepared); });
  return cudaSuccess;
}

}  // namespace warplens::cuda
