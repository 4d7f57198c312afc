// SPDX-License-Identifier: Apache-2.0
// Copies and fills as the runtime's functions and graph nodes ask for them: boxes of bytes, checked against the arena's
// allocations before anything is touched, then put into a stream. A plain copy is a box of one row.
#pragma once
#include "cuda/device.h"

namespace warplens::cuda {

/// `depth` slices of `height` rows of `width` bytes; pitches are bytes from row to row and from slice to slice.
struct Copy {
  void* dst = nullptr;
  size_t dst_pitch = 0, dst_slice = 0;
  const void* src = nullptr;
  size_t src_pitch = 0, src_slice = 0;
  size_t width = 0, height = 1, depth = 1;
  cudaMemcpyKind kind = cudaMemcpyDefault;
};
Copy plain_copy(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind);

struct Fill {
  void* pointer = nullptr;
  size_t pitch = 0, slice = 0;
  size_t width = 0, height = 1, depth = 1;  ///< width in bytes
  uint32_t value = 0;
  uint32_t element_bytes = 1;  ///< 1, 2 or 4: how much of `value` is repeated
};

enum class When : uint8_t { kNow, kLater };

/// Invalid value, pitch or direction, as an H200 answers; success for an empty box.
cudaError_t check(Device& device, const Copy& copy);
cudaError_t check(Device& device, const Fill& fill);
/// After a successful check: runs it in the order of `stream`. kNow: returns when it is done.
cudaError_t enqueue(Device& device, Stream& stream, const Copy& copy, When when);
void enqueue(Device& device, Stream& stream, const Fill& fill);

/// The structure of cudaMemcpy3D. Arrays give cudaErrorNotSupported.
cudaError_t copy_of(const cudaMemcpy3DParms& parms, Copy& to);
cudaMemcpy3DParms parms_of(const Copy& copy);

}  // namespace warplens::cuda
