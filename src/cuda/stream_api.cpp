// SPDX-License-Identifier: Apache-2.0
// Runtime functions for streams and events.
#include <cmath>

#include "cuda/entry.h"

namespace warplens::cuda {
namespace {

/// An event; its address is the handle.
struct Event {
  std::shared_ptr<const Ticket> ticket;  ///< the last recording; null: never recorded
  bool timed = true;
};

class Events {
 public:
  static Events& instance() {
    static Events* const events = new Events;
    return *events;
  }
  cudaEvent_t add(bool timed) {
    const std::lock_guard lock(mutex_);
    auto event = std::make_unique<Event>();
    event->timed = timed;
    Event* handle = event.get();
    events_[handle] = std::move(event);
    return reinterpret_cast<cudaEvent_t>(handle);
  }
  bool remove(cudaEvent_t handle) {
    const std::lock_guard lock(mutex_);
    return events_.erase(reinterpret_cast<Event*>(handle)) != 0;
  }
  bool set(cudaEvent_t handle, std::shared_ptr<const Ticket> ticket) {
    const std::lock_guard lock(mutex_);
    const auto it = events_.find(reinterpret_cast<Event*>(handle));
    if (it != events_.end()) it->second->ticket = std::move(ticket);
    return it != events_.end();
  }
  std::optional<Event> get(cudaEvent_t handle) const {
    const std::lock_guard lock(mutex_);
    const auto it = events_.find(reinterpret_cast<Event*>(handle));
    return it == events_.end() ? std::nullopt : std::optional(*it->second);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Event*, std::unique_ptr<Event>> events_;
};

cudaError_t create_event(cudaEvent_t* event, unsigned flags) {
  return with_device([&](Device&) {
    if (!event || (flags & ~(cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess)))
      return cudaErrorInvalidValue;
    if ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming)) return cudaErrorInvalidValue;
    *event = Events::instance().add((flags & cudaEventDisableTiming) == 0);
    return cudaSuccess;
  });
}

cudaError_t record(cudaEvent_t event, cudaStream_t handle) {
  return with_device([&](Device& device) {
    const auto stream = stream_of(device, handle);
    if (!stream || !Events::instance().get(event)) return cudaErrorInvalidResourceHandle;
    Events::instance().set(event, device.queues().record(*stream));
    return cudaSuccess;
  });
}

cudaError_t elapsed(Device& device, float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!milliseconds) return cudaErrorInvalidValue;
  const auto a = Events::instance().get(start), b = Events::instance().get(end);
  if (!a || !b || !a->timed || !b->timed || !a->ticket || !b->ticket) return cudaErrorInvalidResourceHandle;
  if (!device.queues().done(*a->ticket) || !device.queues().done(*b->ticket)) return cudaErrorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(b->ticket->at - a->ticket->at).count();
  return cudaSuccess;
}

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  return with_device([&](Device& device) {
    if (!stream || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking)) return cudaErrorInvalidValue;
    // Priorities are clamped and have no effect: kernels run one at a time, in the order of their launches.
    const auto made = device.queues().create(flags == cudaStreamDefault, std::clamp(priority, -5, 0));
    *stream = reinterpret_cast<cudaStream_t>(made.get());
    return cudaSuccess;
  });
}

template <typename F>
cudaError_t with_stream(cudaStream_t handle, F&& f) {
  return with_device([&](Device& device) {
    const auto stream = stream_of(device, handle);
    return stream ? f(device, *stream) : cudaErrorInvalidResourceHandle;
  });
}

}  // namespace
}  // namespace warplens::cuda

using namespace warplens::cuda;

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return create_stream(stream, cudaStreamDefault, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return create_stream(stream, flags, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return create_stream(stream, flags, priority);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return with_device(
      [&](Device& device) { return device.queues().destroy(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return wait_on_device([&](Device& device) {
    const auto stream = stream_of(device, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    device.queues().drain(*stream);
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamSynchronize_ptsz, cudaStreamSynchronize);
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return with_stream(stream, [](Device& device, Stream& s) {
    if (!device.queues().idle(s)) return cudaErrorNotReady;
    return device.sticky();
  });
}
WARPLENS_ALIAS(cudaStreamQuery_ptsz, cudaStreamQuery);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  return with_stream(stream, [&](Device& device, Stream& s) {
    const auto known = Events::instance().get(event);
    if (!known) return cudaErrorInvalidResourceHandle;
    if (known->ticket) device.queues().wait_for(s, known->ticket);
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamWaitEvent_ptsz, cudaStreamWaitEvent);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return with_stream(stream, [&](Device&, Stream& s) {
    if (!priority) return cudaErrorInvalidValue;
    *priority = s.priority;
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamGetPriority_ptsz, cudaStreamGetPriority);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return with_stream(stream, [&](Device&, Stream& s) {
    if (!flags) return cudaErrorInvalidValue;
    *flags = s.blocking ? cudaStreamDefault : cudaStreamNonBlocking;
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamGetFlags_ptsz, cudaStreamGetFlags);
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return with_stream(stream, [&](Device&, Stream& s) {
    if (!id) return cudaErrorInvalidValue;
    *id = s.id;
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamGetId_ptsz, cudaStreamGetId);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t, unsigned int) {
  return with_stream(stream, [&](Device& device, Stream&) {
    const auto placed = device.find(pointer);
    return placed && placed->kind == MemoryKind::kManaged ? cudaSuccess : cudaErrorInvalidValue;
  });
}
WARPLENS_ALIAS(cudaStreamAttachMemAsync_ptsz, cudaStreamAttachMemAsync);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return with_stream(stream, [&](Device&, Stream&) {
    if (!status) return cudaErrorInvalidValue;
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamIsCapturing_ptsz, cudaStreamIsCapturing);

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* data) {
  return with_stream(stream, [&](Device& device, Stream& s) {
    if (!fn) return cudaErrorInvalidValue;
    device.queues().push(s, Engine::kCopy, [&device, fn, data] {
      if (device.sticky() == cudaSuccess) fn(data);
    });
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaLaunchHostFunc_ptsz, cudaLaunchHostFunc);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags) {
  return with_stream(stream, [&](Device& device, Stream& s) {
    if (!callback || flags != 0) return cudaErrorInvalidValue;
    device.queues().push(s, Engine::kCopy,
                         [&device, stream, callback, data] { callback(stream, device.sticky(), data); });
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamAddCallback_ptsz, cudaStreamAddCallback);

cudaError_t cudaEventCreate(cudaEvent_t* event) { return create_event(event, cudaEventDefault); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) { return create_event(event, flags); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return record(event, stream); }
WARPLENS_ALIAS(cudaEventRecord_ptsz, cudaEventRecord);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int) {
  return record(event, stream);
}
WARPLENS_ALIAS(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags);
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return with_device([&](Device& device) {
    const auto known = Events::instance().get(event);
    if (!known) return cudaErrorInvalidResourceHandle;
    if (known->ticket && !device.queues().done(*known->ticket)) return cudaErrorNotReady;
    return device.sticky();
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return wait_on_device([&](Device& device) {
    const auto known = Events::instance().get(event);
    if (!known) return cudaErrorInvalidResourceHandle;
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
