// SPDX-License-Identifier: Apache-2.0
// GPU files: what the one compiled in says (against values that a program printed on the device), what ill-formed files
// are told, and the limits of launches (against the programming guide's table of compute capability 9.0).
#include "gpu/gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "gpu/catalogue.h"

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

TEST(GpuFile, absurd_values_name_the_entry_and_its_place) {
  const auto fault_of = [](const std::string& from, const std::string& to) {
    std::string text = text_of_default();
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
    const auto parsed = parse_gpu(text, "my.toml");
    EXPECT_FALSE(parsed.has_value()) << to;
    return parsed ? std::string() : render(parsed.error().front());
  };
  EXPECT_NE(fault_of("sms = 132", "sms = 0").find("my.toml:10:7: error: 'sms' makes no sense"), std::string::npos);
  EXPECT_NE(fault_of("sms = 132", "sms = -3").find("'sms'"), std::string::npos);
  EXPECT_NE(fault_of("sms = 132", "sms = 1e9").find("'sms'"), std::string::npos);
  EXPECT_NE(fault_of("name = \"NVIDIA H200\"", "name = \"\"").find("'name'"), std::string::npos);
  EXPECT_NE(fault_of("warp_size = 32", "warp_size = 64").find("from 32 to 32"), std::string::npos);
  EXPECT_NE(fault_of("l1_latency = 39.6", "l1_latency = nan").find("'l1_latency'"), std::string::npos);
  EXPECT_NE(fault_of("shared_per_sm = 233472", "shared_per_sm = 1024").find("'shared_per_block_optin'"),
            std::string::npos);
  EXPECT_NE(fault_of("shared_allocation_unit = 128", "shared_allocation_unit = 100").find("power of two"),
            std::string::npos);
  EXPECT_NE(fault_of("cluster_blocks_optin = 16", "cluster_blocks_optin = 4").find("'cluster_blocks_optin'"),
            std::string::npos);
}

TEST(GpuFile, every_fault_between_entries_is_told) {
  std::string text = text_of_default();
  for (const auto& [from, to] : {std::pair{"shared_allocation_unit = 128", "shared_allocation_unit = 100"},
                                 {"cluster_blocks_optin = 16", "cluster_blocks_optin = 4"},
                                 {"threads_per_sm = 2048", "threads_per_sm = 1000"}}) {
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, std::string(from).size(), to);
  }
  const auto parsed = parse_gpu(text, "my.toml");
  ASSERT_FALSE(parsed.has_value());
  std::string all;
  for (const Diagnostic& d : parsed.error()) all += d.message + "\n";
  EXPECT_EQ(all,
            "'shared_allocation_unit': must be a power of two\n"
            "'threads_per_block': more than 'threads_per_sm'\n"
            "'threads_per_sm': must be whole warps\n"
            "'cluster_blocks_optin': less than 'cluster_blocks'\n");
}

TEST(GpuFile, that_cannot_be_read_says_why) {
  const auto missing = load_gpu("/no/such/file.toml"), folder = load_gpu("/usr/");
  ASSERT_FALSE(missing.has_value() || folder.has_value());
  EXPECT_EQ(missing.error()[0].message, "cannot read the GPU file /no/such/file.toml: No such file or directory");
  EXPECT_NE(folder.error()[0].message.find("is a directory"), std::string::npos) << folder.error()[0].message;
}

TEST(KnownGpus, are_found_by_the_end_of_their_name_with_the_model) {
  for (const auto& [wanted, name] : {std::pair{"a100-sxm4-80gb", "NVIDIA A100-SXM4-80GB"},
                                     {"5060 ti", "NVIDIA GeForce RTX 5060 Ti"},
                                     {"geforce rtx 3090", "NVIDIA GeForce RTX 3090"},
                                     {"H100 80GB HBM3", "NVIDIA H100 80GB HBM3"},
                                     {"T4", "Tesla T4"}}) {
    const auto found = find_gpu(wanted);
    EXPECT_TRUE(found.has_value() && found->name == name) << wanted;
  }
  for (const char* wanted : {"Ti", "HBM3", "80GB HBM3", "80GB", "60 Ti", "-", "NVIDIA"})
    EXPECT_FALSE(find_gpu(wanted).has_value()) << wanted;
}

TEST(GpuFile, may_lack_what_nobody_knows) {
  std::string text = text_of_default();
  text.erase(text.find("[attributes]"));
  const size_t at = text.find("dram_latency");
  text.erase(at, text.find('\n', at) - at);
  const auto parsed = parse_gpu(text, "my.toml");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_FALSE(parsed->dram_latency.has_value());
  EXPECT_EQ(parsed->l1_latency, 39.6);
}

TEST(Attributes, without_a_list_agree_with_what_the_device_answered) {
  const Gpu& listed = default_gpu();
  Gpu bare = listed;
  bare.attributes.clear();
  int answered = 0;
  for (int number = 1; number <= static_cast<int>(listed.attributes.size()); ++number) {
    const auto known = bare.known_attribute(number);
    if (!known) continue;
    ++answered;
    EXPECT_EQ(*known, listed.attribute(number)) << number;
  }
  EXPECT_GT(answered, 75);
  EXPECT_FALSE(bare.known_attribute(116).has_value());  // GPUDirect: depends on the machine
  EXPECT_FALSE(bare.known_attribute(0).has_value());
}

TEST(KnownGpus, are_the_eleven_with_the_capabilities_of_their_makers_table) {
  std::map<std::string, std::array<int, 2>> found;
  for (const KnownGpu& known : known_gpus()) found[known.id] = known.gpu->compute_capability;
  const std::map<std::string, std::array<int, 2>> expected = {
      {"v100", {7, 0}},    {"t4", {7, 5}},       {"a100", {8, 0}},      {"rtx3090", {8, 6}},
      {"rtx4090", {8, 9}}, {"l4", {8, 9}},       {"h100", {9, 0}},      {"h200", {9, 0}},
      {"b200", {10, 0}},   {"rtx5090", {12, 0}}, {"rtx5060ti", {12, 0}}};
  EXPECT_EQ(found, expected);
}

TEST(KnownGpus, have_the_peaks_that_their_data_sheets_print) {
  // TFLOP/s in fp32: 2 x lanes x SMs x boost clock; the sheets round.
  const std::map<std::string, double> sheets = {
      {"v100", 15.7}, {"t4", 8.1},    {"a100", 19.5}, {"rtx3090", 35.6},  {"rtx4090", 82.6},
      {"l4", 30.3},   {"h100", 66.9}, {"h200", 66.9}, {"rtx5090", 104.8}, {"rtx5060ti", 23.7}};
  for (const KnownGpu& known : known_gpus()) {
    const Gpu& g = *known.gpu;
    if (!sheets.contains(known.id)) continue;
    EXPECT_NEAR(2e-9 * *g.fp32 * g.sms * g.sm_clock_khz, sheets.at(known.id), 0.06) << known.id;
    EXPECT_NEAR(2e3 * g.memory_clock_khz * g.memory_bus_bits / 8 / static_cast<double>(g.dram_bytes_per_second), 1,
                0.01)
        << known.id;
  }
}

TEST(KnownGpus, are_found_as_people_write_them) {
  for (const char* name : {"rtx4090", "RTX 4090", "rtx-4090", "NVIDIA GeForce RTX 4090"})
    EXPECT_EQ(find_gpu(name)->name, "NVIDIA GeForce RTX 4090") << name;
  EXPECT_EQ(find_gpu("")->name, default_gpu().name);
  EXPECT_EQ(find_gpu("H200")->name, "NVIDIA H200");
  EXPECT_EQ(find_gpu(WARPLENS_TEST_DATA "/../../gpus/l4.toml")->sms, 58);
  const auto unknown = find_gpu("h201");
  ASSERT_FALSE(unknown.has_value());
  const std::string text = render(unknown.error().front());
  EXPECT_NE(text.find("did you mean h200?"), std::string::npos) << text;
  for (const KnownGpu& known : known_gpus()) EXPECT_NE(text.find(known.id), std::string::npos) << known.id;
}

TEST(LaunchLimits, are_those_of_the_gpu_and_stand_in_the_message) {
  const Gpu t4 = *find_gpu("t4");
  LaunchShape shape = {.block = {128, 1, 1}, .dynamic_shared_bytes = 65536, .dynamic_shared_allowed = 65536};
  EXPECT_EQ(check_launch(t4, shape), LaunchFault::kNone);
  shape.dynamic_shared_allowed = ++shape.dynamic_shared_bytes;
  EXPECT_EQ(check_launch(t4, shape), LaunchFault::kSharedTooLarge);
  EXPECT_EQ(check_launch(default_gpu(), shape), LaunchFault::kNone);
  const std::string text = explain(LaunchFault::kSharedTooLarge, t4, shape);
  EXPECT_NE(text.find("Tesla T4"), std::string::npos);
  EXPECT_NE(text.find("65536"), std::string::npos);
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
