// SPDX-License-Identifier: Apache-2.0
#include "gate/sarif_view.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/text_hash.h"
#include "gate/escape.h"
#include "gate/explain_pages.h"
#include "gate/rules.h"
#include "report/kernel_name.h"

namespace warplens::gate {
namespace {

using json = nlohmann::ordered_json;

json text_json(const std::string& text) { return {{"text", valid_utf8(text)}}; }

const char* word(Level level) {
  return level == Level::kError ? "error" : level == Level::kWarning ? "warning" : "note";
}

json rules_json() {
  json list = json::array();
  for (const Rule& rule : rules())
    list.push_back({{"id", rule.id},
                    {"shortDescription", text_json(std::string(rule.title))},
                    {"help", text_json(page_text(rule))}});
  return list;
}

json artifact_json(const std::string& file, const std::string& root) {
  const std::string path = repository_path(file, root);
  if (path.starts_with("/")) return {{"uri", "file://" + uri_path(path)}};
  return {{"uri", uri_path(path)}, {"uriBaseId", "%SRCROOT%"}};
}

/// Code scanning takes no result without a file: what is said of a whole kernel gets the kernel's first line, else the
/// PTX, else the program.
Issue with_place(Issue issue, const report::RunRecord& run) {
  if (!issue.file.empty()) return issue;
  for (const report::KernelRecord& kernel : run.kernels) {
    const events::KernelInfo& info = kernel.info;
    if (info.name != issue.kernel) continue;
    issue.file = info.ptx_file;
    for (const events::PcInfo& pc : info.pcs) {
      const std::string& file = info.files[pc.user_place.file];
      if (pc.user_place.line == 0 || file.empty()) continue;
      if (issue.line != 0 && (file != issue.file || pc.user_place.line >= issue.line)) continue;
      issue.file = file;
      issue.line = pc.user_place.line;
    }
    break;
  }
  if (issue.file.empty()) issue.file = run.program;
  if (issue.line == 0) issue.line = 1;
  return issue;
}

json location_json(const Issue& issue, const std::string& root) {
  json location = json::object();
  if (!issue.file.empty()) {
    json physical = {{"artifactLocation", artifact_json(issue.file, root)}};
    if (issue.line != 0) {
      json region = {{"startLine", issue.line}};
      if (issue.column != 0) region["startColumn"] = issue.column;
      if (!issue.text.empty()) region["snippet"] = text_json(issue.text);
      physical["region"] = std::move(region);
    }
    location["physicalLocation"] = std::move(physical);
  }
  if (!issue.kernel.empty())
    location["logicalLocations"] = json::array({{{"name", valid_utf8(report::short_name(issue.kernel))},
                                                 {"fullyQualifiedName", valid_utf8(report::demangled(issue.kernel))},
                                                 {"decoratedName", valid_utf8(issue.kernel)},
                                                 {"kind", "function"}}});
  return location;
}

/// Equal lines of a kernel are told apart by their order.
std::string fingerprint(const Issue& issue, std::map<uint64_t, unsigned>& seen) {
  uint64_t hash = text_hash(issue.rule);
  for (const std::string& part : {issue.kernel, code_text(issue.text)})
    hash = text_hash(part, text_hash(std::string_view("\0", 1), hash));
  return fmt::format("{:016x}:{}", hash, ++seen[hash]);
}

json result_json(const Issue& issue, const Verdict& verdict, std::map<uint64_t, unsigned>& seen) {
  json result = {{"ruleId", issue.rule},
                 {"ruleIndex", find_rule(issue.rule) - rules().data()},
                 {"level", word(issue.level)},
                 {"message", text_json(issue.message)}};
  if (json location = location_json(with_place(issue, *verdict.run), verdict.source_root); !location.empty())
    result["locations"] = json::array({std::move(location)});
  result["partialFingerprints"] = {{"warplensLine/v1", fingerprint(issue, seen)}};
  if (!issue.allowed.empty())
    result["suppressions"] = json::array({{{"kind", "inSource"}, {"justification", valid_utf8(issue.allowed)}}});
  return result;
}

json invocation_json(const Verdict& verdict) {
  const report::RunRecord& run = *verdict.run;
  const report::RunEnd& end = run.end;
  json j = {{"executionSuccessful", !end.timed_out && !end.interrupted && end.signal == 0 && run.damaged_lines == 0},
            {"exitCode", end.exit_code}};
  if (end.signal != 0) j["exitSignalNumber"] = end.signal;
  json notes = json::array();
  if (const std::string sentence = end_sentence(run); !sentence.empty())
    notes.push_back({{"level", "warning"}, {"message", text_json(sentence)}});
  for (const Diagnostic& d : verdict.faults)
    notes.push_back({{"level", "error"}, {"message", text_json(fault_text(d))}});
  for (const report::Notice& n : run.notices) notes.push_back({{"level", "note"}, {"message", text_json(n.text)}});
  if (!notes.empty()) j["toolExecutionNotifications"] = std::move(notes);
  return j;
}

}  // namespace

std::string sarif_text(const Verdict& verdict) {
  std::map<uint64_t, unsigned> seen;
  json results = json::array();
  for (const Issue& issue : verdict.issues) results.push_back(result_json(issue, verdict, seen));
  const json j = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs",
       json::array(
           {{{"tool", {{"driver", {{"name", "warplens"}, {"version", WARPLENS_VERSION}, {"rules", rules_json()}}}}},
             {"invocations", json::array({invocation_json(verdict)})},
             {"results", std::move(results)}}})}};
  return j.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace warplens::gate
