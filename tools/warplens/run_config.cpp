// SPDX-License-Identifier: Apache-2.0
#include "warplens/run_config.h"

#include <filesystem>

namespace warplens::cli {
namespace {

/// The file that --config names, else the nearest to what is run, else the nearest to the current folder.
std::string config_path(const RunOptions& options) {
  if (!options.config.empty()) return options.config;
  if (!options.inputs.empty()) {
    std::error_code error;
    const std::filesystem::path input = std::filesystem::absolute(options.inputs[0], error);
    if (!error && std::filesystem::exists(input, error))
      if (std::string found = gate::find_config(input.parent_path().string()); !found.empty()) return found;
  }
  return gate::find_config(".");
}

/// Paths in the file are relative to its folder.
Status take_gpu(RunOptions& options, const gate::Config& config) {
  if (config.gpu.empty() || !options.gpu.wanted.empty()) return Done{};
  const bool is_file = config.gpu.find('/') != std::string::npos || config.gpu.ends_with(".toml");
  const std::string gpu =
      is_file ? (std::filesystem::path(config.file).parent_path() / config.gpu).string() : config.gpu;
  const Status good = choose_gpu(options.gpu, gpu);
  if (good) return Done{};
  Diagnostics why = good.error();
  for (Diagnostic& d : why)
    if (d.file.empty()) d.file = config.file;
  return why;
}

Status take_baseline(RunOptions& options, const gate::Config& config) {
  if (options.baseline.empty() && !config.baseline.empty())
    options.baseline = (std::filesystem::path(config.file).parent_path() / config.baseline).string();
  if (!options.growth) options.growth = config.growth;
  if (options.baseline.empty() || options.dump_config) return Done{};
  auto report = gate::read_report(options.baseline);
  if (!report) return report.error();
  options.baseline_report = std::move(*report);
  return Done{};
}

}  // namespace

Status apply_config(RunOptions& options) {
  gate::Config config;
  const std::string path = options.no_config ? std::string() : config_path(options);
  if (!path.empty()) {
    auto read = gate::read_config(path);
    if (!read) return read.error();
    config = std::move(*read);
  }
  for (const gate::Limit& limit : options.limits) gate::override_limit(config, limit);
  if (options.allow_estimates)
    for (gate::Limit& limit : config.limits) limit.allow_estimates = true;
  if (const Status good = take_gpu(options, config); !good) return good;
  if (const Status good = take_baseline(options, config); !good) return good;
  if (!options.timeout_seconds) options.timeout_seconds = config.timeout_seconds;
  config.gpu = options.gpu.wanted;
  config.timeout_seconds = options.timeout_seconds;
  config.baseline = options.baseline;
  config.growth = options.growth;
  options.limits = config.limits;
  options.effective_config = gate::config_text(config);
  return Done{};
}

}  // namespace warplens::cli
