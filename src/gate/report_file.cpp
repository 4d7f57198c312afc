// SPDX-License-Identifier: Apache-2.0
#include "gate/report_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/text_file.h"
#include "gate/json_place.h"
#include "report/json_view.h"

namespace warplens::gate {
namespace {

using nlohmann::json;

const std::vector<std::string>& memory_words() {
  static const std::vector<std::string> kWords = [] {
    std::vector<std::string> words;
    for (int m = 0; m < report::kMemories; ++m) words.emplace_back(report::word(static_cast<report::Memory>(m)));
    return words;
  }();
  return kWords;
}

const std::vector<std::string>& kind_words() {
  static const std::vector<std::string> kWords = [] {
    std::vector<std::string> words;
    for (int k = 0; k < report::kKinds; ++k) words.emplace_back(report::word(static_cast<report::Kind>(k)));
    return words;
  }();
  return kWords;
}

void add_up(StoredTraffic& to, const StoredTraffic& t) {
  to.exact &= t.exact;
  for (uint64_t StoredTraffic::* number :
       {&StoredTraffic::requests, &StoredTraffic::bytes_asked, &StoredTraffic::sectors, &StoredTraffic::ideal_sectors,
        &StoredTraffic::repeated_sectors, &StoredTraffic::lines, &StoredTraffic::wavefronts,
        &StoredTraffic::ideal_wavefronts})
    to.*number += t.*number;
}

void add_up(std::vector<StoredTraffic>& to, const std::vector<StoredTraffic>& from) {
  // Several accesses of a line may be alike in all that names them: the n-th goes to the n-th.
  const auto key = [](const StoredTraffic& t) {
    return std::tie(t.memory, t.kind, t.parameter, t.column, t.bytes_per_lane);
  };
  std::vector<bool> taken(to.size());
  for (const StoredTraffic& t : from) {
    size_t i = 0;
    while (i < taken.size() && (taken[i] || key(to[i]) != key(t))) ++i;
    if (i == taken.size()) {
      to.push_back(t);
      continue;
    }
    taken[i] = true;
    add_up(to[i], t);
  }
}

/// Launches of one shape count as one group, also where the report has each for itself (--launches all): otherwise it
/// would be chance which is compared with which.
void add_group(std::vector<StoredGroup>& groups, StoredGroup group) {
  const auto same = std::ranges::find_if(groups, [&](const StoredGroup& g) {
    return g.shape == group.shape && g.counted && g.complete && group.counted && group.complete;
  });
  if (same == groups.end()) {
    groups.push_back(std::move(group));
    return;
  }
  same->launches += group.launches;
  same->line_information &= group.line_information;
  same->occupancy_exact &= group.occupancy_exact;
  if (!same->occupancy || (group.occupancy && *group.occupancy < *same->occupancy)) same->occupancy = group.occupancy;
  add_up(same->totals, group.totals);
  std::map<std::tuple<std::string, uint32_t, uint32_t>, size_t> index;
  for (size_t i = 0; i < same->lines.size(); ++i)
    index.try_emplace({same->lines[i].file, same->lines[i].line, same->lines[i].ptx_line}, i);
  for (StoredLine& line : group.lines) {
    const auto [it, fresh] = index.try_emplace({line.file, line.line, line.ptx_line}, same->lines.size());
    if (fresh)
      same->lines.push_back(std::move(line));
    else
      add_up(same->lines[it->second].accesses, line.accesses);
  }
}

/// Reads members and remembers the first one that is missing or has the wrong type; after that it only goes on.
class Reader {
 public:
  Reader(std::string_view text, const std::string& path, const json& root) : text_(text), path_(path), root_(root) {}

  Result<StoredReport> read() {
    StoredReport report;
    report.path = path_;
    check_version();
    if (fault_) return std::move(*fault_);
    const json& generator = member(root_, "generator", &json::is_object);
    {
      const Step step(*this, "generator");
      report.version = text(generator, "version");
    }
    report.program = text(root_, "program");
    report.gpu = text(root_, "gpu");
    const json& end = member(root_, "end", &json::is_object);
    {
      const Step step(*this, "end");
      report.whole = !flag(end, "timed_out") && !flag(end, "interrupted") && number(end, "signal") == 0;
    }
    report.whole &= flag(root_, "record_complete");
    each(root_, "kernels", [&](const json& j) { report.kernels.push_back(kernel(j)); });
    if (fault_) return std::move(*fault_);
    return report;
  }

 private:
  using Test = bool (json::*)() const;

  /// The path of what is being read, for messages.
  class Step {
   public:
    Step(Reader& reader, std::variant<std::string, size_t> step) : reader_(reader) {
      reader_.at_.push_back(std::move(step));
    }
    ~Step() { reader_.at_.pop_back(); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Reader& reader_;
  };

  void fault(std::string message, std::string hint = {}) {
    if (!fault_) fault_ = make_error_at(path_, json_place(text_, at_), std::move(message), std::move(hint));
  }

  void check_version() {
    if (!root_.is_object() || !root_.contains("schema_version") || !root_.contains("kernels"))
      return fault("this is no report of warplens", "warplens run --json FILE writes one");
    const json& version = root_["schema_version"];
    const Step step(*this, "schema_version");
    if (!version.is_number_integer())
      fault("'schema_version' is not a number");
    else if (version != report::kSchemaVersion)
      fault(fmt::format("the report has schema version {}, and this warplens reads {}", version.dump(),
                        report::kSchemaVersion),
            "make it again with this warplens");
  }

  const json& member(const json& of, const char* name, Test test) {
    static const json kNothing;
    const auto it = of.find(name);
    if (it == of.end()) {
      fault(fmt::format("'{}' is missing", name));
      return kNothing;
    }
    if ((*it.*test)()) return *it;
    const Step step(*this, name);
    fault(fmt::format("'{}' has the wrong type", name));
    return kNothing;
  }
  std::string text(const json& of, const char* name) {
    const json& j = member(of, name, &json::is_string);
    return j.is_string() ? j.get<std::string>() : std::string();
  }
  /// One of the words of which reports are made: it goes to terminals and tables as it is.
  template <typename Words>
  std::string word(const json& of, const char* name, const Words& words) {
    std::string text = this->text(of, name);
    const Step step(*this, name);
    if (std::ranges::find(words, text) == std::ranges::end(words))
      fault(fmt::format("'{}' is {}", name, fmt::join(words, ", ")));
    return text;
  }
  bool flag(const json& of, const char* name) {
    const json& j = member(of, name, &json::is_boolean);
    return j.is_boolean() && j.get<bool>();
  }
  uint64_t number(const json& of, const char* name) {
    const json& j = member(of, name, &json::is_number_unsigned);
    return j.is_number_unsigned() ? j.get<uint64_t>() : 0;
  }
  uint64_t number_if(const json& of, const char* name) { return of.contains(name) ? number(of, name) : 0; }
  uint32_t small(const json& of, const char* name) {
    return static_cast<uint32_t>(std::min<uint64_t>(of.contains(name) ? number(of, name) : 0, ~0u));
  }

  template <typename Take>
  void each(const json& of, const char* name, Take take) {
    const json& list = member(of, name, &json::is_array);
    const Step step(*this, name);
    for (size_t i = 0; i < list.size() && !fault_; ++i) {
      const Step element(*this, i);
      if (list[i].is_object())
        take(list[i]);
      else
        fault("an object is expected here");
    }
  }

  StoredKernel kernel(const json& j) {
    StoredKernel k;
    k.name = text(j, "name");
    k.short_name = text(j, "short_name");
    if (j.contains("ptx")) {
      const json& ptx = member(j, "ptx", &json::is_object);
      const Step step(*this, "ptx");
      k.ptx_hash = text(ptx, "hash");
      k.compiler = text(ptx, "compiler");
    }
    if (j.contains("source_hash")) k.source_hash = text(j, "source_hash");
    each(j, "launch_groups", [&](const json& g) { add_group(k.groups, group(g)); });
    return k;
  }

  /// "[16,16,1]", and the product of its numbers.
  std::string extents(const json& of, const char* name, uint64_t& product) {
    const json& list = member(of, name, &json::is_array);
    product = 1;
    const Step step(*this, name);
    if (list.size() != 3) fault(fmt::format("'{}' must have 3 numbers", name));
    std::vector<uint64_t> numbers;
    for (size_t i = 0; i < list.size() && !fault_; ++i) {
      const Step element(*this, i);
      if (list[i].is_number_unsigned())
        product *= numbers.emplace_back(list[i].get<uint64_t>());
      else
        fault("a number is expected here");
    }
    return fmt::format("[{}]", fmt::join(numbers, ","));
  }

  StoredGroup group(const json& j) {
    StoredGroup g;
    uint64_t cluster = 0;
    g.grid = extents(j, "grid", g.grid_blocks);
    g.block = extents(j, "block", g.block_threads);
    g.shape = g.grid + g.block + extents(j, "cluster", cluster) +
              fmt::format("{},{}", number(j, "static_shared_bytes"), number(j, "dynamic_shared_bytes"));
    g.launches = std::max<uint64_t>(number(j, "launches"), 1);
    g.counted = flag(j, "counted");
    g.complete = flag(j, "complete");
    if (j.contains("occupancy")) {
      const json& o = member(j, "occupancy", &json::is_object);
      const Step step(*this, "occupancy");
      const json& share = member(o, "theoretical", &json::is_number);
      if (share.is_number()) g.occupancy = share.get<double>();
      g.occupancy_exact = text(o, "registers_exactness") == "exact" &&
                          (!o.contains("carveout_exactness") || text(o, "carveout_exactness") == "exact");
    }
    if (!g.counted) return g;
    g.line_information = flag(j, "line_information");
    {
      const json& totals = member(j, "totals", &json::is_object);
      const Step step(*this, "totals");
      each(totals, "memory", [&](const json& t) { g.totals.push_back(traffic(t)); });
    }
    each(j, "lines", [&](const json& l) { g.lines.push_back(line(l)); });
    return g;
  }

  StoredLine line(const json& j) {
    StoredLine l;
    l.file = text(j, "file");
    l.text = text(j, "text");
    l.line = small(j, "line");
    l.ptx_line = small(j, "ptx_line");
    each(j, "accesses", [&](const json& t) { l.accesses.push_back(traffic(t)); });
    return l;
  }

  StoredTraffic traffic(const json& j) {
    StoredTraffic t;
    t.memory = word(j, "memory", memory_words());
    t.kind = word(j, "kind", kind_words());
    t.exact = text(j, "exactness") == "exact";
    if (j.contains("parameter")) t.parameter = text(j, "parameter");
    t.column = small(j, "column");
    t.bytes_per_lane = small(j, "bytes_per_lane");
    t.requests = number(j, "requests");
    t.bytes_asked = number(j, "bytes_asked");
    t.sectors = number_if(j, "sectors");
    t.ideal_sectors = std::min(number_if(j, "ideal_sectors"), t.sectors);
    t.repeated_sectors = std::min(number_if(j, "repeated_sectors"), t.sectors - t.ideal_sectors);
    t.lines = number_if(j, "lines");
    t.wavefronts = number_if(j, "wavefronts");
    t.ideal_wavefronts = std::min(number_if(j, "ideal_wavefronts"), t.wavefronts);
    return t;
  }

  std::string_view text_;
  const std::string& path_;
  const json& root_;
  JsonPath at_;
  std::optional<Diagnostic> fault_;
};

Diagnostic not_json(std::string_view text, const std::string& path, const json::parse_error& error) {
  const std::string what = error.what();  // "[...] parse error at line 1, column 2: what is wrong"
  const size_t colon = what.find(": ", what.find("column"));
  const size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos || error.byte > last + 1)
    return make_error_at(path, byte_place(text, text.size()),
                         "the file ends in the middle of its JSON: it was cut short");
  return make_error_at(path, byte_place(text, error.byte == 0 ? 0 : error.byte - 1),
                       "not valid JSON: " + (colon == std::string::npos ? what : what.substr(colon + 2)));
}

/// The library does not say where a number stands that is too large for it: the first outside of a string.
Diagnostic not_readable(std::string_view text, const std::string& path, const json::exception& error) {
  const std::string what = error.what();  // "[...] number overflow parsing '1e999'"
  const size_t open = what.find('\'');
  const std::string_view number =
      open == std::string::npos ? std::string_view() : std::string_view(what).substr(open + 1, what.size() - open - 2);
  size_t at = 0;
  for (bool quoted = false; at < text.size() && !number.empty(); ++at) {
    if (!quoted && text.substr(at).starts_with(number)) break;
    if (text[at] == '"')
      quoted = !quoted;
    else if (quoted && text[at] == '\\')
      ++at;
  }
  if (number.empty()) return make_error(fmt::format("cannot read {}: {}", path, what));
  return make_error_at(path, byte_place(text, at), fmt::format("the number {} is too large", number));
}

}  // namespace

Result<StoredReport> parse_report(std::string_view text, const std::string& path) {
  json root;
  try {  // the only way in which the library tells where a text is wrong
    root = json::parse(text);
  } catch (const json::parse_error& error) {
    return not_json(text, path, error);
  } catch (const json::exception& error) {
    return not_readable(text, path, error);
  }
  return Reader(text, path, root).read();
}

Result<StoredReport> read_report(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  return parse_report(*text, path);
}

}  // namespace warplens::gate
