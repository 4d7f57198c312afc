// SPDX-License-Identifier: Apache-2.0
// The kernel's printf: C's format with the arguments in a buffer, each aligned to its own size.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace warplens::exec {

/// What format_device_text needs of the kernel's memory.
struct PrintSource {
  /// Reads `bytes` at `offset` of the argument buffer; false: there is no such byte.
  std::function<bool(uint64_t offset, void* to, uint64_t bytes)> argument;
  /// The text that a %s argument points to.
  std::function<std::string(uint64_t address)> text;
};

/// The text that the call prints; `conversions` receives the number of arguments that were printed.
std::string format_device_text(std::string_view format, const PrintSource& source, int& conversions);

}  // namespace warplens::exec
