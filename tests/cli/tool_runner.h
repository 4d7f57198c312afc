// SPDX-License-Identifier: Apache-2.0
// Runs the built tool with its outputs captured, in a folder of its own that is removed afterwards.
#pragma once
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "compile/process.h"

namespace warplens::cli_tests {

class ToolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::make_unique<TemporaryDirectory>(std::move(*TemporaryDirectory::create()));
    // The tool makes its temporary files here, so that tests see when one is left behind.
    std::filesystem::create_directory(path("tmp"));
    ::setenv("TMPDIR", path("tmp").c_str(), 1);
    ::unsetenv("COLUMNS");
  }
  void TearDown() override {
    EXPECT_TRUE(std::filesystem::is_empty(path("tmp"))) << "temporary files were left behind";
    ::unsetenv("TMPDIR");
  }

  std::string path(const std::string& name) const { return directory_->path() + "/" + name; }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path);
    std::ostringstream s;
    s << in.rdbuf();
    return s.str();
  }
  static ProcessResult tool(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), WARPLENS_TOOL);
    auto result = run_process(arguments);
    EXPECT_TRUE(result.has_value());
    return result ? *result : ProcessResult{};
  }
  /// `options` before cli_program, `words` after it.
  static ProcessResult run(std::vector<std::string> options, const std::vector<std::string>& words) {
    options.insert(options.begin(), "run");
    options.push_back(WARPLENS_CLI_PROGRAM);
    options.insert(options.end(), words.begin(), words.end());
    return tool(options);
  }
  /// One clear message: exit code, nothing on standard output, `text` on standard error.
  static void expect_refused(const ProcessResult& result, const std::string& text, int exit_code = 2) {
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.output, "");
    EXPECT_NE(result.errors.find(text), std::string::npos) << result.errors;
  }

 private:
  std::unique_ptr<TemporaryDirectory> directory_;
};

}  // namespace warplens::cli_tests
