// SPDX-License-Identifier: Apache-2.0
// Runtime functions that make graphs and nodes, and read and change what nodes do. A node's work is checked when it is
// described, as far as that is possible then.
#include <algorithm>
#include <cstring>

#include "cuda/events.h"
#include "cuda/graph_calls.h"
#include "cuda/pool.h"

namespace warplens::cuda {

cudaError_t work_of(Device& device, const cudaKernelNodeParams& p, KernelWork& to) {
  Function* function = nullptr;
  if (const cudaError_t error = find_function(p.func, function); error != cudaSuccess) return error;
  to = {p.func, p.gridDim, p.blockDim, {0, 0, 0}, p.sharedMemBytes, false, {}, {}};
  const auto& params = ptx_of(device, *function).params;
  if (p.extra || (!p.kernelParams && !params.empty())) return cudaErrorInvalidValue;
  for (size_t i = 0; i < params.size(); ++i) {
    const auto* bytes = static_cast<const uint8_t*>(p.kernelParams[i]);
    to.arguments.emplace_back(bytes, bytes + params[i].bytes);
  }
  to.point();
  return cudaSuccess;
}

cudaError_t work_of(const cudaMemsetParams& p, Fill& to) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return cudaErrorInvalidValue;
  to = {.pointer = p.dst,
        .pitch = p.height > 1 ? p.pitch : p.width * p.elementSize,
        .width = p.width * p.elementSize,
        .height = p.height,
        .value = p.value,
        .element_bytes = p.elementSize};
  return cudaSuccess;
}

namespace {

/// The nodes of `handles`, if all of them are `graph`'s and differ.
std::optional<std::vector<Node*>> nodes_of(Graph& graph, const cudaGraphNode_t* handles, size_t count) {
  std::vector<Node*> nodes;
  if (count != 0 && !handles) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    Node* node = Graphs::instance().find(handles[i]);
    if (!node || node->graph != &graph || std::find(nodes.begin(), nodes.end(), node) != nodes.end())
      return std::nullopt;
    nodes.push_back(node);
  }
  return nodes;
}

/// Adds a node whose work `describe` fills in.
template <typename F>
cudaError_t add(cudaGraphNode_t* to, cudaGraph_t handle, const cudaGraphNode_t* before, size_t count,
                cudaGraphNodeType type, F&& describe) {
  return with_graph(handle, [&](Device& device, Graph& graph) {
    auto nodes = nodes_of(graph, before, count);
    Work work;
    if (!to || !nodes) return cudaErrorInvalidValue;
    if (const cudaError_t error = describe(device, work); error != cudaSuccess) return error;
    if (const cudaError_t error = check(device, work); error != cudaSuccess) return error;
    *to = handle_of(graph.add(type, std::move(*nodes), std::move(work)));
    return cudaSuccess;
  });
}

/// Gives or replaces the work of a node that does work of type T.
template <typename T, typename F>
cudaError_t with_work(cudaGraphNode_t handle, F&& f) {
  return with_graph(handle, [&](Device& device, Node& node) {
    T* work = std::get_if<T>(&node.work);
    return work ? f(device, *work) : cudaErrorInvalidValue;
  });
}

/// Fills `list` with as many handles as fit into *count and sets *count to how many that were; without a list, to how
/// many there are.
template <typename List>
cudaError_t give(const List& nodes, cudaGraphNode_t* list, size_t* count) {
  if (!count) return cudaErrorInvalidValue;
  size_t i = 0;
  if (list)
    for (const Node* node : nodes)
      if (i < *count) list[i++] = handle_of(*node);
  if (list)
    for (size_t k = i; k < *count; ++k) list[k] = nullptr;
  *count = list ? i : nodes.size();
  return cudaSuccess;
}

std::vector<const Node*> all_nodes(const Graph& graph) {
  std::vector<const Node*> all;
  for (const Node& node : graph.nodes) all.push_back(&node);
  return all;
}

std::vector<std::pair<const Node*, const Node*>> edges_of(const Graph& graph) {
  std::vector<std::pair<const Node*, const Node*>> edges;
  for (const Node& node : graph.nodes)
    for (const Node* before : node.before) edges.emplace_back(before, &node);
  return edges;
}

/// Adds or removes edges. CUDA 13 gives edge data before the count, CUDA 12 does not.
enum class Edges : uint8_t { kAdd, kRemove };
cudaError_t change_edges(Edges change, cudaGraph_t handle, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                         size_t count) {
  return with_graph(handle, [&](Device&, Graph& graph) {
    if (count != 0 && (!from || !to)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      Node *a = Graphs::instance().find(from[i]), *b = Graphs::instance().find(to[i]);
      if (!a || !b || a == b || a->graph != &graph || b->graph != &graph) return cudaErrorInvalidValue;
      const bool exists = std::find(b->before.begin(), b->before.end(), a) != b->before.end();
      if (exists != (change == Edges::kRemove)) return cudaErrorInvalidValue;
      if (change == Edges::kRemove)
        std::erase(b->before, a);
      else
        b->before.push_back(a);
    }
    return cudaSuccess;
  });
}

size_t count_of(const void* fourth, size_t fifth) {
  return kRuntimeMajor >= 13 ? fifth : reinterpret_cast<size_t>(fourth);
}
template <typename T>
T* pointer_of(void* fourth, T* fifth) {
  return kRuntimeMajor >= 13 ? fifth : static_cast<T*>(fourth);
}

}  // namespace
}  // namespace warplens::cuda

using namespace warplens::cuda;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  return with_device([&](Device&) {
    if (!graph || flags != 0) return cudaErrorInvalidValue;
    const std::lock_guard lock(Graphs::instance().mutex());
    *graph = handle_of(Graphs::instance().make());
    return cudaSuccess;
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  return with_graph(handle, [&](Device&, Graph&) {
    return Graphs::instance().destroy(handle) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
cudaError_t cudaGraphClone(cudaGraph_t* to, cudaGraph_t handle) {
  return with_graph(handle, [&](Device&, Graph& graph) {
    if (!to) return cudaErrorInvalidValue;
    *to = handle_of(Graphs::instance().adopt(clone(graph)));
    return cudaSuccess;
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* to, cudaGraphNode_t original,
                                                     cudaGraph_t handle) {
  return with_graph(handle, [&](Device&, Graph& graph) {
    if (!to) return cudaErrorInvalidValue;
    for (const Node& node : graph.nodes) {
      if (!original || handle_of(*(node.original ? node.original : &node)) != original) continue;
      *to = handle_of(node);
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                   size_t count, const cudaKernelNodeParams* params) {
  return add(node, graph, before, count, cudaGraphNodeTypeKernel, [&](Device& device, Work& work) {
    return params ? work_of(device, *params, work.emplace<KernelWork>()) : cudaErrorInvalidValue;
  });
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                   size_t count, const cudaMemcpy3DParms* params) {
  return add(node, graph, before, count, cudaGraphNodeTypeMemcpy, [&](Device&, Work& work) {
    return params ? copy_of(*params, work.emplace<Copy>()) : cudaErrorInvalidValue;
  });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                     size_t count, void* dst, const void* src, size_t bytes, cudaMemcpyKind kind) {
  return add(node, graph, before, count, cudaGraphNodeTypeMemcpy, [&](Device&, Work& work) {
    work = plain_copy(dst, src, bytes, kind);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                   size_t count, const cudaMemsetParams* params) {
  return add(node, graph, before, count, cudaGraphNodeTypeMemset, [&](Device&, Work& work) {
    return params ? work_of(*params, work.emplace<Fill>()) : cudaErrorInvalidValue;
  });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before, size_t count,
                                 const cudaHostNodeParams* params) {
  return add(node, graph, before, count, cudaGraphNodeTypeHost, [&](Device&, Work& work) {
    if (!params) return cudaErrorInvalidValue;
    work = HostWork{params->fn, params->userData};
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                       size_t count, cudaGraph_t child) {
  return add(node, graph, before, count, cudaGraphNodeTypeGraph, [&](Device&, Work& work) {
    const Graph* inner = Graphs::instance().find(child);
    if (!inner || child == graph) return cudaErrorInvalidValue;
    work = std::shared_ptr<Graph>(clone(*inner));
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                  size_t count) {
  return add(node, graph, before, count, cudaGraphNodeTypeEmpty, [](Device&, Work&) { return cudaSuccess; });
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                        size_t count, cudaEvent_t event) {
  return add(node, graph, before, count, cudaGraphNodeTypeEventRecord, [&](Device&, Work& work) {
    work = EventWork{event};
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                      size_t count, cudaEvent_t event) {
  return add(node, graph, before, count, cudaGraphNodeTypeWaitEvent, [&](Device&, Work& work) {
    work = EventWork{event};
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                     size_t count, cudaMemAllocNodeParams* params) {
  return add(node, graph, before, count, cudaGraphNodeTypeMemAlloc, [&](Device& device, Work& work) {
    if (!params || params->bytesize == 0) return cudaErrorInvalidValue;
    auto memory = GraphMemory::instance().make(device, params->bytesize);
    if (!memory) return cudaErrorMemoryAllocation;
    params->dptr = memory.get();
    work = AllocationWork{std::move(memory), params->bytesize};
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before,
                                    size_t count, void* pointer) {
  return add(node, graph, before, count, cudaGraphNodeTypeMemFree, [&](Device&, Work& work) {
    if (!GraphMemory::instance().contains(pointer)) return cudaErrorInvalidValue;
    work = FreeWork{pointer};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
  return with_work<KernelWork>(node, [&](Device&, KernelWork& work) {
    if (!params) return cudaErrorInvalidValue;
    *params = {const_cast<void*>(work.function),
               work.grid,
               work.block,
               static_cast<unsigned>(work.shared_bytes),
               work.pointers.data(),
               nullptr};
    return cudaSuccess;
  });
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* params) {
  return with_work<KernelWork>(node, [&](Device& device, KernelWork& work) {
    KernelWork by;
    if (!params) return cudaErrorInvalidValue;
    if (const cudaError_t error = work_of(device, *params, by); error != cudaSuccess) return error;
    return replace(device, work, std::move(by));
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
  return with_work<Copy>(node, [&](Device&, Copy& work) {
    if (!params) return cudaErrorInvalidValue;
    *params = parms_of(work);
    return cudaSuccess;
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* params) {
  return with_work<Copy>(node, [&](Device& device, Copy& work) {
    Copy by;
    if (!params) return cudaErrorInvalidValue;
    if (const cudaError_t error = copy_of(*params, by); error != cudaSuccess) return error;
    return replace(device, work, by);
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* dst, const void* src,
                                                           size_t bytes, cudaMemcpyKind kind) {
  return with_work<Copy>(
      node, [&](Device& device, Copy& work) { return replace(device, work, plain_copy(dst, src, bytes, kind)); });
}
WARPLENS_EXPORT cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* params) {
  return with_work<Fill>(node, [&](Device&, Fill& work) {
    if (!params) return cudaErrorInvalidValue;
    *params = {work.pointer, work.pitch, work.value, work.element_bytes, work.width / work.element_bytes, work.height};
    return cudaSuccess;
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* params) {
  return with_work<Fill>(node, [&](Device& device, Fill& work) {
    Fill by;
    if (!params) return cudaErrorInvalidValue;
    if (const cudaError_t error = work_of(*params, by); error != cudaSuccess) return error;
    return replace(device, work, by);
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* params) {
  return with_work<HostWork>(node, [&](Device&, HostWork& work) {
    if (!params) return cudaErrorInvalidValue;
    *params = {work.function, work.data};
    return cudaSuccess;
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* params) {
  return with_work<HostWork>(node, [&](Device& device, HostWork& work) {
    return params ? replace(device, work, HostWork{params->fn, params->userData}) : cudaErrorInvalidValue;
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return with_work<std::shared_ptr<Graph>>(node, [&](Device&, std::shared_ptr<Graph>& child) {
    if (!graph) return cudaErrorInvalidValue;
    *graph = handle_of(*child);
    return cudaSuccess;
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return with_work<EventWork>(node, [&](Device&, EventWork& work) {
    if (!event) return cudaErrorInvalidValue;
    *event = work.event;
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaGraphEventWaitNodeGetEvent, cudaGraphEventRecordNodeGetEvent);
WARPLENS_EXPORT cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return with_work<EventWork>(node,
                              [&](Device& device, EventWork& work) { return replace(device, work, EventWork{event}); });
}
WARPLENS_ALIAS(cudaGraphEventWaitNodeSetEvent, cudaGraphEventRecordNodeSetEvent);
WARPLENS_EXPORT cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* params) {
  return with_work<AllocationWork>(node, [&](Device&, AllocationWork& work) {
    if (!params) return cudaErrorInvalidValue;
    std::memset(params, 0, sizeof *params);
    params->poolProps.allocType = cudaMemAllocationTypePinned;
    params->poolProps.location = {cudaMemLocationTypeDevice, 0};
    params->bytesize = work.bytes;
    params->dptr = work.memory.get();
    return cudaSuccess;
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return with_work<FreeWork>(node, [&](Device&, FreeWork& work) {
    if (!pointer) return cudaErrorInvalidValue;
    *static_cast<void**>(pointer) = work.pointer;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  return with_graph(handle, [&](Device&, Node& node) {
    if (!type) return cudaErrorInvalidValue;
    *type = node.type;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return with_graph(handle, [&](Device&, Node& node) {
    node.graph->remove(node);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  return with_graph(handle, [&](Device&, Graph& graph) { return give(all_nodes(graph), nodes, count); });
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  return with_graph(handle, [&](Device&, Graph& graph) {
    auto roots = all_nodes(graph);
    std::erase_if(roots, [](const Node* node) { return !node->before.empty(); });
    return give(roots, nodes, count);
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t handle, cudaGraphNode_t* nodes, void* third,
                                                         size_t* fourth) {
  return with_graph(handle, [&](Device&, Node& node) { return give(node.before, nodes, pointer_of(third, fourth)); });
}
WARPLENS_EXPORT cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle, cudaGraphNode_t* nodes, void* third,
                                                           size_t* fourth) {
  return with_graph(handle, [&](Device&, Node& node) {
    auto after = all_nodes(*node.graph);
    std::erase_if(
        after, [&](const Node* n) { return std::find(n->before.begin(), n->before.end(), &node) == n->before.end(); });
    return give(after, nodes, pointer_of(third, fourth));
  });
}
WARPLENS_EXPORT cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                              void* fourth, size_t* fifth) {
  return with_graph(handle, [&](Device&, Graph& graph) {
    size_t* count = pointer_of(fourth, fifth);
    const auto edges = edges_of(graph);
    if (!count || !from != !to) return cudaErrorInvalidValue;
    const size_t n = from ? std::min(*count, edges.size()) : edges.size();
    for (size_t i = 0; from && i < n; ++i) {
      from[i] = handle_of(*edges[i].first);
      to[i] = handle_of(*edges[i].second);
    }
    *count = n;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* fourth, size_t fifth) {
  return change_edges(Edges::kAdd, graph, from, to, count_of(fourth, fifth));
}
WARPLENS_EXPORT cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* fourth,
                                                        size_t fifth) {
  return change_edges(Edges::kRemove, graph, from, to, count_of(fourth, fifth));
}
WARPLENS_EXPORT cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                        const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                                        size_t count) {
  return change_edges(Edges::kAdd, graph, from, to, count);
}
