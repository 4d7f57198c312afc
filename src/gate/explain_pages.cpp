// SPDX-License-Identifier: Apache-2.0
// The pages about memory traffic and limits; explain_findings.cpp has those about errors of the program. Programs are
// as short as they can be and still run: what they compute does not matter.
#include "gate/explain_pages.h"

#include <fmt/format.h>

#include "base/check.h"
#include "gate/explain_findings.h"

namespace warplens::gate {
namespace {

constexpr Page kPages[] = {
    {"excessive-sectors",
     R"(A warp's 32 threads issue one load or store together. Global memory moves in sectors of 32 bytes:
32 neighbouring floats fill 4 of them, 32 floats a row apart touch 32. The sectors beyond what the
same threads would need side by side are excessive: they cost bandwidth and carry nothing.

What to do: let threadIdx.x run along the index that is contiguous in memory; pad rows to whole
sectors; go through shared memory where input and output want different orders.)",
     R"(__global__ void sum_rows(const float* in, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += in[row * n + k];  // wrong
  out[row] = sum;
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 256 * 256 * sizeof(float));
  cudaMalloc(&out, 256 * sizeof(float));
  cudaMemset(in, 0, 256 * 256 * sizeof(float));
  sum_rows<<<2, 128>>>(in, out, 256);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(__global__ void sum_columns(const float* in, float* out, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += in[k * n + column];
  out[column] = sum;
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 256 * 256 * sizeof(float));
  cudaMalloc(&out, 256 * sizeof(float));
  cudaMemset(in, 0, 256 * 256 * sizeof(float));
  sum_columns<<<2, 128>>>(in, out, 256);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     ""},
    {"excessive-wavefronts",
     R"(Shared memory has 32 banks of 4 bytes, each of which serves one word a pass. Threads of a warp that
need different words of one bank wait for each other: 32 floats of one column of a 32 x 32 tile lie
in one bank and take 32 passes (wavefronts) instead of one.

What to do: pad rows by one word ([32][33]), or swizzle the column with the row (column ^ row).)",
     R"(__global__ void transpose(const float* in, float* out) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];  // wrong
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 1024 * sizeof(float));
  cudaMalloc(&out, 1024 * sizeof(float));
  cudaMemset(in, 0, 1024 * sizeof(float));
  transpose<<<1, dim3(32, 32)>>>(in, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(__global__ void transpose(const float* in, float* out) {
  __shared__ float tile[32][33];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 1024 * sizeof(float));
  cudaMalloc(&out, 1024 * sizeof(float));
  cudaMemset(in, 0, 1024 * sizeof(float));
  transpose<<<1, dim3(32, 32)>>>(in, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     ""},
    {"sectors-per-request",
     R"(The limit max_sectors_per_request holds for every access of every line to global memory, on average
over its requests. A warp that reads 4 bytes a thread side by side takes 4 sectors; 8 bytes take 8
and 16 bytes take 16, with nothing wasted, so a limit below 16 forbids loads of float4.

What to do: as for excessive-sectors. Arrays of structures of which one member is read are a common
cause: a structure of arrays puts that member side by side.)",
     R"(struct Particle {
  float x, y, z, mass;
};
__global__ void weigh(const Particle* particles, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * particles[i].mass;  // wrong
}
int main() {
  Particle* particles;
  float* out;
  cudaMalloc(&particles, 256 * sizeof(Particle));
  cudaMalloc(&out, 256 * sizeof(float));
  cudaMemset(particles, 0, 256 * sizeof(Particle));
  weigh<<<2, 128>>>(particles, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(struct Particles {
  float *x, *y, *z, *mass;
};
__global__ void weigh(Particles particles, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * particles.mass[i];
}
int main() {
  Particles particles{};
  float* out;
  cudaMalloc(&particles.mass, 256 * sizeof(float));
  cudaMalloc(&out, 256 * sizeof(float));
  cudaMemset(particles.mass, 0, 256 * sizeof(float));
  weigh<<<2, 128>>>(particles, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     "--limit max_sectors_per_request=5"},
    {"local-memory",
     R"(Local memory is a thread's own, but it lies in device memory. A kernel uses it for arrays that are
indexed by what is not known when it is compiled, and for registers that do not fit (spills). The
limit is max_local_bytes. Which accesses there are is the assembler's choice, so these numbers are
estimates, and gate only with allow_estimates.

What to do: unroll loops over small arrays, so that each index is a constant and each element a
register; use shared memory for tables; give the kernel more registers (-maxrregcount,
__launch_bounds__).)",
     R"(__global__ void histogram(const int* in, int* out) {
  int bins[8] = {};
  for (int k = 0; k < 64; ++k) ++bins[in[k * 32 + threadIdx.x] & 7];  // wrong
  for (int b = 0; b < 8; ++b) out[b * 32 + threadIdx.x] = bins[b];
}
int main() {
  int *in, *out;
  cudaMalloc(&in, 2048 * sizeof(int));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 0, 2048 * sizeof(int));
  histogram<<<1, 32>>>(in, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(__global__ void histogram(const int* in, int* out) {
  int bins[8] = {};
  for (int k = 0; k < 64; ++k) {
    int value = in[k * 32 + threadIdx.x] & 7;
#pragma unroll
    for (int b = 0; b < 8; ++b) bins[b] += value == b;
  }
#pragma unroll
  for (int b = 0; b < 8; ++b) out[b * 32 + threadIdx.x] = bins[b];
}
int main() {
  int *in, *out;
  cudaMalloc(&in, 2048 * sizeof(int));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 0, 2048 * sizeof(int));
  histogram<<<1, 32>>>(in, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     "--limit max_local_bytes=0 --allow-estimates"},
    {"low-occupancy",
     R"(An SM hides the latency of one warp behind the others that it holds. How many it can hold follows
from the block's threads, registers and shared memory; occupancy is their share of the most, 0 to 1.
The limit is min_occupancy. It is exact where ptxas told the registers, else an estimate.

What to do: warplens occupancy shows what limits it and what other sizes would give. Few warps can
be enough for kernels that have many loads in flight each: measure before chasing it.)",
     R"(__global__ void stage(const float* in, float* out) {
  __shared__ float buffer[12 * 1024];  // 48 KiB for 64 threads
  for (int k = 0; k < 192; ++k) buffer[k * 64 + threadIdx.x] = in[k * 64 + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 192; ++k) sum += buffer[k * 64 + 63 - threadIdx.x];
  out[threadIdx.x] = sum;
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 12 * 1024 * sizeof(float));
  cudaMalloc(&out, 64 * sizeof(float));
  cudaMemset(in, 0, 12 * 1024 * sizeof(float));
  stage<<<1, 64>>>(in, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(__global__ void stage(const float* in, float* out) {
  __shared__ float buffer[256];  // 1 KiB for 256 threads
  float sum = 0;
  for (int k = 0; k < 48; ++k) {
    buffer[threadIdx.x] = in[k * 256 + threadIdx.x];
    __syncthreads();
    sum += buffer[255 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 12 * 1024 * sizeof(float));
  cudaMalloc(&out, 256 * sizeof(float));
  cudaMemset(in, 0, 12 * 1024 * sizeof(float));
  stage<<<1, 256>>>(in, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     "--limit min_occupancy=0.5 --allow-estimates"},
    {"metric-limit",
     R"(Any number that warplens metrics lists can have a limit: max and min in .warplens.toml, or
--limit max:NAME=NUMBER. It holds for each counted launch of the kernels that the limit names. Metrics
that are estimates gate only with allow_estimates.

What to do depends on the metric: warplens metrics NAME says what it counts. Here the loads that warps
issue are limited, which wide loads (float4) cut to a quarter.)",
     R"(__global__ void scale(const float* in, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += 32) out[i] = 2 * in[i];
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 4096 * sizeof(float));
  cudaMalloc(&out, 4096 * sizeof(float));
  cudaMemset(in, 0, 4096 * sizeof(float));
  scale<<<1, 32>>>(in, out, 4096);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(__global__ void scale(const float4* in, float4* out, int n) {
  for (int i = threadIdx.x; i < n / 4; i += 32) {
    float4 v = in[i];
    out[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
  }
}
int main() {
  float4 *in, *out;
  cudaMalloc(&in, 4096 * sizeof(float));
  cudaMalloc(&out, 4096 * sizeof(float));
  cudaMemset(in, 0, 4096 * sizeof(float));
  scale<<<1, 32>>>(in, out, 4096);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     "--limit max:l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum=64"},
    {"regression",
     R"(The baseline is the report with which 'warplens run --baseline' or 'warplens diff' compares. Lines are
found by the kernel and their text, so code that only moved is no regression. Only exact counts are
compared, and by default any growth is one; --allow-growth 5% forgives growth up to that. When another
compiler (or another version) made other instructions of the same source files, the change is the
compiler's.

What to do: read the table; if the growth is meant, write a new baseline with --json. Below, the right
program is what the baseline was made from, and the wrong one what became of it.)",
     R"(__global__ void scale(float* x) {
  int row = threadIdx.x, column = blockIdx.x;
  x[row * gridDim.x + column] *= 2;  // wrong
}
int main() {
  float* x;
  cudaMalloc(&x, 32 * 32 * sizeof(float));
  cudaMemset(x, 0, 32 * 32 * sizeof(float));
  scale<<<32, 32>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(__global__ void scale(float* x) {
  int row = blockIdx.x, column = threadIdx.x;
  x[row * blockDim.x + column] *= 2;
}
int main() {
  float* x;
  cudaMalloc(&x, 32 * 32 * sizeof(float));
  cudaMemset(x, 0, 32 * 32 * sizeof(float));
  scale<<<32, 32>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     "--baseline right.json", true},
    {"unused-allowance",
     R"(A comment in a source allows what does not happen there any more:

  // warplens: allow(excessive-sectors) rows are short

It is reported so that it does not hide the next mistake. It is judged only at lines that ran in a
launch that was counted to its end.

What to do: take the comment out.)",
     R"(__global__ void copy(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];  // warplens: allow(excessive-sectors) it was strided once  // wrong
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 256 * sizeof(float));
  cudaMalloc(&out, 256 * sizeof(float));
  cudaMemset(in, 0, 256 * sizeof(float));
  copy<<<2, 128>>>(in, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     R"(__global__ void copy(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[2 * i];  // warplens: allow(excessive-sectors) the other half is never needed
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 512 * sizeof(float));
  cudaMalloc(&out, 256 * sizeof(float));
  cudaMemset(in, 0, 512 * sizeof(float));
  copy<<<2, 128>>>(in, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)",
     ""},
};

}  // namespace

const Page& page_of(const Rule& rule) {
  for (const Page& page : kPages)
    if (page.rule == rule.id) return page;
  for (const Page& page : finding_pages())
    if (page.rule == rule.id) return page;
  WL_CHECK(false, "a rule has no page");
}

std::string page_text(const Rule& rule) { return fmt::format("{}.\n\n{}\n", rule.title, page_of(rule).text); }

}  // namespace warplens::gate
