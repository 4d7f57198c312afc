// SPDX-License-Identifier: Apache-2.0
#include "report/finding_view.h"

#include <fmt/format.h>

#include "report/kernel_name.h"
#include "report/source_text.h"

namespace warplens::report {
namespace {

std::string triple(const events::Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

/// Findings that stop a launch from outside: no thread is to blame.
bool from_outside(events::FindingKind kind) {
  return kind == events::FindingKind::kInterrupted || kind == events::FindingKind::kTimeout;
}

}  // namespace

const char* word(events::FindingKind kind) {
  switch (kind) {
    case events::FindingKind::kOutOfBounds: return "out of bounds";
    case events::FindingKind::kNullPointer: return "null pointer";
    case events::FindingKind::kMisaligned: return "misaligned";
    case events::FindingKind::kTrap: return "trap";
    case events::FindingKind::kAssert: return "assert";
    case events::FindingKind::kStackOverflow: return "stack overflow";
    case events::FindingKind::kInterrupted: return "interrupted";
    case events::FindingKind::kTimeout: return "timeout";
    case events::FindingKind::kDeadlock: return "deadlock";
    case events::FindingKind::kUnsupported: return "unsupported";
  }
  return "unknown";
}

std::string finding_text(const events::Finding& f, const TextStyle& style) {
  std::string where;
  if (f.place.line != 0) {
    where = f.file + ":" + std::to_string(f.place.line) + ":";
    if (f.place.column != 0) where += std::to_string(f.place.column) + ":";
    where += " ";
  }
  const bool outside = from_outside(f.kind);
  const std::string message = f.message.empty() ? std::string(word(f.kind)) : f.message;
  std::string out = where + (outside ? painted(style, Tone::kFair, "note: ") : painted(style, Tone::kBad, "error: ")) +
                    message + "\n";
  const std::string kernel = f.kernel.empty() ? "" : "kernel " + short_name(f.kernel);
  if (!outside) {
    out += fmt::format("  {}{}block {}, thread {}\n", kernel, kernel.empty() ? "" : ", ", triple(f.block_index),
                       triple(f.thread_index));
  } else if (!kernel.empty()) {
    out += "  " + kernel + "\n";
  }
  if (const std::string text = source_line(f.file, f.place.line); !text.empty())
    out += fitted("  | " + text, style.width) + "\n";
  return out;
}

}  // namespace warplens::report
