// SPDX-License-Identifier: Apache-2.0
// Manual pages, completions, `warplens env`: they are made from the help texts, and the shells take them.
#include "compile/process.h"
#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

constexpr const char* kCommands[] = {"run",     "cc",        "demo", "gallery", "measure", "diff",
                                     "explain", "occupancy", "gpus", "metrics", "cache",   "env"};

class ShellPagesTest : public ToolTest {
 protected:
  std::string page(const std::string& kind) const {
    const auto r = tool({"shell-page", kind});
    EXPECT_EQ(r.exit_code, 0);
    return file("page." + kind, r.output);
  }
  static std::string output_of(const std::vector<std::string>& command) {
    const auto r = run_process(command);
    EXPECT_TRUE(r && r->ok()) << (r ? r->errors : "");
    return r ? r->output : "";
  }
};

TEST_F(ShellPagesTest, bash_completes_commands_and_options) {
  const std::string script = "source " + page("bash") + R"(
complete_words() { COMP_WORDS=(warplens "$@"); COMP_CWORD=$#; COMPREPLY=(); _warplens; echo "${COMPREPLY[*]}"; }
complete_words occ; complete_words run --js; complete_words help di; complete_words run --bl; complete_words diff --all)";
  EXPECT_EQ(output_of({"bash", "-c", script}), "occupancy\n--json\ndiff\n--block\n--allow-growth\n");
}

TEST_F(ShellPagesTest, zsh_and_fish_take_their_files) {
  const std::string zsh = page("zsh"), fish = page("fish");
  for (const auto& [shell, path] : {std::pair{"zsh", zsh}, {"fish", fish}}) {
    if (find_on_path(shell).empty())
      std::printf("%s is not installed: its completion is not checked\n", shell);
    else
      output_of({shell, "-n", path});
  }
  EXPECT_NE(read(fish).find("'__fish_seen_subcommand_from run' -l json -r -d 'write the report as JSON too"),
            std::string::npos);
  EXPECT_NE(read(zsh).find("'--json[write the report as JSON too"), std::string::npos);
}

TEST_F(ShellPagesTest, every_option_that_help_shows_is_known) {
  std::istringstream words(output_of({"bash", "-c", "source " + page("bash") + R"(
COMP_WORDS=(warplens run -); COMP_CWORD=2; _warplens; echo "${COMPREPLY[*]}")"}));
  int options = 0;
  for (std::string word; words >> word; ++options)
    EXPECT_EQ(tool({"run", word}).errors.find("unknown option"), std::string::npos) << word;
  EXPECT_GT(options, 40);
}

TEST_F(ShellPagesTest, every_command_has_a_manual_page) {
  for (const char* command : kCommands) {
    const auto r = tool({"shell-page", "man", command});
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_EQ(r.output.rfind(".TH ", 0), 0u);
    if (find_on_path("man").empty()) continue;
    ::setenv("MANROFFSEQ", "", 1);
    const auto shown = run_process({"man", "--warnings", "-l", file(std::string(command) + ".1", r.output)});
    ASSERT_TRUE(shown.has_value());
    EXPECT_EQ(shown->errors, "") << command;
    EXPECT_NE(shown->output.find("usage: warplens " + std::string(command)), std::string::npos) << shown->output;
  }
  expect_refused(tool({"shell-page", "man", "none"}), "shell-page takes");
  expect_refused(tool({"shell-page"}), "shell-page takes");
}

TEST_F(ShellPagesTest, env_is_for_shells_and_for_files) {
  ::setenv("LD_LIBRARY_PATH", "/a b", 1);
  const std::string set = output_of(
      {"bash", "-c",
       std::string("eval \"$(") + WARPLENS_TOOL + " env --build)\"; echo \"$LD_LIBRARY_PATH\"; ls \"$CUDACXX\""});
  const auto plain = tool({"env", "--plain"});
  ::unsetenv("LD_LIBRARY_PATH");
  EXPECT_NE(set.find("/lib/warplens:/a b\n"), std::string::npos) << set;
  EXPECT_NE(set.find("bin/nvcc"), std::string::npos) << set;
  EXPECT_EQ(plain.output.rfind("LD_LIBRARY_PATH=/", 0), 0u) << plain.output;
  expect_refused(tool({"env", "--no"}), "unknown option");
}

TEST_F(ShellPagesTest, help_knows_all_commands) {
  for (const char* command : kCommands) {
    EXPECT_NE(tool({"--help"}).output.find("  warplens " + std::string(command)), std::string::npos) << command;
    EXPECT_NE(tool({"help", command}).output.find("usage: warplens " + std::string(command)), std::string::npos)
        << command;
  }
  expect_refused(tool({"help", "rnu"}), "did you mean");
}

}  // namespace
}  // namespace warplens::cli_tests
