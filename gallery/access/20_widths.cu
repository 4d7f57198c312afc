// SPDX-License-Identifier: Apache-2.0
// Idea: the same bytes copied in pieces of 8, 16, 32, 64 and 128 bits a thread (the number at a form's name).
// Change: 01 for types of several widths; words that fill no last piece are copied one by one.
// Expected: 1, 2, 4, 8 and 16 sectors a request, all used, so the sectors are the same for all; but 16 times as many
// requests for bytes as for 16-byte vectors, and more in flight with wide ones.
// Measured on an H200: 37.7 us, 3.56 TB/s (20_widths128); 93.0 us, 1.44 TB/s (20_widths16); 55.5 us, 2.42 TB/s
//   (20_widths32); 40.6 us, 3.31 TB/s (20_widths64); 167.2 us, 803 GB/s (20_widths8) at size 16777216.
#include "access.h"

template <class T>
__global__ void widths(const float* in, float* out, size_t words) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x, pieces = words * 4 / sizeof(T);
  const size_t word = pieces * sizeof(T) / 4 + (i - pieces);  // behind the last piece
  if (i < pieces) {
    reinterpret_cast<T*>(out)[i] = reinterpret_cast<const T*>(in)[i];
  } else if (word < words) {
    out[word] = in[word];
  }
}

template <class T>
int run_width(int argc, char** argv) {
  return gallery::run_values(
      argc, argv, ("access/20_widths" + std::to_string(sizeof(T) * 8)).c_str(), 1,
      [](const gallery::Access& p) {
        const size_t threads = p.n * size_t(4) / sizeof(T) + 3;
        if (gallery::aligned_for<T>(p.in) && gallery::aligned_for<T>(p.out)) {
          widths<T><<<static_cast<unsigned>((threads + 255) / 256), 256>>>(p.in, p.out, p.n);
        } else {
          widths<float><<<(p.n + 255) / 256, 256>>>(p.in, p.out, p.n);
        }
      },
      [](const float* in, int i, int) { return in[i]; });
}

int main(int argc, char** argv) {
  return run_width<char>(argc, argv) | run_width<short>(argc, argv) | run_width<float>(argc, argv) |
         run_width<float2>(argc, argv) | run_width<float4>(argc, argv);
}
