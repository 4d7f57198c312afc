// SPDX-License-Identifier: Apache-2.0
// CHECK: our own bugs. A failed CHECK says what was expected and where, then aborts (exit code 134) in every build.
// It must be unreachable from any input: input errors are Diagnostics, errors of the program under test are findings.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>

namespace warplens {

/// Context that a failed check prints (the kernel and pass being worked on); set by CheckContext, per thread.
[[noreturn]] void check_failed(std::string_view condition, std::string_view file, int line, const std::string& message);

/// Names what this thread works on while it lives, e.g. CheckContext c("kernel sgemm, pass reconvergence").
class CheckContext {
 public:
  explicit CheckContext(std::string what);
  ~CheckContext();
  CheckContext(const CheckContext&) = delete;
  CheckContext& operator=(const CheckContext&) = delete;

 private:
  std::string what_;
  CheckContext* outer_;
  friend void check_failed(std::string_view, std::string_view, int, const std::string&);
};

}  // namespace warplens

#define WL_CHECK(cond, ...)                                                                                   \
  do {                                                                                                        \
    if (!(cond)) [[unlikely]]                                                                                 \
      ::warplens::check_failed(#cond, __FILE__, __LINE__, std::string(__VA_OPT__(fmt::format(__VA_ARGS__)))); \
  } while (0)
