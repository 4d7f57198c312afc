// SPDX-License-Identifier: Apache-2.0
#include "gate/explain_findings.h"

namespace warplens::gate {
namespace {

constexpr Page kPages[] = {
    {"out-of-bounds",
     R"(A thread reads or writes memory that belongs to no allocation of its kind. On a GPU this may end the
program, or quietly read and overwrite something else; here it always ends the launch, with the line,
the thread and the nearest allocation.

What to do: the last block usually reaches beyond the array: compare the index with the length. Check
that sizes are in the unit that the function takes (cudaMalloc takes bytes).)",
     R"(__global__ void increment(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] += 1;  // wrong
}
int main() {
  int* a;
  cudaMalloc(&a, 100 * sizeof(int));
  cudaMemset(a, 0, 100 * sizeof(int));
  increment<<<1, 128>>>(a, 100);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(__global__ void increment(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += 1;
}
int main() {
  int* a;
  cudaMalloc(&a, 100 * sizeof(int));
  cudaMemset(a, 0, 100 * sizeof(int));
  increment<<<1, 128>>>(a, 100);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     ""},
    {"null-pointer",
     R"(A thread accesses memory through a pointer that is null, or nearly so (a member of a null structure).
The commonest cause is an allocation that failed without anybody looking.

What to do: check what cudaMalloc returns; test optional pointers before using them.)",
     R"(__global__ void fill(float* out) {
  out[threadIdx.x] = 1;  // wrong
}
int main() {
  float* out = nullptr;
  fill<<<1, 32>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(__global__ void fill(float* out) {
  if (out) out[threadIdx.x] = 1;
}
int main() {
  float* out = nullptr;
  fill<<<1, 32>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     ""},
    {"misaligned",
     R"(An access of 2, 4, 8 or 16 bytes needs an address that is a multiple of its size. Casting a byte
pointer, or a float pointer to float4, promises an alignment that the address may not have.

What to do: keep offsets multiples of the size; copy byte-wise (memcpy) what cannot be aligned.)",
     R"(__global__ void read(const char* bytes, int* out) {
  out[threadIdx.x] = *reinterpret_cast<const int*>(bytes + 1 + 4 * threadIdx.x);  // wrong
}
int main() {
  char* bytes;
  int* out;
  cudaMalloc(&bytes, 256);
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemset(bytes, 0, 256);
  read<<<1, 32>>>(bytes, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(__global__ void read(const char* bytes, int* out) {
  int value;
  memcpy(&value, bytes + 1 + 4 * threadIdx.x, sizeof value);
  out[threadIdx.x] = value;
}
int main() {
  char* bytes;
  int* out;
  cudaMalloc(&bytes, 256);
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemset(bytes, 0, 256);
  read<<<1, 32>>>(bytes, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     ""},
    {"trap",
     R"(A kernel executed __trap(), or code that the compiler took to be unreachable. The launch ends there.

What to do: follow the line; report errors to the host in a variable where the program shall go on.)",
     R"(__global__ void divide(const int* a, int* out) {
  if (a[threadIdx.x] == 0) __trap();  // wrong
  out[threadIdx.x] = 100 / a[threadIdx.x];
}
int main() {
  int *a, *out;
  cudaMalloc(&a, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemset(a, 0, 32 * sizeof(int));
  divide<<<1, 32>>>(a, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(__global__ void divide(const int* a, int* out, int* bad) {
  int value = a[threadIdx.x];
  if (value == 0) *bad = 1;
  out[threadIdx.x] = value == 0 ? 0 : 100 / value;
}
int main() {
  int *a, *out, *bad;
  cudaMalloc(&a, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMalloc(&bad, sizeof(int));
  cudaMemset(a, 0, 32 * sizeof(int));
  divide<<<1, 32>>>(a, out, bad);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     ""},
    {"assert",
     R"(An assert() in a kernel found its condition false. The launch ends with the text of the condition.

What to do: the condition names what the author took for granted; find the thread's input.)",
     R"(#include <cassert>
__global__ void root(const float* in, float* out) {
  assert(in[threadIdx.x] >= 0);  // wrong
  out[threadIdx.x] = sqrtf(in[threadIdx.x]);
}
int main() {
  float host[32], *in, *out;
  for (int i = 0; i < 32; ++i) host[i] = i - 1.0f;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  root<<<1, 32>>>(in, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(#include <cassert>
__global__ void root(const float* in, float* out) {
  assert(in[threadIdx.x] >= 0);
  out[threadIdx.x] = sqrtf(in[threadIdx.x]);
}
int main() {
  float host[32], *in, *out;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  root<<<1, 32>>>(in, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     ""},
    {"deadlock",
     R"(Threads wait for each other and none can go on: a barrier or __syncwarp that some of the named threads
can never reach, a lock that its holder never gives back. A GPU would hang.

What to do: keep barriers outside of branches that threads take differently; name in a mask only the
threads that get there.)",
     R"(__global__ void meet(int* out) {
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1, 64;");  // wrong
  else
    asm volatile("bar.sync 2, 64;");
  out[threadIdx.x] = 1;
}
int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  meet<<<1, 64>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(__global__ void meet(int* out) {
  asm volatile("bar.sync 1, 64;");
  out[threadIdx.x] = 1;
}
int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  meet<<<1, 64>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     ""},
    {"divergent-barrier",
     R"(__syncthreads() in a branch, or in a loop, that only some threads of a warp take while the others have more
to do. It is `bar.sync`, one of the barriers that are for whole warps (PTX: .aligned): what they do for a part
of one is undefined. GPUs before Volta took some threads for their whole warp, later ones wait for each thread
that has not ended. Here the part counts as the warp, and the launch goes on; each instruction is told of once.
Threads that have returned are not missed; barrier.sync without .aligned is for parts of warps.

What to do: put the work into the branch and the barrier behind it; give loops that have barriers the same
number of rounds in all threads.)",
     R"(__global__ void shift(int* a, int n) {
  __shared__ int row[64];
  int i = threadIdx.x;
  if (i < n) {
    row[i] = a[i];
    __syncthreads();  // wrong
    a[i] = row[n - 1 - i];
  }
  a[64 + i] = i;
}
int main() {
  int* a;
  cudaMalloc(&a, 128 * sizeof(int));
  cudaMemset(a, 0, 128 * sizeof(int));
  shift<<<1, 64>>>(a, 40);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(__global__ void shift(int* a, int n) {
  __shared__ int row[64];
  int i = threadIdx.x;
  if (i < n) row[i] = a[i];
  __syncthreads();
  if (i < n) a[i] = row[n - 1 - i];
  a[64 + i] = i;
}
int main() {
  int* a;
  cudaMalloc(&a, 128 * sizeof(int));
  cudaMemset(a, 0, 128 * sizeof(int));
  shift<<<1, 64>>>(a, 40);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     ""},
    {"unsupported",
     R"(The kernel asks for what Warplens does not execute; the message says what. An instruction that is not
in docs/isa-coverage.md is told with its PTX line before the program runs; what shows only when a thread
gets there is this: a barrier with a number above 15, say, which no GPU has either. The exit code is 2.

What to do: a path for older GPUs in the program, if it has one, often avoids the instruction: compile
for an older architecture. Here each two warps have a barrier of their own, 16 of them; numbered from 0,
they are those that there are.)",
     R"(__global__ void pairs(int* out) {
  asm volatile("bar.sync %0, 64;" ::"r"(threadIdx.x / 64 + 1));  // wrong
  out[threadIdx.x] = 1;
}
int main() {
  int* out;
  cudaMalloc(&out, 1024 * sizeof(int));
  pairs<<<1, 1024>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(__global__ void pairs(int* out) {
  asm volatile("bar.sync %0, 64;" ::"r"(threadIdx.x / 64));
  out[threadIdx.x] = 1;
}
int main() {
  int* out;
  cudaMalloc(&out, 1024 * sizeof(int));
  pairs<<<1, 1024>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     ""},
};

}  // namespace

std::span<const Page> finding_pages() { return kPages; }

}  // namespace warplens::gate
