// SPDX-License-Identifier: Apache-2.0
// "Did you mean ...": the known word nearest to what was typed. Commands, options and kernel names are looked up here
// when what the user wrote does not exist.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace warplens {

/// The word with the fewest edits (insert, delete, replace, swap neighbours) to `typed`, or "" when none is near.
std::string nearest(std::string_view typed, std::span<const std::string_view> words);

}  // namespace warplens
