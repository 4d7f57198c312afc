// SPDX-License-Identifier: Apache-2.0
// Conversions of the 16-bit formats on the host, against the definition: the nearest representable number, ties to
// the even one. Every one of the 65,536 halves and every midpoint between two neighbours is tried.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cmath>

namespace {

// From the definition of binary16, without bit tricks.
double exact_value(unsigned h) {
  const int exponent = (h >> 10) & 31, mantissa = h & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return h & 0x8000 ? -magnitude : magnitude;
}

TEST(Half, every_number_survives_the_way_to_float_and_back) {
  for (unsigned h = 0; h < 65536; h++) {
    const float f = warplens_cuda::half_value(static_cast<unsigned short>(h));
    if (((h >> 10) & 31) == 31) {
      EXPECT_TRUE((h & 1023) ? std::isnan(f) : std::isinf(f)) << h;
      if (h & 1023) continue;
    } else {
      ASSERT_EQ(f, exact_value(h)) << h;
    }
    ASSERT_EQ(warplens_cuda::half_bits(f), h);
  }
}

TEST(Half, rounds_to_nearest_and_ties_to_even) {
  for (unsigned h = 0; h < 0x7bff; h++) {
    const double low = exact_value(h), high = exact_value(h + 1), middle = (low + high) / 2;
    const unsigned even = h & 1 ? h + 1 : h;
    ASSERT_EQ(warplens_cuda::half_bits(static_cast<float>(middle)), even) << h;
    ASSERT_EQ(warplens_cuda::half_bits(std::nextafterf(static_cast<float>(middle), 1e9f)), h + 1) << h;
    ASSERT_EQ(warplens_cuda::half_bits(std::nextafterf(static_cast<float>(middle), -1e9f)), h) << h;
  }
  EXPECT_EQ(warplens_cuda::half_bits(65519.996f), 0x7bffu);
  EXPECT_EQ(warplens_cuda::half_bits(65520.0f), 0x7c00u);
  EXPECT_EQ(warplens_cuda::half_bits(-1e9f), 0xfc00u);
  EXPECT_EQ(warplens_cuda::half_bits(-0.0f), 0x8000u);
  EXPECT_EQ(warplens_cuda::half_bits(NAN), 0x7fffu);
}

TEST(Bfloat16, is_the_upper_half_of_a_float_rounded) {
  for (unsigned h = 0; h < 0x7f7f; h++) {
    const float low = warplens_cuda::bfloat_value(static_cast<unsigned short>(h));
    const float high = warplens_cuda::bfloat_value(static_cast<unsigned short>(h + 1));
    ASSERT_EQ(warplens_cuda::bfloat_bits(low), h);
    const double middle = (static_cast<double>(low) + high) / 2;
    ASSERT_EQ(warplens_cuda::bfloat_bits(static_cast<float>(middle)), h & 1 ? h + 1 : h) << h;
  }
  EXPECT_EQ(warplens_cuda::bfloat_bits(INFINITY), 0x7f80u);
  EXPECT_EQ(warplens_cuda::bfloat_bits(NAN), 0x7fffu);
}

}  // namespace
