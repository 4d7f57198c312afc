// SPDX-License-Identifier: Apache-2.0
// Runtime functions for events. Elapsed time is that of this computer between the moments at which the streams came to
// the two recordings: it orders things, and says nothing about a GPU.
#include "cuda/capture.h"
#include "cuda/entry.h"
#include "cuda/events.h"

namespace warplens::cuda {

Events& Events::instance() {
  static Events* const events = new Events;
  return *events;
}

cudaEvent_t Events::add(bool timed) {
  const std::lock_guard lock(mutex_);
  auto event = std::make_unique<Event>();
  event->timed = timed;
  Event* handle = event.get();
  events_[handle] = std::move(event);
  return reinterpret_cast<cudaEvent_t>(handle);
}

bool Events::remove(cudaEvent_t handle) {
  const std::lock_guard lock(mutex_);
  return events_.erase(reinterpret_cast<Event*>(handle)) != 0;
}

bool Events::set(cudaEvent_t handle, std::shared_ptr<const Ticket> ticket) {
  const std::lock_guard lock(mutex_);
  const auto it = events_.find(reinterpret_cast<Event*>(handle));
  if (it == events_.end()) return false;
  it->second->ticket = std::move(ticket);
  it->second->capture = nullptr;
  return true;
}

bool Events::set(cudaEvent_t handle, std::shared_ptr<Capture> capture, std::vector<Node*> nodes) {
  const std::lock_guard lock(mutex_);
  const auto it = events_.find(reinterpret_cast<Event*>(handle));
  if (it == events_.end()) return false;
  it->second->capture = std::move(capture);
  it->second->captured = std::move(nodes);
  return true;
}

std::optional<Event> Events::get(cudaEvent_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto it = events_.find(reinterpret_cast<Event*>(handle));
  return it == events_.end() ? std::nullopt : std::optional(*it->second);
}

cudaError_t record_event(Device& device, Stream& stream, cudaEvent_t event) {
  if (!Events::instance().get(event)) return cudaErrorInvalidResourceHandle;
  Events::instance().set(event, device.queues().record(stream));
  return cudaSuccess;
}

cudaError_t wait_for_event(Device& device, Stream& stream, cudaEvent_t event) {
  const auto known = Events::instance().get(event);
  if (!known) return cudaErrorInvalidResourceHandle;
  if (known->ticket) device.queues().wait_for(stream, known->ticket);
  return cudaSuccess;
}

namespace {

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  return with_device([&](Device&) {
    if (!event || (flags & ~(cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess)))
      return cudaErrorInvalidValue;
    if ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming)) return cudaErrorInvalidValue;
    *event = Events::instance().add((flags & cudaEventDisableTiming) == 0);
    return cudaSuccess;
  });
}

cudaError_t record(cudaEvent_t event, cudaStream_t handle, unsigned flags) {
  return with_device([&](Device& device) {
    const auto stream = stream_of(device, handle);
    if (!stream || !Events::instance().get(event)) return cudaErrorInvalidResourceHandle;
    if (flags & ~cudaEventRecordExternal) return cudaErrorInvalidValue;
    if (!Captures::instance().find(*stream)) return record_event(device, *stream, event);
    if (!(flags & cudaEventRecordExternal)) return Captures::instance().record(*stream, event);
    return Captures::instance().add(*stream, cudaGraphNodeTypeEventRecord, EventWork{event});
  });
}

/// An event of a capture has no time and never happens.
cudaError_t refuse_captured(const Event& event) {
  if (!event.capture) return cudaSuccess;
  event.capture->spoiled = true;
  return cudaErrorCapturedEvent;
}

cudaError_t elapsed(Device& device, float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!milliseconds) return cudaErrorInvalidValue;
  const auto a = Events::instance().get(start), b = Events::instance().get(end);
  if (!a || !b || !a->timed || !b->timed) return cudaErrorInvalidResourceHandle;
  if (a->capture || b->capture) return cudaErrorCapturedEvent;
  if (!a->ticket || !b->ticket) return cudaErrorInvalidResourceHandle;
  if (!device.queues().done(*a->ticket) || !device.queues().done(*b->ticket)) return cudaErrorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(b->ticket->at - a->ticket->at).count();
  return cudaSuccess;
}

}  // namespace
}  // namespace warplens::cuda

using namespace warplens::cuda;

cudaError_t cudaEventCreate(cudaEvent_t* event) { return create_event(event, cudaEventDefault); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) { return create_event(event, flags); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return record(event, stream, cudaEventRecordDefault);
}
WARPLENS_ALIAS(cudaEventRecord_ptsz, cudaEventRecord);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return record(event, stream, flags);
}
WARPLENS_ALIAS(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags);
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return with_device([&](Device& device) {
    const auto known = Events::instance().get(event);
    if (!known) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refuse_captured(*known); error != cudaSuccess) return error;
    if (known->ticket && !device.queues().done(*known->ticket)) return cudaErrorNotReady;
    return device.sticky();
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return wait_on_device([&](Device& device) {
    const auto known = Events::instance().get(event);
    if (!known) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = refuse_captured(*known); error != cudaSuccess) return error;
    if (known->ticket) device.queues().drain(*known->ticket);
    return cudaSuccess;
  });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return with_device(
      [&](Device&) { return Events::instance().remove(event) ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return with_device([&](Device& device) { return elapsed(device, milliseconds, start, end); });
}
WARPLENS_ALIAS(cudaEventElapsedTime_v2, cudaEventElapsedTime);
