// SPDX-License-Identifier: Apache-2.0
// Runtime functions for streams (events: event_api.cpp, captures: graph_api.cpp).
#include <algorithm>

#include "cuda/capture.h"
#include "cuda/entry.h"
#include "cuda/events.h"

namespace warplens::cuda {
namespace {

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
  return with_device([&](Device& device) {
    if (const auto known = device.queues().find(stream)) Captures::instance().forget(*known);
    return device.queues().destroy(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return wait_on_device([&](Device& device) {
    const auto stream = stream_of(device, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    const cudaError_t captured = Captures::instance().refuse_wait(device, *stream);
    if (captured != cudaSuccess) return captured;
    device.queues().drain(*stream);
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamSynchronize_ptsz, cudaStreamSynchronize);
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return with_stream(stream, [](Device& device, Stream& s) {
    const cudaError_t captured = Captures::instance().refuse_wait(device, s);
    if (captured != cudaSuccess) return captured;
    if (!device.queues().idle(s)) return cudaErrorNotReady;
    return device.sticky();
  });
}
WARPLENS_ALIAS(cudaStreamQuery_ptsz, cudaStreamQuery);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  return with_stream(stream, [&](Device& device, Stream& s) {
    const auto known = Events::instance().get(event);
    if (!known) return cudaErrorInvalidResourceHandle;
    if (known->capture || Captures::instance().find(s)) return Captures::instance().wait(s, *known);
    return wait_for_event(device, s, event);
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
  return with_stream(stream, [&](Device&, Stream& s) {
    if (!status) return cudaErrorInvalidValue;
    const auto state = Captures::instance().find(s);
    *status = !state                    ? cudaStreamCaptureStatusNone
              : state->capture->spoiled ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamIsCapturing_ptsz, cudaStreamIsCapturing);

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* data) {
  return with_stream(stream, [&](Device& device, Stream& s) {
    if (!fn) return cudaErrorInvalidValue;
    const auto work = [&] { return HostWork{fn, data}; };
    if (const auto answer = captured(device, s, cudaGraphNodeTypeHost, work)) return *answer;
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
    if (const cudaError_t error = Captures::instance().refuse_wait(device, s); error != cudaSuccess) return error;
    device.queues().push(s, Engine::kCopy,
                         [&device, stream, callback, data] { callback(stream, device.sticky(), data); });
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamAddCallback_ptsz, cudaStreamAddCallback);
