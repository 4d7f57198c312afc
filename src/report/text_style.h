// SPDX-License-Identifier: Apache-2.0
// How text goes to a screen or a file: its width, and whether it may have colour. Colour is used on a terminal only,
// and not when NO_COLOR is set (https://no-color.org) or TERM is "dumb".
#pragma once
#include <string>
#include <string_view>

namespace warplens::report {

enum class Tone : unsigned char { kPlain, kHeading, kFaint, kBad, kFair, kGood };

struct TextStyle {
  unsigned width = 80;
  bool colour = false;
};

/// The style for file descriptor `fd`: COLUMNS when set, else the terminal's width, else 80; at least 40.
TextStyle style_of(int fd);

/// `text` in `tone` when the style has colour.
std::string painted(const TextStyle& style, Tone tone, std::string_view text);
/// Columns that `text` takes on screen (UTF-8 code points).
size_t columns(std::string_view text);
/// `text` cut to `width` columns, ending in "..." when it was longer; `middle` keeps both ends instead.
std::string fitted(std::string_view text, size_t width);
std::string fitted_middle(std::string_view text, size_t width);
/// `text` broken at blanks into lines of `width`, each after `indent` blanks; ends with a newline.
std::string wrapped(std::string_view text, size_t width, size_t indent);

}  // namespace warplens::report
