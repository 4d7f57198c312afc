// SPDX-License-Identifier: Apache-2.0
// Host sides of CUDA's functions against values known by other means.
#include "warplens/host_math.h"

#include <gtest/gtest.h>

#include <cmath>

namespace {

TEST(HostMath, whole_and_half_multiples_of_pi_are_exact) {
  for (const double k : {0.0, 1.0, 2.0, -3.0, 1e15}) EXPECT_EQ(sinpi(k), 0.0) << k;
  EXPECT_EQ(sinpi(0.5), 1.0);
  EXPECT_EQ(sinpi(-0.5), -1.0);
  EXPECT_EQ(sinpi(1.5), -1.0);
  EXPECT_EQ(sinpi(2.5), 1.0);
  EXPECT_EQ(cospi(0.5), 0.0);
  EXPECT_EQ(cospi(1.5), 0.0);
  EXPECT_EQ(cospi(1.0), -1.0);
  EXPECT_EQ(cospi(2.0), 1.0);
  EXPECT_EQ(cospif(-0.5f), 0.0f);
}

TEST(HostMath, agrees_with_the_library_in_between) {
  for (double x = -2.9; x < 3; x += 0.37) {
    EXPECT_NEAR(sinpi(x), std::sin(M_PI * x), 1e-14);
    EXPECT_NEAR(cospi(x), std::cos(M_PI * x), 1e-14);
  }
}

TEST(HostMath, roots_and_norms) {
  EXPECT_EQ(rsqrt(4.0), 0.5);
  EXPECT_EQ(rsqrtf(16.0f), 0.25f);
  EXPECT_EQ(rcbrt(8.0), 0.5);
  EXPECT_EQ(rhypot(3.0, 4.0), 0.2);
  EXPECT_DOUBLE_EQ(norm3d(2, 3, 6), 7.0);
  EXPECT_DOUBLE_EQ(norm4d(1, 1, 1, 1), 2.0);
  EXPECT_NEAR(normcdf(1.96), 0.97500210485177953, 1e-15);
}

TEST(HostMath, saturation) {
  EXPECT_EQ(__saturatef(-1.0f), 0.0f);
  EXPECT_EQ(__saturatef(0.5f), 0.5f);
  EXPECT_EQ(__saturatef(3.0f), 1.0f);
  EXPECT_EQ(__saturatef(NAN), 0.0f);
}

}  // namespace
