// SPDX-License-Identifier: Apache-2.0
// Kernels of the engine's benchmark beside the matrix products of truth/src/ladder.cu: each is slow for one reason.
// kernels.ptx is what nvcc makes of them (scripts/make_fixtures).

/// Launch overhead and streams: about 20 instructions a thread.
__global__ void axpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__device__ unsigned collatz_steps(unsigned v) {
  unsigned steps = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    ++steps;
  }
  return steps;
}
/// A loop that lanes leave at different times.
__global__ void collatz(const unsigned* start, unsigned* steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  steps[i] = collatz_steps(start[i]);
}
/// The same where all threads of a block are known to do the same.
__global__ void collatz_by_block(const unsigned* start, unsigned* steps) {
  steps[blockIdx.x * blockDim.x + threadIdx.x] = collatz_steps(start[blockIdx.x * blockDim.x]);
}
/// Each thread's own numbers under branches of the block's: `collatz` on equal data does no more than this.
__global__ void collatz_steered(const unsigned* start, unsigned* steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = start[i], u = start[blockIdx.x * blockDim.x], n = 0, last = 0;
  while (u != 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    u = u & 1 ? 3 * u + 1 : u / 2;
    last = v;
    ++n;
  }
  steps[i] = last == 1 ? n : 0;
}

__global__ void mandelbrot(int width, int limit, float step, int* steps) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float cr = -2.0f + x * step, ci = -1.25f + y * step;
  float zr = 0, zi = 0;
  int n = 0;
  while (n < limit && zr * zr + zi * zi < 4.0f) {
    const float r = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = r;
    ++n;
  }
  steps[y * width + x] = n;
}

/// A generator that each thread has for itself ...
struct Own {
  unsigned v;
  __device__ void next() { v = v * 1664525u + 1013904223u; }
  __device__ unsigned steer() const { return v; }
};
/// ... and one beside it that all threads of a block share, for the branches.
struct Steered : Own {
  unsigned shared;
  __device__ void next() {
    Own::next();
    shared = shared * 1664525u + 1013904223u;
  }
  __device__ unsigned steer() const { return shared; }
};

/// Arms within arms, chosen by the bits of a generator.
template <class Generator>
__device__ void arms(int rounds, Generator g, unsigned* out) {
  unsigned sum = 0;
  for (int r = 0; r < rounds; ++r) {
    g.next();
    const unsigned v = g.v, chosen = g.steer();
    if (chosen & 0x80000000u) {
      sum += v >> 7;
      if (chosen & 0x40000000u) {
        sum = sum * 5 + r;
        if (chosen & 0x20000000u)
          for (unsigned k = 0; k < (chosen >> 26 & 3); ++k) sum += sum >> 3;
        else
          sum ^= v * 3;
      } else {
        sum = (sum << 3) ^ (sum >> 5);
        if (chosen & 0x10000000u) *out = sum;
      }
    } else {
      sum -= v >> 9;
      if (chosen & 0x08000000u)
        sum = sum % 1000003u + v;
      else if (chosen & 0x04000000u)
        sum |= r << 4;
    }
  }
  *out = sum;
}
__global__ void nested_if(int rounds, const unsigned* seed, unsigned* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  arms(rounds, Own{seed[i]}, out + i);
}
__global__ void nested_if_steered(int rounds, const unsigned* seed, unsigned* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  arms(rounds, Steered{{seed[i]}, seed[blockIdx.x * blockDim.x]}, out + i);
}

/// Addresses about which nothing is known.
__global__ void random_loads(int rounds, unsigned mask, const float* x, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = i * 2654435761u;
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    v = v * 1664525u + 1013904223u;
    sum += x[v >> 8 & mask];
  }
  out[i] = sum;
}

/// Nine barriers a block of 256.
__global__ void tree_sum(const float* x, float* sums) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}

/// Sorts each 512 elements: 46 barriers a block of 256.
__global__ void bitonic_sort(unsigned* x) {
  __shared__ unsigned s[512];
  const int t = threadIdx.x;
  unsigned* from = x + blockIdx.x * 512;
  s[t] = from[t];
  s[t + 256] = from[t + 256];
  for (int size = 2; size <= 512; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const int low = 2 * t - (t & (stride - 1)), high = low + stride;
      const bool up = (low & size) == 0;
      const unsigned a = s[low], b = s[high];
      if ((a > b) == up) {
        s[low] = b;
        s[high] = a;
      }
    }
  __syncthreads();
  from[t] = s[t];
  from[t + 256] = s[t + 256];
}

// Atomics: each thread adds `rounds` numbers that it makes as it goes, so that nothing can be added up before.
__device__ unsigned next_number(unsigned v) { return v * 1664525u + 1013904223u; }

/// Each thread on a place of its own.
__global__ void atomics_spread(int rounds, unsigned* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = i;
  for (int r = 0; r < rounds; ++r) {
    v = next_number(v);
    atomicAdd(sums + i, v >> 24);
  }
}
/// All on one.
__global__ void atomics_one_place(int rounds, unsigned* sums) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    v = next_number(v);
    atomicAdd(sums, v >> 24);
  }
}
__global__ void atomics_one_place_float(int rounds, float* sums) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    v = next_number(v);
    atomicAdd(sums, static_cast<float>(v >> 31));
  }
}

/// 256 bins in shared memory, each a thread's at the end.
template <typename T, typename Add>
__device__ void fill_bins(int rounds, T* sums, Add add) {
  __shared__ T bins[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  bins[threadIdx.x] = 0;
  __syncthreads();
  unsigned v = i;
  for (int r = 0; r < rounds; ++r) {
    v = next_number(v);
    add(bins + (v >> 24), v >> 16 & 7);
  }
  __syncthreads();
  sums[i] = bins[threadIdx.x];
}
__global__ void atomics_shared(int rounds, unsigned* sums) {
  fill_bins(rounds, sums, [](unsigned* bin, unsigned v) { atomicAdd(bin, v); });
}
__global__ void atomics_shared_float(int rounds, float* sums) {
  fill_bins(rounds, sums, [](float* bin, unsigned v) { atomicAdd(bin, static_cast<float>(v)); });
}
__global__ void atomics_shared_cas(int rounds, unsigned* sums) {
  fill_bins(rounds, sums, [](unsigned* bin, unsigned v) {
    unsigned seen = *bin, assumed;
    do {
      assumed = seen;
      seen = atomicCAS(bin, assumed, assumed + v);
    } while (seen != assumed);
  });
}
