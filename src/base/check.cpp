// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace warplens {
namespace {
thread_local CheckContext* innermost = nullptr;
}

CheckContext::CheckContext(std::string what) : what_(std::move(what)), outer_(innermost) { innermost = this; }
CheckContext::~CheckContext() { innermost = outer_; }

void check_failed(std::string_view condition, std::string_view file, int line, const std::string& message) {
  std::string text = fmt::format("warplens: internal error: CHECK({}) failed at {}:{}", condition, file, line);
  if (!message.empty()) text += ": " + message;
  for (CheckContext* c = innermost; c != nullptr; c = c->outer_) text += "\n  while working on " + c->what_;
  text += "\nThis is a bug in warplens, not in your program. Please report it with the program or PTX file.\n";
  std::fputs(text.c_str(), stderr);
  std::abort();
}

}  // namespace warplens
