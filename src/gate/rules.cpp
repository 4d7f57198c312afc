// SPDX-License-Identifier: Apache-2.0
#include "gate/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/nearest.h"

namespace warplens::gate {
namespace {

constexpr Rule kRules[] = {
    {"excessive-sectors", "An access to global memory moves more sectors than its addresses need", true},
    {"excessive-wavefronts", "An access to shared memory takes more passes than its addresses need", true},
    {"sectors-per-request", "An access to global memory takes more sectors a request than its limit", true},
    {"local-memory", "A kernel keeps variables in local memory, which lies in device memory", true},
    {"low-occupancy", "An SM holds fewer warps of a kernel than its limit asks for", false},
    {"metric-limit", "A metric of a launch is beyond its limit", false},
    {"regression", "A number is worse than in the baseline", true},
    {"unused-allowance", "An allowance in a source has nothing to allow", false},
    {"out-of-bounds", "A thread accesses memory outside of every allocation", false},
    {"null-pointer", "A thread accesses memory through a null pointer", false},
    {"misaligned", "An address is no multiple of the access's size", false},
    {"trap", "A kernel executes a trap", false},
    {"assert", "An assert in a kernel fails", false},
    {"deadlock", "Threads wait for each other for ever", false},
    {"divergent-barrier", "A part of a warp executes a barrier that is for whole warps", false},
    {"unsupported", "A kernel needs an instruction that is not supported", false},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

const Rule* find_rule(std::string_view id) {
  for (const Rule& rule : kRules)
    if (rule.id == id) return &rule;
  return nullptr;
}

Diagnostic unknown_rule(std::string_view id) {
  std::vector<std::string_view> names;
  for (const Rule& rule : kRules) names.push_back(rule.id);
  const std::string like = nearest(id, names);
  return make_error(fmt::format("there is no rule '{}'", id),
                    like.empty() ? "warplens explain lists the rules" : "did you mean " + like + "?");
}

bool is_finding(std::string_view rule) {
  using enum events::FindingKind;
  const auto kinds = {kOutOfBounds, kNullPointer, kMisaligned,       kTrap,
                      kAssert,      kDeadlock,    kDivergentBarrier, kUnsupported};
  return std::ranges::any_of(kinds, [&](events::FindingKind kind) { return rule_of(kind) == rule; });
}

std::string_view rule_of(events::FindingKind kind) {
  switch (kind) {
    case events::FindingKind::kOutOfBounds: return "out-of-bounds";
    case events::FindingKind::kNullPointer: return "null-pointer";
    case events::FindingKind::kMisaligned: return "misaligned";
    case events::FindingKind::kTrap: return "trap";
    case events::FindingKind::kAssert: return "assert";
    case events::FindingKind::kDeadlock: return "deadlock";
    case events::FindingKind::kDivergentBarrier: return "divergent-barrier";
    case events::FindingKind::kUnsupported: return "unsupported";
    case events::FindingKind::kInterrupted:
    case events::FindingKind::kTimeout: break;
  }
  return {};
}

}  // namespace warplens::gate
