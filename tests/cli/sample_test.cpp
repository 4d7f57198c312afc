// SPDX-License-Identifier: Apache-2.0
// `--sample`: a share of the blocks is counted, and the report says so; whole programs and bare PTX, and wrong use.
#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

using nlohmann::json;

/// Block b writes b % 2 + 1 times 4 sectors a warp.
constexpr const char* kPtx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 to)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [to];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	and.b32 %r3, %r1, 1;
again:
	st.global.u32 [%rd3], %r2;
	add.s32 %r3, %r3, -1;
	setp.ge.s32 %p1, %r3, 0;
	@%p1 bra again;
	ret;
}
)";

class SampleTest : public ToolTest {
 protected:
  json group(std::vector<std::string> options) const {
    const std::string ptx = file("k.ptx", kPtx);
    for (const char* word : {"--grid", "1000", "--block", "64", "--arg", "i32[64]", "--json"}) options.push_back(word);
    options.insert(options.begin(), "run");
    options.push_back(path("report.json"));
    options.push_back(ptx);
    const ProcessResult result = tool(options);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    text_ = result.errors;
    return json::parse(read(path("report.json")))["kernels"][0]["launch_groups"][0];
  }
  mutable std::string text_;
};

TEST_F(SampleTest, estimates_with_their_errors) {
  const json exact = group({}), all = group({"--sample", "100%"}), some = group({"--sample", "5%"}),
             same = group({"--sample", "0.05", "--workers", "1"}), other = group({"--sample=5%", "--sample-seed", "9"});
  EXPECT_FALSE(exact.contains("sample"));
  EXPECT_EQ(all["lines"], exact["lines"]);
  EXPECT_FALSE(all.contains("sample"));
  EXPECT_EQ(exact["totals"]["memory"][0]["sectors"], 1500 * 2 * 4);
  // The first block, the last, and two of each 40 or so of the 998 between.
  EXPECT_EQ(some["sample"], json::parse(R"({"share":0.05,"seed":0,"counted_blocks":52,"blocks":1000,"scaled":true})"));
  EXPECT_EQ(some["lines"], same["lines"]);
  EXPECT_NE(some["lines"], other["lines"]);
  for (const json& g : {some, other}) {
    const json& traffic = g["totals"]["memory"][0];
    EXPECT_EQ(traffic["exactness"], "sampled");
    const double error = traffic["standard_error"]["sectors"].get<double>();
    EXPECT_GT(error, 0);
    EXPECT_NEAR(traffic["sectors"].get<double>(), 12000, 4 * error);
    EXPECT_EQ(g["lines"][0]["accesses"][0]["standard_error"]["sectors"], error);
  }
  EXPECT_NE(text_.find("Estimates: 52 of 1,000 blocks were counted (5.2 %)"), std::string::npos) << text_;
  EXPECT_NE(text_.find("error"), std::string::npos);
}

TEST_F(SampleTest, a_whole_program) {
  const std::string source = std::string(WARPLENS_SOURCE_DIR) + "/examples/vector_add.cu";
  const ProcessResult built = tool({"cc", "-O2", source, "-o", path("program")});
  ASSERT_EQ(built.exit_code, 0) << built.errors;
  const auto report = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", "-q", "--json", path("report.json")});
    options.push_back(path("program"));
    const ProcessResult result = tool(options);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return json::parse(read(path("report.json")))["kernels"][0]["launch_groups"][0];
  };
  // Every block but the last does the same, and the last is always counted: nothing is lost.
  json exact = report({}), some = report({"--sample", "2%"});
  ASSERT_TRUE(some.contains("sample"));
  EXPECT_LT(some["sample"]["counted_blocks"].get<int>(), some["sample"]["blocks"].get<int>() / 10);
  for (size_t i = 0; i < exact["totals"]["memory"].size(); ++i) {
    json of_some = some["totals"]["memory"][i];
    EXPECT_EQ(of_some["standard_error"]["sectors"], 0);
    of_some.erase("standard_error");
    of_some["exactness"] = "exact";
    EXPECT_EQ(of_some, exact["totals"]["memory"][i]);
  }
}

TEST_F(SampleTest, wrong_shares_are_refused) {
  for (const char* share : {"0", "0%", "-5%", "101%", "1.01", "5", "half", "", "5%%", "nan", "inf", "5 percent"})
    expect_refused(run({"--sample", share}, {}), "--sample needs a share of the blocks above 0 and up to 100 %");
  expect_refused(run({"--sample-seed", "x"}, {}), "--sample-seed needs a whole number");
  expect_refused(run({"--sample", "5%", "--counting", "oracle"}, {}), "--counting oracle counts every block");
  expect_refused(run({"--sample", "5%", "--no-count"}, {}), "--no-count counts nothing");
}

}  // namespace
}  // namespace warplens::cli_tests
