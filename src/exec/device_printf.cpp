// SPDX-License-Identifier: Apache-2.0
#include "exec/device_printf.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/bits.h"

namespace warplens::exec {
namespace {

/// Reads arguments one behind the other.
class Arguments {
 public:
  explicit Arguments(const PrintSource& source) : source_(source) {}
  uint64_t next(unsigned bytes) {
    offset_ = round_up(offset_, bytes);
    uint64_t value = 0;
    if (!source_.argument(offset_, &value, bytes)) value = 0;
    offset_ += bytes;
    return value;
  }

 private:
  const PrintSource& source_;
  uint64_t offset_ = 0;
};

template <typename T>
std::string print_one(const std::string& spec, T value) {
  const int length = std::snprintf(nullptr, 0, spec.c_str(), value);
  if (length < 0) return {};
  std::string text(static_cast<size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), spec.c_str(), value);
  text.pop_back();
  return text;
}

/// One conversion, from behind its '%' at `at`; moves `at` behind it. False: not a conversion, print it as it stands.
bool convert(std::string_view format, size_t& at, Arguments& arguments, const PrintSource& source, std::string& out) {
  size_t i = at;
  std::string spec = "%";
  for (; i < format.size() && std::strchr("-+ #0123456789.*", format[i]) != nullptr; ++i) {
    if (format[i] == '*')
      spec += std::to_string(static_cast<int32_t>(arguments.next(4)));
    else
      spec += format[i];
  }
  bool wide = false;
  for (; i < format.size() && std::strchr("hlLqjzt", format[i]) != nullptr; ++i) wide = wide || format[i] != 'h';
  if (i == format.size() || spec.size() > 64) return false;
  const char kind = format[i];
  at = i + 1;
  if (std::strchr("di", kind) != nullptr) {
    const auto value = wide ? static_cast<long long>(arguments.next(8)) : static_cast<int32_t>(arguments.next(4));
    out += print_one(spec + "lld", value);
  } else if (std::strchr("uoxX", kind) != nullptr) {
    out += print_one(spec + "ll" + kind, static_cast<unsigned long long>(arguments.next(wide ? 8 : 4)));
  } else if (std::strchr("eEfFgGaA", kind) != nullptr) {
    const uint64_t bits = arguments.next(8);
    double value;
    std::memcpy(&value, &bits, sizeof value);
    out += print_one(spec + kind, value);
  } else if (kind == 'c') {
    out += print_one(spec + 'c', static_cast<int>(arguments.next(4)));
  } else if (kind == 's') {
    out += print_one(spec + 's', source.text(arguments.next(8)).c_str());
  } else if (kind == 'p') {
    out += print_one(spec + 'p', reinterpret_cast<void*>(static_cast<uintptr_t>(arguments.next(8))));
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::string format_device_text(std::string_view format, const PrintSource& source, int& conversions) {
  std::string out;
  Arguments arguments(source);
  conversions = 0;
  for (size_t i = 0; i < format.size();) {
    if (format[i] != '%') {
      out += format[i++];
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      out += '%';
      i += 2;
      continue;
    }
    size_t behind = i + 1;
    if (convert(format, behind, arguments, source, out)) {
      ++conversions;
      i = behind;
    } else {
      out += format[i++];
    }
  }
  return out;
}

}  // namespace warplens::exec
