// SPDX-License-Identifier: Apache-2.0
#include "report/line_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "report/kernel_name.h"
#include "report/source_text.h"

namespace warplens::report {
namespace {

class Builder {
 public:
  Builder(const KernelRecord& kernel, const events::LaunchCounts& counts, const events::LaunchSample* sample)
      : record_(kernel), info_(kernel.info), counts_(counts), sample_(sample) {
    find_places();
  }

  LineTable build() {
    add_instructions();
    add_accesses();
    LineTable table;
    table.from_ptx = from_ptx_;
    table.sampled = sample_ != nullptr && sample_->scaled;
    for (auto& [key, row] : rows_) {
      if (row.instructions == 0 && row.accesses.empty()) continue;
      row.text = text_of(row);
      sort(row.accesses);
      table.rows.push_back(std::move(row));
    }
    std::sort(table.rows.begin(), table.rows.end(), [](const LineRow& a, const LineRow& b) {
      const auto key = [](const LineRow& r) {
        return std::tuple(r.global.excess() + r.shared.excess(), r.global.sectors + r.shared.wavefronts, r.lanes);
      };
      return key(a) != key(b) ? key(a) > key(b) : std::tie(a.file, a.line) < std::tie(b.file, b.line);
    });
    return table;
  }

 private:
  using LineKey = std::pair<std::string, uint32_t>;  // file, line

  /// One user place per instruction; line 0 inherits the line before it in its basic block, then in the text.
  void find_places() {
    places_.resize(info_.pcs.size());
    events::Place last;
    for (size_t pc = 0; pc < info_.pcs.size(); ++pc) {
      const events::Place& own = info_.pcs[pc].user_place;
      if (own.line != 0) last = own;
      places_[pc] = own.line != 0 ? own : last;
    }
    from_ptx_ = std::all_of(places_.begin(), places_.end(), [](const events::Place& p) { return p.line == 0; });
  }

  LineRow& row_at(uint32_t pc) {
    LineKey key;
    if (from_ptx_) {
      key = {info_.ptx_file, info_.pcs[pc].ptx_line};
    } else {
      const events::Place& place = places_[pc];
      key = {place.file < info_.files.size() ? info_.files[place.file] : std::string(), place.line};
    }
    LineRow& row = rows_[key];
    row.file = key.first;
    row.line = key.second;
    return row;
  }

  void add_instructions() {
    for (size_t b = 0; b < info_.blocks.size() && b < counts_.blocks.size(); ++b) {
      const auto [first, number] = info_.blocks[b];
      if (counts_.blocks[b].warps == 0) continue;
      const std::array<double, 2>* errors = events::block_errors(sample_, b);
      for (uint32_t pc = first; pc < first + number; ++pc) {
        LineRow& row = row_at(pc);
        row.instructions += counts_.blocks[b].warps;
        row.lanes += counts_.blocks[b].lanes;
        if (errors == nullptr) continue;
        row.instructions_error += (*errors)[0];
        row.lanes_error += (*errors)[1];
      }
    }
  }

  std::string inside(const events::PcInfo& pc) const {
    if (pc.place == pc.user_place || pc.place.line == 0) return {};
    const std::string file = pc.place.file < info_.files.size() ? info_.files[pc.place.file] : "";
    const std::string where = fmt::format("{}:{}", file_name(file), pc.place.line);
    return pc.inlined_function.empty() ? where : fmt::format("{}() at {}", short_name(pc.inlined_function), where);
  }

  void add_accesses() {
    for (size_t i = 0; i < info_.sites.size() && i < counts_.sites.size(); ++i) {
      const events::AccessSite& site = info_.sites[i];
      const events::SiteCounts& counts = counts_.sites[i];
      if (counts.requests == 0) continue;
      AccessRow access;
      access.memory = memory_of(site);
      access.kind = kind_of(site);
      access.column = places_[site.pc].column;
      access.bytes = site.bytes;
      if (!site.parameter.empty()) access.parameter = parameter(site.parameter);
      access.inside = inside(info_.pcs[site.pc]);
      access.ptx_line = info_.pcs[site.pc].ptx_line;
      access.traffic = traffic_of(site, counts, events::site_errors(sample_, i));
      access.copies = 1;
      join(row_at(site.pc), std::move(access));
    }
  }

  const std::string& parameter(const std::string& name) {
    auto [it, fresh] = parameters_.try_emplace(name);
    if (fresh) it->second = parameter_name(info_, name);
    return it->second;
  }

  static void join(LineRow& row, AccessRow access) {
    Traffic& sum = access.memory == Memory::kGlobal   ? row.global
                   : access.memory == Memory::kShared ? row.shared
                                                      : row.other;
    sum += access.traffic;
    const auto key = [](const AccessRow& a) {
      return std::tie(a.memory, a.kind, a.column, a.bytes, a.parameter, a.inside);
    };
    for (AccessRow& other : row.accesses) {
      if (key(other) != key(access)) continue;
      other.traffic += access.traffic;
      other.copies += 1;
      other.ptx_line = std::min(other.ptx_line, access.ptx_line);
      return;
    }
    row.accesses.push_back(std::move(access));
  }

  static void sort(std::vector<AccessRow>& accesses) {
    std::sort(accesses.begin(), accesses.end(), [](const AccessRow& a, const AccessRow& b) {
      const auto key = [](const AccessRow& r) { return std::tuple(r.traffic.excess(), r.traffic.sectors); };
      return key(a) != key(b) ? key(a) > key(b) : a.ptx_line < b.ptx_line;
    });
  }

  std::string text_of(const LineRow& row) const {
    if (!from_ptx_) return source_line(row.file, row.line);
    const auto it = record_.ptx_text.find(row.line);
    return it == record_.ptx_text.end() ? std::string() : it->second;
  }

  const KernelRecord& record_;
  const events::KernelInfo& info_;
  const events::LaunchCounts& counts_;
  const events::LaunchSample* const sample_;
  bool from_ptx_ = false;
  std::vector<events::Place> places_;
  std::map<LineKey, LineRow> rows_;
  std::map<std::string, std::string> parameters_;
};

}  // namespace

LineTable line_table(const KernelRecord& kernel, const events::LaunchCounts& counts,
                     const events::LaunchSample* sample) {
  return Builder(kernel, counts, sample).build();
}

}  // namespace warplens::report
