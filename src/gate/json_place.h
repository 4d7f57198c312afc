// SPDX-License-Identifier: Apache-2.0
// Where in a JSON text a value stands, so that faults in a report can be shown as file:line:column. The JSON library
// does not keep places; the text is walked once more when there is a fault to tell.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/diagnostic.h"

namespace warplens::gate {

/// From the root: a member's name, or an element's number.
using JsonPath = std::vector<std::variant<std::string, size_t>>;

/// The place of the value at `path` in `text`, which must be valid JSON; where the path leaves the text (a member that
/// is missing), the place of the last value that is there.
SourcePos json_place(std::string_view text, const JsonPath& path);
/// The place of a byte.
SourcePos byte_place(std::string_view text, size_t byte);

}  // namespace warplens::gate
