// SPDX-License-Identifier: Apache-2.0
// Progress of a long launch, on a terminal of the test's own; nothing of it in a file. The launch would take hours: it
// is ended once its progress has been seen.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

constexpr const char* kPtx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry many(.param .u64 to)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [to];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
)";

class ProgressTest : public ToolTest {
 protected:
  std::vector<std::string> command(const std::string& blocks, std::vector<std::string> options) const {
    std::vector<std::string> words = {WARPLENS_TOOL, "run"};
    words.insert(words.end(), options.begin(), options.end());
    for (const std::string& word : {file("k.ptx", kPtx), std::string("--grid"), blocks, std::string("--block"),
                                    std::string("256"), std::string("--arg"), std::string("i32[256]")})
      words.push_back(word);
    return words;
  }

  /// False where /dev/pts is not mounted, as in a bare change of root.
  static bool has_terminals() {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal >= 0) close(terminal);
    return terminal >= 0;
  }

  /// What the tool writes to a terminal that is its standard error; interrupted at `until`, unless that is empty.
  static std::string on_terminal(std::vector<std::string> words, const std::string& until) {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_GE(terminal, 0);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return {};
    const std::string name = ptsname(terminal);
    const pid_t child = fork();
    if (child == 0) {
      const int screen = open(name.c_str(), O_RDWR | O_NOCTTY);
      dup2(screen, STDERR_FILENO);
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      execv(argv[0], argv.data());
      _exit(127);
    }
    std::string text;
    bool interrupted = false;
    int status = 0;
    for (bool ended = false;;) {
      pollfd wait{terminal, POLLIN, 0};
      char part[4096];
      ssize_t bytes = 0;
      if (poll(&wait, 1, 50) > 0 && (wait.revents & POLLIN) != 0) bytes = ::read(terminal, part, sizeof part);
      if (bytes > 0) text.append(part, static_cast<size_t>(bytes));
      if (!interrupted && !until.empty() && text.find(until) != std::string::npos) {
        interrupted = true;
        kill(child, SIGINT);
      }
      if (ended && bytes <= 0) break;
      ended = ended || waitpid(child, &status, WNOHANG) == child;
    }
    close(terminal);
    return text;
  }
};

TEST_F(ProgressTest, long_launch_shows_its_progress_and_clears_it) {
  if (!has_terminals()) GTEST_SKIP() << "no pseudo terminals here";
  const std::string text = on_terminal(command("2147483647", {}), " left\x1b[K");
  const size_t shown = text.find("\rwarplens: many: ");
  ASSERT_NE(shown, std::string::npos) << text;
  EXPECT_NE(text.find(" of 2.15 G blocks (0 %), ", shown), std::string::npos) << text;
  EXPECT_NE(text.find(" warps/s, ", shown), std::string::npos) << text;
  // Cleared before the report begins.
  const size_t cleared = text.find("\r\x1b[K"), report = text.find("warplens: k.ptx on a virtual");
  ASSERT_NE(cleared, std::string::npos);
  ASSERT_NE(report, std::string::npos);
  EXPECT_LT(cleared, report);
  EXPECT_EQ(text.find(" left\x1b[K", report), std::string::npos);
}

TEST_F(ProgressTest, short_launch_shows_none) {
  if (!has_terminals()) GTEST_SKIP() << "no pseudo terminals here";
  const std::string text = on_terminal(command("4", {}), "");
  EXPECT_NE(text.find("warplens: k.ptx on a virtual"), std::string::npos) << text;
  EXPECT_EQ(text.find("blocks ("), std::string::npos) << text;
  EXPECT_EQ(text.find("\x1b[K"), std::string::npos) << text;
}

TEST_F(ProgressTest, nothing_in_a_file) {
  std::vector<std::string> words = command("2147483647", {"--timeout", "3"});
  words.erase(words.begin());
  const ProcessResult result = tool(words);
  EXPECT_EQ(result.exit_code, 124) << result.errors;
  EXPECT_EQ(result.errors.find("warps/s"), std::string::npos) << result.errors;
}

TEST_F(ProgressTest, nothing_when_quiet) {
  if (!has_terminals()) GTEST_SKIP() << "no pseudo terminals here";
  const std::string text = on_terminal(command("2147483647", {"-q", "--timeout", "3"}), "");
  EXPECT_EQ(text.find("warps/s"), std::string::npos) << text;
}

}  // namespace
}  // namespace warplens::cli_tests
