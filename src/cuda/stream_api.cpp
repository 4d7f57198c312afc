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

/// Attributes that programs set on streams; they are kept and change nothing here.
struct Attributes {
  std::mutex mutex;
  std::map<std::pair<uint64_t, int>, cudaStreamAttrValue> values;  // by stream and attribute
};
Attributes& attributes() {
  static Attributes* const all = new Attributes;
  return *all;
}

bool is_of_streams(cudaStreamAttrID attribute) {
  return attribute == cudaLaunchAttributeAccessPolicyWindow || attribute == cudaLaunchAttributeSynchronizationPolicy ||
         attribute == cudaLaunchAttributePriority || attribute == cudaLaunchAttributeMemSyncDomainMap ||
         attribute == cudaLaunchAttributeMemSyncDomain;
}

/// Goes with its thread; what is in it still runs.
struct ThreadStream {
  Queues* queues = nullptr;
  std::shared_ptr<Stream> stream;
  ~ThreadStream() {
    if (stream) queues->destroy(stream.get());
  }
};
thread_local ThreadStream t_stream;

}  // namespace

cudaError_t add_callback(cudaStream_t stream, std::function<void(cudaError_t)> call) {
  return with_stream(stream, [&](Device& device, Stream& s) {
    if (const cudaError_t error = Captures::instance().refuse_wait(device, s); error != cudaSuccess) return error;
    device.queues().push(s, Engine::kCopy, [&device, call = std::move(call)] { call(device.sticky()); });
    return cudaSuccess;
  });
}

std::shared_ptr<Stream> per_thread_stream(Device& device) {
  if (!t_stream.stream) {
    t_stream.queues = &device.queues();
    t_stream.stream = device.queues().create(true, 0);
  }
  return t_stream.stream;
}

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
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* number) {
  return with_stream(stream, [&](Device&, Stream&) {
    if (!number) return cudaErrorInvalidValue;
    *number = 0;
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamGetDevice_ptsz, cudaStreamGetDevice);
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, const cudaStreamAttrValue* value) {
  return with_stream(stream, [&](Device&, Stream& s) {
    if (!value || !is_of_streams(attribute)) return cudaErrorInvalidValue;
    const std::lock_guard lock(attributes().mutex);
    attributes().values[{s.id, attribute}] = *value;
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamSetAttribute_ptsz, cudaStreamSetAttribute);
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, cudaStreamAttrValue* value) {
  return with_stream(stream, [&](Device&, Stream& s) {
    if (!value || !is_of_streams(attribute)) return cudaErrorInvalidValue;
    const std::lock_guard lock(attributes().mutex);
    const auto it = attributes().values.find({s.id, attribute});
    *value = it != attributes().values.end() ? it->second : cudaStreamAttrValue{};
    if (it == attributes().values.end() && attribute == cudaLaunchAttributePriority) value->priority = s.priority;
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamGetAttribute_ptsz, cudaStreamGetAttribute);
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return with_stream(from, [&](Device& device, Stream& source) {
    const auto target = stream_of(device, to);
    if (!target) return cudaErrorInvalidResourceHandle;
    const std::lock_guard lock(attributes().mutex);
    auto& values = attributes().values;
    std::erase_if(values, [&](const auto& v) { return v.first.first == target->id; });
    std::map<std::pair<uint64_t, int>, cudaStreamAttrValue> copies;
    for (const auto& [key, value] : values)
      if (key.first == source.id) copies[{target->id, key.second}] = value;
    values.merge(copies);
    return cudaSuccess;
  });
}
WARPLENS_ALIAS(cudaStreamCopyAttributes_ptsz, cudaStreamCopyAttributes);
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
  return with_stream(stream, [&](Device&, Stream&) {
    if (!callback || flags != 0) return cudaErrorInvalidValue;
    return add_callback(stream, [=](cudaError_t state) { callback(stream, state, data); });
  });
}
WARPLENS_ALIAS(cudaStreamAddCallback_ptsz, cudaStreamAddCallback);
