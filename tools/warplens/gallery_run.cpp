// SPDX-License-Identifier: Apache-2.0
#include "warplens/gallery_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/text_file.h"
#include "compile/process.h"
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

/// Gives each form its launches; false: they cannot be shared out.
bool share_out(const report::RunRecord& run, std::vector<RungForm>& forms) {
  std::vector<const report::LaunchRecord*> counted;
  for (const report::LaunchRecord& launch : run.launches)
    if (launch.counts != nullptr) counted.push_back(&launch);
  std::ranges::sort(counted, {}, [](const report::LaunchRecord* l) { return l->id; });
  if (forms.empty() || counted.empty() || counted.size() % forms.size() != 0) return false;
  const size_t each = counted.size() / forms.size();
  for (size_t i = 0; i < forms.size(); ++i) {
    report::RunRecord& own = forms[i].record;
    own.gpu = run.gpu;
    own.kernels = run.kernels;
    for (size_t k = 0; k < each; ++k) own.launches.push_back(*counted[i * each + k]);
    forms[i].groups = report::fold(own, report::Folding::kByShape);
  }
  return true;
}

}  // namespace

RungResult run_rung(const Rung& rung, const Installation& installation, const std::vector<std::string>& options) {
  RungResult result{rung, kMisuse, {}};
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
  if (!outcome.ran) return result;
  const auto output = read_file(run->program_output);
  if (output) result.forms = forms_in(*output, rung);
  if (share_out(outcome.record, result.forms)) return result;
  result.forms.clear();
  if (result.exit_code == 0) {
    print({make_error(fmt::format("{} was run, but not counted as it should be", rung.path))});
    result.exit_code = kCannotWrite;
  }
  return result;
}

}  // namespace warplens::cli
