// SPDX-License-Identifier: Apache-2.0
#include "warplens/explain_command.h"

#include <fmt/format.h>

#include <cstdio>

#include "gate/explain_pages.h"
#include "warplens/exit_codes.h"
#include "warplens/run_command.h"

namespace warplens::cli {
namespace {

int show(const std::string& text) {
  return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? kCannotWrite : 0;
}

int refuse(const Diagnostic& why) {
  print({why});
  return kMisuse;
}

std::string list_text() {
  std::string text;
  for (const gate::Rule& rule : gate::rules()) text += fmt::format("{:<21} {}\n", rule.id, rule.title);
  return text;
}

std::string whole_page(const gate::Rule& rule) {
  const gate::Page& page = gate::page_of(rule);
  std::string text = fmt::format("{}\n\n{}", rule.id, gate::page_text(rule));
  const std::string options = page.options.empty() ? "" : fmt::format("{} ", page.options);
  text += fmt::format("\nWrong:\n\n{}\nRight:\n\n{}\nTo see it:\n\n", page.wrong, page.right);
  if (page.against_right)
    text += fmt::format(
        "  warplens explain {} --example right >right.cu\n  warplens run -q --json right.json right.cu\n", rule.id);
  text += fmt::format("  warplens explain {} --example wrong >wrong.cu\n  warplens run {}wrong.cu\n", rule.id, options);
  if (rule.at_lines) text += fmt::format("\nTo allow it at a line: // warplens: allow({}) why\n", rule.id);
  return text;
}

}  // namespace

int explain_command(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return show(list_text());
  if (arguments[0] == "--help" || arguments[0] == "-h") return show(explain_help());
  const gate::Rule* rule = gate::find_rule(arguments[0]);
  if (rule == nullptr) return refuse(gate::unknown_rule(arguments[0]));
  if (arguments.size() == 1) return show(whole_page(*rule));
  const gate::Page& page = gate::page_of(*rule);
  const bool one = arguments.size() == 2 && arguments[1] == "--options";
  if (one) return show(std::string(page.options) + "\n");
  if (arguments.size() != 3 || arguments[1] != "--example" || (arguments[2] != "wrong" && arguments[2] != "right"))
    return refuse(make_error("explain takes a rule, and then --example wrong, --example right or --options"));
  return show(std::string(arguments[2] == "wrong" ? page.wrong : page.right));
}

std::string explain_help() {
  return R"(usage: warplens explain                             list the rules
       warplens explain RULE                        its page: what it says, what it costs, what to do
       warplens explain RULE --example wrong|right  only the program of that page
       warplens explain RULE --options              the options of 'run' with which the wrong one breaks it

Rules are what a run can hold against a line or a kernel. SARIF and annotations name them, and so do comments that allow
one at a line: // warplens: allow(RULE) why
)";
}

}  // namespace warplens::cli
