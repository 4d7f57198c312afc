// SPDX-License-Identifier: Apache-2.0
#include "warplens/occupancy_options.h"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <map>

#include "warplens/nearest.h"

namespace warplens::cli {
namespace {

/// Digits, and what follows them; nothing when there are no digits or too many.
std::optional<uint64_t> number_of(std::string_view& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

Status set_count(std::optional<uint32_t>& to, const std::string& text, const char* option, uint32_t most) {
  std::string_view rest = text;
  const auto value = number_of(rest);
  if (!value || !rest.empty() || *value > most)
    return make_error(fmt::format("{} needs a whole number up to {}, not '{}'", option, most, text));
  to = static_cast<uint32_t>(*value);
  return Done{};
}

/// "256", "16,16" or "16x16x2": threads of a block.
Status set_threads(std::optional<uint32_t>& to, const std::string& text) {
  const Diagnostic wrong = make_error(fmt::format("--block needs a number of threads, not '{}'", text), "256 or 16,16");
  std::string_view rest = text;
  uint64_t product = 1;
  for (int parts = 0;; ++parts) {
    const auto value = number_of(rest);
    if (!value || *value == 0 || *value > 65536 || parts == 3) return wrong;
    product *= *value;
    if (rest.empty()) break;
    if (rest[0] != ',' && rest[0] != 'x') return wrong;
    rest.remove_prefix(1);
  }
  if (product > 65536) return wrong;
  to = static_cast<uint32_t>(product);
  return Done{};
}

/// "1024", "48K".
Status set_bytes(std::optional<uint64_t>& to, const std::string& text) {
  std::string_view rest = text;
  const auto value = number_of(rest);
  const bool kib = rest == "K" || rest == "KiB" || rest == "k";
  if (!value || (!rest.empty() && !kib) || *value > (1u << 24))
    return make_error(fmt::format("--smem needs a number of bytes, not '{}'", text), "such as 1024 or 48K");
  to = *value * (kib ? 1024 : 1);
  return Done{};
}

Status set_text(std::string& to, const std::string& text, const char* option) {
  if (text.empty()) return make_error(fmt::format("{} needs a value", option));
  to = text;
  return Done{};
}

using Apply = std::function<Status(OccupancyOptions&, const std::string&)>;

const std::map<std::string_view, Apply>& value_options() {
  static const std::map<std::string_view, Apply> kOptions = {
      {"--gpu", [](auto& o, const auto& v) { return choose_gpu(o.gpu, v); }},
      {"--gpu-file", [](auto& o, const auto& v) { return choose_gpu_file(o.gpu, v); }},
      {"--block", [](auto& o, const auto& v) { return set_threads(o.threads, v); }},
      {"--regs", [](auto& o, const auto& v) { return set_count(o.registers, v, "--regs", 4096); }},
      {"--smem", [](auto& o, const auto& v) { return set_bytes(o.shared_bytes, v); }},
      {"--carveout", [](auto& o, const auto& v) { return set_count(o.carveout_kib, v, "--carveout", 16384); }},
      {"--barriers", [](auto& o, const auto& v) { return set_count(o.barriers, v, "--barriers", 256); }},
      {"--entry", [](auto& o, const auto& v) { return set_text(o.entry, v, "--entry"); }},
      {"--json", [](auto& o, const auto& v) { return set_text(o.json, v, "--json"); }},
  };
  return kOptions;
}

Diagnostic unknown(const std::string& name) {
  std::vector<std::string_view> names = {"--no-curves", "--help"};
  for (const auto& [n, apply] : value_options()) names.push_back(n);
  const std::string like = nearest(name, names);
  return make_error(fmt::format("unknown option '{}'", name),
                    like.empty() ? "warplens help occupancy lists the options" : "did you mean " + like + "?");
}

}  // namespace

Result<OccupancyOptions> parse_occupancy_options(const std::vector<std::string>& arguments) {
  OccupancyOptions options;
  Diagnostics faults;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    const size_t equals = a.starts_with("--") ? a.find('=') : std::string::npos;
    const std::string name = a.substr(0, equals);
    const auto option = value_options().find(name);
    if (option != value_options().end()) {
      if (equals == std::string::npos && i + 1 == arguments.size()) {
        faults.push_back(make_error(fmt::format("{} needs a value", name)));
        continue;
      }
      const Status status =
          option->second(options, equals == std::string::npos ? arguments[++i] : a.substr(equals + 1));
      if (!status) faults.insert(faults.end(), status.error().begin(), status.error().end());
    } else if (a == "--no-curves") {
      options.curves = false;
    } else if (a == "--help" || a == "-h") {
      options.help = true;
    } else if (a.size() > 1 && a[0] == '-') {
      faults.push_back(unknown(name));
    } else if (options.file.empty()) {
      options.file = a;
    } else {
      faults.push_back(make_error(fmt::format("one file at a time: '{}' after '{}'", a, options.file)));
    }
  }
  if (faults.empty() && !options.help && options.file.empty() && !options.threads)
    faults.push_back(make_error("say what a block takes, or name a file with kernels",
                                "warplens occupancy --block 256 --regs 64 --smem 48K"));
  if (!options.entry.empty() && options.file.empty())
    faults.push_back(make_error("--entry chooses a kernel of a file, and there is none"));
  if (!faults.empty()) return faults;
  return options;
}

}  // namespace warplens::cli
