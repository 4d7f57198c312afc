// SPDX-License-Identifier: Apache-2.0
// Counting a sample of the blocks: which are chosen, that estimates and errors are without bias, and whole launches
// against exact counts and against the textbook's formulas over counts taken block by block.
#include "exec/block_sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>

#include "memory/coalescer.h"
#include "support/ptx_launcher.h"

namespace warplens::exec {
namespace {

using test::kPtxHead;
using test::Params;
using test::PtxLauncher;

TEST(BlockSample, two_of_each_stratum_or_its_only_one) {
  const events::Dim3 grids[] = {{1, 1, 1}, {2, 1, 1},   {3, 1, 1},  {1000, 1, 1}, {17, 9, 1},
                                {6, 5, 7}, {1, 100, 1}, {1, 1, 50}, {2, 2, 2},    {40, 1, 3}};
  for (const events::Dim3& grid : grids) {
    for (const double share : {0.001, 0.05, 0.3, 0.5, 0.77, 1.0}) {
      const BlockSample sample(grid, {share, 7});
      std::map<uint64_t, std::pair<uint64_t, uint64_t>> strata;  // units, and how many of them are counted
      uint64_t counted = 0;
      for (uint64_t unit = 0; unit < grid.count(); ++unit) {
        const auto stratum = sample.counted(unit);
        if (!stratum) continue;
        ++counted;
        auto& [units, chosen] = strata[stratum->id];
        EXPECT_TRUE(units == 0 || units == stratum->units);
        units = stratum->units;
        ++chosen;
      }
      uint64_t covered = 0;
      for (const auto& [id, s] : strata) {
        EXPECT_EQ(s.second, std::min<uint64_t>(s.first, 2));
        covered += s.first;
      }
      EXPECT_EQ(covered, grid.count());  // the strata are the whole grid
      EXPECT_EQ(counted, sample.counted_units());
    }
  }
}

TEST(BlockSample, share_seed_and_rim) {
  const BlockSample one({10000, 1, 1}, {0.05, 1}), same({10000, 1, 1}, {0.05, 1}), other({10000, 1, 1}, {0.05, 2});
  EXPECT_EQ(one.counted_units(), 2u + 500);
  uint64_t equal = 0;
  for (uint64_t unit = 0; unit < 10000; ++unit) {
    EXPECT_EQ(one.counted(unit).has_value(), same.counted(unit).has_value());
    equal += one.counted(unit) && other.counted(unit);
  }
  EXPECT_LT(equal, 100u);  // 2 + 25 are expected
  EXPECT_TRUE(one.counted(0) && one.counted(9999));
  // The largest grid costs no more than any.
  const BlockSample large({2147483647, 65535, 65535}, {0.01, 0});
  EXPECT_NEAR(static_cast<double>(large.counted_units()) / static_cast<double>(large.units()), 0.01, 1e-6);
  EXPECT_TRUE(large.counted(large.units() - 1));
}

events::LaunchCounts one_number(uint64_t value) {
  events::LaunchCounts counts;
  counts.sites.resize(1);
  counts.sites[0].sectors = value;
  return counts;
}

TEST(SampleSums, estimate_and_variance_have_no_bias) {
  // Neighbours are alike, some blocks stand out.
  const uint64_t units = 203;
  const auto value = [](uint64_t u) { return 1000 + 3 * u + (u * 37 % 11) * 20 + (u % 29 == 4 ? 900 : 0); };
  double exact = 0;
  for (uint64_t u = 0; u < units; ++u) exact += static_cast<double>(value(u));
  const int seeds = 3000;
  double sum = 0, squares = 0, variances = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const BlockSample sample({units, 1, 1}, {0.1, static_cast<uint64_t>(seed)});
    SampleSums sums;
    for (uint64_t u = 0; u < units; ++u)
      if (const auto stratum = sample.counted(u)) sums.add(*stratum, one_number(value(u)));
    events::LaunchSample errors;
    sums.give_errors(errors);
    const double estimate = static_cast<double>(sums.estimates().sites[0].sectors);
    sum += estimate - exact;
    squares += (estimate - exact) * (estimate - exact);
    variances += errors.site_errors[0][2] * errors.site_errors[0][2];
  }
  const double deviation = std::sqrt(squares / seeds);
  EXPECT_LT(std::abs(sum / seeds), 4 * deviation / std::sqrt(seeds));
  EXPECT_NEAR(variances / squares, 1, 0.1);
}

/// Block b reads 1 + b % 7 times, with a stride of 1 + b / 16 words between lanes, and writes once to shared memory
/// with a stride of 1 + b % 3.
const std::string kUneven = kPtxHead + R"(
.visible .entry uneven(.param .u64 in, .param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<10>;
  .shared .align 4 .b8 tile[1024];
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  rem.u32 %r3, %r1, 7;
  shr.u32 %r4, %r1, 4;
  add.u32 %r4, %r4, 1;
  mul.lo.u32 %r5, %r2, %r4;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  mov.u32 %r6, 0;
  mov.u32 %r7, 0;
$again:
  ld.global.u32 %r8, [%rd4];
  add.u32 %r6, %r6, %r8;
  add.u32 %r7, %r7, 1;
  setp.le.u32 %p1, %r7, %r3;
  @%p1 bra $again;
  rem.u32 %r9, %r1, 3;
  add.u32 %r9, %r9, 1;
  mul.lo.u32 %r10, %r2, %r9;
  shl.b32 %r10, %r10, 2;
  mov.u32 %r11, tile;
  add.u32 %r11, %r11, %r10;
  st.shared.u32 [%r11], %r6;
  bar.sync 0;
  mov.u32 %r12, %ntid.x;
  mad.lo.u32 %r13, %r1, %r12, %r2;
  mul.wide.u32 %rd5, %r13, 4;
  add.s64 %rd6, %rd2, %rd5;
  st.global.u32 [%rd6], %r6;
  ret;
})";

/// Counts by the plain rules, block by block.
class BlockCounter : public events::Listener {
 public:
  uint32_t interest() const override { return events::kAccesses; }
  void on_launch_begin(const events::LaunchInfo& launch) override { kernel_ = launch.kernel; }
  void on_access(unsigned, const events::WarpAccess& access) override {
    const std::lock_guard lock(mutex_);
    auto& sites = counts[access.block];
    sites.resize(kernel_->sites.size());
    memory::count_access(sites[access.site], access, kernel_->sites[access.site]);
  }
  std::map<uint64_t, std::vector<events::SiteCounts>> counts;

 private:
  const events::KernelInfo* kernel_ = nullptr;
  std::mutex mutex_;
};

class SampledLaunchTest : public testing::TestWithParam<bool> {
 protected:
  SampledLaunchTest() : executor_(GetParam() ? make_jit({}) : make_interpreter()), launcher_(kUneven) {
    in_ = launcher_.array(std::vector<uint32_t>(64 * 40, 3));
    out_ = launcher_.zeros<uint32_t>(kBlocks * 64);
  }
  LaunchOutcome launch(events::SampleChoice sample, unsigned workers, std::vector<events::Listener*> listeners = {}) {
    PtxLauncher::Options options;
    options.grid = {kBlocks, 1, 1};
    options.block = {64, 1, 1};
    options.workers = workers;
    options.sample = sample;
    options.listeners = std::move(listeners);
    std::fill(out_, out_ + kBlocks * 64, 0u);
    LaunchOutcome outcome = launcher_.launch("uneven", options, Params().add(in_).add(out_), executor_.get());
    EXPECT_TRUE(outcome.complete());
    for (uint32_t i = 0; i < kBlocks * 64; ++i) EXPECT_EQ(out_[i], 3 * (1 + i / 64 % 7));
    return outcome;
  }

  static constexpr uint32_t kBlocks = 500;
  std::unique_ptr<Executor> executor_;
  PtxLauncher launcher_;
  uint32_t *in_ = nullptr, *out_ = nullptr;
};

TEST_P(SampledLaunchTest, all_of_it_is_exact) {
  BlockCounter blocks;
  const LaunchOutcome exact = launch({}, 2), all = launch({1, 5}, 2);
  launch({}, 1, {&blocks});
  EXPECT_EQ(exact.sample, nullptr);
  EXPECT_EQ(all.sample, nullptr);
  EXPECT_EQ(all.counts, exact.counts);
  std::vector<events::SiteCounts> sum(exact.counts.sites.size());
  for (const auto& [block, sites] : blocks.counts)
    for (size_t i = 0; i < sites.size(); ++i) sum[i] += sites[i];
  EXPECT_EQ(exact.counts.sites, sum);
}

TEST_P(SampledLaunchTest, equals_the_formulas_over_counts_by_block) {
  BlockCounter blocks;
  launch({}, 1, {&blocks});
  const events::SampleChoice choice{0.1, 11};
  const LaunchOutcome outcome = launch(choice, 2);
  ASSERT_NE(outcome.sample, nullptr);
  EXPECT_TRUE(outcome.sample->scaled);
  EXPECT_EQ(outcome.sample->blocks, kBlocks);
  EXPECT_EQ(outcome.sample->counted_blocks, 2u + 50);  // of 498 between the first and the last
  const BlockSample sample({kBlocks, 1, 1}, choice);
  std::map<uint64_t, std::vector<uint64_t>> strata;
  std::map<uint64_t, uint64_t> units;
  for (uint64_t b = 0; b < kBlocks; ++b)
    if (const auto stratum = sample.counted(b)) {
      strata[stratum->id].push_back(b);
      units[stratum->id] = stratum->units;
    }
  for (size_t site = 0; site < outcome.counts.sites.size(); ++site) {
    double sectors = 0, sector_variance = 0, wavefronts = 0, wavefront_variance = 0;
    for (const auto& [id, members] : strata) {
      const auto n = static_cast<double>(members.size()), all = static_cast<double>(units[id]);
      const auto add = [&](uint64_t events::SiteCounts::* number, double& total, double& variance) {
        double mean = 0, squares = 0;
        for (uint64_t b : members) mean += static_cast<double>(blocks.counts[b][site].*number) / n;
        for (uint64_t b : members) squares += std::pow(static_cast<double>(blocks.counts[b][site].*number) - mean, 2);
        total += all * mean;
        if (n > 1) variance += all * all * (1 - n / all) * squares / (n - 1) / n;
      };
      add(&events::SiteCounts::sectors, sectors, sector_variance);
      add(&events::SiteCounts::wavefronts, wavefronts, wavefront_variance);
    }
    EXPECT_NEAR(static_cast<double>(outcome.counts.sites[site].sectors), sectors, 0.51);
    EXPECT_NEAR(outcome.sample->site_errors[site][2], std::sqrt(sector_variance), 1e-6 * (1 + sectors));
    EXPECT_NEAR(static_cast<double>(outcome.counts.sites[site].wavefronts), wavefronts, 0.51);
    EXPECT_NEAR(outcome.sample->site_errors[site][5], std::sqrt(wavefront_variance), 1e-6 * (1 + wavefronts));
  }
}

TEST_P(SampledLaunchTest, any_number_of_workers_gives_the_same) {
  const LaunchOutcome one = launch({0.2, 3}, 1), three = launch({0.2, 3}, 3);
  EXPECT_EQ(one.counts, three.counts);
  EXPECT_EQ(one.sample->counted_blocks, three.sample->counted_blocks);
  EXPECT_EQ(one.sample->block_errors.size(), one.counts.blocks.size());
}

TEST_P(SampledLaunchTest, exact_counts_are_within_the_errors) {
  const LaunchOutcome exact = launch({}, 2);
  int far = 0;
  bool differs = false;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const LaunchOutcome sampled = launch({0.1, seed}, 2);
    for (size_t i = 0; i < exact.counts.sites.size(); ++i) {
      const double difference = std::abs(static_cast<double>(sampled.counts.sites[i].sectors) -
                                         static_cast<double>(exact.counts.sites[i].sectors));
      const double error = sampled.sample->site_errors[i][2];
      EXPECT_LE(difference, 4 * error + 1) << "seed " << seed << ", site " << i;
      far += difference > 2 * error + 1;
      differs |= difference > 0;
    }
    // Every block writes its results alike: nothing to be unsure of.
    EXPECT_EQ(sampled.counts.sites.back(), exact.counts.sites.back());
    EXPECT_EQ(sampled.sample->site_errors.back(), (std::array<double, 8>{}));
  }
  EXPECT_TRUE(differs);
  EXPECT_LE(far, 4);
}

INSTANTIATE_TEST_SUITE_P(Executors, SampledLaunchTest, testing::Values(true, false),
                         [](const auto& info) { return info.param ? "jit" : "interpreter"; });

/// Every block reads one row, and all wait until all have come: a worker holds many blocks at once.
const std::string kWaiting = kPtxHead + R"(
.visible .entry wait(.param .u64 in, .param .u64 arrived) {
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [arrived];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 8;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r2, [%rd4];
  mov.u32 %r3, %nctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $arrived;
  atom.global.add.u32 %r4, [%rd2], 1;
$spin:
  ld.volatile.global.u32 %r5, [%rd2];
  setp.lt.u32 %p2, %r5, %r3;
  @%p2 bra $spin;
$arrived:
  bar.sync 0;
  st.global.u32 [%rd4], %r2;
  ret;
})";

TEST(SampledLaunch, blocks_that_wait_for_each_other_count_apart) {
  PtxLauncher launcher(kWaiting);
  auto* const in = launcher.zeros<uint32_t>(256);
  const auto jit = make_jit({});
  for (const unsigned workers : {1u, 2u}) {
    auto* const arrived = launcher.zeros<uint32_t>(1);
    PtxLauncher::Options options;
    options.grid = {90, 1, 1};
    options.block = {64, 1, 1};
    options.workers = workers;
    options.sample = {0.1, 0};
    const LaunchOutcome outcome = launcher.launch("wait", options, Params().add(in).add(arrived), jit.get());
    ASSERT_TRUE(outcome.complete());
    ASSERT_NE(outcome.sample, nullptr);
    EXPECT_EQ(outcome.sample->counted_blocks, 2u + 8);
    // 90 blocks of 2 warps; 32 lanes 8 bytes apart are 8 sectors.
    const auto &first = outcome.counts.sites.front(), &last = outcome.counts.sites.back();
    EXPECT_EQ(first.requests, 180u);
    EXPECT_EQ(first.sectors, 8 * 180u);
    EXPECT_EQ(last.sectors, 8 * 180u);
    EXPECT_EQ(outcome.sample->site_errors.front()[2], 0);
  }
}

const std::string kFaulty = kPtxHead + R"(
.visible .entry faulty(.param .u64 in, .param .u32 bad) {
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [in];
  ld.param.u32 %r1, [bad];
  mov.u32 %r2, %ctaid.x;
  ld.global.u32 %r3, [%rd1];
  setp.ne.u32 %p1, %r1, %r2;
  @%p1 bra $good;
  mov.u64 %rd1, 0;
$good:
  st.global.u32 [%rd1], %r3;
  bar.sync 0;
  ret;
})";

TEST(SampledLaunch, a_fault_in_any_block_ends_the_launch_and_nothing_is_scaled) {
  PtxLauncher launcher(kFaulty);
  auto* const in = launcher.zeros<uint32_t>(1);
  const auto jit = make_jit({});
  const BlockSample sample({200, 1, 1}, {0.1, 0});
  for (uint32_t bad = 100; bad < 120; ++bad) {
    PtxLauncher::Options options;
    options.grid = {200, 1, 1};
    options.block = {64, 1, 1};
    options.workers = 1;  // a second one might end all other blocks first
    options.sample = {0.1, 0};
    const LaunchOutcome outcome = launcher.launch("faulty", options, Params().add(in).add(bad), jit.get());
    ASSERT_EQ(outcome.findings.size(), 1u);
    EXPECT_EQ(outcome.findings[0].kind, events::FindingKind::kNullPointer);
    EXPECT_EQ(outcome.findings[0].block_index.x, bad);
    ASSERT_NE(outcome.sample, nullptr);
    EXPECT_FALSE(outcome.sample->scaled);
    EXPECT_TRUE(outcome.sample->site_errors.empty());
    EXPECT_LT(outcome.sample->counted_blocks, sample.counted_units());
    EXPECT_EQ(outcome.counts.sites[0].requests, 2 * outcome.sample->counted_blocks);
  }
}

}  // namespace
}  // namespace warplens::exec
