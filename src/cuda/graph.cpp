// SPDX-License-Identifier: Apache-2.0
// Graphs as data: nodes, edges, copies, the order of execution, and enqueuing.
#include "cuda/graph.h"

#include <algorithm>

#include "cuda/entry.h"
#include "cuda/events.h"
#include "cuda/pool.h"

namespace warplens::cuda {

void KernelWork::point() {
  pointers.clear();
  for (auto& argument : arguments) pointers.push_back(argument.data());
}

LaunchCall KernelWork::call() const {
  return {.function = function,
          .grid = grid,
          .block = block,
          .cluster = cluster,
          .arguments = const_cast<void**>(pointers.data()),
          .shared_bytes = shared_bytes,
          .cooperative = cooperative};
}

Node& Graph::add(cudaGraphNodeType type, std::vector<Node*> before, Work work) {
  Node& node = nodes.emplace_back();
  node.type = type;
  node.graph = this;
  node.before = std::move(before);
  node.work = std::move(work);
  if (auto* kernel = std::get_if<KernelWork>(&node.work)) kernel->point();
  return node;
}

void Graph::remove(const Node& node) {
  for (Node& other : nodes) std::erase(other.before, &node);
  nodes.remove_if([&](const Node& n) { return &n == &node; });
}

std::optional<std::vector<Node*>> Graph::order() {
  std::vector<Node*> done;
  std::set<const Node*> have;
  while (done.size() < nodes.size()) {
    const size_t before = done.size();
    for (Node& node : nodes) {
      const bool ready = std::all_of(node.before.begin(), node.before.end(), [&](Node* n) { return have.contains(n); });
      if (!ready || !have.insert(&node).second) continue;
      done.push_back(&node);
    }
    if (done.size() == before) return std::nullopt;
  }
  return done;
}

std::unique_ptr<Graph> clone(const Graph& graph) {
  auto copy = std::make_unique<Graph>();
  std::map<const Node*, Node*> copies;
  for (const Node& node : graph.nodes) {
    Work work = node.work;
    if (auto* child = std::get_if<std::shared_ptr<Graph>>(&work)) *child = clone(**child);
    Node& made = copy->add(node.type, {}, std::move(work));
    made.original = &node;
    made.enabled = node.enabled;
    copies[&node] = &made;
  }
  for (const Node& node : graph.nodes)
    for (const Node* before : node.before) copies[&node]->before.push_back(copies[before]);
  return copy;
}

Node* ExecutableGraph::find(const Node* original) {
  for (Node& node : graph->nodes)
    if (node.original == original || (original && node.original == original->original && original->original))
      return &node;
  return nullptr;
}

Graphs& Graphs::instance() {
  static Graphs* const graphs = new Graphs;
  return *graphs;
}

Graph& Graphs::adopt(std::unique_ptr<Graph> graph) {
  Graph& made = *graph;
  graphs_[&made] = std::move(graph);
  return made;
}

ExecutableGraph& Graphs::adopt(std::unique_ptr<ExecutableGraph> executable) {
  ExecutableGraph& made = *executable;
  executables_[&made] = std::move(executable);
  return made;
}

bool Graphs::contains(Graph& graph, const void* node) const {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](Node& n) {
    const auto* child = std::get_if<std::shared_ptr<Graph>>(&n.work);
    return &n == node || (child && contains(**child, node));
  });
}

Graph* Graphs::find(cudaGraph_t handle) {
  const auto it = graphs_.find(handle);
  if (it != graphs_.end()) return it->second.get();
  for (const auto& [address, graph] : graphs_)  // the graph inside a child graph's node
    for (Node& node : graph->nodes)
      if (const auto* child = std::get_if<std::shared_ptr<Graph>>(&node.work); child && child->get() == (void*)handle)
        return child->get();
  return nullptr;
}

Node* Graphs::find(cudaGraphNode_t handle) {
  for (const auto& [address, graph] : graphs_)
    if (contains(*graph, handle)) return reinterpret_cast<Node*>(handle);
  return nullptr;
}

ExecutableGraph* Graphs::find(cudaGraphExec_t handle) {
  const auto it = executables_.find(handle);
  return it == executables_.end() ? nullptr : it->second.get();
}

bool Graphs::destroy(cudaGraph_t handle) { return graphs_.erase(handle) != 0; }
bool Graphs::destroy(cudaGraphExec_t handle) { return executables_.erase(handle) != 0; }

namespace {

struct Submit {
  Device& device;
  const std::shared_ptr<Stream>& stream;
  cudaStream_t handle;
  const Node& node;

  cudaError_t operator()(const std::monostate&) const { return cudaSuccess; }
  cudaError_t operator()(const KernelWork& kernel) const {
    LaunchCall call = kernel.call();
    call.stream = handle;
    return launch(device, call);
  }
  cudaError_t operator()(const Copy& copy) const { return enqueue(device, *stream, copy, When::kLater); }
  cudaError_t operator()(const Fill& fill) const {
    if (const cudaError_t error = cuda::check(device, fill); error != cudaSuccess) return error;
    enqueue(device, *stream, fill);
    return cudaSuccess;
  }
  cudaError_t operator()(const HostWork& host) const {
    device.queues().push(*stream, Engine::kCopy, [&d = device, host] {
      if (d.sticky() == cudaSuccess) host.function(host.data);
    });
    return cudaSuccess;
  }
  cudaError_t operator()(const std::shared_ptr<Graph>& child) const {
    const auto order = child->order();
    if (!order) return cudaErrorInvalidValue;
    for (const Node* inner : *order)
      if (const cudaError_t error = submit(device, stream, handle, *inner); error != cudaSuccess) return error;
    return cudaSuccess;
  }
  cudaError_t operator()(const EventWork& event) const {
    return node.type == cudaGraphNodeTypeEventRecord ? record_event(device, *stream, event.event)
                                                     : wait_for_event(device, *stream, event.event);
  }
  cudaError_t operator()(const AllocationWork& allocation) const {
    return GraphMemory::instance().allocate(allocation.memory.get()) ? cudaSuccess : cudaErrorInvalidValue;
  }
  cudaError_t operator()(const FreeWork& freed) const {
    return GraphMemory::instance().free(freed.pointer) ? cudaSuccess : cudaErrorInvalidValue;
  }
};

struct Check {
  Device& device;
  cudaError_t operator()(const KernelWork& kernel) const { return check_launch(device, kernel.call()); }
  cudaError_t operator()(const Copy& copy) const { return cuda::check(device, copy); }
  cudaError_t operator()(const Fill& fill) const {
    const bool element = fill.element_bytes == 1 || fill.element_bytes == 2 || fill.element_bytes == 4;
    return element ? cuda::check(device, fill) : cudaErrorInvalidValue;
  }
  cudaError_t operator()(const HostWork& host) const { return host.function ? cudaSuccess : cudaErrorInvalidValue; }
  cudaError_t operator()(const EventWork& event) const {
    return Events::instance().get(event.event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  }
  template <typename Other>
  cudaError_t operator()(const Other&) const {
    return cudaSuccess;
  }
};

}  // namespace

cudaError_t submit(Device& device, const std::shared_ptr<Stream>& stream, cudaStream_t handle, const Node& node) {
  return node.enabled ? std::visit(Submit{device, stream, handle, node}, node.work) : cudaSuccess;
}

cudaError_t submit(Device& device, const std::shared_ptr<Stream>& stream, cudaStream_t handle, ExecutableGraph& graph) {
  if (graph.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch)
    for (const Node* node : graph.order)
      if (const auto* memory = std::get_if<AllocationWork>(&node->work))
        GraphMemory::instance().free(memory->memory.get());
  for (const Node* node : graph.order)
    if (const cudaError_t error = submit(device, stream, handle, *node); error != cudaSuccess) return error;
  return cudaSuccess;
}

cudaError_t check(Device& device, const Work& work) { return std::visit(Check{device}, work); }

}  // namespace warplens::cuda
