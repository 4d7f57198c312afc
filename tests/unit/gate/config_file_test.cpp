// SPDX-License-Identifier: Apache-2.0
// .warplens.toml: what it may say, every fault with its place, and where it is found.
#include "gate/config_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace warplens::gate {
namespace {

TEST(Config, all_that_a_file_may_say) {
  const auto config = parse_config(R"(
gpu = "l4"
timeout = 2.5
allow_estimates = true
[[limit]]
kernel = "matmul.*"
max_sectors_per_request = 5
excessive_sectors = 0
allow_estimates = false
[[limit]]
min_occupancy = 0.5
max = { launch__registers_per_thread = 64, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" = 1_000 }
min = { launch__grid_size = 132 }
)",
                                   "f.toml");
  ASSERT_TRUE(config.has_value()) << config.error()[0].message;
  EXPECT_EQ(config->gpu, "l4");
  EXPECT_EQ(config->timeout_seconds, 2.5);
  ASSERT_EQ(config->limits.size(), 6u);
  int estimates = 0, minima = 0, of_matmul = 0;
  for (const Limit& l : config->limits) {
    estimates += l.allow_estimates;
    minima += l.minimum;
    of_matmul += l.kernel == "matmul.*";
    EXPECT_EQ(l.file, "f.toml");
    EXPECT_GE(l.pos.line, 7u);
  }
  EXPECT_EQ(estimates, 4);
  EXPECT_EQ(minima, 2);
  EXPECT_EQ(of_matmul, 2);
  const auto again = parse_config(config_text(*config), "again.toml");
  ASSERT_TRUE(again.has_value()) << config_text(*config);
  EXPECT_EQ(again->limits.size(), 6u);
  EXPECT_EQ(config_text(*again),
            "# from again.toml\n" + config_text(*config).substr(config_text(*config).find('\n') + 1));
}

void expect_fault(const std::string& text, SourcePos pos, const std::string& message, const std::string& hint = "") {
  const auto config = parse_config(text, "f.toml");
  ASSERT_FALSE(config.has_value()) << text;
  const Diagnostic& d = config.error()[0];
  EXPECT_EQ(d.pos, pos) << text;
  EXPECT_NE(d.message.find(message), std::string::npos) << d.message;
  EXPECT_NE(d.hint.find(hint), std::string::npos) << d.hint;
}

TEST(Config, faults_have_places) {
  expect_fault("gpu = \"h200\"\ngpu = ", {2, 7}, "");
  expect_fault("timout = 3", {1, 10}, "unknown entry 'timout'", "did you mean timeout?");
  expect_fault("timeout = -3", {1, 11}, "above 0");
  expect_fault("gpu = 3", {1, 7}, "'gpu' must be a text");
  expect_fault("allow_estimates = 1", {1, 19}, "true or false");
  expect_fault("[[limit]]\nexcesive_sectors = 0", {2, 20}, "there is no limit 'excesive_sectors'", "excessive_sectors");
  expect_fault("[[limit]]\nexcessive_sectors = \"none\"", {2, 21}, "must be a number");
  expect_fault("[[limit]]\nexcessive_sectors = nan", {2, 21}, "must be a number");
  expect_fault("[[limit]]\nkernel = \"(\"\nexcessive_sectors = 0", {2, 10}, "not a regular expression");
  expect_fault("[[limit]]\nkernel = \"a\"", {1, 1}, "limits nothing");
  expect_fault("[[limit]]\nmax = 3", {2, 7}, "must be a table");
  expect_fault("[[limit]]\nmax = { launch__grid_siz = 3 }", {2, 28}, "there is no metric", "launch__grid_size");
  expect_fault("[[limit]]\nmax = { smsp__inst_executed.sum = 3 }", {2, 9}, "has a dot", "quotes");
  expect_fault("limit = 3", {1, 9}, "list of tables");
  const auto two = parse_config("a = 1\nb = 2", "f.toml");
  EXPECT_EQ(two.error().size(), 2u);
}

TEST(Config, flags_override_bounds_and_add) {
  Config config = parse_config("[[limit]]\nkernel = \"a\"\nexcessive_sectors = 0\n", "f.toml").value();
  override_limit(config, parse_limit("excessive_sectors=9").value());
  override_limit(config, parse_limit("min_occupancy=0.5").value());
  ASSERT_EQ(config.limits.size(), 2u);
  EXPECT_EQ(config.limits[0].bound, 9);
  EXPECT_EQ(config.limits[0].kernel, "a");
  EXPECT_EQ(config.limits[1].kernel, "");
}

TEST(Config, nearest_file_above_is_found) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "config-test-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  folder = fs::canonical(folder).string();
  fs::create_directories(folder + "/a/b/c");
  std::ofstream(folder + "/.warplens.toml") << "\n";
  EXPECT_EQ(find_config(folder + "/a/b/c"), folder + "/.warplens.toml");
  std::ofstream(folder + "/a/.warplens.toml") << "\n";
  EXPECT_EQ(find_config(folder + "/a/b/c"), folder + "/a/.warplens.toml");
  EXPECT_EQ(find_config(folder + "/a/b/none"), folder + "/a/.warplens.toml");
  EXPECT_FALSE(read_config(folder + "/a").has_value());
  EXPECT_NE(read_config(folder + "/none").error()[0].message.find("No such file"), std::string::npos);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace warplens::gate
