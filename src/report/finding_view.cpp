// SPDX-License-Identifier: Apache-2.0
#include "report/finding_view.h"

#include <fmt/format.h>

#include <algorithm>

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
    case events::FindingKind::kInterrupted: return "interrupted";
    case events::FindingKind::kTimeout: return "timeout";
    case events::FindingKind::kDeadlock: return "deadlock";
    case events::FindingKind::kUnsupported: return "unsupported";
    case events::FindingKind::kDivergentBarrier: return "divergent barrier";
  }
  return "unknown";
}

std::string message_text(const events::Finding& f, const events::KernelInfo* kernel) {
  std::string message = f.message.empty() ? std::string(word(f.kind)) : f.message;
  if (kernel == nullptr) return message;
  const std::string prefix = kernel->name + "_param_";
  const size_t at = message.find(prefix);
  if (at == std::string::npos) return message;
  const size_t end = std::min(message.find_first_not_of("0123456789", at + prefix.size()), message.size());
  return message.replace(at, end - at, parameter_name(*kernel, message.substr(at, end - at)));
}

bool is_repeated(const events::Finding& finding, const events::Finding& earlier) {
  return !events::ends_launch(finding.kind) && finding.kind == earlier.kind && finding.pc == earlier.pc &&
         finding.kernel == earlier.kernel;
}

std::string finding_text(const events::Finding& f, const TextStyle& style, const events::KernelInfo* kernel) {
  const std::string name = f.kernel.empty() ? "" : "kernel " + short_name(f.kernel);
  if (from_outside(f.kind)) {
    return painted(style, Tone::kFair, "note: ") + (name.empty() ? "a kernel" : name) +
           (f.kind == events::FindingKind::kTimeout ? " reached the time limit\n" : " was interrupted\n");
  }
  std::string where;
  if (f.place.line != 0) {
    where = f.file + ":" + std::to_string(f.place.line) + ":";
    if (f.place.column != 0) where += std::to_string(f.place.column) + ":";
    where += " ";
  }
  std::string out = where + painted(style, Tone::kBad, "error: ") + message_text(f, kernel) + "\n";
  out += fmt::format("  {}{}block {}, thread {}\n", name, name.empty() ? "" : ", ", triple(f.block_index),
                     triple(f.thread_index));
  if (const std::string text = source_line(f.file, f.place.line); !text.empty())
    out += fitted("  | " + text, style.width) + "\n";
  return out;
}

}  // namespace warplens::report
