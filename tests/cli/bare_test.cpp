// SPDX-License-Identifier: Apache-2.0
// `warplens run k.ptx`: real data in and out, counts worked out by hand, and every kind of wrong input.
#include <cstring>

#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

using nlohmann::json;
using namespace std::string_literals;

/// y[i] = a * x[i] + y[i] for i < n; then a kernel that reverses in shared memory; then two with one stem in their
/// names.
constexpr const char* kPtx = R"(.version 8.0
.target sm_90
.address_size 64

.visible .entry _Z4axpyifPKfPf(
	.param .u32 _Z4axpyifPKfPf_param_0,
	.param .f32 _Z4axpyifPKfPf_param_1,
	.param .u64 _Z4axpyifPKfPf_param_2,
	.param .u64 _Z4axpyifPKfPf_param_3
)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .f32 %f<5>;
	.reg .b64 %rd<6>;
	ld.param.u32 %r1, [_Z4axpyifPKfPf_param_0];
	ld.param.f32 %f1, [_Z4axpyifPKfPf_param_1];
	ld.param.u64 %rd1, [_Z4axpyifPKfPf_param_2];
	ld.param.u64 %rd2, [_Z4axpyifPKfPf_param_3];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	setp.ge.s32 %p1, %r5, %r1;
	@%p1 bra done;
	mul.wide.s32 %rd3, %r5, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.f32 %f2, [%rd4];
	ld.global.f32 %f3, [%rd5];
	fma.rn.f32 %f4, %f2, %f1, %f3;
	st.global.f32 [%rd5], %f4;
done:
	ret;
}

.extern .shared .align 4 .b8 tile[];
.visible .entry reverse(.param .u64 reverse_data)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [reverse_data];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r2, [%rd3];
	mov.u32 %r3, tile;
	shl.b32 %r4, %r1, 2;
	add.s32 %r4, %r3, %r4;
	st.shared.u32 [%r4], %r2;
	bar.sync 0;
	mov.u32 %r5, %ntid.x;
	sub.s32 %r5, %r5, %r1;
	sub.s32 %r5, %r5, 1;
	shl.b32 %r5, %r5, 2;
	add.s32 %r5, %r3, %r5;
	ld.shared.u32 %r2, [%r5];
	st.global.u32 [%rd3], %r2;
	ret;
}

.visible .entry _Z3sumIfEvPT_(.param .u64 p) { ret; }
.visible .entry _Z3sumIdEvPT_(.param .u64 p) { ret; }
.visible .entry pair(.param .align 4 .b8 pair_s[8], .param .u64 pair_out) .reqntid 32, 1, 1
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	ld.param.u32 %r1, [pair_s];
	ld.param.u32 %r2, [pair_s+4];
	ld.param.u64 %rd1, [pair_out];
	sub.s32 %r3, %r1, %r2;
	st.global.u32 [%rd1], %r3;
	ret;
}
)";

class BareTest : public ToolTest {
 protected:
  std::string ptx() const { return file("k.ptx", kPtx); }

  /// `words` behind the file, as in the documentation.
  ProcessResult bare(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {"run", ptx()};
    all.insert(all.end(), words.begin(), words.end());
    return tool(all);
  }
  ProcessResult axpy(const std::vector<std::string>& arguments, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"--entry", "axpy", "--grid", "4", "--block", "64"};
    for (const std::string& a : arguments) all.insert(all.end(), {"--arg", a});
    all.insert(all.end(), more.begin(), more.end());
    return bare(all);
  }

  /// A .npy file of version 1, byte by byte.
  std::string npy(const std::string& name, const std::string& descr, const std::string& shape,
                  const std::string& elements, const std::string& order = "False") const {
    const std::string header = "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
    return file(name, "\x93NUMPY\1\0"s + static_cast<char>(header.size()) + '\0' + header + elements);
  }
  template <typename T>
  std::string npy(const std::string& name, const std::string& descr, const std::vector<T>& values) const {
    std::string elements(values.size() * sizeof(T), '\0');
    std::memcpy(elements.data(), values.data(), elements.size());
    return npy(name, descr, "(" + std::to_string(values.size()) + ",)", elements);
  }
  template <typename T>
  std::vector<T> elements(const std::string& path, size_t count) const {
    const std::string text = read(path);
    EXPECT_GE(text.size(), count * sizeof(T)) << path;
    std::vector<T> values(count);
    if (text.size() >= count * sizeof(T))
      std::memcpy(values.data(), text.data() + text.size() - count * sizeof(T), count * sizeof(T));
    return values;
  }
};

TEST_F(BareTest, computes_with_real_arrays_and_writes_results) {
  std::vector<float> x, y, expected;
  for (int i = 0; i < 200; ++i) {
    x.push_back(static_cast<float>(i));
    y.push_back(static_cast<float>(1000 - 3 * i));
    expected.push_back(2 * x.back() + y.back());  // small whole numbers: exact
  }
  const std::string xs = npy("x.npy", "<f4", x), ys = npy("y.npy", "<f4", y), es = npy("e.npy", "<f4", expected);
  const auto r =
      axpy({"i32:200", "f32:2", xs, "out:" + ys}, {"--out", path("result.npy"), "--expect", es, "--rtol", "0"});
  EXPECT_EQ(r.exit_code, 0) << r.errors;
  EXPECT_EQ(r.output, "");
  EXPECT_EQ(elements<float>(path("result.npy"), 200), expected);
  EXPECT_NE(r.errors.find("axpy  grid 4, block 64, 1 launch"), std::string::npos) << r.errors;
  EXPECT_NE(r.errors.find("e.npy: all 200 elements agree"), std::string::npos) << r.errors;
  EXPECT_EQ(elements<float>(ys, 200), y) << "inputs stay as they are";
}

TEST_F(BareTest, counts_what_the_warps_did) {
  // 200 threads of 256 are active: 6 full warps of 4 sectors and one of 8 lanes, 1 sector, for each of two loads.
  const auto r = axpy({"i32:200", "f32:2", "f32[200]=iota", "f32[200]"}, {"-q", "--json", "-"});
  ASSERT_EQ(r.exit_code, 0) << r.errors;
  const json report = json::parse(r.output);
  EXPECT_EQ(report["program"], "k.ptx");
  const json& launch = report["kernels"][0]["launch_groups"][0];
  EXPECT_EQ(launch["complete"], true);
  EXPECT_EQ(launch["grid"], json::array({4, 1, 1}));
  for (const json& m : launch["totals"]["memory"]) {
    const uint64_t loads = m["kind"] == "read" ? 2 : 1;
    EXPECT_EQ(m["memory"], "global");
    EXPECT_EQ(m["requests"], 7 * loads);
    EXPECT_EQ(m["sectors"], 25 * loads);
    EXPECT_EQ(m["active_lanes"], 200 * loads);
  }
  EXPECT_EQ(launch["totals"]["memory"].size(), 2u);
}

TEST_F(BareTest, both_executors_and_options_before_the_file) {
  for (const char* executor : {"jit", "interpreter"}) {
    const auto r = tool({"run", "-q", "--executor", executor, "--entry=reverse", "--grid=1", "--block=64", "--shared",
                         "256", "--arg=out:i32[64]=iota", "--out", path("r.npy"), ptx()});
    ASSERT_EQ(r.exit_code, 0) << r.errors;
    const auto values = elements<int32_t>(path("r.npy"), 64);
    for (int i = 0; i < 64; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], 63 - i);
  }
}

TEST_F(BareTest, structures_by_value_and_a_demanded_block) {
  const auto r = bare({"--entry", "pair", "--grid", "1", "--arg", "bytes:0a00000003000000", "--arg", "out:i32[1]", "-q",
                       "--out", path("r.npy")});
  ASSERT_EQ(r.exit_code, 0) << r.errors;
  EXPECT_EQ(elements<int32_t>(path("r.npy"), 1)[0], 7);
  const std::string s = npy<int32_t>("s.npy", "<i4", {5, 9});
  const auto array =
      bare({"--entry", "pair", "--grid", "1", "--arg", s, "--arg", "out:i32[1]", "-q", "--out", path("r.npy")});
  ASSERT_EQ(array.exit_code, 0) << array.errors;
  EXPECT_EQ(elements<int32_t>(path("r.npy"), 1)[0], -4);
  expect_refused(bare({"--entry", "pair", "--grid", "1", "--block", "64", "--arg", s, "--arg", "ptr:null"}),
                 "demands 32,1,1 (.reqntid), not 64,1,1");
}

TEST_F(BareTest, out_takes_any_array_by_number_and_pointers_go_into_arrays) {
  const std::vector<std::string> arguments = {"i32:4", "f32:1", "ptr:4+16", "f32[8]=iota"};
  const auto r = axpy(arguments, {"-q", "--out", "4:" + path("y.npy")});
  ASSERT_EQ(r.exit_code, 0) << r.errors;
  EXPECT_EQ(elements<float>(path("y.npy"), 8), (std::vector<float>{4, 6, 8, 10, 4, 5, 6, 7}));
}

TEST_F(BareTest, a_result_that_differs_is_code_1_with_the_worst_element) {
  const std::string expected = npy<float>("e.npy", "<f4", {0, 1, 2, 3.5, 4});
  const auto r = axpy({"i32:5", "f32:1", "f32[5]=iota", "out:f32[5]"}, {"--expect", expected, "--out", path("y.npy")});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.errors.find("1 of 5 elements differ; worst at [3]: 3, expected 3.5"), std::string::npos) << r.errors;
  EXPECT_EQ(elements<float>(path("y.npy"), 5)[4], 4.0f);
  EXPECT_EQ(
      axpy({"i32:5", "f32:1", "f32[5]=iota", "out:f32[5]"}, {"-q", "--expect", expected, "--atol", "0.5"}).exit_code,
      0);
}

TEST_F(BareTest, a_fault_is_a_finding_and_code_1_and_leaves_no_result) {
  const auto r = axpy({"i32:256", "f32:1", "f32[200]", "out:f32[256]"}, {"--out", path("y.npy")});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.errors.find("past the end of"), std::string::npos) << r.errors;
  EXPECT_NE(r.errors.find("neither written nor compared"), std::string::npos) << r.errors;
  EXPECT_FALSE(std::filesystem::exists(path("y.npy")));
  EXPECT_NE(axpy({"i32:256", "f32:1", "ptr:null", "f32[256]"}).errors.find("null pointer"), std::string::npos);
}

TEST_F(BareTest, the_time_limit_ends_the_kernel) {
  const std::string endless = file("e.ptx",
                                   ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry endless()\n{\n"
                                   "again:\n  bra again;\n}\n");
  const auto r = tool({"run", endless, "--grid", "1", "--block", "32", "--timeout", "0.3"});
  EXPECT_EQ(r.exit_code, 124) << r.errors;
  EXPECT_NE(r.errors.find("time limit"), std::string::npos) << r.errors;
}

TEST_F(BareTest, selection_leaves_the_launch_uncounted) {
  const auto r = axpy({"i32:5", "f32:1", "f32[5]=iota", "out:f32[5]"}, {"--kernel", "gemm", "--out", path("y.npy")});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_NE(r.errors.find("0 counted"), std::string::npos) << r.errors;
  EXPECT_EQ(elements<float>(path("y.npy"), 5)[4], 4.0f);
}

TEST_F(BareTest, the_trace_has_every_access) {
  ASSERT_EQ(axpy({"i32:200", "f32:2", "f32[200]", "f32[200]"}, {"-q", "--trace", path("t.txt")}).exit_code, 0);
  const std::string trace = read(path("t.txt"));
  size_t accesses = 0;
  for (size_t at = 0; (at = trace.find("\naccess ", at)) != std::string::npos; ++at) ++accesses;
  EXPECT_EQ(accesses, 21u);
}

TEST_F(BareTest, a_name_that_could_be_several_kernels_lists_them) {
  const auto r = bare({"--entry", "sum", "--grid", "1", "--block", "1", "--arg", "ptr:null"});
  expect_refused(r, "'sum' could be 2 kernels");
  expect_refused(r, "void sum<float>(float*)   _Z3sumIfEvPT_");
  expect_refused(bare({"--grid", "1", "--block", "1"}), "there are 5 kernels; say which with --entry");
  expect_refused(bare({"--entry", "gemm", "--grid", "1", "--block", "1"}), "there is no kernel 'gemm'");
  for (const char* name : {"sum<float>", "_Z3sumIfEvPT_", "void sum<float>(float*)", "sum<f"})
    EXPECT_EQ(bare({"-q", "--entry", name, "--grid", "1", "--block", "1", "--arg", "ptr:null"}).exit_code, 0) << name;
}

TEST_F(BareTest, wrong_arguments_are_explained_at_the_parameter) {
  const std::string place = "k.ptx:";
  expect_refused(axpy({"i32:5", "f32:1", "f32[5]"}), place + "9:14: error: _Z4axpyifPKfPf has 4 parameters, and 3");
  expect_refused(axpy({"i32:5", "f32:1", "f32[5]", "f32[5]", "i32:1"}), "has 4 parameters, and 5");
  expect_refused(axpy({"f32:5", "f32:1", "f32[5]", "f32[5]"}), place + "6:14: error: parameter 1");
  expect_refused(axpy({"i32:5", "i32:1", "f32[5]", "f32[5]"}), "give a number such as f32:0.5");
  expect_refused(axpy({"i64:5", "f32:1", "f32[5]", "f32[5]"}), "is .u32 (4 bytes), and argument 1 is i64:5 (8 bytes)");
  expect_refused(axpy({"f32[5]", "f32:1", "f32[5]", "f32[5]"}), "argument 1 is the array f32[5]");
  expect_refused(axpy({"i32:5", "f32:1", "i32:0", "f32[5]"}), place + "8:14: error: parameter 3");
  expect_refused(axpy({"i32:5", "ptr:null", "f32[5]", "f32[5]"}), place + "7:14: error: parameter 2");
  expect_refused(bare({"--entry", "pair", "--grid", "1", "--arg", "bytes:0a", "--arg", "ptr:null"}),
                 "8 bytes by value");
}

TEST_F(BareTest, wrong_values_and_shapes_are_explained) {
  for (const auto& [argument, why] :
       std::vector<std::pair<std::string, std::string>>{{"i32:x", "not a whole number"},
                                                        {"i32:3000000000", "does not fit in i32"},
                                                        {"int:5", "unknown type 'int'"},
                                                        {"f32[5", "shape"},
                                                        {"f32[5]=many", "unknown fill 'many'"},
                                                        {"five", "not an argument"},
                                                        {path("none.npy"), "there is no file"},
                                                        {path(""), "not an argument"}})
    expect_refused(axpy({argument, "f32:1", "f32[5]", "f32[5]"}), why);
}

TEST_F(BareTest, npy_files_that_cannot_be_used_are_explained) {
  const std::string eight(8, '\0'), sixteen(16, '\0');
  const auto refused = [&](const std::string& name, const std::string& why) {
    const auto r = axpy({"i32:2", "f32:1", name, "f32[2]"});
    expect_refused(r, why);
    expect_refused(r, name);
  };
  refused(npy("short.npy", "<f4", "(4,)", eight), "truncated: 8 bytes of elements, f32[4] needs 16");
  refused(npy("fortran.npy", "<f4", "(2, 2)", sixteen, "True"), "Fortran order");
  refused(npy("big.npy", ">f4", "(2,)", eight), "big-endian");
  refused(npy("complex.npy", "<c8", "(2,)", sixteen), "complex");
  refused(file("text.npy", "1 2 3\n"), "no .npy file");
  refused(file("empty.npy", ""), "no .npy file");
}

TEST_F(BareTest, wrong_results_are_refused_before_the_kernel_runs) {
  const std::vector<std::string> arguments = {"i32:5", "f32:1", "f32[5]", "out:f32[5]"};
  const std::string other = npy<float>("e.npy", "<f4", {1, 2}), ints = npy<int32_t>("i.npy", "<i4", {1, 2, 3, 4, 5});
  expect_refused(axpy(arguments, {"--expect", other}), "e.npy is f32[2], and the result is f32[5]");
  expect_refused(axpy(arguments, {"--expect", ints}), "the types must agree");
  expect_refused(axpy(arguments, {"--expect", path("none.npy")}), "there is no file");
  expect_refused(axpy(arguments, {"--out", path("a.npy"), "--out", path("b.npy")}), "no out: argument left");
  expect_refused(axpy(arguments, {"--out", "1:" + path("a.npy")}), "argument 1 is no array");
  expect_refused(axpy(arguments, {"--out", "9:" + path("a.npy")}), "argument 9 is no array");
  expect_refused(axpy(arguments, {"--out", "0:a.npy"}), "arguments count from 1");
  expect_refused(axpy(arguments, {"-q", "--out", path("none/a.npy")}), "cannot write", 3);
}

TEST_F(BareTest, wrong_launches_are_refused) {
  const auto launch = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all = {"--entry", "reverse", "--arg", "i32[64]"};
    all.insert(all.end(), words.begin(), words.end());
    return bare(all);
  };
  expect_refused(launch({"--grid", "1"}), "say --block");
  expect_refused(launch({"--block", "1"}), "say --grid");
  expect_refused(launch({"--grid", "0", "--block", "1"}), "zero extent");
  expect_refused(launch({"--grid", "1", "--block", "2048"}), "over the limits");
  expect_refused(launch({"--grid", "1,70000", "--block", "1"}), "over the limits");
  expect_refused(launch({"--grid", "1", "--block", "1", "--shared", "300K"}), "shared memory");
  expect_refused(launch({"--grid", "3", "--block", "1", "--cluster", "2"}), "not a multiple of the cluster");
  expect_refused(launch({"--grid", "a", "--block", "1"}), "--grid needs one to three whole numbers");
  expect_refused(launch({"--grid", "1,2,3,4", "--block", "1"}), "--grid needs");
  expect_refused(launch({"--grid", "1", "--block", "1", "--shared", "1G"}), "--shared needs");
  expect_refused(launch({"--grid", "1", "--block", "1", "--rtol", "-1"}), "--rtol needs");
  expect_refused(launch({"--grid", "1", "--block", "1", "--gpu", path("none.toml")}), "cannot read the GPU file");
  expect_refused(launch({"--grid", "1", "--block", "1", "more"}), "has no program that takes arguments");
  expect_refused(launch({"--grid", "1", "--block", "1", "--nvtx", "x"}), "PTX alone has none");
  expect_refused(launch({"--grdi", "1"}), "did you mean --grid?");
}

TEST_F(BareTest, options_for_ptx_need_ptx) {
  expect_refused(tool({"run", "--grid", "1", WARPLENS_CLI_PROGRAM}), "--grid is for PTX files");
  expect_refused(tool({"run", "--grid", "1", path("none.ptx")}), "there is no file");
}

}  // namespace
}  // namespace warplens::cli_tests
