// SPDX-License-Identifier: Apache-2.0
// Curves against the calculation at every value between their points.
#include "gpu/occupancy_curves.h"

#include <gtest/gtest.h>

#include "gpu/catalogue.h"

namespace warplens::gpu {
namespace {

double at(const Curve& curve, uint64_t value) {
  double share = 0;
  for (const CurvePoint& p : curve)
    if (p.value <= value) share = p.share;
  return share;
}

TEST(OccupancyCurves, have_a_point_wherever_the_answer_changes) {
  for (const char* name : {"t4", "h200", "rtx5090"}) {
    const Gpu gpu = *find_gpu(name);
    const OccupancyInput input = {192, 40, 9000};
    const Curve registers = over_registers(gpu, input), shared = over_shared(gpu, input);
    for (uint32_t r = 1; r <= gpu.registers_per_thread; ++r)
      ASSERT_EQ(at(registers, r), occupancy(gpu, {192, r, 9000}).share) << name << " " << r;
    for (uint32_t bytes = 0; bytes <= gpu.shared_per_block_optin; ++bytes)
      ASSERT_EQ(at(shared, bytes), occupancy(gpu, {192, 40, bytes}).share) << name << " " << bytes;
  }
}

TEST(OccupancyCurves, over_blocks_have_every_number_of_warps) {
  const Curve curve = over_block_size(default_gpu(), {256, 32, 0});
  ASSERT_EQ(curve.size(), 32u);
  EXPECT_EQ(curve[0].value, 32u);
  EXPECT_DOUBLE_EQ(curve[0].share, 0.5);
  EXPECT_EQ(curve[23].value, 768u);
  EXPECT_DOUBLE_EQ(curve[23].share, 0.75);
}

}  // namespace
}  // namespace warplens::gpu
