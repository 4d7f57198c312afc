// SPDX-License-Identifier: Apache-2.0
// Reading of GPU files. The list of entries stands once, below: each names the member it fills and the values that make
// sense, so a file with a missing, misspelt, ill-typed or absurd entry is told about every one of them. The ranges are
// wide (they shall outlive a few generations); what entries must be to one another is checked last.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/text_file.h"
#include "gpu/gpu.h"
// Header-only: Debian's shared library is built with exceptions, and programs under test load this code.
#undef TOML_SHARED_LIB
#undef TOML_HEADER_ONLY
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace warplens::gpu {

namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

class Reader {
 public:
  enum Presence { kNeeded, kMayLack };
  Reader(const toml::table& root, std::string file) : root_(root), file_(std::move(file)) {}

  void section(const char* name, Presence needed = kNeeded) {
    section_ = name;
    sections_.insert(name);
    table_ = root_[name].as_table();
    if (!table_ && needed == kNeeded)
      errors_.push_back(make_error_at(file_, {1, 1}, fmt::format("section [{}] is missing", name)));
  }
  /// An entry whose numbers (each of a list) must be in [least, most].
  template <typename T>
  void read(const char* key, T& to, double least = 0, double most = kNoBound) {
    if (const toml::node* node = find(key, kNeeded)) take(*node, key, to, least, most);
  }
  /// The same, but the file may lack it.
  template <typename T>
  void read(const char* key, std::optional<T>& to, double least = 0, double most = kNoBound) {
    const toml::node* node = find(key, kMayLack);
    if (!node) return;
    T value{};
    if (take(*node, key, value, least, most)) to = value;
  }
  template <typename T>
  void read_list(const char* key, std::vector<T>& to, double least = std::numeric_limits<int>::min()) {
    if (const toml::node* node = find(key, kMayLack)) take(*node, key, to, least, kNoBound);
  }
  /// Nothing is wrong so far: the entries can be compared with one another.
  bool sound() const { return errors_.empty(); }
  /// `holds` must hold between entries; the fault stands at `key` of `section`.
  void demand(bool holds, const char* section, const char* key, const std::string& what) {
    const toml::node* node = root_[section][key].node();
    if (!holds && node) fault(*node, fmt::format("'{}': {}", key, what));
  }
  Diagnostics finish() {
    for (const auto& [name, node] : root_) {
      const toml::table* table = node.as_table();
      if (!table || !sections_.contains(std::string(name.str()))) {
        fault(node, fmt::format("unknown section or entry '{}'", name.str()));
        continue;
      }
      for (const auto& [key, value] : *table)
        if (!known_.contains(fmt::format("{}.{}", name.str(), key.str())))
          fault(value, fmt::format("unknown entry '{}' in [{}]", key.str(), name.str()));
    }
    return std::move(errors_);
  }

 private:
  const toml::node* find(const char* key, Presence needed) {
    known_.insert(std::string(section_) + "." + key);
    if (!table_) return nullptr;
    const toml::node* node = table_->get(key);
    if (!node && needed == kNeeded) fault(*table_, fmt::format("[{}] lacks '{}'", section_, key));
    return node;
  }
  template <typename T>
  bool take(const toml::node& node, const char* key, T& to, double least, double most) {
    if (!assign(node, to)) {
      fault(node, fmt::format("'{}' has the wrong type, is out of range, or has the wrong number of elements", key));
      return false;
    }
    if (within(to, least, most)) return true;
    const std::string bound =
        std::isinf(most) ? fmt::format("be at least {}", least) : fmt::format("be from {} to {}", least, most);
    fault(node, fmt::format("'{}' makes no sense: it must {}", key, bound));
    return false;
  }
  template <typename T>
  static bool within(const T& value, double least, double most) {
    if constexpr (std::is_same_v<T, std::string>) {
      return !value.empty();
    } else if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<double>(value) >= least && static_cast<double>(value) <= most;
    } else {
      return std::all_of(value.begin(), value.end(), [&](auto v) { return within(v, least, most); });
    }
  }
  void fault(const toml::node& at, std::string message) {
    const auto& begin = at.source().begin;
    errors_.push_back(make_error_at(file_, {begin.line, begin.column}, std::move(message)));
  }
  static bool assign(const toml::node& node, std::string& to) {
    const auto v = node.value_exact<std::string>();
    if (v) to = *v;
    return v.has_value();
  }
  static bool assign(const toml::node& node, double& to) {
    const auto v = node.value<double>();
    if (v) to = *v;
    return v.has_value() && std::isfinite(*v);
  }
  template <typename T>
    requires std::is_integral_v<T>
  static bool assign(const toml::node& node, T& to) {
    const auto v = node.value_exact<int64_t>();
    if (!v || !std::in_range<T>(*v)) return false;
    to = static_cast<T>(*v);
    return true;
  }
  template <typename T, size_t N>
  static bool assign(const toml::node& node, std::array<T, N>& to) {
    const toml::array* list = node.as_array();
    if (!list || list->size() != N) return false;
    for (size_t i = 0; i < N; ++i)
      if (!assign((*list)[i], to[i])) return false;
    return true;
  }
  template <typename T>
  static bool assign(const toml::node& node, std::vector<T>& to) {
    const toml::array* list = node.as_array();
    if (!list || list->empty()) return false;
    to.resize(list->size());
    for (size_t i = 0; i < to.size(); ++i)
      if (!assign((*list)[i], to[i])) return false;
    return true;
  }

  const toml::table& root_;
  std::string file_;
  const char* section_ = "";
  const toml::table* table_ = nullptr;
  std::set<std::string> sections_, known_;
  Diagnostics errors_;
};

#define READ(name, ...) r.read(#name, g.name __VA_OPT__(, ) __VA_ARGS__)
constexpr double kGiB = 1u << 30;

void read_device(Reader& r, Gpu& g) {
  r.section("device");
  READ(name), READ(compute_capability, 0, 99), READ(sms, 1, 4096);
  READ(sm_clock_khz, 1000, 2e7 /* 20 GHz */), READ(memory_clock_khz, 1000, 1e8), READ(memory_bus_bits, 8, 65536);
  READ(memory_bytes, kGiB / 64, 4096 * kGiB), READ(l2_bytes, 1024, kGiB), READ(constant_bytes, 1024, kGiB);
  READ(l2_persisting_bytes), READ(async_engines);
}
void read_limits(Reader& r, Gpu& g) {
  r.section("limits");
  READ(threads_per_block, 32, 65536), READ(block_dim, 1, 65536), READ(grid_dim, 1);
  READ(shared_per_block, 1, 1 << 24), READ(shared_per_block_optin, 1, 1 << 24), READ(shared_per_sm, 1, 1 << 24);
  READ(shared_reserved_per_block, 0, 65536), READ(shared_allocation_unit, 1, 65536);
  READ(registers_per_block, 1024, 1 << 24), READ(registers_per_sm, 1024, 1 << 24);
  READ(registers_per_thread, 16, 4096), READ(least_registers_per_thread, 1, 255);
  READ(register_allocation_unit, 1, 65536);
  READ(threads_per_sm, 32, 65536), READ(blocks_per_sm, 1, 4096), READ(barriers_per_block, 1, 256);
  READ(barriers_per_sm, 1, 65536);
  READ(warp_size, 32, 32);  // lanes are counted with 32-bit masks everywhere
  READ(sub_partitions, 1, 64), READ(cluster_blocks, 1, 1024), READ(cluster_blocks_optin, 1, 1024);
  READ(parameter_bytes, 256, 1 << 20), READ(local_bytes_per_thread, 1024, kGiB);
  READ(shared_carveouts_kib, 0, 16384), READ(spare_carveout_kib, 1, 16384);
  r.read_list("cluster_groups", g.cluster_groups, 1), READ(cluster_blocks_per_sm, 1, 4096);
}
void read_memory_and_pipes(Reader& r, Gpu& g) {
  r.section("memory");
  for (const auto& [key, to] : {std::pair{"shared_latency", &Gpu::shared_latency},
                                {"l1_latency", &Gpu::l1_latency},
                                {"l2_latency", &Gpu::l2_latency},
                                {"l2_far_latency", &Gpu::l2_far_latency},
                                {"dram_latency", &Gpu::dram_latency},
                                {"constant_latency", &Gpu::constant_latency},
                                {"atomic_latency", &Gpu::atomic_latency},
                                {"dsmem_latency", &Gpu::dsmem_latency}})
    r.read(key, g.*to, 1, 1e5);
  READ(sector_bytes, 32, 32), READ(line_bytes, 128, 128), READ(banks, 32, 32), READ(bank_bytes, 4, 4);
  READ(dram_bytes_per_second, 1e9, 1e15), READ(l1_and_shared_bytes, 1024, 1 << 24);
  r.section("pipes");
  READ(fp32, 1, 4096), READ(fp64, 1, 4096), READ(int32, 1, 4096), READ(special, 1, 4096), READ(load_store, 1, 4096);
  READ(fma_latency, 1, 1e5);
  r.section("attributes", Reader::kMayLack);
  r.read_list("values", g.attributes);
}
#undef READ

void check_together(Reader& r, const Gpu& g) {
  const auto demand = [&](bool holds, const char* key, const std::string& what) {
    r.demand(holds, "limits", key, what);
  };
  const uint32_t largest = g.shared_carveouts_kib.empty() ? 0 : g.shared_carveouts_kib.back() * 1024;
  demand(g.shared_per_block <= g.shared_per_block_optin, "shared_per_block_optin", "less than 'shared_per_block'");
  demand(g.shared_per_block_optin + g.shared_reserved_per_block <= g.shared_per_sm, "shared_per_block_optin",
         "with what is reserved for a block it is more than 'shared_per_sm'");
  demand(std::is_sorted(g.shared_carveouts_kib.begin(), g.shared_carveouts_kib.end()) && largest == g.shared_per_sm,
         "shared_carveouts_kib", "must ascend to 'shared_per_sm'");
  demand(std::has_single_bit(g.shared_allocation_unit), "shared_allocation_unit", "must be a power of two");
  demand(g.threads_per_block <= g.threads_per_sm, "threads_per_block", "more than 'threads_per_sm'");
  demand(g.threads_per_sm % g.warp_size == 0, "threads_per_sm", "must be whole warps");
  demand(g.registers_per_block <= g.registers_per_sm, "registers_per_block", "more than 'registers_per_sm'");
  const uint64_t grouped = std::accumulate(g.cluster_groups.begin(), g.cluster_groups.end(), uint64_t{0});
  demand(grouped == static_cast<uint64_t>(g.sms), "cluster_groups", "must have all of the 'sms'");
  demand(g.largest_cluster() >= g.cluster_blocks, "cluster_blocks_optin", "less than 'cluster_blocks'");
  demand(g.registers_per_sm / g.sub_partitions >= g.register_allocation_unit, "register_allocation_unit",
         "more than a sub-partition has");
}

}  // namespace

Result<Gpu> parse_gpu(std::string_view text, const std::string& file_name) {
  const toml::parse_result parsed = toml::parse(text, file_name);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return make_error_at(file_name, {error.source().begin.line, error.source().begin.column},
                         std::string(error.description()));
  }
  Gpu gpu;
  Reader reader(parsed.table(), file_name);
  read_device(reader, gpu);
  read_limits(reader, gpu);
  read_memory_and_pipes(reader, gpu);
  if (reader.sound()) check_together(reader, gpu);
  if (Diagnostics errors = reader.finish(); !errors.empty()) return errors;
  return gpu;
}

Result<Gpu> load_gpu(const std::string& path) {
  const auto text = read_file(path, "the GPU file");
  if (!text) return text.error();
  if (text->empty()) return make_error(fmt::format("cannot read the GPU file {}: it is empty", path));
  return parse_gpu(*text, path);
}

}  // namespace warplens::gpu
