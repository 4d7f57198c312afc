// SPDX-License-Identifier: Apache-2.0
#include "cuda/capture.h"

#include <algorithm>

#include "cuda/entry.h"
#include "cuda/events.h"

namespace warplens::cuda {
namespace {

std::atomic<int> g_captured_streams{0};
thread_local cudaStreamCaptureMode t_mode = cudaStreamCaptureModeGlobal;

/// One mutex for graphs and captures: each calls the other.
std::recursive_mutex& mutex() { return Graphs::instance().mutex(); }

}  // namespace

Captures& Captures::instance() {
  static Captures* const captures = new Captures;
  return *captures;
}

bool Captures::any() { return g_captured_streams.load(std::memory_order_relaxed) != 0; }

cudaStreamCaptureMode& thread_capture_mode() { return t_mode; }

cudaError_t Captures::begin(const Stream& stream, cudaStreamCaptureMode mode, Graph* into, std::vector<Node*> before) {
  const std::lock_guard lock(mutex());
  if (streams_.contains(&stream)) return cudaErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->id = next_id_++;
  if (!into) capture->made = std::make_unique<Graph>();
  capture->graph = into ? into : capture->made.get();
  capture->origin = &stream;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  streams_[&stream] = {std::move(capture), std::move(before)};
  ++g_captured_streams;
  return cudaSuccess;
}

cudaError_t Captures::end(const Stream& stream, cudaGraph_t& to) {
  const std::lock_guard lock(mutex());
  const auto it = streams_.find(&stream);
  if (it == streams_.end()) return cudaErrorIllegalState;
  const StreamCapture ended = it->second;
  Capture& capture = *ended.capture;
  if (capture.origin != &stream) return cudaErrorStreamCaptureUnmatched;
  if (capture.mode != cudaStreamCaptureModeRelaxed && capture.thread != std::this_thread::get_id())
    return cudaErrorStreamCaptureWrongThread;
  // Every node that was captured must lead to the origin's last ones.
  std::set<const Node*> joined;
  std::vector<const Node*> open(ended.last.begin(), ended.last.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (joined.insert(node).second) open.insert(open.end(), node->before.begin(), node->before.end());
  }
  bool unjoined = false;
  for (const auto& [other, state] : streams_)
    for (const Node* node : state.last)
      unjoined = unjoined || (state.capture == ended.capture && !joined.contains(node));
  g_captured_streams -=
      static_cast<int>(std::erase_if(streams_, [&](const auto& s) { return s.second.capture == ended.capture; }));
  to = nullptr;
  if (capture.spoiled) return cudaErrorStreamCaptureInvalidated;
  if (unjoined) return cudaErrorStreamCaptureUnjoined;
  if (!capture.made) {
    to = reinterpret_cast<cudaGraph_t>(capture.graph);
    return cudaSuccess;
  }
  to = reinterpret_cast<cudaGraph_t>(&Graphs::instance().adopt(std::move(capture.made)));
  return cudaSuccess;
}

std::optional<StreamCapture> Captures::find(const Stream& stream) const {
  if (!any()) return std::nullopt;
  const std::lock_guard lock(mutex());
  const auto it = streams_.find(&stream);
  return it == streams_.end() ? std::nullopt : std::optional(it->second);
}

cudaError_t Captures::add(const Stream& stream, cudaGraphNodeType type, Work work) {
  const std::lock_guard lock(mutex());
  StreamCapture& state = streams_.at(&stream);
  if (state.capture->spoiled) return cudaErrorStreamCaptureInvalidated;
  state.last = {&state.capture->graph->add(type, state.last, std::move(work))};
  return cudaSuccess;
}

cudaError_t Captures::record(const Stream& stream, cudaEvent_t event) {
  const std::lock_guard lock(mutex());
  const StreamCapture& state = streams_.at(&stream);
  if (state.capture->spoiled) return cudaErrorStreamCaptureInvalidated;
  return Events::instance().set(event, state.capture, state.last) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t Captures::wait(const Stream& stream, const Event& event) {
  const std::lock_guard lock(mutex());
  const auto it = streams_.find(&stream);
  if (it == streams_.end()) {
    if (event.capture->spoiled) return cudaErrorStreamCaptureInvalidated;
    streams_[&stream] = {event.capture, event.captured};
    ++g_captured_streams;
    return cudaSuccess;
  }
  StreamCapture& state = it->second;
  if (event.capture == nullptr) {  // work outside of the capture
    state.capture->spoiled = true;
    return cudaErrorStreamCaptureIsolation;
  }
  if (event.capture != state.capture) return cudaErrorStreamCaptureMerge;
  for (Node* node : event.captured)
    if (std::find(state.last.begin(), state.last.end(), node) == state.last.end()) state.last.push_back(node);
  return cudaSuccess;
}

void Captures::forget(const Stream& stream) {
  if (!any()) return;
  const std::lock_guard lock(mutex());
  const auto it = streams_.find(&stream);
  if (it == streams_.end()) return;
  it->second.capture->spoiled = true;
  streams_.erase(it);
  --g_captured_streams;
}

void Captures::set_dependencies(const Stream& stream, std::vector<Node*> nodes) {
  const std::lock_guard lock(mutex());
  streams_.at(&stream).last = std::move(nodes);
}

cudaError_t Captures::refuse_wait(Device& device, const Stream& stream) {
  if (!any()) return cudaSuccess;
  const std::lock_guard lock(mutex());
  if (const auto it = streams_.find(&stream); it != streams_.end()) {
    it->second.capture->spoiled = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  if (&stream != &device.queues().legacy()) return cudaSuccess;
  for (auto& [other, state] : streams_) {
    if (!other->blocking || state.capture->mode == cudaStreamCaptureModeRelaxed) continue;
    state.capture->spoiled = true;
    return cudaErrorStreamCaptureImplicit;
  }
  return cudaSuccess;
}

cudaError_t Captures::refuse_unsafe() {
  if (!any() || t_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  const std::lock_guard lock(mutex());
  for (auto& [stream, state] : streams_) {
    const Capture& c = *state.capture;
    const bool mine = c.thread == std::this_thread::get_id();
    const bool seen = (c.mode == cudaStreamCaptureModeGlobal && (mine || t_mode == cudaStreamCaptureModeGlobal)) ||
                      (c.mode == cudaStreamCaptureModeThreadLocal && mine);
    if (!seen) continue;
    state.capture->spoiled = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  return cudaSuccess;
}

}  // namespace warplens::cuda
