// SPDX-License-Identifier: Apache-2.0
// Writing a result so that nobody ever sees half of it: to a temporary file beside the target, then renamed. When the
// disk is full the target keeps its old contents (or stays absent) and the caller gets one message.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace warplens::report {

/// Writes `text` to `path`; "-" is standard output. Devices and pipes are written directly, as they cannot be replaced.
Status write_output(const std::string& path, std::string_view text);
/// Writes all of `text` to a file descriptor.
Status write_all(int fd, std::string_view text, const std::string& name);

}  // namespace warplens::report
