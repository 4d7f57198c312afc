// SPDX-License-Identifier: Apache-2.0
// The frame around graph functions: handles become objects, under the mutex of all graphs.
#pragma once
#include <type_traits>
#include <utility>

#include "cuda/entry.h"
#include "cuda/graph.h"

namespace warplens::cuda {

inline cudaGraph_t handle_of(Graph& graph) { return reinterpret_cast<cudaGraph_t>(&graph); }
inline cudaGraphNode_t handle_of(const Node& node) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<Node*>(&node));
}
inline cudaGraphExec_t handle_of(ExecutableGraph& graph) { return reinterpret_cast<cudaGraphExec_t>(&graph); }

/// f(Device&, object) for a cudaGraph_t, cudaGraphNode_t or cudaGraphExec_t; invalid value for a handle that is none.
template <typename Handle, typename F>
cudaError_t with_graph(Handle handle, F&& f) {
  return with_device([&](Device& device) {
    const std::lock_guard lock(Graphs::instance().mutex());
    auto* object = Graphs::instance().find(handle);
    return object ? f(device, *object) : cudaErrorInvalidValue;
  });
}

/// Gives a node other work of its kind, or says what is wrong with it.
template <typename T>
cudaError_t replace(Device& device, T& work, T by) {
  if (const cudaError_t error = check(device, Work(by)); error != cudaSuccess) return error;
  work = std::move(by);
  if constexpr (std::is_same_v<T, KernelWork>) work.point();
  return cudaSuccess;
}

/// The work that a kernel node's parameters describe.
cudaError_t work_of(Device& device, const cudaKernelNodeParams& params, KernelWork& to);
cudaError_t work_of(const cudaMemsetParams& params, Fill& to);

}  // namespace warplens::cuda
