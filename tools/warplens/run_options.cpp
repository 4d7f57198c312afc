// SPDX-License-Identifier: Apache-2.0
#include "warplens/run_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <string_view>

#include "report/launch_selection.h"
#include "warplens/nearest.h"
#include "warplens/run_config.h"

namespace warplens::cli {
namespace {

using Apply = std::function<Status(RunOptions&, const std::string&)>;

struct Option {
  bool takes_value;
  Apply apply;
};

template <typename Number>
Status set_number(Number& to, const std::string& text, const char* name) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return make_error(fmt::format("{} needs a whole number, not '{}'", name, text));
  to = value;
  return Done{};
}

Status set_timeout(RunOptions& o, const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(seconds) || seconds <= 0 || seconds > 1e9)
    return make_error(fmt::format("--timeout needs a number of seconds above 0, not '{}'", text));
  o.timeout_seconds = seconds;
  return Done{};
}

/// "5%" or "0.05".
Status set_sample(RunOptions& o, const std::string& text) {
  char* end = nullptr;
  double share = std::strtod(text.c_str(), &end);
  const std::string_view rest(end);
  if (rest == "%" || rest == " %") share /= 100;
  const bool is_number = end != text.c_str() && (rest.empty() || rest == "%" || rest == " %");
  if (!is_number || !(share > 0 && share <= 1))
    return make_error(fmt::format("--sample needs a share of the blocks above 0 and up to 100 %, not '{}'", text),
                      "--sample 5% or --sample 0.05");
  o.session.sample.share = share;
  return Done{};
}

Status set_pattern(std::string& to, const std::string& text, const char* option) {
  if (!report::LaunchSelection::check_pattern(text))
    return make_error(fmt::format("{}: '{}' is not a valid regular expression", option, text));
  to = text;
  return Done{};
}

Status set_word(const std::string& text, const char* option, const std::vector<std::string>& words, size_t& chosen) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] != text) continue;
    chosen = i;
    return Done{};
  }
  return make_error(fmt::format("{} is {}, not '{}'", option, fmt::format("{} or {}", words[0], words[1]), text));
}

/// Paths must hold when the program changes its directory.
Status set_path(std::string& to, const std::string& text, const char* option) {
  if (text.empty()) return make_error(fmt::format("{} needs a file name", option));
  to = std::filesystem::absolute(text).string();
  return Done{};
}

Apply flag(bool RunOptions::* member) {
  return [member](RunOptions& o, const std::string&) -> Status {
    o.*member = true;
    return Done{};
  };
}

/// A file for a report in some format.
Option output(std::string RunOptions::* member, const char* name) {
  return {true, [member, name](RunOptions& o, const std::string& v) -> Status {
            if (v.empty()) return make_error(fmt::format("{} needs a file name, or - for standard output", name));
            o.*member = v;
            return Done{};
          }};
}

const std::map<std::string_view, Option>& own_options() {
  static const std::map<std::string_view, Option> kOptions = {
      {"--json", output(&RunOptions::json, "--json")},
      {"--csv", output(&RunOptions::csv, "--csv")},
      {"--sarif", output(&RunOptions::sarif, "--sarif")},
      {"--junit", output(&RunOptions::junit, "--junit")},
      {"--markdown", output(&RunOptions::markdown, "--markdown")},
      {"--annotations", output(&RunOptions::annotations, "--annotations")},
      {"--metrics",
       {true,
        [](RunOptions& o, const std::string& v) -> Status {
          auto list = report::metric_list(v);
          if (!list) return list.error();
          o.metrics = std::move(*list);
          return Done{};
        }}},
      {"--source-root",
       {true,
        [](RunOptions& o, const std::string& v) -> Status {
          std::error_code error;
          if (!std::filesystem::is_directory(v, error))
            return make_error(fmt::format("--source-root needs a folder, and '{}' is none", v));
          o.source_root = std::filesystem::absolute(v).lexically_normal().string();
          return Done{};
        }}},
      {"--launches",
       {true,
        [](RunOptions& o, const std::string& v) -> Status {
          size_t chosen = 0;
          Status status = set_word(v, "--launches", {"folded", "all"}, chosen);
          o.unfold = chosen == 1;
          return status;
        }}},
      {"--kernel",
       {true, [](RunOptions& o, const std::string& v) { return set_pattern(o.session.kernel_regex, v, "--kernel"); }}},
      {"--launch-skip",
       {true,
        [](RunOptions& o, const std::string& v) { return set_number(o.session.launch_skip, v, "--launch-skip"); }}},
      {"--launch-count",
       {true,
        [](RunOptions& o, const std::string& v) { return set_number(o.session.launch_count, v, "--launch-count"); }}},
      {"--nvtx",
       {true, [](RunOptions& o, const std::string& v) { return set_pattern(o.session.nvtx_regex, v, "--nvtx"); }}},
      {"--profile-from-start",
       {true,
        [](RunOptions& o, const std::string& v) -> Status {
          size_t chosen = 0;
          Status status = set_word(v, "--profile-from-start", {"on", "off"}, chosen);
          o.session.profile_from_start = chosen == 0;
          return status;
        }}},
      {"--timeout", {true, set_timeout}},
      {"--config", {true, [](RunOptions& o, const std::string& v) { return set_path(o.config, v, "--config"); }}},
      {"--baseline", {true, [](RunOptions& o, const std::string& v) { return set_path(o.baseline, v, "--baseline"); }}},
      {"--allow-growth",
       {true,
        [](RunOptions& o, const std::string& v) {
          if (!o.growth) o.growth.emplace();
          return gate::set_growth(*o.growth, v);
        }}},
      {"--no-config", {false, flag(&RunOptions::no_config)}},
      {"--dump-config", {false, flag(&RunOptions::dump_config)}},
      {"--allow-estimates", {false, flag(&RunOptions::allow_estimates)}},
      {"--limit",
       {true,
        [](RunOptions& o, const std::string& v) -> Status {
          const auto limit = gate::parse_limit(v);
          if (!limit) return limit.error();
          o.limits.push_back(*limit);
          return Done{};
        }}},
      {"--compiler",
       {true,
        [](RunOptions& o, const std::string& v) -> Status {
          size_t chosen = 0;
          Status status = set_word(v, "--compiler", {"clang", "nvcc"}, chosen);
          o.compiler = chosen == 1 ? Compiler::kNvcc : Compiler::kClang;
          return status;
        }}},
      {"--executor",
       {true,
        [](RunOptions& o, const std::string& v) -> Status {
          size_t chosen = 0;
          Status status = set_word(v, "--executor", {"jit", "interpreter"}, chosen);
          o.session.executor = chosen == 1 ? "interpreter" : "jit";
          return status;
        }}},
      {"--level",
       {true,
        [](RunOptions& o, const std::string& v) -> Status {
          size_t chosen = 0;
          Status status = set_word(v, "--level", {"machine", "ptx"}, chosen);
          o.session.level = chosen == 1 ? "ptx" : "machine";
          return status;
        }}},
      {"--counting",
       {true,
        [](RunOptions& o, const std::string& v) -> Status {
          size_t chosen = 0;
          Status status = set_word(v, "--counting", {"fast", "oracle"}, chosen);
          o.session.counting = chosen == 1 ? "oracle" : "fast";
          return status;
        }}},
      {"--sample", {true, set_sample}},
      {"--sample-seed",
       {true,
        [](RunOptions& o, const std::string& v) { return set_number(o.session.sample.seed, v, "--sample-seed"); }}},
      {"--workers",
       {true, [](RunOptions& o, const std::string& v) { return set_number(o.session.workers, v, "--workers"); }}},
      {"--gpu", {true, [](RunOptions& o, const std::string& v) { return choose_gpu(o.gpu, v); }}},
      {"--gpu-file", {true, [](RunOptions& o, const std::string& v) { return choose_gpu_file(o.gpu, v); }}},
      {"--trace", {true, [](RunOptions& o, const std::string& v) { return set_path(o.session.trace, v, "--trace"); }}},
      {"--no-count",
       {false,
        [](RunOptions& o, const std::string&) -> Status {
          o.session.count = false;
          return Done{};
        }}},
      {"--no-cache",
       {false,
        [](RunOptions& o, const std::string&) -> Status {
          o.session.cache = false;
          return Done{};
        }}},
      {"--device-ptx",
       {true,
        [](RunOptions& o, const std::string& v) -> Status {
          if (v.empty()) return make_error("--device-ptx needs a PTX file");
          o.device_ptx.push_back(v);
          return Done{};
        }}},
      {"--resource-usage", {false, flag(&RunOptions::resource_usage)}},
      {"--keep", {false, flag(&RunOptions::keep)}},
      {"--ignore-unknown", {false, flag(&RunOptions::ignore_unknown)}},
      {"--quiet", {false, flag(&RunOptions::quiet)}},
      {"-q", {false, flag(&RunOptions::quiet)}},
      {"--help", {false, flag(&RunOptions::help)}},
      {"-h", {false, flag(&RunOptions::help)}},
  };
  return kOptions;
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  Result<RunOptions> parse() {
    while (at_ < arguments_.size() && options_go_on()) take_option();
    if (options_.help) return std::move(options_);
    take_inputs();
    note(apply_config(options_));
    take_compile_options();
    check_sample();
    check_reports();
    if (!faults_.empty()) return std::move(faults_);
    return std::move(options_);
  }

 private:
  bool options_go_on() {
    const std::string& a = arguments_[at_];
    if (a == "--") {
      ++at_;
      return false;
    }
    return a.size() > 1 && a[0] == '-';
  }

  void note(const Status& status) {
    if (!status) faults_.insert(faults_.end(), status.error().begin(), status.error().end());
  }

  void take_option() {
    const std::string a = arguments_[at_++];
    const size_t equals = a.rfind("--", 0) == 0 ? a.find('=') : std::string::npos;
    const std::string name = a.substr(0, equals);
    const auto own = own_options().find(name);
    const char* attached = equals == std::string::npos ? nullptr : a.c_str() + equals + 1;
    if (own != own_options().end()) {
      take_own(own->second, name, attached);
    } else if (const auto bare = bare_options().find(name); bare != bare_options().end()) {
      options_.bare.words.push_back(name);
      const auto apply = [&](RunOptions& o, const std::string& v) { return bare->second(o.bare, v); };
      take_own({true, apply}, name, attached);
    } else if (a.rfind("--", 0) == 0 && !option_takes_value(a) && !options_.ignore_unknown &&
               !parse_compile_options({a})) {
      std::vector<std::string_view> names;
      for (const auto& [n, option] : own_options()) names.push_back(n);
      for (const auto& [n, apply] : bare_options()) names.push_back(n);
      const std::string like = nearest(name, names);
      faults_.push_back(
          make_error(fmt::format("unknown option '{}'", name),
                     like.empty() ? "warplens run --help lists the options" : "did you mean " + like + "?"));
    } else {
      options_.compile_words.push_back(a);
      if (option_takes_value(a) && at_ < arguments_.size()) options_.compile_words.push_back(arguments_[at_++]);
    }
  }

  void take_own(const Option& option, const std::string& name, const char* attached) {
    if (!option.takes_value) {
      if (attached != nullptr) faults_.push_back(make_error(fmt::format("{} takes no value", name)));
      note(option.apply(options_, {}));
    } else if (attached != nullptr) {
      note(option.apply(options_, attached));
    } else if (at_ < arguments_.size()) {
      note(option.apply(options_, arguments_[at_++]));
    } else {
      faults_.push_back(make_error(fmt::format("{} needs a value", name)));
    }
  }

  void check_sample() {
    const report::SessionFile& s = options_.session;
    if (s.sample.all()) return;
    if (s.counting == "oracle")
      faults_.push_back(make_error("--counting oracle counts every block; it takes no --sample"));
    if (!s.count) faults_.push_back(make_error("--no-count counts nothing; there is nothing to take a --sample of"));
  }

  void check_reports() {
    if (!options_.metrics.empty() && options_.csv.empty())
      faults_.push_back(make_error("--metrics chooses columns of --csv, and there is none", "add --csv FILE"));
    std::vector<const char*> to_stdout;
    std::map<std::string, const char*> files;
    for (const auto& [path, name] : {std::pair{&options_.json, "--json"},
                                     {&options_.csv, "--csv"},
                                     {&options_.sarif, "--sarif"},
                                     {&options_.junit, "--junit"},
                                     {&options_.markdown, "--markdown"},
                                     {&options_.annotations, "--annotations"}}) {
      if (*path == "-") to_stdout.push_back(name);
      if (*path == "-" || path->empty() || *path == "/dev/null") continue;
      std::error_code error;
      const auto [it, fresh] =
          files.try_emplace(std::filesystem::absolute(*path, error).lexically_normal().string(), name);
      if (!fresh)
        faults_.push_back(make_error(fmt::format("{} and {} name the same file: {}", it->second, name, *path)));
    }
    if (options_.no_config && !options_.config.empty())
      faults_.push_back(make_error("--no-config reads no file, and --config names one", "leave one of them out"));
    if (to_stdout.size() > 1)
      faults_.push_back(make_error(fmt::format("only one of {} can be standard output", fmt::join(to_stdout, ", ")),
                                   "give files to the others"));
    if (!options_.limits.empty() && !options_.session.count)
      faults_.push_back(make_error("--no-count counts nothing; there is nothing to check limits on",
                                   "--no-config leaves the limits of .warplens.toml out"));
    if (options_.baseline_report && !options_.session.count)
      faults_.push_back(make_error("--no-count counts nothing; there is nothing to compare with the baseline",
                                   "--no-config leaves the baseline of .warplens.toml out"));
  }

  void take_inputs() {
    if (at_ == arguments_.size()) {
      if (faults_.empty() && !options_.dump_config)
        faults_.push_back(make_error("nothing to run", "warplens run [options] FILE [arguments...]"));
      return;
    }
    options_.inputs.push_back(arguments_[at_++]);
    if (options_.inputs[0].ends_with(".ptx") || !options_.bare.words.empty()) {
      while (at_ < arguments_.size() && options_go_on()) take_option();
      if (at_ < arguments_.size())
        faults_.push_back(
            make_error(fmt::format("'{}': a PTX file has no program that takes arguments", arguments_[at_]),
                       "kernel parameters are given with --arg"));
      if (!options_.session.nvtx_regex.empty() || !options_.session.profile_from_start)
        faults_.push_back(make_error("--nvtx and --profile-from-start select launches of a program; PTX alone has none",
                                     "--kernel works for both"));
      return;
    }
    if (is_source_path(options_.inputs[0])) {
      std::error_code error;
      while (at_ < arguments_.size() && is_source_path(arguments_[at_]) &&
             std::filesystem::is_regular_file(arguments_[at_], error))
        options_.inputs.push_back(arguments_[at_++]);
    }
    if (at_ < arguments_.size() && arguments_[at_] == "--") ++at_;
    options_.arguments.assign(arguments_.begin() + static_cast<long>(at_), arguments_.end());
  }

  void take_compile_options() {
    auto compile = parse_compile_options(options_.compile_words,
                                         options_.ignore_unknown ? UnknownOptions::kSkip : UnknownOptions::kRefuse);
    if (!compile) {
      faults_.insert(faults_.end(), compile.error().begin(), compile.error().end());
      return;
    }
    options_.compile = *std::move(compile);
    options_.session.gpu = options_.gpu.wanted;
    if (options_.gpu.target != 0 && !names_architecture(options_.compile_words))
      options_.compile.target = options_.gpu.target;
    if (!options_.compile.output.empty() || options_.compile.stage != Stage::kLink)
      faults_.push_back(make_error("-o and -c make files; 'run' compiles and runs", "--keep keeps the program"));
  }

  const std::vector<std::string>& arguments_;
  size_t at_ = 0;
  RunOptions options_;
  Diagnostics faults_;
};

}  // namespace

Result<RunOptions> parse_run_options(const std::vector<std::string>& arguments) { return Parser(arguments).parse(); }

}  // namespace warplens::cli
