// SPDX-License-Identifier: Apache-2.0
// The rules: what can be said against a line or a kernel, each under a name that never changes. Inline allowances name
// them, SARIF carries them, `warplens explain RULE` has a page for each.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "events/events.h"

namespace warplens::gate {

struct Rule {
  std::string_view id;     ///< "excessive-sectors"
  std::string_view title;  ///< one short sentence
  bool at_lines = true;    ///< said of source lines, so that an allowance there can silence it
};

std::span<const Rule> rules();
/// Null: there is none of that name.
const Rule* find_rule(std::string_view id);
/// The diagnostic for a name that is none, with the nearest.
Diagnostic unknown_rule(std::string_view id);
/// Whether findings break it: what a kernel does wrong, limits or not.
bool is_finding(std::string_view rule);
/// The rule that a finding breaks; empty for what stops a launch from outside (Ctrl-C, the time limit).
std::string_view rule_of(events::FindingKind kind);

}  // namespace warplens::gate
