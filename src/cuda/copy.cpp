// SPDX-License-Identifier: Apache-2.0
// See copy.h. Which ends of a copy must be device memory follows from its direction; what the program said is checked
// against what the arena knows, as a real driver does.
#include "cuda/copy.h"

#include <cstring>
#include <vector>

namespace warplens::cuda {
namespace {

/// What the two ends of a copy are.
struct Ends {
  bool to_device = false, from_device = false;      ///< in device memory proper
  bool to_pageable = false, from_pageable = false;  ///< memory that the device does not know
};

bool usable_by_host(Device& device, const void* p, bool& pageable) {
  const auto placed = device.find(p);
  pageable = !placed;
  return !placed ? !device.arena().contains(reinterpret_cast<uintptr_t>(p)) : placed->kind != MemoryKind::kDevice;
}

/// Checks one end of `bytes` bytes; `device_end` is what the direction says.
bool check_end(Device& device, const void* p, uint64_t bytes, bool device_end, bool& pageable) {
  if (!p) return false;
  if (device_end) {
    pageable = false;
    return device.contains(p, bytes);
  }
  return usable_by_host(device, p, pageable) && (pageable || device.contains(p, bytes));
}

/// Bytes from the first to behind the last of a box.
uint64_t extent(size_t pitch, size_t slice, size_t width, size_t height, size_t depth) {
  return slice * (depth - 1) + pitch * (height - 1) + width;
}

bool empty(const Copy& c) { return c.width == 0 || c.height == 0 || c.depth == 0; }
bool empty(const Fill& f) { return f.width == 0 || f.height == 0 || f.depth == 0; }

cudaError_t find_ends(Device& device, const Copy& c, Ends& ends) {
  if (static_cast<unsigned>(c.kind) > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (c.kind == cudaMemcpyDefault) {
    ends.to_device = device.find(c.dst).has_value();
    ends.from_device = device.find(c.src).has_value();
  } else {
    ends.to_device = c.kind == cudaMemcpyHostToDevice || c.kind == cudaMemcpyDeviceToDevice;
    ends.from_device = c.kind == cudaMemcpyDeviceToHost || c.kind == cudaMemcpyDeviceToDevice;
  }
  const uint64_t to_bytes = extent(c.dst_pitch, c.dst_slice, c.width, c.height, c.depth);
  const uint64_t from_bytes = extent(c.src_pitch, c.src_slice, c.width, c.height, c.depth);
  if (!check_end(device, c.dst, to_bytes, ends.to_device, ends.to_pageable)) return cudaErrorInvalidValue;
  if (!check_end(device, c.src, from_bytes, ends.from_device, ends.from_pageable)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

void run(const Copy& c) {
  for (size_t z = 0; z < c.depth; ++z)
    for (size_t y = 0; y < c.height; ++y)
      std::memmove(static_cast<char*>(c.dst) + z * c.dst_slice + y * c.dst_pitch,
                   static_cast<const char*>(c.src) + z * c.src_slice + y * c.src_pitch, c.width);
}

void run(const Fill& f) {
  for (size_t z = 0; z < f.depth; ++z)
    for (size_t y = 0; y < f.height; ++y) {
      char* row = static_cast<char*>(f.pointer) + z * f.slice + y * f.pitch;
      if (f.element_bytes == 1)
        std::memset(row, static_cast<int>(f.value), f.width);
      else
        for (size_t x = 0; x + f.element_bytes <= f.width; x += f.element_bytes)
          std::memcpy(row + x, &f.value, f.element_bytes);
    }
}

cudaError_t run_now(Device& device, Stream& stream, const Copy& copy) {
  device.queues().run_in_turn(stream, [&] {
    if (device.sticky() == cudaSuccess) run(copy);
  });
  return device.sticky();
}

}  // namespace

Copy plain_copy(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind) {
  return {.dst = dst, .dst_pitch = bytes, .src = src, .src_pitch = bytes, .width = bytes, .kind = kind};
}

cudaError_t check(Device& device, const Copy& c) {
  if (empty(c)) return cudaSuccess;
  if (c.height > 1 && (c.dst_pitch < c.width || c.src_pitch < c.width)) return cudaErrorInvalidPitchValue;
  if (c.depth > 1 && (c.dst_slice < c.dst_pitch * c.height || c.src_slice < c.src_pitch * c.height))
    return cudaErrorInvalidValue;
  Ends ends;
  return find_ends(device, c, ends);
}

cudaError_t check(Device& device, const Fill& f) {
  if (empty(f)) return cudaSuccess;
  if (f.height > 1 && f.pitch < f.width) return cudaErrorInvalidPitchValue;
  return device.contains(f.pointer, extent(f.pitch, f.slice, f.width, f.height, f.depth)) ? cudaSuccess
                                                                                          : cudaErrorInvalidValue;
}

/// Copies from pageable memory are staged, so that the program may change it at once; copies to pageable memory are
/// done when the call returns (both as the programming guide allows).
cudaError_t enqueue(Device& device, Stream& stream, const Copy& asked, When when) {
  if (empty(asked)) return cudaSuccess;
  Ends ends;
  if (const cudaError_t error = find_ends(device, asked, ends); error != cudaSuccess) return error;
  if (when == When::kNow || ends.to_pageable) return run_now(device, stream, asked);
  Copy copy = asked;
  std::shared_ptr<std::vector<char>> staged;
  if (ends.from_pageable) {
    staged = std::make_shared<std::vector<char>>(copy.width * copy.height * copy.depth);
    Copy in = copy;
    in.dst = staged->data();
    in.dst_pitch = copy.width;
    in.dst_slice = copy.width * copy.height;
    run(in);
    copy.src = staged->data();
    copy.src_pitch = in.dst_pitch;
    copy.src_slice = in.dst_slice;
  }
  device.queues().push(stream, Engine::kCopy, [&device, copy, staged] {
    if (device.sticky() == cudaSuccess) run(copy);
  });
  return cudaSuccess;
}

void enqueue(Device& device, Stream& stream, const Fill& fill) {
  if (empty(fill)) return;
  device.queues().push(stream, Engine::kCopy, [&device, fill] {
    if (device.sticky() == cudaSuccess) run(fill);
  });
}

cudaError_t copy_of(const cudaMemcpy3DParms& p, Copy& to) {
  if (p.srcArray || p.dstArray) return cudaErrorNotSupported;
  if (!p.srcPtr.ptr || !p.dstPtr.ptr) return cudaErrorInvalidValue;
  const auto at = [](const cudaPitchedPtr& ptr, const cudaPos& pos) {
    return static_cast<char*>(ptr.ptr) + (pos.z * ptr.ysize + pos.y) * ptr.pitch + pos.x;
  };
  to = {.dst = at(p.dstPtr, p.dstPos),
        .dst_pitch = p.dstPtr.pitch,
        .dst_slice = p.dstPtr.pitch * p.dstPtr.ysize,
        .src = at(p.srcPtr, p.srcPos),
        .src_pitch = p.srcPtr.pitch,
        .src_slice = p.srcPtr.pitch * p.srcPtr.ysize,
        .width = p.extent.width,
        .height = p.extent.height,
        .depth = p.extent.depth,
        .kind = p.kind};
  return cudaSuccess;
}

cudaMemcpy3DParms parms_of(const Copy& c) {
  const auto rows = [](size_t slice, size_t pitch, size_t height) {
    return pitch != 0 && slice != 0 ? slice / pitch : height;
  };
  cudaMemcpy3DParms p = {};
  p.srcPtr = {const_cast<void*>(c.src), c.src_pitch, c.width, rows(c.src_slice, c.src_pitch, c.height)};
  p.dstPtr = {c.dst, c.dst_pitch, c.width, rows(c.dst_slice, c.dst_pitch, c.height)};
  p.extent = {c.width, c.height, c.depth};
  p.kind = c.kind;
  return p;
}

}  // namespace warplens::cuda
