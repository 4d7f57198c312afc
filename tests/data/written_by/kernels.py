# SPDX-License-Identifier: Apache-2.0
"""What the PTX files of this folder were made from, once, with Triton 3.6, Numba 0.68 (CUDA 13.0 NVVM) and NVRTC 13.0.

triton_*.ptx are kernel.asm["ptx"] of launches for sm_90 (BLOCK 128 and 512; 32 x 32 x 32 tiles; four warps), numba_*.ptx
come from cuda.compile_ptx(..., cc=(9, 0)) for float32[:] (axpy; also with debug=True, opt=False) and float32[::1]
(block_sum), nvrtc_twice.ptx from the text below with --gpu-architecture=compute_90 -lineinfo. File names in them were
shortened, since they named the machine.
"""
import triton
import triton.language as tl
from numba import cuda, float32


@triton.jit
def scale_add(x, y, out, n, a, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(out + i, a * tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def row_softmax(x, out, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * cols + c, mask=c < cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + r * cols + c, e / tl.sum(e, axis=0), mask=c < cols)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        acc += tl.dot(tl.load(a + m[:, None] * K + (k0 + k)[None, :]), tl.load(b + (k0 + k)[:, None] * N + n[None, :]))
    tl.store(c + m[:, None] * N + n[None, :], acc)


def axpy(x, y, a):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = a * x[i] + y[i]


def block_sum(x, out):
    t = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    t[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    s = 64
    while s > 0:
        if i < s:
            t[i] += t[i + s]
        cuda.syncthreads()
        s //= 2
    if i == 0:
        cuda.atomic.add(out, 0, t[0])


NVRTC = """
template <class T> __device__ T twice(T v) { return v + v; }
extern "C" __global__ void nvrtc_twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = twice(x[i]); }
template <int K> __global__ void shifted(const int* a, int* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i + K < n) b[i] = a[i + K]; }
template __global__ void shifted<3>(const int*, int*, int);
"""
