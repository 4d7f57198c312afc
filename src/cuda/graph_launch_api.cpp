// SPDX-License-Identifier: Apache-2.0
// Runtime functions that make graphs ready, change what the ready ones do, and launch them; and those that capture
// streams into graphs.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "cuda/capture.h"
#include "cuda/events.h"
#include "cuda/graph_calls.h"

namespace warplens::cuda {
namespace {

constexpr unsigned long long kInstantiateFlags =
    cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload | cudaGraphInstantiateFlagUseNodePriority;

cudaError_t instantiate(cudaGraphExec_t* to, cudaGraph_t handle, unsigned long long flags) {
  return with_graph(handle, [&](Device&, Graph& graph) {
    if (!to) return cudaErrorInvalidValue;
    if (flags & cudaGraphInstantiateFlagDeviceLaunch) return cudaErrorNotSupported;
    if (flags & ~kInstantiateFlags) return cudaErrorInvalidValue;
    auto executable = std::make_unique<ExecutableGraph>();
    executable->graph = clone(graph);
    executable->flags = flags;
    auto order = executable->graph->order();
    if (!order) return cudaErrorInvalidValue;  // its edges form a circle
    executable->order = std::move(*order);
    *to = handle_of(Graphs::instance().adopt(std::move(executable)));
    return cudaSuccess;
  });
}

/// The work of type T of the node of an executable graph that was made from `original`.
template <typename T, typename F>
cudaError_t with_executable_work(cudaGraphExec_t handle, cudaGraphNode_t original, F&& f) {
  return with_graph(handle, [&](Device& device, ExecutableGraph& graph) {
    Node* node = graph.find(reinterpret_cast<const Node*>(original));
    T* work = node ? std::get_if<T>(&node->work) : nullptr;
    return work ? f(device, *work) : cudaErrorInvalidValue;
  });
}

/// Where `graph` differs from `now` in more than what its nodes work on.
cudaGraphExecUpdateResult compare(const Graph& now, const Graph& graph, const Node*& at) {
  at = nullptr;
  if (now.nodes.size() != graph.nodes.size()) return cudaGraphExecUpdateErrorTopologyChanged;
  const auto place = [](const Graph& g, const Node* node) {
    return std::distance(g.nodes.begin(),
                         std::find_if(g.nodes.begin(), g.nodes.end(), [&](const Node& n) { return &n == node; }));
  };
  for (auto a = now.nodes.begin(), b = graph.nodes.begin(); a != now.nodes.end(); ++a, ++b) {
    at = &*b;
    if (a->type != b->type) return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (a->before.size() != b->before.size()) return cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t i = 0; i < a->before.size(); ++i)
      if (place(now, a->before[i]) != place(graph, b->before[i])) return cudaGraphExecUpdateErrorTopologyChanged;
    const auto *kernel_a = std::get_if<KernelWork>(&a->work), *kernel_b = std::get_if<KernelWork>(&b->work);
    if (kernel_a && kernel_b && kernel_a->arguments.size() != kernel_b->arguments.size())
      return cudaGraphExecUpdateErrorFunctionChanged;
  }
  at = nullptr;
  return cudaGraphExecUpdateSuccess;
}

void take_over(Graph& now, const Graph& graph) {
  for (auto [a, b] = std::pair(now.nodes.begin(), graph.nodes.begin()); a != now.nodes.end(); ++a, ++b) {
    a->work = b->work;
    a->original = &*b;
    if (auto* child = std::get_if<std::shared_ptr<Graph>>(&a->work)) *child = clone(**child);
    if (auto* kernel = std::get_if<KernelWork>(&a->work)) kernel->point();
  }
}

constexpr const char* kTypes[] = {"kernel", "copy",  "fill",           "host function",
                                  "graph",  "empty", "wait for event", "record event"};

std::string name_of(const Node& node) {
  if (const auto* kernel = std::get_if<KernelWork>(&node.work))
    if (const Function* function = Registry::instance().function(kernel->function)) return function->name;
  const auto type = static_cast<size_t>(node.type);
  return type < std::size(kTypes) ? kTypes[type] : node.type == cudaGraphNodeTypeMemAlloc ? "allocation" : "free";
}

std::string dot_of(const Graph& graph) {
  std::string text = "digraph graph_1 {\n";
  for (const Node& node : graph.nodes) text += fmt::format("  n{} [label=\"{}\"];\n", fmt::ptr(&node), name_of(node));
  for (const Node& node : graph.nodes)
    for (const Node* before : node.before) text += fmt::format("  n{} -> n{};\n", fmt::ptr(before), fmt::ptr(&node));
  return text + "}\n";
}

template <typename F>
cudaError_t with_stream(cudaStream_t handle, F&& f) {
  return with_device([&](Device& device) {
    const auto stream = stream_of(device, handle);
    return stream ? f(device, stream) : cudaErrorInvalidResourceHandle;
  });
}

/// Kept for the thread that asked: the runtime owns the list that it gives.
thread_local std::vector<cudaGraphNode_t> t_dependencies;

struct CaptureInfo {
  cudaStreamCaptureStatus* status;
  unsigned long long* id;
  cudaGraph_t* graph;
  const cudaGraphNode_t** dependencies;
  size_t* count;
};
cudaError_t capture_info(cudaStream_t handle, const CaptureInfo& to) {
  return with_stream(handle, [&](Device&, const std::shared_ptr<Stream>& stream) {
    if (!to.status) return cudaErrorInvalidValue;
    const auto state = Captures::instance().find(*stream);
    *to.status = cudaStreamCaptureStatusNone;
    if (!state) return cudaSuccess;
    *to.status = state->capture->spoiled ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
    if (to.id) *to.id = state->capture->id;
    if (to.graph) *to.graph = handle_of(*state->capture->graph);
    t_dependencies.clear();
    for (const Node* node : state->last) t_dependencies.push_back(handle_of(*node));
    if (to.dependencies) *to.dependencies = t_dependencies.data();
    if (to.count) *to.count = t_dependencies.size();
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace warplens::cuda

using namespace warplens::cuda;

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return instantiate(exec, graph, flags);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return instantiate(exec, graph, flags);
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphInstantiateParams* p) {
  if (!p) return remember(cudaErrorInvalidValue);
  const cudaError_t error = instantiate(exec, graph, p->flags);
  p->errNode_out = nullptr;
  p->result_out = error == cudaSuccess             ? cudaGraphInstantiateSuccess
                  : error == cudaErrorNotSupported ? cudaGraphInstantiateNodeOperationNotSupported
                                                   : cudaGraphInstantiateError;
  return error;
}
WARPLENS_ALIAS(cudaGraphInstantiateWithParams_ptsz, cudaGraphInstantiateWithParams);
WARPLENS_EXPORT cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  return with_graph(exec, [&](Device&, ExecutableGraph& graph) {
    if (!flags) return cudaErrorInvalidValue;
    *flags = graph.flags;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return with_graph(exec, [&](Device&, ExecutableGraph&) {
    return Graphs::instance().destroy(exec) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return with_graph(exec, [&](Device& device, ExecutableGraph&) {
    return stream_of(device, stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}
WARPLENS_ALIAS(cudaGraphUpload_ptsz, cudaGraphUpload);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  return with_graph(exec, [&](Device& device, ExecutableGraph& graph) {
    const auto stream = stream_of(device, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    const auto work = [&] { return std::shared_ptr<Graph>(clone(*graph.graph)); };
    if (const auto answer = captured(device, *stream, cudaGraphNodeTypeGraph, work)) return *answer;
    return submit(device, stream, handle, graph);
  });
}
WARPLENS_ALIAS(cudaGraphLaunch_ptsz, cudaGraphLaunch);

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
  return with_executable_work<KernelWork>(exec, node, [&](Device& device, KernelWork& work) {
    KernelWork by;
    if (!params) return cudaErrorInvalidValue;
    if (const cudaError_t error = work_of(device, *params, by); error != cudaSuccess) return error;
    return replace(device, work, std::move(by));
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                             const cudaMemcpy3DParms* params) {
  return with_executable_work<Copy>(exec, node, [&](Device& device, Copy& work) {
    Copy by;
    if (!params) return cudaErrorInvalidValue;
    if (const cudaError_t error = copy_of(*params, by); error != cudaSuccess) return error;
    return replace(device, work, by);
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* dst,
                                                               const void* src, size_t bytes, cudaMemcpyKind kind) {
  return with_executable_work<Copy>(
      exec, node, [&](Device& device, Copy& work) { return replace(device, work, plain_copy(dst, src, bytes, kind)); });
}
WARPLENS_EXPORT cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                             const cudaMemsetParams* params) {
  return with_executable_work<Fill>(exec, node, [&](Device& device, Fill& work) {
    Fill by;
    if (!params) return cudaErrorInvalidValue;
    if (const cudaError_t error = work_of(*params, by); error != cudaSuccess) return error;
    return replace(device, work, by);
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                           const cudaHostNodeParams* params) {
  return with_executable_work<HostWork>(exec, node, [&](Device& device, HostWork& work) {
    return params ? replace(device, work, HostWork{params->fn, params->userData}) : cudaErrorInvalidValue;
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                                 cudaEvent_t event) {
  return with_executable_work<EventWork>(
      exec, node, [&](Device& device, EventWork& work) { return replace(device, work, EventWork{event}); });
}
WARPLENS_ALIAS(cudaGraphExecEventWaitNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent);
WARPLENS_EXPORT cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                                 cudaGraph_t handle) {
  return with_executable_work<std::shared_ptr<Graph>>(exec, node, [&](Device&, std::shared_ptr<Graph>& child) {
    const Graph* graph = Graphs::instance().find(handle);
    const Node* at = nullptr;
    if (!graph || compare(*child, *graph, at) != cudaGraphExecUpdateSuccess) return cudaErrorInvalidValue;
    child = clone(*graph);
    return cudaSuccess;
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  return with_graph(exec, [&](Device&, ExecutableGraph& graph) {
    Node* known = graph.find(reinterpret_cast<const Node*>(node));
    const bool fits = known && (known->type == cudaGraphNodeTypeKernel || known->type == cudaGraphNodeTypeMemcpy ||
                                known->type == cudaGraphNodeTypeMemset);
    if (!fits) return cudaErrorInvalidValue;
    known->enabled = enabled != 0;
    return cudaSuccess;
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  return with_graph(exec, [&](Device&, ExecutableGraph& graph) {
    const Node* known = graph.find(reinterpret_cast<const Node*>(node));
    if (!known || !enabled) return cudaErrorInvalidValue;
    *enabled = known->enabled;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t handle, cudaGraphExecUpdateResultInfo* result) {
  return with_graph(exec, [&](Device&, ExecutableGraph& executable) {
    const Graph* graph = Graphs::instance().find(handle);
    if (!graph || !result) return cudaErrorInvalidValue;
    const Node* at = nullptr;
    *result = {compare(*executable.graph, *graph, at), nullptr, nullptr};
    if (at) result->errorNode = handle_of(*at);
    if (result->result != cudaGraphExecUpdateSuccess) return cudaErrorGraphExecUpdateFailure;
    take_over(*executable.graph, *graph);
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaGraphExecUpdate_v2, cudaGraphExecUpdate);

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char* path, unsigned int) {
  return with_graph(handle, [&](Device&, Graph& graph) {
    if (!path) return cudaErrorInvalidValue;
    std::ofstream out(path, std::ios::binary);
    return out << dot_of(graph) << std::flush ? cudaSuccess : cudaErrorOperatingSystem;
  });
}

// ---- capturing
cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return with_stream(handle, [&](Device& device, const std::shared_ptr<Stream>& stream) {
    if (static_cast<unsigned>(mode) > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
    if (stream.get() == &device.queues().legacy()) return cudaErrorStreamCaptureUnsupported;
    return Captures::instance().begin(*stream, mode, nullptr, {});
  });
}
WARPLENS_ALIAS(cudaStreamBeginCapture_ptsz, cudaStreamBeginCapture);
WARPLENS_EXPORT cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t into,
                                                          const cudaGraphNode_t* before, const cudaGraphEdgeData*,
                                                          size_t count, cudaStreamCaptureMode mode) {
  return with_stream(handle, [&](Device& device, const std::shared_ptr<Stream>& stream) {
    const std::lock_guard lock(Graphs::instance().mutex());
    Graph* graph = Graphs::instance().find(into);
    if (!graph || (count != 0 && !before) || static_cast<unsigned>(mode) > cudaStreamCaptureModeRelaxed)
      return cudaErrorInvalidValue;
    if (stream.get() == &device.queues().legacy()) return cudaErrorStreamCaptureUnsupported;
    std::vector<Node*> nodes;
    for (size_t i = 0; i < count; ++i) {
      nodes.push_back(Graphs::instance().find(before[i]));
      if (!nodes.back() || nodes.back()->graph != graph) return cudaErrorInvalidValue;
    }
    return Captures::instance().begin(*stream, mode, graph, std::move(nodes));
  });
}
WARPLENS_ALIAS(cudaStreamBeginCaptureToGraph_ptsz, cudaStreamBeginCaptureToGraph);
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return with_stream(handle, [&](Device&, const std::shared_ptr<Stream>& stream) {
    if (!graph) return cudaErrorInvalidValue;
    const std::lock_guard lock(Graphs::instance().mutex());
    return Captures::instance().end(*stream, *graph);
  });
}
WARPLENS_ALIAS(cudaStreamEndCapture_ptsz, cudaStreamEndCapture);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  if (!mode || static_cast<unsigned>(*mode) > cudaStreamCaptureModeRelaxed) return remember(cudaErrorInvalidValue);
  std::swap(*mode, thread_capture_mode());
  return cudaSuccess;
}
/// CUDA 13's arguments; CUDA 12's headers call the next two.
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  if (edges) *edges = nullptr;
  return capture_info(stream, {status, id, graph, dependencies, count});
}
WARPLENS_ALIAS(cudaStreamGetCaptureInfo_ptsz, cudaStreamGetCaptureInfo);
WARPLENS_ALIAS(cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo);
WARPLENS_ALIAS(cudaStreamGetCaptureInfo_v3_ptsz, cudaStreamGetCaptureInfo);
WARPLENS_EXPORT cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                        unsigned long long* id, cudaGraph_t* graph,
                                                        const cudaGraphNode_t** dependencies, size_t* count) {
  return capture_info(stream, {status, id, graph, dependencies, count});
}
WARPLENS_ALIAS(cudaStreamGetCaptureInfo_v2_ptsz, cudaStreamGetCaptureInfo_v2);
WARPLENS_EXPORT cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t handle, cudaGraphNode_t* nodes,
                                                                   const cudaGraphEdgeData*, size_t count,
                                                                   unsigned flags) {
  return with_stream(handle, [&](Device&, const std::shared_ptr<Stream>& stream) {
    const std::lock_guard lock(Graphs::instance().mutex());
    const auto state = Captures::instance().find(*stream);
    if (!state) return cudaErrorIllegalState;
    if ((count != 0 && !nodes) || flags > cudaStreamSetCaptureDependencies) return cudaErrorInvalidValue;
    std::vector<Node*> last;
    if (flags == cudaStreamAddCaptureDependencies) last = state->last;
    for (size_t i = 0; i < count; ++i) last.push_back(reinterpret_cast<Node*>(nodes[i]));
    const auto fits = [&](const Node* n) {
      const auto& all = state->capture->graph->nodes;
      return std::any_of(all.begin(), all.end(), [&](const Node& known) { return &known == n; });
    };
    if (!std::all_of(last.begin(), last.end(), fits)) return cudaErrorInvalidValue;
    Captures::instance().set_dependencies(*stream, std::move(last));
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamUpdateCaptureDependencies_v2_ptsz, cudaStreamUpdateCaptureDependencies_v2);
/// CUDA 12 gives no edge data here, CUDA 13 does.
WARPLENS_EXPORT cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                                void* third, size_t fourth, unsigned fifth) {
  if (kRuntimeMajor >= 13) return cudaStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, fourth, fifth);
  return cudaStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, reinterpret_cast<size_t>(third),
                                                static_cast<unsigned>(fourth));
}
WARPLENS_ALIAS(cudaStreamUpdateCaptureDependencies_ptsz, cudaStreamUpdateCaptureDependencies);
