// SPDX-License-Identifier: Apache-2.0
// Loops whose trip count differs by thread, against what an H200 counted (truth/h200/loops.csv), and their values with
// and without the assembler's layout.
#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>

#include "support/ptx_launcher.h"

namespace warplens::exec {
namespace {

using test::Params;
using test::PtxLauncher;

constexpr uint32_t kThreads = 8192;
constexpr size_t kDataWords = size_t{1} << 23, kOutWords = size_t{1} << 19;  // as far as threads get

std::string truth(const std::string& name) {
  std::ifstream file(WARPLENS_TEST_DATA "/../../truth/" + name);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

/// As truth/src/loops.cpp makes them.
std::vector<uint32_t> rounds_of_threads() {
  std::vector<uint32_t> rounds(kThreads);
  uint32_t state = 5;
  for (uint32_t& n : rounds) {
    state = state * 1664525u + 1013904223u;
    n = (state >> 16) % 16 * 4 + (state >> 24) % 3;
  }
  return rounds;
}

/// The loops of the table in a module of their own, with memory for them.
class Loops {
 public:
  explicit Loops(Level level) : gpu_(truth("src/loops.ptx"), level) {
    rounds_ = gpu_.array(rounds_of_threads());
    data_ = gpu_.zeros<uint32_t>(kDataWords);
    out_ = gpu_.zeros<uint32_t>(kOutWords);
  }

  struct Loads {
    uint64_t requests = 0, sectors = 0;
    friend bool operator==(const Loads&, const Loads&) = default;
  };
  Loads run(const std::string& name) {
    std::fill(data_, data_ + kDataWords, 0x3e000000u);  // 0.125f
    std::fill(out_, out_ + kOutWords, 0);
    const auto outcome = gpu_.launch(name, {.grid = {kThreads / 128, 1, 1}, .block = {128, 1, 1}},
                                     Params().add(rounds_).add(data_).add(out_), jit_.get());
    EXPECT_TRUE(outcome.complete()) << name << ": " << outcome.findings[0].message;
    Loads loads;
    const events::KernelInfo& info = gpu_.kernel(name)->info;
    for (size_t i = 0; i < info.sites.size(); ++i) {
      if (info.sites[i].space != events::Space::kGlobal || info.sites[i].access != events::Access::kLoad) continue;
      loads.requests += outcome.counts.sites[i].requests;
      loads.sectors += outcome.counts.sites[i].sectors;
    }
    return loads;
  }
  std::vector<uint32_t> results() const { return {out_, out_ + kOutWords}; }

 private:
  PtxLauncher gpu_;
  std::unique_ptr<Executor> jit_ = make_jit({});
  uint32_t *rounds_ = nullptr, *data_ = nullptr, *out_ = nullptr;
};

TEST(UnrolledLoops, requests_and_sectors_are_those_of_an_h200_and_values_those_of_the_ptx) {
  Loops machine(Level::kMachine), ptx(Level::kPtx);
  std::istringstream table(truth("h200/loops.csv"));
  std::string line;
  std::getline(table, line);
  unsigned compared = 0;
  while (std::getline(table, line)) {
    const size_t first = line.find(','), second = line.find(',', first + 1);
    const std::string name = line.substr(0, first);
    const Loops::Loads wanted{std::stoull(line.substr(first + 1)), std::stoull(line.substr(second + 1))};
    const Loops::Loads got = machine.run(name);
    const bool modelled = name != "top_test" && name != "ne_step3";  // docs/unrolling.md
    EXPECT_EQ(got == wanted, modelled) << name << ": " << got.requests << " requests and " << got.sectors
                                       << " sectors, an H200 counted " << wanted.requests << " and " << wanted.sectors;
    ptx.run(name);
    // One stores where other threads read, two calculate with addresses.
    const bool repeatable = name != "store" && name != "d16" && name != "d32";
    EXPECT_TRUE(!repeatable || machine.results() == ptx.results()) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 81u);
}

/// Rounds of `do { c += step; } while (c CMP bound)` in numbers of type T, and where c is then; none beyond 1000.
template <typename T>
std::optional<std::pair<uint32_t, T>> plain_rounds(T c, T bound, int64_t step, const std::string& cmp) {
  for (uint32_t n = 1; n <= 1000; ++n) {
    c = static_cast<T>(static_cast<std::make_unsigned_t<T>>(c) + static_cast<std::make_unsigned_t<T>>(step));
    if (!(cmp == "lt"   ? c < bound
          : cmp == "le" ? c <= bound
          : cmp == "gt" ? c > bound
          : cmp == "ge" ? c >= bound
                        : c != bound))
      return std::pair{n, c};
  }
  return std::nullopt;
}

/// Starts and bounds near zero, near the ends of the numbers, and a few steps apart, one pair a thread.
template <typename T>
void expect_as_plain_loops(const std::string& type, unsigned bits) {
  using Limits = std::numeric_limits<T>;
  for (const auto& [cmp, up] :
       {std::pair{"lt", true}, {"le", true}, {"gt", false}, {"ge", false}, {"ne", true}, {"ne", false}}) {
    for (const int64_t size : {1, 3, 4, 192}) {
      const int64_t step = up ? size : -size;
      const auto number = [](int64_t n) { return static_cast<T>(n); };
      std::vector<T> starts, bounds;
      for (const T bound : {number(0), number(5), number(64), number(1000), static_cast<T>(Limits::max() - T{500}),
                            static_cast<T>(Limits::min() + T{500})})
        for (const int64_t apart : {-1537, -769, -193, -192, -64, -13, -4,  -3,  -1,  0,   1,   3,
                                    4,     13,   64,   191,  192, 193, 384, 576, 769, 960, 1537}) {
          using Unsigned = std::make_unsigned_t<T>;
          const auto start = static_cast<T>(static_cast<Unsigned>(bound) - static_cast<Unsigned>(up ? apart : -apart));
          if (!plain_rounds<T>(start, bound, step, cmp)) continue;
          starts.push_back(start);
          bounds.push_back(bound);
        }
      ASSERT_GE(starts.size(), cmp[0] == 'n' ? 12u : 50u);
      const std::string text = test::kPtxHead + fmt::format(R"(
.visible .entry k(.param .u64 starts, .param .u64 bounds, .param .u64 ends, .param .u64 rounds) {{
  .reg .b64 %s, %b, %e, %r, %o; .reg .b32 %t, %n; .reg .b{1} %c, %u; .reg .pred %p;
  ld.param.u64 %s, [starts]; ld.param.u64 %b, [bounds]; ld.param.u64 %e, [ends]; ld.param.u64 %r, [rounds];
  mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, {2}; add.u64 %s, %s, %o; add.u64 %b, %b, %o; add.u64 %e, %e, %o;
  mul.wide.u32 %o, %t, 4; add.u64 %r, %r, %o; ld.global.b{1} %c, [%s]; ld.global.b{1} %u, [%b]; mov.u32 %n, 0;
next: add.u32 %n, %n, 1; add.{0} %c, %c, {3}; setp.{4}.{0} %p, %c, %u; @%p bra next;
  st.global.b{1} [%e], %c; st.global.u32 [%r], %n; ret;
}})",
                                                            type, bits, bits / 8, step, cmp);
      for (const Level level : {Level::kMachine, Level::kPtx}) {
        PtxLauncher gpu(text, level);
        const auto threads = static_cast<uint32_t>(starts.size());
        T* ends = gpu.zeros<T>(threads);
        auto* rounds = gpu.zeros<uint32_t>(threads);
        const auto jit = make_jit({});
        ASSERT_TRUE(gpu.launch("k", {.grid = {1, 1, 1}, .block = {threads, 1, 1}},
                               Params().add(gpu.array(starts)).add(gpu.array(bounds)).add(ends).add(rounds), jit.get())
                        .complete());
        for (uint32_t t = 0; t < threads; ++t) {
          const auto expected = plain_rounds<T>(starts[t], bounds[t], step, cmp);
          EXPECT_EQ(rounds[t], expected->first)
              << type << " " << cmp << " " << step << ": from " << +starts[t] << " to " << +bounds[t];
          EXPECT_EQ(ends[t], expected->second);
        }
      }
    }
  }
}

// A loop's first comparison may be on the other side of the largest number than its start: clang counts from
// `start - step`.
TEST(UnrolledLoops, go_round_as_often_as_plain_ones_wherever_they_begin) {
  expect_as_plain_loops<uint32_t>("u32", 32);
  expect_as_plain_loops<int32_t>("s32", 32);
  expect_as_plain_loops<uint64_t>("u64", 64);
  expect_as_plain_loops<int64_t>("s64", 64);
}

}  // namespace
}  // namespace warplens::exec
