// SPDX-License-Identifier: Apache-2.0
// Instructions that look across lanes. Expected values are worked out by hand from the manual's definitions: shuffles
// in segments, votes of partial warps, matches, reductions, election.
#include <gtest/gtest.h>

#include <functional>

#include "ops/instruction_set.h"
#include "ptx/parser.h"

namespace warplens::ops_test {
namespace {

using Lanes = std::array<uint64_t, 32>;

/// Runs one warp instruction. `sources` are its source operands in order, each a function of the lane.
std::vector<Lanes> run(const std::string& text, uint32_t active,
                       const std::vector<std::function<uint64_t(int)>>& sources) {
  const std::string ptx =
      ".version 8.6 .target sm_90 .address_size 64\n.visible .entry k() { .reg .pred p, q; .reg .b32 d, a, b, c, m; "
      ".reg "
      ".b64 w;\n" +
      text + ";\nret; }\n";
  auto module = ptx::parse(ptx, "warp.ptx", ops::instruction_set());
  EXPECT_TRUE(module.has_value()) << text;
  if (!module) return {};
  const ptx::Instr& in = module->functions[0].body.at(0);
  EXPECT_TRUE(module->functions[0].unsupported.empty()) << text;
  std::vector<Lanes> from(sources.size()), to;
  for (size_t i = 0; i < sources.size(); ++i)
    for (int l = 0; l < 32; ++l) from[i][static_cast<size_t>(l)] = sources[i](l);
  for (size_t i = 0; i < in.operands.size(); ++i)
    if (in.def->form.operands[i].is_dest) to.emplace_back().fill(0xdead);
  in.def->reference.warp({in, active, from, to});
  return to;
}
std::function<uint64_t(int)> same(uint64_t v) {
  return [v](int) { return v; };
}
uint64_t lane_times_ten(int l) { return static_cast<uint64_t>(l) * 10; }
constexpr uint32_t kAll = 0xffffffff;

TEST(Shfl, down_stops_at_the_end_of_the_warp) {
  const auto out = run("shfl.sync.down.b32 d|p, a, b, c, m", kAll, {lane_times_ten, same(4), same(31), same(kAll)});
  EXPECT_EQ(out[0][0], 40u);
  EXPECT_EQ(out[1][0], 1u);
  EXPECT_EQ(out[0][27], 310u);
  EXPECT_EQ(out[0][28], 280u);  // 32 lies outside: own value, predicate false
  EXPECT_EQ(out[1][28], 0u);
}

TEST(Shfl, up_stops_at_lane_zero) {
  const auto out = run("shfl.sync.up.b32 d|p, a, b, c, m", kAll, {lane_times_ten, same(3), same(0), same(kAll)});
  EXPECT_EQ(out[0][2], 20u);
  EXPECT_EQ(out[1][2], 0u);
  EXPECT_EQ(out[0][3], 0u);
  EXPECT_EQ(out[1][3], 1u);
  EXPECT_EQ(out[0][31], 280u);
}

TEST(Shfl, bfly_exchanges_partners) {
  const auto out = run("shfl.sync.bfly.b32 d, a, b, c, m", kAll, {lane_times_ten, same(16), same(31), same(kAll)});
  EXPECT_EQ(out[0][0], 160u);
  EXPECT_EQ(out[0][31], 150u);
}

TEST(Shfl, idx_stays_inside_segments_of_eight) {
  // Width 8: c = ((32 - 8) << 8) | 31.
  const auto out = run("shfl.sync.idx.b32 d|p, a, b, c, m", kAll, {lane_times_ten, same(10), same(0x181f), same(kAll)});
  EXPECT_EQ(out[0][0], 20u);    // lane 10 modulo 8 = 2 of the first segment
  EXPECT_EQ(out[0][31], 260u);  // lane 24 + 2
  EXPECT_EQ(out[1][31], 1u);
}

TEST(Shfl, down_in_segments_of_four) {
  const auto out = run("shfl.sync.down.b32 d|p, a, b, c, m", kAll, {lane_times_ten, same(1), same(0x1c1f), same(kAll)});
  EXPECT_EQ(out[0][4], 50u);
  EXPECT_EQ(out[0][7], 70u);
  EXPECT_EQ(out[1][7], 0u);
}

TEST(Shfl, inactive_lanes_give_nothing) {
  const auto out =
      run("shfl.sync.idx.b32 d, a, b, c, m", 0x0000ffff, {lane_times_ten, same(20), same(31), same(0xffff)});
  EXPECT_EQ(out[0][3], 30u);       // lane 20 is not there: own value
  EXPECT_EQ(out[0][20], 0xdeadu);  // and is not written
}

TEST(Vote, all_any_uni_and_ballot_of_a_partial_warp) {
  const auto odd = [](int l) { return static_cast<uint64_t>(l & 1); };
  EXPECT_EQ(run("vote.sync.all.pred p, q, m", 0xaaaaaaaa, {odd, same(0xaaaaaaaa)})[0][1], 1u);
  EXPECT_EQ(run("vote.sync.all.pred p, q, m", kAll, {odd, same(kAll)})[0][1], 0u);
  EXPECT_EQ(run("vote.sync.any.pred p, q, m", 0x55555555, {odd, same(0x55555555)})[0][0], 0u);
  EXPECT_EQ(run("vote.sync.any.pred p, q, m", 0x55555557, {odd, same(0x55555557)})[0][0], 1u);
  EXPECT_EQ(run("vote.sync.uni.pred p, q, m", 0x55555555, {odd, same(0x55555555)})[0][0], 1u);
  EXPECT_EQ(run("vote.sync.uni.pred p, q, m", kAll, {odd, same(kAll)})[0][0], 0u);
  EXPECT_EQ(run("vote.sync.ballot.b32 d, q, m", 0x0000ffff, {odd, same(0xffff)})[0][5], 0xaaaau);
  EXPECT_EQ(run("vote.ballot.sync.b32 d, q, m", kAll, {odd, same(0xff)})[0][5], 0xaau);
  EXPECT_EQ(run("vote.ballot.b32 d, q", 0xf0, {odd})[0][5], 0xa0u);
}

TEST(Activemask, is_the_set_of_lanes_that_execute_it) {
  EXPECT_EQ(run("activemask.b32 d", 0x80000001, {})[0][31], 0x80000001u);
}

TEST(Match, any_groups_equal_values) {
  const auto thirds = [](int l) { return static_cast<uint64_t>(l % 3); };
  const auto out = run("match.any.sync.b32 d, a, m", kAll, {thirds, same(kAll)});
  EXPECT_EQ(out[0][0], 0x49249249u);
  EXPECT_EQ(out[0][1], 0x92492492u);
  EXPECT_EQ(run("match.any.sync.b64 d, w, m", 0xf, {thirds, same(0xf)})[0][3], 0x9u);
}

TEST(Match, all_wants_one_value_everywhere) {
  auto out = run("match.all.sync.b32 d|p, a, m", 0xff, {same(7), same(0xff)});
  EXPECT_EQ(out[0][0], 0xffu);
  EXPECT_EQ(out[1][0], 1u);
  out = run("match.all.sync.b32 d|p, a, m", 0xff, {lane_times_ten, same(0xff)});
  EXPECT_EQ(out[0][0], 0u);
  EXPECT_EQ(out[1][0], 0u);
}

TEST(Redux, adds_compares_and_combines) {
  const auto lane = [](int l) { return static_cast<uint64_t>(l); };
  const auto minus = [](int l) { return static_cast<uint64_t>(static_cast<uint32_t>(-l)); };
  EXPECT_EQ(run("redux.sync.add.u32 d, a, m", kAll, {lane, same(kAll)})[0][9], 496u);
  EXPECT_EQ(run("redux.sync.add.s32 d, a, m", 0x6, {minus, same(0x6)})[0][1], 0xfffffffdu);
  EXPECT_EQ(run("redux.sync.min.s32 d, a, m", kAll, {minus, same(kAll)})[0][0], 0xffffffe1u);
  EXPECT_EQ(run("redux.sync.min.u32 d, a, m", kAll, {minus, same(kAll)})[0][0], 0u);
  EXPECT_EQ(run("redux.sync.max.s32 d, a, m", kAll, {minus, same(kAll)})[0][0], 0u);
  EXPECT_EQ(run("redux.sync.max.u32 d, a, m", kAll, {minus, same(kAll)})[0][0], 0xffffffffu);
  EXPECT_EQ(run("redux.sync.or.b32 d, a, m", 0x16, {lane, same(0x16)})[0][4], 7u);   // 1 | 2 | 4
  EXPECT_EQ(run("redux.sync.and.b32 d, a, m", 0xa0, {lane, same(0xa0)})[0][5], 5u);  // 5 & 7
  EXPECT_EQ(run("redux.sync.xor.b32 d, a, m", 0xe, {lane, same(0xe)})[0][1], 0u);    // 1 ^ 2 ^ 3
}

TEST(Elect, chooses_the_lowest_member) {
  const auto out = run("elect.sync d|p, m", 0xfff0, {same(0xfff0)});
  EXPECT_EQ(out[0][7], 4u);
  EXPECT_EQ(out[1][4], 1u);
  EXPECT_EQ(out[1][5], 0u);
}

}  // namespace
}  // namespace warplens::ops_test
