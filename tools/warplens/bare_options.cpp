// SPDX-License-Identifier: Apache-2.0
#include "warplens/bare_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace warplens::cli {
namespace {

/// "256", "64,64", "8,8,2"; x may stand for the comma.
Status set_extents(std::optional<events::Dim3>& to, std::string_view text, const char* option) {
  const Diagnostic wrong =
      make_error(fmt::format("{} needs one to three whole numbers, not '{}'", option, text), "such as 256 or 16,16");
  events::Dim3 d;
  uint32_t* const parts[] = {&d.x, &d.y, &d.z};
  for (size_t i = 0;; ++i) {
    const size_t comma = text.find_first_of(",x");
    const std::string_view part = text.substr(0, comma);
    if (i == 3 || part.empty()) return wrong;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), *parts[i]);
    if (error != std::errc() || end != part.data() + part.size()) return wrong;
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  to = d;
  return Done{};
}

/// "1024", "48K".
Status set_bytes(uint32_t& to, const std::string& text, const char* option) {
  uint64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  const std::string_view unit(end, static_cast<size_t>(last - end));
  const uint64_t factor = unit == "K" || unit == "KiB" ? 1024 : 1;
  const bool good = error == std::errc() && (unit.empty() || factor != 1) && value <= (uint64_t{1} << 31) / factor;
  if (!good)
    return make_error(fmt::format("{} needs a number of bytes, not '{}'", option, text), "such as 1024 or 48K");
  to = static_cast<uint32_t>(value * factor);
  return Done{};
}

Status set_tolerance(std::optional<double>& to, const std::string& text, const char* option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || std::isinf(value))
    return make_error(fmt::format("{} needs a number of 0 or more, not '{}'", option, text));
  to = value;
  return Done{};
}

Status add_file(std::vector<ArrayFile>& to, const std::string& text, const char* option) {
  ArrayFile file{text, text, 0};
  const size_t colon = text.find(':');
  if (colon != std::string::npos && colon != 0) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + colon, file.argument);
    if (error == std::errc() && end == text.data() + colon) {
      if (file.argument == 0) return make_error(fmt::format("{} {}: arguments count from 1", option, text));
      file.path = text.substr(colon + 1);
    } else {
      file.argument = 0;
    }
  }
  if (file.path.empty()) return make_error(fmt::format("{} needs FILE.npy, or ARGUMENT:FILE.npy", option));
  to.push_back(file);
  return Done{};
}

}  // namespace

const std::map<std::string_view, ApplyBare>& bare_options() {
  static const std::map<std::string_view, ApplyBare> kOptions = {
      {"--entry",
       [](BareOptions& o, const std::string& v) -> Status {
         if (v.empty()) return make_error("--entry needs a kernel's name");
         o.entry = v;
         return Done{};
       }},
      {"--grid", [](BareOptions& o, const std::string& v) { return set_extents(o.grid, v, "--grid"); }},
      {"--block", [](BareOptions& o, const std::string& v) { return set_extents(o.block, v, "--block"); }},
      {"--cluster", [](BareOptions& o, const std::string& v) { return set_extents(o.cluster, v, "--cluster"); }},
      {"--shared", [](BareOptions& o, const std::string& v) { return set_bytes(o.shared_bytes, v, "--shared"); }},
      {"--arg",
       [](BareOptions& o, const std::string& v) -> Status {
         o.arguments.push_back(v);
         return Done{};
       }},
      {"--out", [](BareOptions& o, const std::string& v) { return add_file(o.outputs, v, "--out"); }},
      {"--expect", [](BareOptions& o, const std::string& v) { return add_file(o.expected, v, "--expect"); }},
      {"--rtol", [](BareOptions& o, const std::string& v) { return set_tolerance(o.tolerance.relative, v, "--rtol"); }},
      {"--atol", [](BareOptions& o, const std::string& v) { return set_tolerance(o.tolerance.absolute, v, "--atol"); }},
  };
  return kOptions;
}

}  // namespace warplens::cli
