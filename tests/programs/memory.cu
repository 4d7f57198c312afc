// SPDX-License-Identifier: Apache-2.0
// Allocation, copies and fills: what succeeds, and the error of each misuse.
#include "show.h"

__global__ void increment(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += i;
}

static int wrong(const int* p, int n, int first) {
  int bad = 0;
  for (int i = 0; i < n; ++i) bad += p[i] != first + i;
  return bad;
}

static void copies() {
  const int n = 1000, bytes = n * int(sizeof(int));
  int *a = nullptr, *b = nullptr;
  std::vector<int> host(n, 7), back(n, 0);
  SHOW(cudaMalloc(&a, bytes));
  SHOW(cudaMalloc(&b, bytes));
  VALUE("aligned to 256", reinterpret_cast<size_t>(a) % 256 == 0);
  SHOW(cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice));
  increment<<<8, 128>>>(a, n);
  SHOW(cudaGetLastError());
  SHOW(cudaMemcpy(b, a, bytes, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(back.data(), b, bytes, cudaMemcpyDeviceToHost));
  VALUE("wrong elements", wrong(back.data(), n, 7));
  SHOW(cudaMemset(a, 0x11, bytes));
  SHOW(cudaMemcpy(back.data(), a, bytes, cudaMemcpyDefault));
  VALUE("filled", back[0] == 0x11111111 && back[n - 1] == 0x11111111);
  SHOW(cudaMemcpy(host.data(), back.data(), bytes, cudaMemcpyHostToHost));
  VALUE("host copy", host[5] == 0x11111111);
  // An inner part, odd sizes.
  SHOW(cudaMemset(reinterpret_cast<char*>(a) + 3, 0, 5));
  SHOW(cudaMemcpy(back.data(), a, 12, cudaMemcpyDeviceToHost));
  VALUE("bytes 3..7 cleared", back[0] == 0x00111111 && back[1] == 0 && back[2] == 0x11111111);
  // Misuse.
  SHOW(cudaMemcpy(host.data(), a, bytes, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(a, host.data(), bytes, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(a, host.data(), bytes, static_cast<cudaMemcpyKind>(9)));
  SHOW(cudaMemcpy(nullptr, host.data(), bytes, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(a, nullptr, bytes, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(a, host.data(), 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemset(nullptr, 0, 4));
  SHOW(cudaMemset(host.data(), 0, 4));
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaFree(a));
  SHOW(cudaFree(b));
}

static void allocation_errors() {
  void* p = nullptr;
  int on_stack = 0;
  SHOW(cudaFree(nullptr));
  SHOW(cudaFree(&on_stack));
  SHOW(cudaMalloc(&p, 0));
  VALUE("zero bytes give null", p == nullptr);
  SHOW(cudaMalloc(&p, size_t{1} << 50));
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaMalloc(nullptr, 16));
  SHOW(cudaFreeHost(nullptr));
  SHOW(cudaMalloc(&p, 16));
  SHOW(cudaFree(p));
  SHOW(cudaFree(p));
  SHOW(cudaGetLastError());
}

static void pinned_and_managed() {
  const int n = 300;
  int *pinned = nullptr, *mapped = nullptr, *mapped_device = nullptr, *managed = nullptr;
  SHOW(cudaMallocHost(&pinned, n * sizeof(int)));
  SHOW(cudaHostAlloc(&mapped, n * sizeof(int), cudaHostAllocMapped));
  SHOW(cudaHostGetDevicePointer(&mapped_device, mapped, 0));
  SHOW(cudaMallocManaged(&managed, n * sizeof(int)));
  for (int i = 0; i < n; ++i) pinned[i] = mapped[i] = managed[i] = 5;
  increment<<<3, 128>>>(pinned, n);
  increment<<<3, 128>>>(mapped_device, n);
  increment<<<3, 128>>>(managed, n);
  SHOW(cudaDeviceSynchronize());
  VALUE("wrong in pinned", wrong(pinned, n, 5));
  VALUE("wrong in mapped", wrong(mapped, n, 5));
  VALUE("wrong in managed", wrong(managed, n, 5));
  cudaPointerAttributes at;
  SHOW(cudaPointerGetAttributes(&at, managed));
  VALUE("type of managed", at.type);
  SHOW(cudaPointerGetAttributes(&at, pinned));
  VALUE("type of pinned", at.type);
  SHOW(cudaPointerGetAttributes(&at, &at));
  VALUE("type of stack", at.type);
  SHOW(cudaFree(managed));
  SHOW(cudaFreeHost(pinned));
  SHOW(cudaFreeHost(mapped));
  SHOW(cudaFreeHost(&at));
  size_t free_bytes = 0, total = 0;
  SHOW(cudaMemGetInfo(&free_bytes, &total));
  VALUE("free <= total", free_bytes <= total && total > 0);
}

static void pitched() {
  char* p = nullptr;
  size_t pitch = 0;
  SHOW(cudaMallocPitch(&p, &pitch, 100, 4));
  VALUE("pitch is enough", pitch >= 100);
  std::vector<char> host(100 * 4), back(100 * 4);
  for (size_t i = 0; i < host.size(); ++i) host[i] = char(i);
  SHOW(cudaMemcpy2D(p, pitch, host.data(), 100, 100, 4, cudaMemcpyHostToDevice));
  SHOW(cudaMemset2D(p, pitch, 1, 10, 2));
  SHOW(cudaMemcpy2D(back.data(), 100, p, pitch, 100, 4, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 100; ++x) bad += back[y * 100 + x] != (y < 2 && x < 10 ? 1 : host[y * 100 + x]);
  VALUE("wrong bytes", bad);
  SHOW(cudaMemcpy2D(p, 50, host.data(), 100, 100, 4, cudaMemcpyHostToDevice));
  SHOW(cudaFree(p));
  SHOW(cudaGetLastError());
}

int main() {
  copies();
  allocation_errors();
  pinned_and_managed();
  pitched();
  return 0;
}
