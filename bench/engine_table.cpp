// SPDX-License-Identifier: Apache-2.0
// Times are CPU times of the process (one worker), medians of the repetitions. Ratios compare costs in units of the
// calibration loop that ran beside each, so a clock that changes between two rows does not show in them.
#include "engine_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace warplens::bench {
namespace {

using Sample = TableReporter::Sample;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

class Table {
 public:
  explicit Table(const TableReporter::Samples& samples) : samples_(samples) {}

  bool has(const std::string& name) const { return samples_.count(name) != 0; }
  std::vector<double> each(const std::string& name, const std::function<double(const Sample&)>& value) const {
    std::vector<double> out;
    const auto found = samples_.find(name);
    if (found != samples_.end())
      for (const Sample& s : found->second) out.push_back(value(s));
    return out;
  }
  /// Cost of one iteration in multiply-adds of the calibration loop.
  double cost(const std::string& name) const {
    return median(each(name, [](const Sample& s) { return s.cpu_seconds * s.fma; }));
  }
  double ratio(const std::string& above, const std::string& below) const {
    const double under = cost(below);
    return under > 0 ? cost(above) / under : 0;
  }

 private:
  const TableReporter::Samples& samples_;
};

double counter(const Sample& s, const char* name) {
  const auto found = s.counters.find(name);
  return found == s.counters.end() ? 0 : found->second;
}

std::string times(double ratio) { return ratio > 0 ? fmt::format("{:.2f}x", ratio) : "-"; }

const char* verdict(bool met) { return met ? "met" : "MISSED"; }

struct RateRow {
  const char *title, *name;
  double least;       ///< G thread-instructions/s
  const char* peer;   ///< benchmark that does the same work
  double peer_least;  ///< as many times as fast
  const char* peer_title;
  double counting_most;  ///< counted / uncounted; 0: no bound
};
const RateRow kRates[] = {
    {"sgemm coalesced N=512", "coalesced", 100, "pocl/coalesced", 10, "PoCL", 1.3},
    {"sgemm tiled 32x32 N=512", "tiled", 40, "pocl/tiled", 5, "PoCL", 1.3},
    {"sgemm register-tiled N=1024", "register_tiled", 18, "host/tiled", 0.7, "tiled C++", 1.3},
    {"sgemm naive N=512", "naive", 25, "pocl/naive", 3.5, "PoCL", 1.3},
    {"random loads, 16 KiB", "random_loads_16KiB", 0, nullptr, 0, "", 12},
    {"random loads, 16 MiB", "random_loads_16MiB", 0, nullptr, 0, "", 4},
    {"Collatz", "collatz", 10, nullptr, 0, "", 0},
    {"Mandelbrot", "mandelbrot", 10, nullptr, 0, "", 0},
    {"nested if", "nested_if", 10, nullptr, 0, "", 0},
    {"Collatz, lanes equal", "collatz_equal", 0, "collatz_steered/counted", 1, "scalar branches", 0},
    {"nested if, lanes equal", "nested_if_equal", 0, "nested_if_steered/counted", 1, "scalar branches", 0},
    {"Collatz, lanes proven equal", "collatz_by_block", 0, nullptr, 0, "", 0},
    {"tree sum", "tree_sum", 5, nullptr, 0, "", 0},
    {"bitonic sort", "bitonic_sort", 5, nullptr, 0, "", 0},
};

void print_rates(const Table& table) {
  fmt::print("\n{:<28} {:>9} {:>17} {:>7} {:>9} {:>7} {:>10}  {}\n", "", "G instr/s", "lowest..highest", "of FMA",
             "counting", "checks", "of a peer", "bounds");
  for (const RateRow& row : kRates) {
    const std::string counted = std::string(row.name) + "/counted";
    if (!table.has(counted)) continue;
    const auto rates =
        table.each(counted, [](const Sample& s) { return counter(s, "thread_instructions") / s.cpu_seconds * 1e-9; });
    const double rate = median(rates), counting = table.ratio(counted, std::string(row.name) + "/uncounted");
    const double share = median(
        table.each(counted, [](const Sample& s) { return counter(s, "thread_instructions") / s.cpu_seconds / s.fma; }));
    const double checks = table.ratio(counted, std::string(row.name) + "/unchecked");
    double peer = row.peer != nullptr && table.has(row.peer) ? table.ratio(row.peer, counted) : 0;
    // Products of two sizes are compared by operation.
    const auto flops = [&](const std::string& name) {
      return median(table.each(name, [](const Sample& s) { return counter(s, "flops"); }));
    };
    if (peer > 0 && flops(row.peer) > 0) peer *= flops(counted) / flops(row.peer);
    std::string bounds;
    const auto bound = [&](const std::string& text, bool met) {
      bounds += fmt::format("{}{} {}", bounds.empty() ? "" : ", ", text, verdict(met));
    };
    if (row.least > 0) bound(fmt::format(">= {} G", row.least), rate >= row.least);
    if (peer > 0) bound(fmt::format(">= {} x {}", row.peer_least, row.peer_title), peer >= row.peer_least);
    if (row.counting_most > 0) bound(fmt::format("counting <= {} x", row.counting_most), counting <= row.counting_most);
    fmt::print("{:<28} {:>9.1f} {:>17} {:>7} {:>9} {:>7} {:>10}  {}\n", row.title, rate,
               fmt::format("{:.1f}..{:.1f}", *std::min_element(rates.begin(), rates.end()),
                           *std::max_element(rates.begin(), rates.end())),
               times(share), times(counting), times(checks), times(peer), bounds);
  }
}

/// CPU time of one atomic of a warp, with the arithmetic that makes its operands.
void print_atomics(const Table& table) {
  constexpr std::pair<const char*, const char*> kRows[] = {{"a place each", "atomics_spread"},
                                                           {"one place", "atomics_one_place"},
                                                           {"one place, float", "atomics_one_place_float"},
                                                           {"shared, 256 bins", "atomics_shared"},
                                                           {"shared, float", "atomics_shared_float"},
                                                           {"shared, swap loop", "atomics_shared_cas"}};
  const auto nanoseconds = [&](const std::string& name) {
    return median(table.each(name, [](const Sample& s) { return s.cpu_seconds * 1e9 / counter(s, "warp_atomics"); }));
  };
  bool first = true;
  for (const auto& [title, name] : kRows) {
    const std::string counted = std::string(name) + "/counted", uncounted = std::string(name) + "/uncounted";
    if (!table.has(counted) || !table.has(uncounted)) continue;
    if (first) fmt::print("\n{:<28} {:>9} {:>17} {:>9}\n", "atomics", "ns a warp", "uncounted, ns", "counting");
    first = false;
    fmt::print("{:<28} {:>9.0f} {:>17.0f} {:>9}\n", title, nanoseconds(counted), nanoseconds(uncounted),
               times(table.ratio(counted, uncounted)));
  }
}

void print_peers(const Table& table) {
  fmt::print("\n{:<28} {:>9} {:>17} {:>7}\n", "peers, and ours beside them", "GFLOP/s", "lowest..highest", "of FMA");
  for (const char* name : {"coalesced/counted", "tiled/counted", "register_tiled/counted", "naive/counted",
                           "pocl/coalesced", "pocl/tiled", "pocl/naive", "host/tiled", "host/naive"}) {
    const auto rates = table.each(name, [](const Sample& s) { return counter(s, "flops") / s.cpu_seconds * 1e-9; });
    if (rates.empty()) continue;
    const double share =
        median(table.each(name, [](const Sample& s) { return counter(s, "flops") / 2 / s.cpu_seconds / s.fma; }));
    fmt::print("{:<28} {:>9.2f} {:>17} {:>7}\n", name, median(rates),
               fmt::format("{:.2f}..{:.2f}", *std::min_element(rates.begin(), rates.end()),
                           *std::max_element(rates.begin(), rates.end())),
               times(share));
  }
}

struct TimeRow {
  const char *title, *name;
  double unit;  ///< seconds
  const char* unit_title;
  double most;
  const char* per;  ///< counter to divide by; null: none
};
const TimeRow kTimes[] = {
    {"axpy, one warp in all", "axpy/counted", 1e-9, "ns", 40, "warps"},
    {"first launch, tiled", "compile/tiled", 1e-3, "ms", 50, nullptr},
    {"first launch, register-tiled", "compile/register_tiled", 1e-3, "ms", 300, nullptr},
    {"... from the cache, tiled", "cached/tiled", 1e-3, "ms", 5, nullptr},
    {"... from the cache, register-t.", "cached/register_tiled", 1e-3, "ms", 5, nullptr},
};

void print_times(const Table& table) {
  fmt::print("\n{:<34} {:>9} {:>17}\n", "", "CPU time", "lowest..highest");
  for (const TimeRow& row : kTimes) {
    const auto all = table.each(row.name, [&](const Sample& s) {
      return s.cpu_seconds / row.unit / (row.per != nullptr ? counter(s, row.per) : 1);
    });
    if (all.empty()) continue;
    const double size = median(table.each(row.name, [](const Sample& s) { return counter(s, "ptx"); }));
    fmt::print("{:<34} {:>6.1f} {} {:>17}  {}<= {} {} {}\n", row.title, median(all), row.unit_title,
               fmt::format("{:.1f}..{:.1f}", *std::min_element(all.begin(), all.end()),
                           *std::max_element(all.begin(), all.end())),
               size > 0 ? fmt::format("{:.0f} PTX instructions, ", size) : "", row.most, row.unit_title,
               verdict(median(all) <= row.most));
  }
  for (const char* name : {"random_loads_many_16KiB", "random_loads_many_16MiB"}) {
    const std::string work = name, sampled = work + "/sampled";
    if (table.has(sampled))
      fmt::print("{:<34} {:>6.2f} x as long as uncounted; all counted {:.2f} x\n", work + ", 5 % counted",
                 table.ratio(sampled, work + "/uncounted"), table.ratio(work + "/counted", work + "/uncounted"));
  }
  const auto wall = [&](const char* name) {
    return median(table.each(name, [](const Sample& s) { return s.seconds; }));
  };
  if (table.has("axpy_long/one_thread") && table.has("axpy_long/two_threads")) {
    const double gain = wall("axpy_long/one_thread") / wall("axpy_long/two_threads");
    const double most = wall("multiply_adds/one_thread") / wall("multiply_adds/two_threads");
    fmt::print("{:<34} {:>6.2f} x {:>17}  >= 1.8 x {}; multiply-adds {:.2f} x\n", "axpy, two threads", gain, "",
               verdict(gain >= 1.8), most);
  }
}

}  // namespace

bool TableReporter::ReportContext(const Context& context) {
  BenchmarkReporter::PrintBasicContext(&GetErrorStream(), context);
  return true;
}

void TableReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.run_type != Run::RT_Iteration) continue;
    if (run.error_occurred) {
      fmt::print(stderr, "{}: {}\n", run.benchmark_name(), run.error_message);
      failed_ = true;
      continue;
    }
    Sample sample;
    sample.cpu_seconds = run.cpu_accumulated_time / double(run.iterations);
    sample.seconds = run.real_accumulated_time / double(run.iterations);
    for (const auto& [name, value] : run.counters) sample.counters[name] = value;
    sample.fma = sample.counters["fma"];
    std::string name = run.run_name.function_name;
    if (!run.run_name.args.empty()) name += "/" + run.run_name.args;
    samples_[name].push_back(std::move(sample));
  }
}

void TableReporter::Finalize() {
  const Table table(samples_);
  const auto fma = table.each("tiled/counted", [](const Sample& s) { return s.fma * 1e-9; });
  if (!fma.empty())
    fmt::print(
        "\nCalibration: {:.0f} G lane multiply-adds/s (median; {:.0f} to {:.0f}). \"of FMA\" is each figure's share"
        " of it.\n\"counting\": counted / uncounted; \"checks\": with / without bounds checks; both as costs.\n",
        median(fma), *std::min_element(fma.begin(), fma.end()), *std::max_element(fma.begin(), fma.end()));
  print_rates(table);
  print_atomics(table);
  print_peers(table);
  print_times(table);
  if (failed_) fmt::print("\nSome benchmarks failed; see above.\n");
}

}  // namespace warplens::bench
