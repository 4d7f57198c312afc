// SPDX-License-Identifier: Apache-2.0
// Capturing: between cudaStreamBeginCapture and cudaStreamEndCapture, what a program puts into a stream becomes nodes
// of a graph and does not run. Streams that wait for a captured event join the capture. Calls that would need the
// result of captured work, or that synchronise with it, fail and spoil the capture (programming guide, "Prohibited and
// Unhandled Operations").
#pragma once
#include "cuda/graph.h"

namespace warplens::cuda {

struct Event;

struct Capture {
  uint64_t id = 0;
  std::unique_ptr<Graph> made;  ///< null: captured into a graph of the program
  Graph* graph = nullptr;
  const Stream* origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  bool spoiled = false;
};
struct StreamCapture {
  std::shared_ptr<Capture> capture;
  std::vector<Node*> last;  ///< what the stream's next node comes behind
};

class Captures {
 public:
  static Captures& instance();
  /// Fast: whether any stream is being captured at all.
  static bool any();

  cudaError_t begin(const Stream& stream, cudaStreamCaptureMode mode, Graph* into, std::vector<Node*> before);
  /// Gives the graph, or the error of a capture that went wrong; it is over in both cases.
  cudaError_t end(const Stream& stream, cudaGraph_t& to);
  /// Nothing when the stream is not being captured.
  std::optional<StreamCapture> find(const Stream& stream) const;
  cudaError_t add(const Stream& stream, cudaGraphNodeType type, Work work);
  cudaError_t record(const Stream& stream, cudaEvent_t event);
  cudaError_t wait(const Stream& stream, const Event& event);
  /// The stream is being destroyed: a capture that it takes part in is spoiled.
  void forget(const Stream& stream);
  void set_dependencies(const Stream& stream, std::vector<Node*> nodes);

  /// For a call that needs `stream`'s work done: an error, and the capture spoiled, when the stream is being captured,
  /// or is the default stream while one that it would wait for is.
  cudaError_t refuse_wait(Device& device, const Stream& stream);
  /// For a call that no capture may see (allocation, waiting for the device) in a thread that has not relaxed it.
  cudaError_t refuse_unsafe();

 private:
  std::map<const Stream*, StreamCapture> streams_;
  uint64_t next_id_ = 1;
};

/// The mode in which this thread lets captures see unsafe calls (cudaThreadExchangeStreamCaptureMode).
cudaStreamCaptureMode& thread_capture_mode();

/// Captures `work()` when `stream` is being captured, and gives what the program's call returns; nothing when it is to
/// run as usual.
template <typename F>
std::optional<cudaError_t> captured(Device& device, const Stream& stream, cudaGraphNodeType type, F&& work) {
  if (!Captures::any()) return std::nullopt;
  Captures& captures = Captures::instance();
  if (captures.find(stream)) return captures.add(stream, type, work());
  const cudaError_t implicit = captures.refuse_wait(device, stream);
  return implicit == cudaSuccess ? std::nullopt : std::optional(implicit);
}

}  // namespace warplens::cuda
