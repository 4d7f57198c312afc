// SPDX-License-Identifier: Apache-2.0
// Every claim of the lane-class analysis against what lanes hold: the interpreter runs random programs and the probes'
// kernels, and behind each instruction the values that it wrote are held against the class of their web; as long as a
// warp's lanes have stayed together, against what holds only then, too.
#include <fmt/format.h>

#include <fstream>
#include <set>
#include <sstream>

#include "analysis/dominance.h"
#include "analysis/liveness.h"
#include "base/bits.h"
#include "codegen/lane_analysis.h"
#include "exec/code_source.h"
#include "random_program.h"
#include "two_executors.h"

namespace warplens::test {
namespace {

using codegen::LaneClass;
using codegen::Shape;
using Lanes = std::array<uint64_t, 32>;

/// Why the values of `lanes` are not as claimed; empty: they are.
std::string refuted(const LaneClass& claim, unsigned bits, uint32_t lanes, const Lanes& values) {
  const uint64_t all = low_bits(bits);
  const auto value = [&](unsigned l) { return values[l] & all; };
  if (claim.is_vector() || claim.shape == Shape::kBottom) return {};
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const auto offset = [&](unsigned l) {
    return claim.offsets == nullptr ? 0 : static_cast<uint64_t>((*claim.offsets)[l]);
  };
  const auto step = [&](unsigned l) { return claim.steps == nullptr ? 0 : static_cast<uint64_t>((*claim.steps)[l]); };
  // The scale is found from two lanes an odd number of steps apart, when there are such.
  std::optional<uint64_t> scale;
  if (claim.shape == Shape::kScaled) {
    for (unsigned l = 0; l < 32; ++l) {
      const uint64_t distance = step(l) - step(first);
      if ((lanes >> l & 1) == 0 || distance % 2 == 0) continue;
      uint64_t inverse = distance;  // Newton: modulo 2^64, each round doubles the right bits
      for (int i = 0; i < 6; ++i) inverse *= 2 - distance * inverse;
      scale = ((value(l) - offset(l)) - (value(first) - offset(first))) * inverse & all;
      break;
    }
    if (!scale) return {};
  }
  const auto base_of = [&](unsigned l) { return (value(l) - offset(l) - scale.value_or(0) * step(l)) & all; };
  const uint64_t base = base_of(first);
  for (unsigned l = 0; l < 32; ++l) {
    if ((lanes >> l & 1) == 0) continue;
    if (base_of(l) != base) return fmt::format("lane {} holds {:#x}, lane {} {:#x}", first, value(first), l, value(l));
    if (!claim.constant && claim.width < bits && value(l) >> claim.width != 0)
      return fmt::format("lane {} holds {:#x}, beyond {} bits", l, value(l), claim.width);
  }
  if (claim.constant && base != (*claim.constant & all))
    return fmt::format("holds {:#x}, not {:#x}", base, *claim.constant);
  if (!claim.constant && claim.align_log2 < bits && (base & low_bits(claim.align_log2)) != 0)
    return fmt::format("the base {:#x} is no multiple of 2^{}", base, claim.align_log2);
  return {};
}

/// Of one kernel and one class of block shapes.
class Claims final : public exec::RegisterObserver {
 public:
  Claims(const exec::LoadedKernel& kernel, events::Dim3 block) : kernel_(kernel) {
    codegen::KernelSource source = exec::source_of(kernel);
    source.shape = codegen::block_shape_of(block.x, block.y, block.z);
    source.extend_patterns = false;  // with it claims hold only where no lane wraps around, which is tested at run time
    lanes_ = codegen::analyse_lanes(source, analysis::dominators(kernel.graph), analysis::post_dominators(kernel.graph),
                                    analysis::liveness(kernel.graph));
    whole_ = codegen::analyse_whole_warps(source, lanes_);
  }

  void after(const exec::WarpContext& warp, uint32_t pc, uint32_t lanes, std::span<const Lanes> registers) override {
    if (lanes != together(pc, registers)) parted_.emplace(warp.block, warp.warp);
    const bool whole = !parted_.contains({warp.block, warp.warp});
    for (const codegen::RegisterUse& use : lanes_.webs.of_instr[pc]) {
      if (use.written == codegen::kNoWeb) continue;
      const LaneClass& claim = lanes_.info[use.written].cls;
      const LaneClass& while_whole = whole_.info[use.written].cls;
      const ptx::Register& reg = kernel_.function->registers[use.reg];
      if (ptx::bits_of(reg.type) > 64) continue;
      ++seen_;
      claimed_ += !claim.is_vector();
      std::string why = refuted(claim, ptx::bits_of(reg.type), lanes, registers[use.reg]);
      if (whole && while_whole != claim) {
        ++claimed_while_whole_;
        why += refuted(while_whole, ptx::bits_of(reg.type), lanes, registers[use.reg]);
      }
      if (!why.empty() && wrong_++ < 5)
        ADD_FAILURE() << kernel_.function->name << " instruction " << pc << " ("
                      << kernel_.function->body[pc].def->form.text << ") " << reg.name << ": " << why;
    }
  }
  uint64_t seen() const { return seen_; }
  uint64_t claimed() const { return claimed_; }
  uint64_t claimed_while_whole() const { return claimed_while_whole_; }

 private:
  /// The lanes that execute the instruction when none is anywhere else.
  uint32_t together(uint32_t pc, std::span<const Lanes> registers) const {
    const ptx::Instr& in = kernel_.function->body[pc];
    if (in.guard == ptx::kNoReg) return ~uint32_t{0};
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < 32; ++l) lanes |= static_cast<uint32_t>(registers[in.guard][l] & 1) << l;
    return in.guard_negated ? ~lanes : lanes;
  }

  const exec::LoadedKernel& kernel_;
  codegen::LaneAnalysis lanes_;
  codegen::LaneAnalysis whole_;
  std::set<std::pair<uint64_t, uint32_t>> parted_;  // block, warp
  uint64_t seen_ = 0, claimed_ = 0, claimed_while_whole_ = 0, wrong_ = 0;
};

TEST(LaneClaims, hold_in_random_programs) {
  constexpr events::Dim3 kBlocks[] = {{64, 1, 1}, {16, 4, 1}, {32, 2, 1}, {40, 1, 1}, {7, 3, 2}, {8, 8, 1}};
  uint64_t seen = 0, claimed = 0, while_whole = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string ptx = random_program(seed);
    // Lanes that wait there for others run on beside those of a later round. Generated code leaves before it comes to
    // that.
    if (ptx.find("bar.warp.sync") != std::string::npos) continue;
    TwoExecutors two(ptx);
    const PtxLauncher::Options options{.grid = {2, 1, 1}, .block = kBlocks[seed % 6]};
    std::vector<uint8_t> bytes(kSharedWords * 4);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
    Params params;
    params.add(two.array(bytes));
    params.add(two.array(std::vector<uint8_t>(kSharedWords * 4 + options.block.count() * 2 * kDumpedWords * 4)));
    Claims claims(*two.launcher().kernel("random"), options.block);
    const auto interpreter = exec::make_interpreter(&claims);
    two.run("random", options, params, *interpreter, false);
    seen += claims.seen();
    claimed += claims.claimed();
    while_whole += claims.claimed_while_whole();
  }
  EXPECT_GT(while_whole, seen / 1000);
  EXPECT_GT(claimed, seen / 20) << "the analysis claims next to nothing, so nothing is tested";
}

class ProbeClaims : public testing::TestWithParam<const char*> {};

TEST_P(ProbeClaims, hold) {
  std::ifstream file(std::string(WARPLENS_PROBE_PTX) + "/" + GetParam());
  std::stringstream text;
  text << file.rdbuf();
  TwoExecutors two(text.str());
  uint64_t seen = 0, claimed = 0;
  std::array<uint64_t, 8> arrays{};
  for (uint64_t& a : arrays) a = two.array(std::vector<uint8_t>(1 << 18));
  for (const ptx::Function& function : two.launcher().module().module->functions) {
    if (!function.is_entry || !exec::load_kernel(two.launcher().module(), function)) continue;
    Params params;
    size_t next = 0;
    for (const ptx::Param& p : function.params) {
      while (params.bytes().size() < p.offset) params.add(uint8_t{0});
      if (p.bytes == 8)
        params.add(arrays[next++ % arrays.size()]);
      else if (ptx::is_float(p.type))
        params.add(1.0f);
      else
        params.add(uint32_t{64});
    }
    for (const events::Dim3 block : {events::Dim3{32, 8, 1}, {33, 3, 1}, {16, 16, 1}, {256, 1, 1}}) {
      Claims claims(*two.launcher().kernel(function.name), block);
      const auto interpreter = exec::make_interpreter(&claims);
      two.run(function.name, {.grid = {2, 1, 1}, .block = block}, params, *interpreter, false);
      seen += claims.seen();
      claimed += claims.claimed();
    }
  }
  EXPECT_GT(claimed, seen / 10);
}

INSTANTIATE_TEST_SUITE_P(All, ProbeClaims, testing::Values("access.ptx", "ladder.ptx", "apps.ptx"),
                         [](const auto& info) {
                           return std::string(info.param).substr(0, std::string(info.param).find('.'));
                         });

}  // namespace
}  // namespace warplens::test
