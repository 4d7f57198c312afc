// SPDX-License-Identifier: Apache-2.0
// Loops whose trip count differs by thread, against what an H200 counted (truth/h200/loops.csv), and their values with
// and without the assembler's layout.
#include <fstream>
#include <sstream>

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

}  // namespace
}  // namespace warplens::exec
