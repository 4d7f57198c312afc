// SPDX-License-Identifier: Apache-2.0
// `warplens diff` and `run --baseline` end to end, with real programs where the change is one that people make.
#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

using nlohmann::json;

class DiffTest : public ToolTest {
 protected:
  std::string report(const std::string& name, const std::vector<std::string>& words = {"record"}) const {
    EXPECT_EQ(run({"-q", "--json", path(name)}, words).exit_code, 0);
    return path(name);
  }
  /// A change of a report by hand.
  template <typename Edit>
  std::string edited(const std::string& from, const std::string& name, Edit edit) const {
    json j = json::parse(read(from));
    edit(j);
    return file(name, j.dump(2));
  }
};

TEST_F(DiffTest, equal_reports_are_equal) {
  const std::string a = report("a.json");
  const auto r = tool({"diff", a, report("b.json")});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.output, "1 kernel shape compared: 0 worse, 0 better, 1 the same\n");
  EXPECT_EQ(run({"-q", "--baseline", a}, {"record"}).exit_code, 0);
}

TEST_F(DiffTest, growth_is_code_1_with_a_table) {
  const std::string a = report("a.json");
  const std::string b = edited(a, "b.json", [](json& j) {
    json& t = j["kernels"][0]["launch_groups"][0]["totals"]["memory"][0];
    t["sectors"] = t["sectors"].get<uint64_t>() - 1000;
  });
  const auto r = tool({"diff", b, a});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.output.find("error: matmul_naive: global read excessive sectors"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("273,432"), std::string::npos) << r.output;  // 8192 x 33 + 128 x 32 - 1000
  EXPECT_EQ(tool({"diff", a, b}).exit_code, 0);
  EXPECT_EQ(tool({"diff", "--allow-growth", "1000", b, a}).exit_code, 0);
  EXPECT_EQ(tool({"diff", "--allow-growth=0.1%", b, a}).exit_code, 1);
  EXPECT_EQ(tool({"diff", "-q", b, a}).output, "");
  EXPECT_NE(tool({"diff", "--markdown", "-", b, a}).output.find("| **worse** |"), std::string::npos);
  const auto gated = run({"-q", "--baseline", b, "--junit", path("j.xml")}, {"record"});
  EXPECT_EQ(gated.exit_code, 1);
  EXPECT_NE(gated.errors.find("error: matmul_naive: global read excessive sectors"), std::string::npos) << gated.errors;
  EXPECT_NE(read(path("j.xml")).find("no worse than the baseline"), std::string::npos);
  EXPECT_EQ(run({"-q", "--baseline", b, "--allow-growth", "5%"}, {"record"}).exit_code, 0);
}

TEST_F(DiffTest, comparing_nothing_is_code_2) {
  const std::string a = report("a.json");
  const std::string b =
      edited(a, "b.json", [](json& j) { j["kernels"][0]["name"] = j["kernels"][0]["short_name"] = "x"; });
  const auto nothing = tool({"diff", b, a});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_NE(nothing.errors.find("nothing was compared"), std::string::npos) << nothing.errors;
  const auto gated = run({"-q", "--baseline", b}, {"record"});
  EXPECT_EQ(gated.exit_code, 2);
  EXPECT_NE(gated.errors.find("nothing was compared"), std::string::npos) << gated.errors;
  expect_refused(run({"--no-count", "--baseline", a}, {"record"}), "nothing to compare");
  expect_refused(run({"--json", path("x"), "--csv", path("./x")}, {"record"}), "the same file");
  EXPECT_EQ(tool({"diff", a, b, "--help"}).exit_code, 0);
}

TEST_F(DiffTest, damaged_and_foreign_files_are_told_where) {
  const std::string a = report("a.json");
  const std::string whole = read(a);
  expect_refused(tool({"diff", a, file("cut.json", whole.substr(0, whole.size() / 2))}), "cut short");
  expect_refused(tool({"diff", a, file("old.json", "{\"schema_version\": 0, \"kernels\": []}")}),
                 "old.json:1:20: error: the report has schema version 0");
  expect_refused(tool({"diff", path("none.json"), a}), "none.json");
  expect_refused(tool({"diff", a, file("x.json", "{]")}), "x.json:1:2: error: not valid JSON");
  expect_refused(tool({"diff", a}), "two reports");
  expect_refused(tool({"diff", "--allow-grwth=1", a, a}), "did you mean --allow-growth?");
  expect_refused(run({"--baseline", path("old.json")}, {"print", "x"}), "schema version 0");  // nothing was started
  EXPECT_EQ(tool({"diff", "--markdown", path("none/d.md"), a, a}).exit_code, 3);
}

constexpr const char* kScale = R"(
__global__ void scale(const float* in, float* out, int n) {
  int row = blockIdx.x, column = threadIdx.x;
  out[row * n + column] = 2 * in[row * n + column];
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 128 * 128 * sizeof(float));
  cudaMalloc(&out, 128 * 128 * sizeof(float));
  cudaMemset(in, 0, 128 * 128 * sizeof(float));
  scale<<<128, 128>>>(in, out, 128);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST_F(DiffTest, the_three_changes_of_a_pull_request) {
  const std::string base = path("base.json");
  ASSERT_EQ(tool({"run", "-q", "--json", base, file("scale.cu", kScale)}).exit_code, 0);
  EXPECT_NE(json::parse(read(base))["kernels"][0]["ptx"]["compiler"].get<std::string>().find("clang version"),
            std::string::npos);

  // Code that only moves: more lines above, other blanks.
  const std::string moved = std::string("// a new header\n\n\n") + replaced(kScale, "2 * in[row", "2*in[ row");
  const auto same = tool({"run", "-q", "--baseline", base, file("moved.cu", moved)});
  EXPECT_EQ(same.exit_code, 0) << same.errors;
  EXPECT_EQ(same.errors, "");

  // A change that breaks coalescing: one readable line, with its place.
  const std::string broken = replaced(kScale, "2 * in[row * n + column]", "2 * in[column * n + row]");
  const auto bad = tool({"run", "-q", "--baseline", base, file("broken.cu", broken)});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.errors.find("broken.cu:4:"), std::string::npos) << bad.errors;
  // 128 blocks x 4 warps x (32 - 4) sectors.
  EXPECT_NE(bad.errors.find("error: scale: read in: excessive sectors 0 -> 14,336 [regression]"), std::string::npos)
      << bad.errors;
  EXPECT_EQ(std::count(bad.errors.begin(), bad.errors.end(), '\n'), 1) << bad.errors;

  // The same with an allowance is none.
  const std::string allowed = replaced(broken, "+ row];", "+ row];  // warplens: allow(regression) measured faster");
  EXPECT_EQ(tool({"run", "-q", "--baseline", base, file("allowed.cu", allowed)}).exit_code, 0);
  const auto said = tool({"run", "--baseline", base, file("allowed.cu", allowed)});
  EXPECT_EQ(said.exit_code, 0);
  EXPECT_EQ(said.errors.find("error:"), std::string::npos) << said.errors;
  EXPECT_NE(said.errors.find("(allowed: measured faster) [regression]"), std::string::npos) << said.errors;

  // Another compiler made other code of the same source: said so, and held against nobody.
  const std::string other = edited(base, "other.json", [](json& j) {
    j["kernels"][0]["ptx"] = {{"hash", "0"}, {"compiler", "clang version 18"}};
    for (json& t : j["kernels"][0]["launch_groups"][0]["totals"]["memory"])
      t["sectors"] = t["ideal_sectors"] = t["sectors"].get<uint64_t>() / 2;
  });
  const auto upgrade = tool({"run", "--baseline", other, path("scale.cu")});
  EXPECT_EQ(upgrade.exit_code, 0) << upgrade.errors;
  EXPECT_NE(upgrade.errors.find("its source files are the same, the compiler is not: clang version 18 ->"),
            std::string::npos)
      << upgrade.errors;
}

}  // namespace
}  // namespace warplens::cli_tests
