// SPDX-License-Identifier: Apache-2.0
#include "warplens/gallery_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/text_file.h"
#include "compile/process.h"
#include "report/number_text.h"
#include "warplens/exit_codes.h"
#include "warplens/run_command.h"

namespace warplens::cli {
namespace {

/// The forms that the rung's output names: lines "topic/name,size".
std::vector<RungForm> forms_in(const std::string& output, const Rung& rung) {
  std::vector<RungForm> forms;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const size_t comma = line.find(',');
    if (comma == std::string::npos || !line.starts_with(rung.full_name())) continue;
    RungForm form;
    form.name = line.substr(0, comma);
    const char* const end = line.data() + line.size();
    if (const auto [at, error] = std::from_chars(line.data() + comma + 1, end, form.size);
        error == std::errc() && at == end)
      forms.push_back(std::move(form));
  }
  return forms;
}

/// Gives each form its launches, or says why they cannot be shared out.
std::string share_out(const report::RunRecord& run, const Rung& rung, std::vector<RungForm>& forms) {
  std::vector<const report::LaunchRecord*> counted;
  for (const report::LaunchRecord& launch : run.launches)
    if (launch.counts != nullptr) counted.push_back(&launch);
  std::ranges::sort(counted, {}, [](const report::LaunchRecord* l) { return l->id; });
  if (counted.empty()) return "nothing was launched between cudaProfilerStart and cudaProfilerStop";
  if (forms.empty()) return fmt::format("no line '{},SIZE' was printed", rung.full_name());
  if (counted.size() % forms.size() != 0)
    return fmt::format("{} counted cannot be shared out evenly among {} printed",
                       report::plural(counted.size(), "launch"), report::plural(forms.size(), "form"));
  const size_t each = counted.size() / forms.size();
  for (size_t i = 0; i < forms.size(); ++i) {
    report::RunRecord& own = forms[i].record;
    own.gpu = run.gpu;
    own.kernels = run.kernels;
    for (size_t k = 0; k < each; ++k) own.launches.push_back(*counted[i * each + k]);
    forms[i].groups = report::fold(own, report::Folding::kByShape);
  }
  return {};
}

/// Why a program that ended so was not counted.
std::string end_text(const RunOutcome& outcome) {
  if (!outcome.ran) return "not compiled";
  if (outcome.exit_code == kBroken) return "wrong results";
  if (outcome.exit_code > kSignalBase) return fmt::format("ended by signal {}", outcome.exit_code - kSignalBase);
  return fmt::format("exit code {}", outcome.exit_code);
}

}  // namespace

RungResult run_rung(const Rung& rung, const Installation& installation, const std::vector<std::string>& options) {
  RungResult result{rung, kMisuse, {}, "not started"};
  auto temporary = TemporaryDirectory::create();
  std::vector<std::string> words = {
      "-q", "--no-config", "--profile-from-start", "off", "-O2", "-std=c++17", "-I" + installation.kernel_headers};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {rung.path, "count"});
  auto run = parse_run_options(words);
  if (!run || !temporary) {
    print(run ? temporary.error() : run.error());
    return result;
  }
  run->program_output = temporary->path() + "/output";
  const RunOutcome outcome = run_program(*run);
  result.exit_code = outcome.exit_code;
  result.not_counted = end_text(outcome);
  if (!outcome.ran) return result;
  const auto output = read_file(run->program_output);
  if (!output) {
    print(output.error());
    result.not_counted = "its output cannot be read";
    return result;
  }
  result.forms = forms_in(*output, rung);
  const std::string fault = share_out(outcome.record, rung, result.forms);
  if (fault.empty()) {
    result.not_counted.clear();
    return result;
  }
  result.forms.clear();
  if (result.exit_code == 0) {
    result.not_counted = fault;
    print({make_error(fmt::format("{} ended well, but was not counted: {}", rung.path, fault),
                      "the head comment of gallery/harness.h says what a rung does when it is counted")});
  }
  return result;
}

}  // namespace warplens::cli
