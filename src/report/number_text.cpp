// SPDX-License-Identifier: Apache-2.0
#include "report/number_text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace warplens::report {
namespace {

/// Three significant figures with a unit of thousands.
std::string scaled(double value, const char* const* units, size_t count, const char* suffix) {
  size_t unit = 0;
  while (unit + 1 < count && value >= 999.5) {
    value /= 1000;
    ++unit;
  }
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}{}", value, decimals, units[unit], suffix);
}

}  // namespace

std::string grouped(uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string counted(uint64_t number, unsigned digits) {
  if (fmt::formatted_size("{}", number) <= digits) return grouped(number);
  static const char* const kUnits[] = {"", "k", "M", "G", "T", "P", "E"};
  return scaled(static_cast<double>(number), kUnits, std::size(kUnits), "");
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  static const char* const kUnits[] = {"", "k", "M", "G", "T", "P", "E"};
  return scaled(static_cast<double>(bytes), kUnits, std::size(kUnits), "B");
}

std::string ratio_text(double ratio) {
  if (ratio >= 1000) return grouped(static_cast<uint64_t>(std::llround(ratio)));
  return fmt::format("{:.1f}", ratio);
}

std::string percent_text(double share) {
  if (share <= 0) return "0 %";
  if (share < 0.01) return "<1 %";
  const double percent = share < 1 ? std::min(std::floor(share * 100 + 0.5), 99.0) : share * 100;
  return fmt::format("{:.0f} %", percent);
}

std::string error_text(double share) {
  if (share == 0) return "0 %";
  if (share < 0.0001) return "<0.01 %";
  return share < 0.01 ? fmt::format("{:.2f} %", share * 100) : fmt::format("{:.2g} %", share * 100);
}

std::string duration_text(double us) {
  return us >= 1000 ? fmt::format("{:.2f} ms", us / 1000) : fmt::format("{:.1f} us", us);
}

std::string figure_text(double figure, const std::string& unit) {
  if (unit.starts_with("ns/")) return fmt::format("{:.1f} {}", figure, unit);
  if (figure < 1000 || !unit.starts_with('G')) return fmt::format("{:.0f} {}", figure, unit);
  return fmt::format("{:.2f} T{}", figure / 1000, unit.substr(1));
}

std::string plural(uint64_t number, const std::string& noun) {
  if (number == 1) return "1 " + noun;
  const bool hisses = noun.ends_with("ch") || noun.ends_with("s");
  return grouped(number) + " " + noun + (hisses ? "es" : "s");
}

}  // namespace warplens::report
