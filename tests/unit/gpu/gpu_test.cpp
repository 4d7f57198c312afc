// SPDX-License-Identifier: Apache-2.0
// GPU files: what the one compiled in says (against values that a program printed on the device), what ill-formed files
// are told, and the limits of launches (against the programming guide's table of compute capability 9.0).
#include "gpu/gpu.h"

#include <gtest/gtest.h>

#include <fstream>

namespace warplens::gpu {
namespace {

TEST(DefaultGpu, has_the_values_that_the_device_reported) {
  const Gpu& g = default_gpu();
  EXPECT_EQ(g.sms, 132);
  EXPECT_EQ(g.l2_bytes, 62914560);
  EXPECT_EQ(g.shared_per_block_optin, 232448u);
  EXPECT_EQ(g.shared_per_sm, 233472u);
  EXPECT_EQ(g.registers_per_sm, 65536u);
  EXPECT_EQ(g.threads_per_sm, 2048u);
  EXPECT_EQ(g.blocks_per_sm, 32u);
  EXPECT_EQ(g.memory_bus_bits, 6016);
  EXPECT_EQ(g.shared_per_block_optin + g.shared_reserved_per_block, g.shared_per_sm);
}

TEST(DefaultGpu, limits_agree_with_its_own_attributes) {
  const Gpu& g = default_gpu();  // numbers of attributes: interface facts, tests/programs/device.cu asks for them
  EXPECT_EQ(g.attribute(1), static_cast<int>(g.threads_per_block));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(g.attribute(2 + i), static_cast<int>(g.block_dim[i]));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(g.attribute(5 + i), static_cast<int>(g.grid_dim[i]));
  EXPECT_EQ(g.attribute(8), static_cast<int>(g.shared_per_block));
  EXPECT_EQ(g.attribute(9), g.constant_bytes);
  EXPECT_EQ(g.attribute(13), g.sm_clock_khz);
  EXPECT_EQ(g.attribute(16), g.sms);
  EXPECT_EQ(g.attribute(36), g.memory_clock_khz);
  EXPECT_EQ(g.attribute(38), g.l2_bytes);
  EXPECT_EQ(g.attribute(75), g.compute_capability[0]);
  EXPECT_EQ(g.attribute(81), static_cast<int>(g.shared_per_sm));
  EXPECT_EQ(g.attribute(97), static_cast<int>(g.shared_per_block_optin));
  EXPECT_EQ(g.attribute(106), static_cast<int>(g.blocks_per_sm));
  EXPECT_EQ(g.attribute(111), static_cast<int>(g.shared_reserved_per_block));
  EXPECT_EQ(g.attribute(0, -7), -7);
  EXPECT_EQ(g.attribute(100000, -7), -7);
}

std::string text_of_default() {
  std::ifstream in(WARPLENS_TEST_DATA "/../../gpus/h200.toml");
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(GpuFile, on_disk_equals_the_one_compiled_in) {
  const auto read = load_gpu(WARPLENS_TEST_DATA "/../../gpus/h200.toml");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->name, default_gpu().name);
  EXPECT_EQ(read->dram_latency, default_gpu().dram_latency);
}

TEST(GpuFile, reports_every_missing_unknown_and_ill_typed_entry_with_its_place) {
  std::string text = text_of_default();
  const auto replace = [&](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
  };
  replace("sms = 132", "SMs = 132");
  replace("block_dim = [1024, 1024, 64]", "block_dim = [1024, 1024]");
  const auto parsed = parse_gpu(text, "my.toml");
  ASSERT_FALSE(parsed.has_value());
  ASSERT_EQ(parsed.error().size(), 3u);
  EXPECT_EQ(parsed.error()[0].message, "[device] lacks 'sms'");
  EXPECT_NE(parsed.error()[1].message.find("'block_dim'"), std::string::npos);
  EXPECT_EQ(parsed.error()[2].message, "unknown entry 'SMs' in [device]");
  for (const Diagnostic& d : parsed.error()) EXPECT_GT(d.pos.line, 0u);
}

TEST(GpuFile, syntax_error_has_a_place) {
  const auto parsed = parse_gpu("[device]\nname = \n", "my.toml");
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error()[0].pos.line, 2u);
  EXPECT_FALSE(load_gpu("/no/such/file.toml").has_value());
}

TEST(LaunchLimits, follow_the_programming_guide) {
  const Gpu& g = default_gpu();
  const auto fault = [&](std::array<uint64_t, 3> grid, std::array<uint64_t, 3> block) {
    return check_launch(g, {.grid = grid, .block = block});
  };
  EXPECT_EQ(fault({1, 1, 1}, {1024, 1, 1}), LaunchFault::kNone);
  EXPECT_EQ(fault({1, 1, 1}, {1025, 1, 1}), LaunchFault::kBlockTooLarge);
  EXPECT_EQ(fault({1, 1, 1}, {32, 32, 2}), LaunchFault::kBlockTooLarge);
  EXPECT_EQ(fault({1, 1, 1}, {1, 1, 64}), LaunchFault::kNone);
  EXPECT_EQ(fault({1, 1, 1}, {1, 1, 65}), LaunchFault::kBlockTooLarge);
  EXPECT_EQ(fault({2147483647, 1, 1}, {1, 1, 1}), LaunchFault::kNone);
  EXPECT_EQ(fault({2147483648, 1, 1}, {1, 1, 1}), LaunchFault::kGridTooLarge);
  EXPECT_EQ(fault({1, 65536, 1}, {1, 1, 1}), LaunchFault::kGridTooLarge);
  EXPECT_EQ(fault({1, 1, 65536}, {1, 1, 1}), LaunchFault::kGridTooLarge);
  EXPECT_EQ(fault({0, 1, 1}, {1, 1, 1}), LaunchFault::kZero);
  EXPECT_EQ(fault({1, 1, 1}, {1, 0, 1}), LaunchFault::kZero);
}

TEST(LaunchLimits, shared_memory_over_48_kib_needs_the_opt_in) {
  const Gpu& g = default_gpu();
  LaunchShape shape = {.static_shared_bytes = 1024, .dynamic_shared_bytes = 48 * 1024 - 1024};
  EXPECT_EQ(check_launch(g, shape), LaunchFault::kNone);
  shape.dynamic_shared_bytes += 1;
  EXPECT_EQ(check_launch(g, shape), LaunchFault::kSharedTooLarge);
  shape.dynamic_shared_allowed = 64 * 1024;
  EXPECT_EQ(check_launch(g, shape), LaunchFault::kNone);
  shape.dynamic_shared_bytes = 64 * 1024 + 1;
  EXPECT_EQ(check_launch(g, shape), LaunchFault::kSharedTooLarge);
  EXPECT_NE(explain(LaunchFault::kSharedTooLarge, g, shape).find("cudaFuncSetAttribute"), std::string::npos);
}

TEST(LaunchLimits, launch_bounds_of_the_kernel_count) {
  EXPECT_EQ(check_launch(default_gpu(), {.block = {256, 1, 1}, .max_threads = 256}), LaunchFault::kNone);
  EXPECT_EQ(check_launch(default_gpu(), {.block = {257, 1, 1}, .max_threads = 256}), LaunchFault::kThreadsOverBound);
}

}  // namespace
}  // namespace warplens::gpu
