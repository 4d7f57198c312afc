// SPDX-License-Identifier: Apache-2.0
#include "gate/limits_json.h"

#include <nlohmann/json.hpp>

#include "gate/escape.h"

namespace warplens::gate {
namespace {

const char* word(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed: return "kept";
    case Outcome::kFailed: return "broken";
    case Outcome::kNotChecked: return "not_checked";
  }
  return "";
}

}  // namespace

std::string limits_json(const report::RunRecord& run, const LimitsReport& report) {
  using json = nlohmann::ordered_json;
  json list = json::array();
  for (const Checked& c : report.checked)
    list.push_back({{"name", c.limit->name},
                    {"minimum", c.limit->minimum},
                    {"bound", c.limit->bound},
                    {"kernel_pattern", valid_utf8(c.limit->kernel)},
                    {"kernel", valid_utf8(run.kernels[c.kernel].info.name)},
                    {"outcome", word(c.outcome)},
                    {"value", c.outcome == Outcome::kNotChecked ? json(nullptr) : json(c.value)},
                    {"launch", c.launch},
                    {"why", valid_utf8(c.why)}});
  return list.dump();
}

}  // namespace warplens::gate
