// SPDX-License-Identifier: Apache-2.0
// Graphs: work that a program describes once, by calls (cudaGraphAdd...) or by capturing what it enqueues, and launches
// many times. A launched graph runs its nodes one after another, in an order that respects all edges, in the stream: a
// program cannot tell that from running independent nodes side by side, since no node may wait for another without an
// edge.
#pragma once
#include <list>
#include <set>
#include <variant>

#include "cuda/copy.h"
#include "cuda/launch.h"

namespace warplens::cuda {

struct Graph;
struct Node;

/// A launch with its own copies of the arguments.
struct KernelWork {
  const void* function = nullptr;
  dim3 grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {0, 0, 0};
  size_t shared_bytes = 0;
  bool cooperative = false;
  std::vector<std::vector<uint8_t>> arguments;
  std::vector<void*> pointers;  ///< to them, for who asks; made by point()
  void point();
  LaunchCall call() const;
};
struct HostWork {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
};
struct EventWork {
  cudaEvent_t event = nullptr;
};
/// Memory that a graph allocates: it has its address from when the node is made, and is the graph's for as long as a
/// graph or an executable one has the node.
struct AllocationWork {
  std::shared_ptr<void> memory;
  size_t bytes = 0;
};
struct FreeWork {
  void* pointer = nullptr;
};
using Work = std::variant<std::monostate, KernelWork, Copy, Fill, HostWork, std::shared_ptr<Graph>, EventWork,
                          AllocationWork, FreeWork>;

struct Node {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  Graph* graph = nullptr;
  const Node* original = nullptr;  ///< the node that this one was cloned from
  std::vector<Node*> before;       ///< nodes that must have run
  Work work;
  bool enabled = true;
};

struct Graph {
  std::list<Node> nodes;  ///< in the order of their making
  /// All of `before` must be this graph's.
  Node& add(cudaGraphNodeType type, std::vector<Node*> before, Work work);
  void remove(const Node& node);
  /// All nodes, each behind those that it depends on; nothing when they form a circle.
  std::optional<std::vector<Node*>> order();
};
/// A copy whose nodes name their originals; child graphs are copied, too.
std::unique_ptr<Graph> clone(const Graph& graph);

/// A graph made ready to be launched.
struct ExecutableGraph {
  std::unique_ptr<Graph> graph;
  std::vector<Node*> order;
  unsigned long long flags = 0;
  /// The node made from `original`, or from the one that it was cloned from.
  Node* find(const Node* original);
};

/// The graphs, nodes and executable graphs that exist; a program's handles are their addresses. All graph functions
/// hold its mutex.
class Graphs {
 public:
  static Graphs& instance();
  std::recursive_mutex& mutex() { return mutex_; }

  Graph& make() { return adopt(std::make_unique<Graph>()); }
  Graph& adopt(std::unique_ptr<Graph> graph);
  ExecutableGraph& adopt(std::unique_ptr<ExecutableGraph> executable);
  /// Null for a handle that is none.
  Graph* find(cudaGraph_t handle);
  Node* find(cudaGraphNode_t handle);
  ExecutableGraph* find(cudaGraphExec_t handle);
  bool destroy(cudaGraph_t handle);
  bool destroy(cudaGraphExec_t handle);

 private:
  bool contains(Graph& graph, const void* node) const;
  std::recursive_mutex mutex_;
  std::map<const void*, std::unique_ptr<Graph>> graphs_;
  std::map<const void*, std::unique_ptr<ExecutableGraph>> executables_;
};

/// Enqueues one node's work.
cudaError_t submit(Device& device, const std::shared_ptr<Stream>& stream, cudaStream_t handle, const Node& node);
/// Enqueues all of it.
cudaError_t submit(Device& device, const std::shared_ptr<Stream>& stream, cudaStream_t handle, ExecutableGraph& graph);
/// Whether the work can be done, as far as it is known before it runs.
cudaError_t check(Device& device, const Work& work);

}  // namespace warplens::cuda
