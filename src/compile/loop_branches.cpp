// SPDX-License-Identifier: Apache-2.0
#include "compile/loop_branches.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace warplens {
namespace {

std::string_view trimmed(std::string_view line) {
  if (const size_t comment = line.find("//"); comment != std::string_view::npos) line = line.substr(0, comment);
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

/// Skips `word` and the blanks behind it; false when the text begins otherwise.
bool skip(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text = trimmed(text.substr(word.size()));
  return true;
}

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%';
}

std::string_view take_name(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && is_name(text[n])) ++n;
  const std::string_view name = text.substr(0, n);
  text = trimmed(text.substr(n));
  return name;
}

/// The opposite comparison of integers; "" where there is none.
std::string_view opposite(std::string_view cmp) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOpposite = {
      {{"eq", "ne"}, {"ne", "eq"}, {"lt", "ge"}, {"ge", "lt"}, {"gt", "le"}, {"le", "gt"}}};
  for (const auto& [a, b] : kOpposite)
    if (cmp == a) return b;
  return {};
}

class Turner {
 public:
  explicit Turner(const std::string& ptx) {
    for (size_t begin = 0; begin < ptx.size();) {
      const size_t end = std::min(ptx.find('\n', begin), ptx.size());
      lines_.emplace_back(ptx, begin, end - begin);
      begin = end + 1;
    }
  }

  std::string run() {
    dropped_.resize(lines_.size());
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (trimmed(lines_[i]) == "{") function_ = i;
      turn(i);
    }
    std::string out;
    for (size_t i = 0; i < lines_.size(); ++i)
      if (!dropped_[i]) out += lines_[i] + "\n";
    return out;
  }

 private:
  /// The next line that is neither empty nor a directive such as .loc.
  size_t next(size_t i) const {
    do ++i;
    while (i < lines_.size() && (trimmed(lines_[i]).empty() || trimmed(lines_[i]).starts_with('.')));
    return i;
  }

  /// Line `at`: "@%p bra OUT;", then "bra.uni LOOP;", then "OUT:".
  void turn(size_t at) {
    std::string_view text = trimmed(lines_[at]);
    if (!skip(text, "@")) return;
    const std::string predicate(take_name(text));
    if (predicate.empty() || !skip(text, "bra")) return;
    const std::string out(take_name(text));
    const size_t jump = next(at);
    if (jump >= lines_.size()) return;
    text = trimmed(lines_[jump]);
    if (!skip(text, "bra.uni")) return;
    const std::string loop(take_name(text));
    const size_t label = next(jump);
    if (loop.empty() || label >= lines_.size() || trimmed(lines_[label]) != out + ":") return;
    const size_t compare = comparison(at, predicate);
    if (compare == 0 || !invert(lines_[compare])) return;
    lines_[at] = "\t@" + predicate + " bra \t" + loop + ";";
    dropped_[jump] = true;
  }

  /// The line of the same block that sets the predicate, when nothing else in the function names it; else 0.
  size_t comparison(size_t at, const std::string& predicate) const {
    size_t found = 0, uses = 0;
    bool same_block = true;
    for (size_t i = at; i-- > function_;) {
      const std::string_view line = trimmed(lines_[i]);
      if (names(line, predicate)) {
        ++uses;
        if (same_block && line.starts_with("setp.")) found = i;
      }
      if (line.ends_with(':') || line.starts_with('@') || line.starts_with("bra")) same_block = false;
    }
    for (size_t i = at + 1; i < lines_.size() && trimmed(lines_[i]) != "}"; ++i)
      uses += names(trimmed(lines_[i]), predicate);
    return uses == 1 ? found : 0;
  }

  static bool names(std::string_view line, const std::string& name) {
    for (size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1))
      if (at + name.size() >= line.size() || !is_name(line[at + name.size()])) return true;
    return false;
  }

  /// "setp.lt.s32 %p, ..." -> "setp.ge.s32 %p, ..."; false for floats and for comparisons that combine.
  static bool invert(std::string& line) {
    const size_t at = line.find("setp.") + 5;
    const std::string_view other = opposite(std::string_view(line).substr(at, 2));
    const bool integer = line.size() > at + 4 && line[at + 2] == '.' &&
                         std::string_view("sub").find(line[at + 3]) != std::string_view::npos && line[at + 4] >= '0' &&
                         line[at + 4] <= '9' && line.find('|') == std::string::npos;
    if (other.empty() || !integer) return false;
    line.replace(at, 2, other);
    return true;
  }

  std::vector<std::string> lines_;
  std::vector<bool> dropped_;  // by line
  size_t function_ = 0;
};

}  // namespace

std::string turn_loop_branches(const std::string& ptx) { return Turner(ptx).run(); }

}  // namespace warplens
