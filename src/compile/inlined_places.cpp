// SPDX-License-Identifier: Apache-2.0
// See inlined_places.h. Metadata of LLVM text stands one node a line, "!14 = !DILocation(line: 1, ...)"; only the four
// kinds of nodes that make up a place are read. What is not understood stays as it is.
#include "compile/inlined_places.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace warplens {
namespace {

using Lines = std::vector<std::string_view>;

Lines split_lines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

template <typename T>
std::optional<T> number_at(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

/// The number after "key: " or "key: !" among a node's fields; field names are preceded by '(' or a blank.
std::optional<uint32_t> field(std::string_view node, std::string_view key) {
  for (size_t at = 0; (at = node.find(key, at)) != std::string_view::npos; at += key.size()) {
    if (at == 0 || (node[at - 1] != '(' && node[at - 1] != ' ')) continue;
    return number_at<uint32_t>(node.substr(at + key.size()));
  }
  return std::nullopt;
}

/// A quoted field, with LLVM's \XX escapes undone.
std::string text_field(std::string_view node, std::string_view key) {
  const size_t at = node.find(key);
  std::string out;
  if (at == std::string_view::npos) return out;
  for (size_t i = at + key.size(); i < node.size() && node[i] != '"'; i++) {
    unsigned code = 0;
    if (node[i] == '\\' && i + 2 < node.size() &&
        std::from_chars(node.data() + i + 1, node.data() + i + 3, code, 16).ptr == node.data() + i + 3) {
      out += static_cast<char>(code);
      i += 2;
    } else {
      out += node[i];
    }
  }
  return out;
}

class Metadata {
 public:
  explicit Metadata(const Lines& lines) {
    for (const std::string_view line : lines) {
      if (!line.starts_with('!')) continue;
      const auto id = number_at<uint32_t>(line.substr(1));
      const size_t equals = line.find(" = ");
      if (id && equals != std::string_view::npos) nodes_[*id] = line.substr(equals + 3);
    }
  }
  std::string_view node(uint32_t id) const {
    const auto found = nodes_.find(id);
    return found == nodes_.end() ? std::string_view{} : found->second;
  }
  /// Path of the file that a scope lies in.
  std::string file_of(uint32_t scope) const {
    const auto file = field(node(scope), "file: !");
    if (!file) return {};
    std::string name = text_field(node(*file), "filename: \"");
    if (name.empty() || name[0] == '/') return name;
    return text_field(node(*file), "directory: \"") + "/" + name;
  }
  /// The subprogram around a scope.
  std::string_view function_of(uint32_t scope) const {
    for (int depth = 0; depth < 1000; depth++) {
      const std::string_view n = node(scope);
      if (n.find("!DISubprogram(") != std::string_view::npos) return n;
      const auto parent = field(n, "scope: !");
      if (!parent) return {};
      scope = *parent;
    }
    return {};
  }

 private:
  std::unordered_map<uint32_t, std::string_view> nodes_;
};

struct Chain {
  InlinedPlace place;
  uint32_t root_scope = 0;
};

std::optional<Chain> follow(const Metadata& metadata, std::string_view location) {
  Chain chain;
  for (int depth = 0; depth < 1000; depth++) {
    const auto line = field(location, "line: "), scope = field(location, "scope: !");
    if (!scope) return std::nullopt;
    const std::string_view function = metadata.function_of(*scope);
    std::string name = text_field(function, "linkageName: \"");
    if (name.empty()) name = text_field(function, "(name: \"");
    chain.place.frames.push_back(
        {metadata.file_of(*scope), std::move(name), line.value_or(0), field(location, "column: ").value_or(0)});
    chain.root_scope = *scope;
    const auto outer = field(location, "inlinedAt: !");
    if (!outer) return chain;
    location = metadata.node(*outer);
  }
  return std::nullopt;
}

}  // namespace

MarkedIr mark_inlined_places(const std::string& ir) {
  MarkedIr marked;
  const Lines lines = split_lines(ir);
  const Metadata metadata(lines);
  marked.text.reserve(ir.size());
  for (const std::string_view line : lines) {
    const size_t at = line.starts_with('!') ? line.find("!DILocation(") : std::string_view::npos;
    std::optional<Chain> chain;
    if (at != std::string_view::npos && line.find("inlinedAt: !") != std::string_view::npos)
      chain = follow(metadata, line.substr(at));
    if (chain && chain->place.frames.size() > 1) {
      marked.text += line.substr(0, at);
      marked.text += fmt::format("!DILocation(line: {}, column: 1, scope: !{})",
                                 kFirstMark + static_cast<uint32_t>(marked.places.size()), chain->root_scope);
      marked.places.push_back(std::move(chain->place));
    } else {
      marked.text += line;
    }
    marked.text += '\n';
  }
  return marked;
}

namespace {

/// .file numbers and function name labels of a PTX text.
class PtxTables {
 public:
  explicit PtxTables(const Lines& lines) {
    for (const std::string_view line : lines) {
      if (!line.starts_with("\t.file\t")) continue;
      const auto number = number_at<uint32_t>(line.substr(7));
      const size_t quote = line.find('"');
      if (!number || quote == std::string_view::npos) continue;
      files_.emplace(std::string(line.substr(quote + 1, line.rfind('"') - quote - 1)), *number);
      next_file_ = std::max(next_file_, *number + 1);
    }
  }
  uint32_t file(const std::string& path) {
    const auto [found, is_new] = files_.emplace(path, next_file_);
    if (is_new) new_files_ += fmt::format("\t.file\t{} \"{}\"\n", next_file_++, path);
    return found->second;
  }
  std::string label(const std::string& function) {
    const auto [found, is_new] = labels_.emplace(function, labels_.size());
    const std::string name = fmt::format("$L__inlined_name{}", found->second);
    if (is_new) {
      names_ += name + ":\n.b8 ";
      for (const char c : function) names_ += fmt::format("{},", static_cast<unsigned char>(c));
      names_ += "0\n";
    }
    return name;
  }
  /// What the text needs at its end.
  std::string additions() const {
    return new_files_ + (names_.empty() ? "" : "\t.section\t.debug_str\n\t{\n" + names_ + "\t}\n");
  }

 private:
  std::map<std::string, uint32_t> files_;
  std::map<std::string, size_t> labels_;
  uint32_t next_file_ = 1;
  std::string new_files_, names_;
};

// The outermost place first; each inner one names the place of its call, which the line before has defined.
std::string loc_chain(const InlinedPlace& place, PtxTables& tables) {
  std::string out, call;
  for (size_t i = place.frames.size(); i-- > 0;) {
    const InlinedPlace::Frame& f = place.frames[i];
    const std::string at = fmt::format("{} {} {}", tables.file(f.file), f.line, f.column);
    out += "\t.loc\t" + at;
    if (!call.empty()) out += fmt::format(", function_name {}, inlined_at {}", tables.label(f.function), call);
    out += '\n';
    call = at;
  }
  return out;
}

}  // namespace

std::string restore_inlined_places(const std::string& ptx, const std::vector<InlinedPlace>& places) {
  if (places.empty()) return ptx;
  const Lines lines = split_lines(ptx);
  PtxTables tables(lines);
  std::string out;
  out.reserve(ptx.size());
  for (const std::string_view line : lines) {
    std::optional<uint32_t> mark;
    if (line.starts_with("\t.loc\t"))
      if (const size_t blank = line.find(' '); blank != std::string_view::npos)
        mark = number_at<uint32_t>(line.substr(blank + 1));
    if (mark && *mark >= kFirstMark && *mark - kFirstMark < places.size()) {
      out += loc_chain(places[*mark - kFirstMark], tables);
    } else {
      out += line;
      out += '\n';
    }
  }
  return out + tables.additions();
}

namespace {

/// The first `n` numbers in a text, missing ones 1.
std::vector<uint32_t> numbers_in(std::string_view text, size_t n) {
  std::vector<uint32_t> found;
  text = text.substr(0, text.find_first_of("\\\""));  // the string's end, escaped zeros included
  while (!text.empty() && found.size() < n) {
    const size_t digit = text.find_first_of("0123456789");
    if (digit == std::string_view::npos) break;
    text.remove_prefix(digit);
    found.push_back(number_at<uint32_t>(text).value_or(1));
    text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
  }
  found.resize(n, 1);
  return found;
}

std::string_view word_after(std::string_view text, std::string_view before) {
  const size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + before.size());
  return rest.substr(0, rest.find_first_of(", }"));
}

}  // namespace

std::vector<ClusterDims> take_cluster_dims(std::string& ir) {
  constexpr std::string_view kNote = "c\"warplens.cluster_dims ";
  std::vector<ClusterDims> found;
  if (ir.find(kNote) == std::string::npos) return found;
  std::map<std::string_view, std::vector<uint32_t>, std::less<>> dims_of_string;
  std::string out;
  const Lines lines = split_lines(ir);
  for (const std::string_view line : lines)
    if (const size_t at = line.find(kNote); at != std::string_view::npos)
      dims_of_string[line.substr(0, line.find(' '))] = numbers_in(line.substr(at + kNote.size()), 3);
  for (std::string_view line : lines) {
    if (!line.starts_with("@llvm.global.annotations")) {
      out += line;
      out += '\n';
      continue;
    }
    // Each annotation is "{ ptr @kernel, ptr @string, ... }"; what comes first is the type.
    for (size_t at; (at = line.find("{ ptr @")) != std::string_view::npos; line.remove_prefix(at + 1)) {
      const std::string_view one = line.substr(at);
      const std::string kernel(word_after(one, "{ ptr @"));
      const auto dims = dims_of_string.find(word_after(one, "{ ptr @" + kernel + ", ptr "));
      if (dims == dims_of_string.end()) continue;
      found.push_back({kernel, dims->second[0], dims->second[1], dims->second[2]});
    }
  }
  ir = std::move(out);
  return found;
}

std::string add_cluster_dims(const std::string& ptx, const std::vector<ClusterDims>& dims) {
  std::string out = ptx;
  for (const ClusterDims& d : dims) {
    const size_t entry = out.find(".entry " + d.kernel + "(");
    const size_t brace = entry == std::string::npos ? entry : out.find("\n{", entry);
    if (brace == std::string::npos) continue;
    out.insert(brace + 1, fmt::format(".explicitcluster\n.reqnctapercluster {}, {}, {}\n", d.x, d.y, d.z));
  }
  return out;
}

}  // namespace warplens
