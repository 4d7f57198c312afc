// SPDX-License-Identifier: Apache-2.0
#include "gate/config_file.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/nearest.h"
#include "base/text_file.h"
#include "report/launch_selection.h"
// As in src/gpu: one library, one set of settings.
#undef TOML_SHARED_LIB
#undef TOML_HEADER_ONLY
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace warplens::gate {
namespace {

class Reader {
 public:
  Reader(const toml::table& root, const std::string& file) : root_(root) { config_.file = file; }

  Result<Config> read() {
    bool estimates = false;
    for (const auto& [key, node] : root_) {
      if (key == "gpu")
        take_text(node, "gpu", config_.gpu);
      else if (key == "timeout")
        take_timeout(node);
      else if (key == "baseline")
        take_text(node, "baseline", config_.baseline);
      else if (key == "allow_growth")
        take_growth(node);
      else if (key == "allow_estimates")
        take_flag(node, "allow_estimates", estimates);
      else if (key != "limit")
        unknown(node, key.str(), kKeys);
    }
    estimates_ = estimates;
    if (const toml::node* limits = root_.get("limit")) take_limits(*limits);
    if (!faults_.empty()) return std::move(faults_);
    return std::move(config_);
  }

 private:
  static constexpr std::string_view kKeys[] = {"gpu",          "timeout",         "baseline",
                                               "allow_growth", "allow_estimates", "limit"};

  void fault(const toml::node& at, std::string message, std::string hint = {}) {
    const auto& begin = at.source().begin;
    faults_.push_back(make_error_at(config_.file, {begin.line, begin.column}, std::move(message), std::move(hint)));
  }

  void fault(const toml::node& at, const Diagnostics& why) {
    for (const Diagnostic& d : why) fault(at, d.message, d.hint);
  }

  void unknown(const toml::node& at, std::string_view key, std::span<const std::string_view> known) {
    const std::string like = nearest(key, known);
    fault(at, fmt::format("unknown entry '{}'", key), like.empty() ? "" : "did you mean " + like + "?");
  }

  void take_text(const toml::node& node, const char* key, std::string& to) {
    const auto value = node.value_exact<std::string>();
    if (value && !value->empty())
      to = *value;
    else
      fault(node, fmt::format("'{}' must be a text", key));
  }

  void take_flag(const toml::node& node, const char* key, bool& to) {
    if (const auto value = node.value_exact<bool>())
      to = *value;
    else
      fault(node, fmt::format("'{}' must be true or false", key));
  }

  void take_timeout(const toml::node& node) {
    const auto value = node.value<double>();
    if (node.is_number() && value && std::isfinite(*value) && *value > 0 && *value <= 1e9)
      config_.timeout_seconds = *value;
    else
      fault(node, "'timeout' must be a number of seconds above 0");
  }

  /// "5%", "100", 100, or a list of both kinds.
  void take_growth(const toml::node& node) {
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& part : *list) take_growth(part);
      return;
    }
    if (!config_.growth) config_.growth.emplace();
    const auto text = node.value_exact<std::string>();
    const auto number = node.value<double>();
    const Status good = set_growth(*config_.growth, text ? *text : number ? fmt::format("{}", *number) : std::string());
    if (!good) fault(node, "'allow_growth' must be a number of 0 or more, or a percentage", "allow_growth = \"5%\"");
  }

  void take_limits(const toml::node& node) {
    const toml::array* list = node.as_array();
    if (list == nullptr) {
      fault(node, "'limit' must be a list of tables", "write [[limit]]");
      return;
    }
    for (const toml::node& entry : *list) {
      if (const toml::table* table = entry.as_table())
        take_limit(*table);
      else
        fault(entry, "a limit must be a table", "write [[limit]]");
    }
  }

  void take_limit(const toml::table& table) {
    std::string kernel;
    bool estimates = estimates_;
    if (const toml::node* node = table.get("kernel")) {
      take_text(*node, "kernel", kernel);
      if (const Status good = report::LaunchSelection::check_pattern(kernel); !good) {
        fault(*node, good.error());
        return;
      }
    }
    if (const toml::node* node = table.get("allow_estimates")) take_flag(*node, "allow_estimates", estimates);
    const size_t before = config_.limits.size(), faults = faults_.size();
    for (const auto& [key, node] : table) {
      if (key == "kernel" || key == "allow_estimates") continue;
      if (key == "max" || key == "min")
        take_metrics(node, key == "min");
      else
        add(node, named_limit(key.str()));
    }
    if (config_.limits.size() == before && faults_.size() == faults) fault(table, "this limit limits nothing");
    for (size_t i = before; i < config_.limits.size(); ++i) {
      config_.limits[i].kernel = kernel;
      config_.limits[i].allow_estimates = estimates;
    }
  }

  void take_metrics(const toml::node& node, bool minimum) {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      fault(node, fmt::format("'{}' must be a table of metrics", minimum ? "min" : "max"),
            "max = { launch__registers_per_thread = 64 }");
      return;
    }
    // A dot in a key that is not quoted makes a table of it: the metrics' names are full of them.
    for (const auto& [key, value] : *table) {
      if (value.is_table())
        fault(value, fmt::format("the name that begins with '{}' has a dot", key.str()), "write it in quotes");
      else
        add(value, metric_limit(key.str(), minimum));
    }
  }

  void add(const toml::node& node, Result<Limit> limit) {
    const auto bound = node.value<double>();
    if (!limit) {
      fault(node, limit.error());
    } else if (!node.is_number() || !bound || !std::isfinite(*bound)) {
      fault(node, fmt::format("'{}' must be a number", limit->name));
    } else if (const Status good = check_bound(*limit, *bound); !good) {
      fault(node, good.error());
    } else {
      const auto& begin = node.source().begin;
      limit->bound = *bound;
      limit->file = config_.file;
      limit->pos = {begin.line, begin.column};
      config_.limits.push_back(std::move(*limit));
    }
  }

  const toml::table& root_;
  Config config_;
  bool estimates_ = false;
  Diagnostics faults_;
};

/// A JSON string is a TOML string, but for surrogates (which is why only ASCII's control characters are escaped) and
/// DEL.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
    out += c == 0x7f ? "\\u007f" : std::string(1, c);
  return out;
}

}  // namespace

std::string find_config(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::path at = fs::weakly_canonical(fs::absolute(folder, error), error); !error; at = at.parent_path()) {
    if (fs::is_regular_file(at / kConfigName, error)) return (at / kConfigName).string();
    error.clear();
    if (at == at.parent_path()) break;
  }
  return {};
}

Result<Config> parse_config(std::string_view text, const std::string& file) {
  const toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return make_error_at(file, {error.source().begin.line, error.source().begin.column},
                         std::string(error.description()));
  }
  return Reader(parsed.table(), file).read();
}

Result<Config> read_config(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  return parse_config(*text, path);
}

void override_limit(Config& config, const Limit& limit) {
  bool known = false;
  for (Limit& l : config.limits) {
    if (l.kind != limit.kind || l.metric != limit.metric || l.minimum != limit.minimum) continue;
    known = true;
    l.bound = limit.bound;
  }
  if (!known) config.limits.push_back(limit);
}

std::string config_text(const Config& config) {
  std::string out;
  if (!config.file.empty()) out += fmt::format("# from {}\n", plain(config.file));
  if (!config.gpu.empty()) out += fmt::format("gpu = {}\n", quoted(config.gpu));
  if (config.timeout_seconds) out += fmt::format("timeout = {}\n", *config.timeout_seconds);
  if (!config.baseline.empty()) out += fmt::format("baseline = {}\n", quoted(config.baseline));
  if (config.growth)
    out += fmt::format("allow_growth = [\"{}%\", {}]\n", 100 * config.growth->relative, config.growth->absolute);
  for (const Limit& l : config.limits) {
    out += "\n[[limit]]\n";
    if (!l.kernel.empty()) out += fmt::format("kernel = {}\n", quoted(l.kernel));
    if (l.kind == LimitKind::kMetric)
      out += fmt::format("{} = {{ {} = {} }}\n", l.minimum ? "min" : "max", quoted(l.name), l.bound);
    else
      out += fmt::format("{} = {}\n", l.name, l.bound);
    if (l.allow_estimates) out += "allow_estimates = true\n";
  }
  return out;
}

}  // namespace warplens::gate
