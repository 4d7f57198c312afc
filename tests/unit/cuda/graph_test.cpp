// SPDX-License-Identifier: Apache-2.0
// Graphs, made by calls and by capturing: what they compute follows from `twice` (p = 2p + tag) by hand; errors are
// those that the reference manual documents.
#include <algorithm>
#include <functional>
#include <thread>

#include "registered_kernels.h"

extern "C" {
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t*, cudaGraphNode_t, cudaGraph_t);
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t, cudaMemcpy3DParms*);
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t, const cudaMemcpy3DParms*);
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t, void*, const void*, size_t, cudaMemcpyKind);
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t, cudaMemsetParams*);
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t, const cudaMemsetParams*);
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t, cudaHostNodeParams*);
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t, const cudaHostNodeParams*);
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t, cudaGraph_t*);
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t, cudaEvent_t*);
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t, cudaEvent_t);
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t, cudaMemAllocNodeParams*);
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t, void*);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t, cudaGraphNode_t*, cudaGraphEdgeData*, size_t*);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t, cudaGraphNode_t*, cudaGraphEdgeData*, size_t*);
cudaError_t cudaGraphGetEdges(cudaGraph_t, cudaGraphNode_t*, cudaGraphNode_t*, cudaGraphEdgeData*, size_t*);
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t, const cudaGraphNode_t*, const cudaGraphNode_t*,
                                        const cudaGraphEdgeData*, size_t);
cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t, const cudaGraphNode_t*, const cudaGraphNode_t*,
                                        const cudaGraphEdgeData*, size_t);
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t, unsigned long long*);
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const cudaMemcpy3DParms*);
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t, cudaGraphNode_t, void*, const void*, size_t,
                                               cudaMemcpyKind);
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const cudaMemsetParams*);
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const cudaHostNodeParams*);
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t, cudaGraphNode_t, cudaEvent_t);
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, cudaGraph_t);
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t, cudaGraphNode_t, unsigned);
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t, cudaGraphNode_t, unsigned*);
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t, cudaGraph_t, const cudaGraphNode_t*, const cudaGraphEdgeData*,
                                          size_t, cudaStreamCaptureMode);
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t, cudaStreamCaptureStatus*, unsigned long long*, cudaGraph_t*,
                                        const cudaGraphNode_t**, size_t*);
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t, cudaGraphNode_t*, const cudaGraphEdgeData*, size_t,
                                                unsigned);
cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t, cudaGraphNode_t*, const cudaGraphEdgeData*, size_t,
                                                   unsigned);
}

namespace {

using namespace warplens::cuda::test;

constexpr int kCount = 32;

/// A graph over `p`: fill with 1, then twice with tag 3, a copy to `host`, and a host function that adds 1000 to
/// host[0].
class Graph : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
    cudaGetLastError();
    p_ = device_ints(kCount);
    ASSERT_EQ(cudaMallocHost(reinterpret_cast<void**>(&host_), kCount * 4), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
    ones_.dst = p_;
    ASSERT_EQ(cudaGraphAddMemsetNode(&fill_, graph_, nullptr, 0, &ones_), cudaSuccess);
    add_rest();
  }
  void TearDown() override {
    if (graph_) {
      EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
    }
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
  }
  cudaKernelNodeParams kernel_params(unsigned char& tag) {
    tag_ = &tag;
    arguments_[0] = &p_, arguments_[1] = &tag, arguments_[2] = &n_;
    return {&twice, 1, kCount, 0, arguments_, nullptr};
  }
  void add_rest() {
    unsigned char tag = 3;
    const cudaKernelNodeParams params = kernel_params(tag);
    ASSERT_EQ(cudaGraphAddKernelNode(&kernel_, graph_, &fill_, 1, &params), cudaSuccess);
    tag = 99;  // the node has its own copy
    ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copy_, graph_, &kernel_, 1, host_, p_, kCount * 4, cudaMemcpyDeviceToHost),
              cudaSuccess);
    const cudaHostNodeParams host = {add_thousand, host_};
    ASSERT_EQ(cudaGraphAddHostNode(&call_, graph_, &copy_, 1, &host), cudaSuccess);
  }
  void run(cudaGraphExec_t executable) {
    host_[0] = host_[1] = 0;
    EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  }
  static void add_thousand(void* at) { *static_cast<int*>(at) += 1000; }
  static void add_seven(void* at) { *static_cast<int*>(at) += 7; }

  int *p_ = nullptr, *host_ = nullptr, n_ = kCount;
  unsigned char* tag_ = nullptr;
  void* arguments_[3] = {};
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphNode_t fill_ = nullptr, kernel_ = nullptr, copy_ = nullptr, call_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  cudaMemsetParams ones_ = {nullptr, 0, 1, 4, kCount, 1};
};

TEST_F(Graph, runs_as_often_as_it_is_launched) {
  ASSERT_EQ(cudaGraphInstantiate(&executable_, graph_, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphUpload(executable_, stream_), cudaSuccess);
  for (int i = 0; i < 3; ++i) {
    run(executable_);
    EXPECT_EQ(host_[0], 1005);  // 1 * 2 + 3, + 1000
    EXPECT_EQ(host_[1], 5);
  }
  EXPECT_EQ(cudaGraphExecDestroy(executable_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable_, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecDestroy(executable_), cudaErrorInvalidValue);
}

TEST_F(Graph, outlives_as_an_executable_one) {
  ASSERT_EQ(cudaGraphInstantiateWithFlags(&executable_, graph_, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaErrorInvalidValue);
  graph_ = nullptr;
  run(executable_);
  EXPECT_EQ(host_[0], 1005);
}

TEST_F(Graph, nodes_and_edges_can_be_listed) {
  cudaGraphNode_t nodes[8] = {};
  size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph_, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 4u);
  count = 8;
  EXPECT_EQ(cudaGraphGetNodes(graph_, nodes, &count), cudaSuccess);
  EXPECT_EQ(count, 4u);
  EXPECT_EQ(nodes[4], nullptr);
  EXPECT_NE(std::find(nodes, nodes + 4, copy_), nodes + 4);
  count = 8;
  EXPECT_EQ(cudaGraphGetRootNodes(graph_, nodes, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(nodes[0], fill_);
  EXPECT_EQ(cudaGraphGetNodes(graph_, nodes, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphGetRootNodes(nullptr, nodes, &count), cudaErrorInvalidValue);
  cudaGraphNodeType type;
  EXPECT_EQ(cudaGraphNodeGetType(copy_, &type), cudaSuccess);
  EXPECT_EQ(type, cudaGraphNodeTypeMemcpy);
  EXPECT_EQ(cudaGraphNodeGetType(copy_, nullptr), cudaErrorInvalidValue);
  count = 8;
  EXPECT_EQ(cudaGraphNodeGetDependencies(copy_, nodes, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(nodes[0], kernel_);
  count = 8;
  EXPECT_EQ(cudaGraphNodeGetDependentNodes(copy_, nodes, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(nodes[0], call_);
  cudaGraphNode_t from[8], to[8];
  count = 8;
  EXPECT_EQ(cudaGraphGetEdges(graph_, from, to, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(cudaGraphGetEdges(graph_, from, nullptr, nullptr, &count), cudaErrorInvalidValue);
}

TEST_F(Graph, edges_can_be_added_and_removed_but_form_no_circle) {
  EXPECT_EQ(cudaGraphAddDependencies(graph_, &fill_, &copy_, nullptr, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphAddDependencies(graph_, &fill_, &copy_, nullptr, 1), cudaErrorInvalidValue);  // exists
  EXPECT_EQ(cudaGraphRemoveDependencies(graph_, &fill_, &copy_, nullptr, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphRemoveDependencies(graph_, &fill_, &copy_, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddDependencies(graph_, nullptr, &copy_, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddDependencies_v2(graph_, &copy_, &fill_, nullptr, 1), cudaSuccess);  // a circle
  EXPECT_EQ(cudaGraphInstantiate(&executable_, graph_, 0), cudaErrorInvalidValue);
}

TEST_F(Graph, a_removed_node_does_not_run) {
  EXPECT_EQ(cudaGraphDestroyNode(call_), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroyNode(call_), cudaErrorInvalidValue);
  ASSERT_EQ(cudaGraphInstantiate(&executable_, graph_, 0), cudaSuccess);
  run(executable_);
  EXPECT_EQ(host_[0], 5);
}

TEST_F(Graph, a_clone_is_a_graph_of_its_own) {
  cudaGraph_t copy;
  cudaGraphNode_t node;
  ASSERT_EQ(cudaGraphClone(&copy, graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphClone(nullptr, graph_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphNodeFindInClone(&node, call_, copy), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroyNode(node), cudaSuccess);
  EXPECT_EQ(cudaGraphNodeFindInClone(&node, call_, copy), cudaErrorInvalidValue);
  ASSERT_EQ(cudaGraphInstantiate(&executable_, graph_, 0), cudaSuccess);
  run(executable_);
  EXPECT_EQ(host_[0], 1005);
  ASSERT_EQ(cudaGraphInstantiate(&executable_, copy, 0), cudaSuccess);
  run(executable_);
  EXPECT_EQ(host_[0], 5);
  EXPECT_EQ(cudaGraphDestroy(copy), cudaSuccess);
}

TEST_F(Graph, parameters_can_be_read_and_changed_before_instantiation) {
  cudaKernelNodeParams kernel;
  ASSERT_EQ(cudaGraphKernelNodeGetParams(kernel_, &kernel), cudaSuccess);
  EXPECT_EQ(kernel.func, &twice);
  EXPECT_EQ(kernel.blockDim.x, 32u);
  EXPECT_EQ(*static_cast<unsigned char*>(kernel.kernelParams[1]), 3);
  unsigned char tag = 10;
  kernel = kernel_params(tag);
  EXPECT_EQ(cudaGraphKernelNodeSetParams(kernel_, &kernel), cudaSuccess);
  cudaMemsetParams fill;
  ASSERT_EQ(cudaGraphMemsetNodeGetParams(fill_, &fill), cudaSuccess);
  EXPECT_EQ(fill.width, 32u);
  EXPECT_EQ(fill.elementSize, 4u);
  fill.value = 20;
  EXPECT_EQ(cudaGraphMemsetNodeSetParams(fill_, &fill), cudaSuccess);
  cudaHostNodeParams host;
  ASSERT_EQ(cudaGraphHostNodeGetParams(call_, &host), cudaSuccess);
  EXPECT_EQ(host.userData, host_);
  host.fn = add_seven;
  EXPECT_EQ(cudaGraphHostNodeSetParams(call_, &host), cudaSuccess);
  cudaMemcpy3DParms copy;
  ASSERT_EQ(cudaGraphMemcpyNodeGetParams(copy_, &copy), cudaSuccess);
  EXPECT_EQ(copy.dstPtr.ptr, host_);
  EXPECT_EQ(copy.extent.width, 128u);
  EXPECT_EQ(cudaGraphMemcpyNodeSetParams(copy_, &copy), cudaSuccess);
  EXPECT_EQ(cudaGraphMemcpyNodeSetParams1D(copy_, host_, p_, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable_, graph_, 0), cudaSuccess);
  run(executable_);
  EXPECT_EQ(host_[0], 57);  // 20 * 2 + 10, + 7
  EXPECT_EQ(host_[1], 0);   // only 4 bytes were copied
  // Of the wrong kind, or wrong.
  EXPECT_EQ(cudaGraphKernelNodeGetParams(copy_, &kernel), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphKernelNodeSetParams(copy_, &kernel), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphMemsetNodeSetParams(kernel_, &fill), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphHostNodeSetParams(kernel_, &host), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphMemcpyNodeSetParams1D(copy_, host_, p_, 129, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  fill.elementSize = 3;
  EXPECT_EQ(cudaGraphMemsetNodeSetParams(fill_, &fill), cudaErrorInvalidValue);
  host.fn = nullptr;
  EXPECT_EQ(cudaGraphHostNodeSetParams(call_, &host), cudaErrorInvalidValue);
}

TEST_F(Graph, parameters_of_the_executable_can_be_changed) {
  ASSERT_EQ(cudaGraphInstantiate(&executable_, graph_, 0), cudaSuccess);
  unsigned char tag = 10;
  const cudaKernelNodeParams kernel = kernel_params(tag);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable_, kernel_, &kernel), cudaSuccess);
  ones_.value = 20;
  EXPECT_EQ(cudaGraphExecMemsetNodeSetParams(executable_, fill_, &ones_), cudaSuccess);
  const cudaHostNodeParams host = {add_seven, host_};
  EXPECT_EQ(cudaGraphExecHostNodeSetParams(executable_, call_, &host), cudaSuccess);
  EXPECT_EQ(cudaGraphExecMemcpyNodeSetParams1D(executable_, copy_, host_, p_, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  run(executable_);
  EXPECT_EQ(host_[0], 57);
  cudaMemcpy3DParms copy;
  ASSERT_EQ(cudaGraphMemcpyNodeGetParams(copy_, &copy), cudaSuccess);  // the graph's own node is as it was
  EXPECT_EQ(copy.extent.width, 128u);
  EXPECT_EQ(cudaGraphExecMemcpyNodeSetParams(executable_, copy_, &copy), cudaSuccess);
  unsigned enabled = 9;
  EXPECT_EQ(cudaGraphNodeSetEnabled(executable_, kernel_, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphNodeGetEnabled(executable_, kernel_, &enabled), cudaSuccess);
  EXPECT_EQ(enabled, 0u);
  EXPECT_EQ(cudaGraphNodeSetEnabled(executable_, call_, 0), cudaErrorInvalidValue);  // a host function cannot
  run(executable_);
  EXPECT_EQ(host_[1], 20);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable_, copy_, &kernel), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecHostNodeSetParams(executable_, kernel_, &host), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecMemsetNodeSetParams(executable_, kernel_, &ones_), cudaErrorInvalidValue);
}

TEST_F(Graph, an_executable_takes_over_an_equal_graph) {
  ASSERT_EQ(cudaGraphInstantiate(&executable_, graph_, 0), cudaSuccess);
  unsigned char tag = 50;
  const cudaKernelNodeParams kernel = kernel_params(tag);
  ASSERT_EQ(cudaGraphKernelNodeSetParams(kernel_, &kernel), cudaSuccess);
  cudaGraphExecUpdateResultInfo info;
  EXPECT_EQ(cudaGraphExecUpdate(executable_, graph_, &info), cudaSuccess);
  EXPECT_EQ(info.result, cudaGraphExecUpdateSuccess);
  run(executable_);
  EXPECT_EQ(host_[0], 1052);
  ASSERT_EQ(cudaGraphDestroyNode(call_), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(executable_, graph_, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(cudaGraphExecUpdate(executable_, graph_, nullptr), cudaErrorInvalidValue);
}

TEST_F(Graph, flags_of_instantiation) {
  cudaGraphInstantiateParams params = {};
  params.flags = cudaGraphInstantiateFlagUseNodePriority;
  EXPECT_EQ(cudaGraphInstantiateWithParams(&executable_, graph_, &params), cudaSuccess);
  EXPECT_EQ(params.result_out, cudaGraphInstantiateSuccess);
  unsigned long long flags = 0;
  EXPECT_EQ(cudaGraphExecGetFlags(executable_, &flags), cudaSuccess);
  EXPECT_EQ(flags, 8u);
  EXPECT_EQ(cudaGraphInstantiate(&executable_, graph_, 1 << 20), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphInstantiate(&executable_, graph_, cudaGraphInstantiateFlagDeviceLaunch), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphInstantiate(nullptr, graph_, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphInstantiateWithParams(&executable_, graph_, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphUpload(nullptr, stream_), cudaErrorInvalidValue);
}

TEST_F(Graph, nodes_that_cannot_be_are_refused) {
  cudaGraphNode_t node;
  cudaGraph_t other;
  unsigned char tag = 0;
  cudaKernelNodeParams kernel = kernel_params(tag);
  EXPECT_EQ(cudaGraphCreate(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphCreate(&other, 1), cudaErrorInvalidValue);
  ASSERT_EQ(cudaGraphCreate(&other, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphAddEmptyNode(&node, other, &fill_, 1), cudaErrorInvalidValue);  // another graph's
  EXPECT_EQ(cudaGraphAddEmptyNode(&node, graph_, nullptr, 1), cudaErrorInvalidValue);
  const cudaGraphNode_t same[] = {fill_, fill_};
  EXPECT_EQ(cudaGraphAddEmptyNode(&node, graph_, same, 2), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddEmptyNode(nullptr, graph_, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, nullptr), cudaErrorInvalidValue);
  kernel.func = &missing;
  EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &kernel), cudaErrorInvalidResourceHandle);
  kernel = kernel_params(tag);
  kernel.blockDim = 1025;
  EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &kernel), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddMemcpyNode(&node, graph_, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddMemcpyNode1D(&node, graph_, nullptr, 0, host_, p_, 4, static_cast<cudaMemcpyKind>(9)),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaGraphAddMemsetNode(&node, graph_, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddHostNode(&node, graph_, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddChildGraphNode(&node, graph_, nullptr, 0, graph_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddEventRecordNode(&node, graph_, nullptr, 0, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGraphAddEventWaitNode(&node, graph_, nullptr, 0, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGraphAddMemFreeNode(&node, graph_, nullptr, 0, p_), cudaErrorInvalidValue);  // not a graph's memory
  EXPECT_EQ(cudaGraphDestroy(other), cudaSuccess);
}

TEST_F(Graph, child_graphs_and_events_run_inside) {
  cudaGraph_t outer, inner;
  cudaGraphNode_t first, child, second, wait;
  cudaEvent_t begin, end, other, got;
  ASSERT_EQ(cudaEventCreate(&begin), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&other), cudaSuccess);
  ASSERT_EQ(cudaGraphCreate(&outer, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphAddEventRecordNode(&first, outer, nullptr, 0, begin), cudaSuccess);
  EXPECT_EQ(cudaGraphAddChildGraphNode(&child, outer, &first, 1, graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphAddEventRecordNode(&second, outer, &child, 1, other), cudaSuccess);
  EXPECT_EQ(cudaGraphEventRecordNodeGetEvent(second, &got), cudaSuccess);
  EXPECT_EQ(got, other);
  EXPECT_EQ(cudaGraphEventRecordNodeSetEvent(second, end), cudaSuccess);
  EXPECT_EQ(cudaGraphEventRecordNodeSetEvent(second, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGraphAddEventWaitNode(&wait, outer, &second, 1, begin), cudaSuccess);
  EXPECT_EQ(cudaGraphChildGraphNodeGetGraph(child, &inner), cudaSuccess);
  EXPECT_EQ(cudaGraphChildGraphNodeGetGraph(first, &inner), cudaErrorInvalidValue);
  size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(inner, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 4u);
  ASSERT_EQ(cudaGraphInstantiate(&executable_, outer, 0), cudaSuccess);
  run(executable_);
  EXPECT_EQ(host_[0], 1005);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cudaGraphExecEventRecordNodeSetEvent(executable_, second, other), cudaSuccess);
  unsigned char tag = 8;
  const cudaKernelNodeParams kernel = kernel_params(tag);
  ASSERT_EQ(cudaGraphKernelNodeSetParams(kernel_, &kernel), cudaSuccess);
  EXPECT_EQ(cudaGraphExecChildGraphNodeSetParams(executable_, child, graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphExecChildGraphNodeSetParams(executable_, child, outer), cudaErrorInvalidValue);
  run(executable_);
  EXPECT_EQ(host_[0], 1010);
  EXPECT_EQ(cudaGraphDestroy(outer), cudaSuccess);
}

TEST_F(Graph, memory_of_a_graph_has_its_address_from_the_beginning) {
  cudaGraph_t graph;
  cudaGraphNode_t allocation, fill, copy, release;
  cudaMemAllocNodeParams params = {}, got;
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location = {cudaMemLocationTypeDevice, 0};
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &params), cudaErrorInvalidValue);  // no bytes
  params.bytesize = 256;
  ASSERT_EQ(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &params), cudaSuccess);
  EXPECT_EQ(cudaGraphMemAllocNodeGetParams(allocation, &got), cudaSuccess);
  EXPECT_EQ(got.dptr, params.dptr);
  const cudaMemsetParams sevens = {params.dptr, 0, 7, 1, 256, 1};
  ASSERT_EQ(cudaGraphAddMemsetNode(&fill, graph, &allocation, 1, &sevens), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copy, graph, &fill, 1, host_, params.dptr, 4, cudaMemcpyDeviceToHost),
            cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable_, graph, 0), cudaSuccess);
  run(executable_);
  EXPECT_EQ(host_[0], 0x07070707);
  unsigned long long bytes = 0;
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes), cudaSuccess);
  EXPECT_EQ(bytes, 256u);
  EXPECT_EQ(cudaGraphLaunch(executable_, stream_), cudaErrorInvalidValue);  // it is still allocated
  EXPECT_EQ(cudaFreeAsync(params.dptr, stream_), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(params.dptr, stream_), cudaErrorInvalidValue);
  run(executable_);
  EXPECT_EQ(cudaFree(params.dptr), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemFreeNode(&release, graph, &copy, 1, params.dptr), cudaSuccess);
  void* pointer = nullptr;
  EXPECT_EQ(cudaGraphMemFreeNodeGetParams(release, &pointer), cudaSuccess);
  EXPECT_EQ(pointer, params.dptr);
  ASSERT_EQ(cudaGraphInstantiate(&executable_, graph, 0), cudaSuccess);
  run(executable_);
  run(executable_);
  EXPECT_EQ(host_[0], 0x07070707);
  EXPECT_EQ(cudaDeviceGraphMemTrim(0), cudaSuccess);
  EXPECT_EQ(cudaDeviceGraphMemTrim(1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetGraphMemAttribute(1, cudaGraphMemAttrUsedMemCurrent, &bytes), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(Graph, can_be_printed) {
  const std::string path = testing::TempDir() + "graph.dot";
  EXPECT_EQ(cudaGraphDebugDotPrint(graph_, path.c_str(), 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDebugDotPrint(graph_, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDebugDotPrint(graph_, "/nowhere/x.dot", 0), cudaErrorOperatingSystem);
}

// ---- capturing

class Capture : public Graph {
 protected:
  cudaError_t launch_twice(cudaStream_t stream, unsigned char tag) {
    void* list[] = {&p_, &tag, &n_};
    return cudaLaunchKernel(&twice, 1, kCount, list, 0, stream);
  }
  cudaStreamCaptureStatus status(cudaStream_t stream) {
    cudaStreamCaptureStatus s;
    EXPECT_EQ(cudaStreamIsCapturing(stream, &s), cudaSuccess);
    return s;
  }
};

TEST_F(Capture, work_becomes_nodes_and_runs_when_launched) {
  EXPECT_EQ(cudaMemset(p_, 0, 128), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // the stream does not wait for the legacy one
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  EXPECT_EQ(status(stream_), cudaStreamCaptureStatusActive);
  EXPECT_EQ(launch_twice(stream_, 3), cudaSuccess);
  EXPECT_EQ(launch_twice(stream_, 4), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(host_, p_, 128, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
  EXPECT_EQ(cudaLaunchHostFunc(stream_, add_thousand, host_), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(p_, 0, 128, stream_), cudaSuccess);
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(status(stream_), cudaStreamCaptureStatusNone);
  host_[0] = 5;
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(host_[0], 5);  // nothing ran
  size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 5u);
  ASSERT_EQ(cudaGraphInstantiate(&executable_, graph, 0), cudaSuccess);
  for (int i = 0; i < 2; ++i) {
    run(executable_);
    EXPECT_EQ(host_[0], 1010);  // (0 * 2 + 3) * 2 + 4, + 1000
  }
}

TEST_F(Capture, streams_join_through_events) {
  cudaStream_t other;
  cudaEvent_t fork, join;
  ASSERT_EQ(cudaStreamCreate(&other), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&fork), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&join), cudaSuccess);
  const auto fork_and_work = [&] {
    ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(cudaMemsetAsync(p_, 0, 128, stream_), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(fork, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(other, fork, 0), cudaSuccess);
    EXPECT_EQ(status(other), cudaStreamCaptureStatusActive);
    EXPECT_EQ(launch_twice(other, 6), cudaSuccess);
  };
  cudaGraph_t graph;
  fork_and_work();
  EXPECT_EQ(cudaEventRecord(join, other), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream_, join, 0), cudaSuccess);
  EXPECT_EQ(launch_twice(stream_, 1), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable_, graph, 0), cudaSuccess);
  run(executable_);
  int back = 0;
  EXPECT_EQ(cudaMemcpy(&back, p_, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back, 13);
  // Not joined.
  fork_and_work();
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(status(other), cudaStreamCaptureStatusNone);
}

TEST_F(Capture, calls_that_need_a_result_spoil_it) {
  cudaEvent_t event;
  void* q = nullptr;
  int x = 0;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  struct {
    const char* name;
    std::function<cudaError_t()> call;
    cudaError_t error;
  } const cases[] = {
      {"synchronize", [&] { return cudaStreamSynchronize(stream_); }, cudaErrorStreamCaptureUnsupported},
      {"query", [&] { return cudaStreamQuery(stream_); }, cudaErrorStreamCaptureUnsupported},
      {"malloc", [&] { return cudaMalloc(&q, 4); }, cudaErrorStreamCaptureUnsupported},
      {"free", [&] { return cudaFree(p_); }, cudaErrorStreamCaptureUnsupported},
      {"device", [&] { return cudaDeviceSynchronize(); }, cudaErrorStreamCaptureUnsupported},
      {"event", [&] { return cudaEventRecord(event, stream_) ? cudaErrorUnknown : cudaEventSynchronize(event); },
       cudaErrorCapturedEvent},
      {"event query", [&] { return cudaEventRecord(event, stream_) ? cudaErrorUnknown : cudaEventQuery(event); },
       cudaErrorCapturedEvent},
  };
  for (const auto& c : cases) {
    cudaGraph_t graph;
    ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ(launch_twice(stream_, 3), cudaSuccess);
    EXPECT_EQ(c.call(), c.error) << c.name;
    EXPECT_EQ(status(stream_), cudaStreamCaptureStatusInvalidated) << c.name;
    EXPECT_EQ(launch_twice(stream_, 3), cudaErrorStreamCaptureInvalidated) << c.name;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureInvalidated) << c.name;
    EXPECT_EQ(cudaMemcpy(&x, p_, 4, cudaMemcpyDeviceToHost), cudaSuccess) << c.name;
    EXPECT_EQ(cudaEventRecord(event, nullptr), cudaSuccess);
  }
}

TEST_F(Capture, the_default_stream_cannot_take_part) {
  cudaStream_t blocking;
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamBeginCapture(blocking, static_cast<cudaStreamCaptureMode>(7)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamEndCapture(blocking, &graph), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamEndCapture(blocking, nullptr), cudaErrorInvalidValue);
  ASSERT_EQ(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(launch_twice(nullptr, 3), cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, relaxed_threads_may_allocate) {
  cudaGraph_t graph;
  void* q = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&q, 4), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(nullptr), cudaErrorInvalidValue);
  // Ended by another thread.
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  cudaError_t error = cudaSuccess;
  std::thread([&] { error = cudaStreamEndCapture(stream_, &graph); }).join();
  EXPECT_EQ(error, cudaErrorStreamCaptureWrongThread);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
}

TEST_F(Capture, its_state_can_be_asked_for_and_changed) {
  cudaStreamCaptureStatus s;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr, ended;
  const cudaGraphNode_t* last = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  size_t count = 9;
  EXPECT_EQ(cudaStreamGetCaptureInfo(stream_, &s, &id, &graph, &last, &edges, &count), cudaSuccess);
  EXPECT_EQ(s, cudaStreamCaptureStatusNone);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(launch_twice(stream_, 3), cudaSuccess);
  EXPECT_EQ(cudaStreamGetCaptureInfo_v2(stream_, &s, &id, &graph, &last, &count), cudaSuccess);
  EXPECT_EQ(s, cudaStreamCaptureStatusActive);
  EXPECT_EQ(count, 1u);
  cudaGraphNodeType type;
  EXPECT_NE(graph, nullptr);
  cudaGraphNode_t nodes[] = {last[0]};
  EXPECT_EQ(cudaStreamUpdateCaptureDependencies(stream_, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies),
            cudaSuccess);
  EXPECT_EQ(cudaStreamUpdateCaptureDependencies_v2(stream_, nodes, nullptr, 1, 7), cudaErrorInvalidValue);
  EXPECT_EQ(launch_twice(stream_, 4), cudaSuccess);  // comes behind nothing now
  EXPECT_EQ(cudaStreamUpdateCaptureDependencies(stream_, nodes, nullptr, 1, cudaStreamAddCaptureDependencies),
            cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &ended), cudaSuccess);
  EXPECT_EQ(cudaGraphNodeGetType(nodes[0], &type), cudaSuccess);
  EXPECT_EQ(cudaGraphGetRootNodes(ended, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(cudaStreamUpdateCaptureDependencies(stream_, nodes, nullptr, 1, 0), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamGetCaptureInfo(stream_, nullptr, &id, &graph, &last, &edges, &count), cudaErrorInvalidValue);
}

TEST_F(Capture, work_can_be_added_to_a_graph) {
  cudaGraph_t same;
  ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream_, graph_, &call_, nullptr, 1, cudaStreamCaptureModeGlobal),
            cudaSuccess);
  EXPECT_EQ(cudaLaunchHostFunc(stream_, add_seven, host_), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &same), cudaSuccess);
  EXPECT_EQ(same, graph_);
  ASSERT_EQ(cudaGraphInstantiate(&executable_, graph_, 0), cudaSuccess);
  run(executable_);
  EXPECT_EQ(host_[0], 1012);
  EXPECT_EQ(cudaStreamBeginCaptureToGraph(stream_, nullptr, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal),
            cudaErrorInvalidValue);
}

TEST_F(Capture, allocations_and_launched_graphs_become_nodes) {
  int* q = nullptr;
  cudaGraph_t graph;
  cudaGraphExec_t inner;
  ASSERT_EQ(cudaGraphInstantiate(&inner, graph_, 0), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&q), 128, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(q, 1, 128, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(inner, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(host_ + 1, q, 4, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(q, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable_, graph, 0), cudaSuccess);
  run(executable_);
  run(executable_);
  EXPECT_EQ(host_[0], 1005);
  EXPECT_EQ(host_[1], 0x01010101);
}

}  // namespace
