// SPDX-License-Identifier: Apache-2.0
// Functions of <math.h> by their plain names, for float and for double, compared with the host's in double precision;
// counts of values that differ by more than the rounding of the type. A float argument must pick the float function.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <type_traits>

constexpr int kValues = 64;

#define ONE(X)                                                                                                         \
  X(acosh, 1 + x)                                                                                                      \
  X(asinh, x) X(atanh, x / 9) X(cbrt, x) X(erf, x) X(erfc, x) X(exp2, x) X(expm1, x) X(lgamma, x) X(log1p, x)          \
      X(log2, x) X(logb, x) X(nearbyint, x) X(rint, x) X(round, x) X(tgamma, x) X(trunc, x) X(sin, x) X(cos, x)        \
          X(tan, x) X(exp, x) X(log, x) X(log10, x) X(sqrt, x) X(floor, x) X(ceil, x) X(fabs, x) X(sinh, x) X(cosh, x) \
              X(tanh, x) X(asin, x / 9) X(acos, x / 9) X(atan, x)
#define TWO(X)                                                                                                 \
  X(copysign, x, -y)                                                                                           \
  X(fdim, x, y) X(fmax, x, y) X(fmin, x, y) X(hypot, x, y) X(nextafter, x, y) X(remainder, x, y) X(fmod, x, y) \
      X(pow, x, y) X(atan2, x, y) X(ldexp, x, 3) X(scalbn, x, -2) X(scalbln, x, 4L)
#define WHOLE(X) X(ilogb) X(lrint) X(llrint) X(lround) X(llround)

enum Function {
#define NAME(f, ...) k_##f,
  ONE(NAME) TWO(NAME) WHOLE(NAME) k_fma,
  k_remquo,
  kFunctions
};
const char* const kNames[] = {
#define TEXT(f, ...) #f,
    ONE(TEXT) TWO(TEXT) WHOLE(TEXT) "fma", "remquo"};

// One value of every function; T of the results on the device is the argument's.
template <class T>
__host__ __device__ void every_function(T x, T y, T* out) {
#define CALL_1(f, argument)                                  \
  static_assert(std::is_same<decltype(f(x)), T>::value, #f); \
  out[k_##f] = f(argument);
#define CALL_2(f, ...) out[k_##f] = f(__VA_ARGS__);
#define CALL_WHOLE(f) out[k_##f] = (T)f(x);
  ONE(CALL_1) TWO(CALL_2) WHOLE(CALL_WHOLE) out[k_fma] = fma(x, y, x);
  int quotient = 0;
  out[k_remquo] = remquo(x, y, &quotient);
  out[k_remquo] += (T)(quotient & 7);
}

template <class T>
__global__ void device(const T* in, T* out) {
  const int i = threadIdx.x;
  every_function(in[i], in[i + 1], out + i * kFunctions);
}
__global__ void not_numbers(unsigned* bits, unsigned long long* bits64) {
  bits[0] = __float_as_uint(nanf(""));
  bits[1] = __float_as_uint(nanf("0x12"));
  bits64[0] = (unsigned long long)__double_as_longlong(nan("7"));
}

template <class T>
void compare(const char* type, double tolerance) {
  T *in, *out;
  cudaMallocManaged(&in, (kValues + 1) * sizeof(T));
  cudaMallocManaged(&out, kValues * kFunctions * sizeof(T));
  for (int i = 0; i <= kValues; i++) in[i] = (T)(0.37 + (i * 37 % 64) * 0.125);
  device<<<1, kValues>>>(in, out);
  std::printf("%s: %s\n", type, cudaGetErrorString(cudaDeviceSynchronize()));
  int wrong[kFunctions] = {};
  for (int i = 0; i < kValues; i++) {
    double want[kFunctions];
    every_function<double>(in[i], in[i + 1], want);
    want[k_nextafter] = std::nextafter(in[i], in[i + 1]);
    for (int f = 0; f < kFunctions; f++)
      wrong[f] += !(std::fabs(out[i * kFunctions + f] - want[f]) <= tolerance * (std::fabs(want[f]) + 1));
  }
  for (int f = 0; f < kFunctions; f++) std::printf("  %s %d wrong\n", kNames[f], wrong[f]);
  cudaFree(in);
  cudaFree(out);
}

int main() {
  compare<float>("float", 1e-6);
  compare<double>("double", 1e-14);
  unsigned* bits;
  unsigned long long* bits64;
  cudaMallocManaged(&bits, 2 * sizeof *bits);
  cudaMallocManaged(&bits64, sizeof *bits64);
  not_numbers<<<1, 1>>>(bits, bits64);
  cudaDeviceSynchronize();
  std::printf("nan %08x %08x %016llx\n", bits[0], bits[1], bits64[0]);
}
