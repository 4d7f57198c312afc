// SPDX-License-Identifier: Apache-2.0
// One test a file: both halves compile without a message, and the PTX says what comment lines of the file ask for:
//   // PTX <kernel>: <text>       the body of that entry contains the text
//   // PTX-NOT <kernel>: <text>   it does not
//   // OPTIONS: <options>         how to compile (a test for each such line)
// Kernels are found by a part of their mangled name.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "compile/clang_driver.h"
#include "compile/process.h"

namespace warplens {
namespace {

struct Expectation {
  std::string kernel, text;
  bool present = true;
};
struct Case {
  std::string path;
  std::string options;
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.path << " " << c.options; }

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& entry : std::filesystem::directory_iterator(WARPLENS_HEADER_TESTS)) {
    const std::string path = entry.path().string();
    const bool own_file = path.find("_test.cpp") != std::string::npos;
    if (own_file ||
        (entry.path().extension() != ".cu" && entry.path().extension() != ".c" && entry.path().extension() != ".cpp"))
      continue;
    std::ifstream in(path);
    const size_t before = cases.size();
    for (std::string line; std::getline(in, line);)
      if (line.starts_with("// OPTIONS:")) cases.push_back({path, line.substr(11)});
    if (cases.size() == before) cases.push_back({path, ""});
  }
  return cases;
}

std::vector<Expectation> expectations(const std::string& path) {
  std::vector<Expectation> list;
  const std::regex form("^\\s*// PTX(-NOT)? (\\S+): (.*)$");
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    if (std::smatch m; std::regex_match(line, m, form)) list.push_back({m[2], m[3], !m[1].matched});
  return list;
}

/// Whether `name` is the kernel, plain or mangled.
bool names_kernel(const std::string& name, const std::string& kernel) {
  return name == kernel || name.find(std::to_string(kernel.size()) + kernel) != std::string::npos;
}

/// The text from the entry's name to its end, runs of blanks and tabs as one blank.
std::string entry_body(const std::string& ptx, const std::string& kernel) {
  for (size_t at = 0; (at = ptx.find(".entry ", at)) != std::string::npos; at++) {
    const size_t name = at + 7, name_end = ptx.find('(', at);
    if (!names_kernel(ptx.substr(name, name_end - name), kernel)) continue;
    return std::regex_replace(ptx.substr(name_end, ptx.find("\n}", at) - name_end), std::regex("[ \t]+"), " ");
  }
  return {};
}

class Headers : public testing::TestWithParam<Case> {};

TEST_P(Headers, compile_and_give_the_expected_instructions) {
  if (find_on_path("clang++-19").empty()) GTEST_SKIP() << "clang++-19 is not installed";
  auto directory = TemporaryDirectory::create();
  ASSERT_TRUE(directory);
  CompileRequest r;
  auto options = parse_compile_options(words(GetParam().options));
  ASSERT_TRUE(options);
  r.options = *options;
  r.options.optimization = "-O1";
  r.options.sources = {GetParam().path};
  r.options.stage = Stage::kObject;
  r.options.both.push_back("-Wall");
  r.options.output = directory->path() + "/out.o";
  r.toolchain.cuda_headers = WARPLENS_CUDA_HEADERS;
  const auto outcome = compile_with_clang(r);
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(outcome->ok) << outcome->messages;
  EXPECT_EQ(outcome->messages, "");
  for (const Expectation& e : expectations(GetParam().path)) {
    ASSERT_FALSE(outcome->device.empty());
    const std::string body = entry_body(outcome->device[0].text, e.kernel);
    EXPECT_NE(body, "") << "no entry " << e.kernel;
    EXPECT_EQ(body.find(e.text) != std::string::npos, e.present) << e.kernel << ": " << e.text << "\n" << body;
  }
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string name = std::filesystem::path(info.param.path).filename().string() + info.param.options;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(Files, Headers, testing::ValuesIn(all_cases()), test_name);

}  // namespace
}  // namespace warplens
