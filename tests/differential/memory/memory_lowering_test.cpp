// SPDX-License-Identifier: Apache-2.0
// Random accesses of generated code against the plain model: loaded values, stored memory, findings, events and counts
// are equal for every address class, width, vector length, space and mask. WARPLENS_SEED repeats a run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "base/bits.h"
#include "codegen/access_cost_variants.h"
#include "memory_lab.h"

namespace warplens::lab {
namespace {

using codegen::LaneClass;
using codegen::Pattern;
using codegen::Shape;

uint64_t seed_of_run() {
  const char* text = std::getenv("WARPLENS_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 0) : 20240229;
}

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  uint64_t below(uint64_t n) { return engine_() % n; }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low + 1)));
  }
  bool one_in(uint64_t n) { return below(n) == 0; }
  template <typename T>
  T pick(std::initializer_list<T> list) {
    return *(list.begin() + below(list.size()));
  }
  uint64_t bits() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

/// Lane offsets as index expressions make them, in units of `unit` bytes.
Pattern random_pattern(Dice& d, int64_t unit) {
  Pattern p;
  const int64_t a = d.pick<int64_t>({1, 1, 1, 2, 3, 4, 8, 17, 32, 33, -1}), b = d.between(-40, 40);
  const unsigned group = static_cast<unsigned>(d.pick({1, 2, 3, 4, 8, 16}));
  const uint64_t kind = d.below(8);
  for (unsigned l = 0; l < 32; ++l) {
    int64_t v = 0;
    switch (kind) {
      case 0:
      case 1: v = l; break;
      case 2: v = l * a; break;
      case 3: v = (l % group) * a + (l / group) * b; break;
      case 4: v = (l / group) * a; break;
      case 5: v = (l ^ static_cast<unsigned>(b & 31)); break;
      case 6: v = d.between(-20, 60); break;
      default: v = d.between(-3, 3) * 64 + d.between(0, 3); break;
    }
    p[l] = v * unit;
  }
  if (d.one_in(6))
    for (int64_t& v : p) v += b * unit;
  if (d.one_in(20)) p[d.below(32)] += 1;  // a lane that is misaligned (or not, for bytes)
  return p;
}

AccessPlan random_plan(Dice& d, bool avx512) {
  AccessPlan plan;
  plan.avx512 = avx512 && !d.one_in(3);
  plan.space = d.pick({ptx::Space::kGlobal, ptx::Space::kGlobal, ptx::Space::kGlobal, ptx::Space::kShared,
                       ptx::Space::kShared, ptx::Space::kLocal, ptx::Space::kGeneric, ptx::Space::kConst});
  plan.access = d.pick({events::Access::kLoad, events::Access::kLoad, events::Access::kLoad, events::Access::kStore,
                        events::Access::kStore, events::Access::kAtomic, events::Access::kReduction});
  if (plan.space == ptx::Space::kConst) plan.access = events::Access::kLoad;
  plan.type = d.pick({ptx::Type::kB8, ptx::Type::kB16, ptx::Type::kB32, ptx::Type::kB32, ptx::Type::kB32,
                      ptx::Type::kB64, ptx::Type::kB64, ptx::Type::kB128});
  plan.elements = d.pick({1u, 1u, 1u, 2u, 4u});
  if (plan.access == events::Access::kAtomic || plan.access == events::Access::kReduction) {
    plan.elements = 1;
    if (plan.type == ptx::Type::kB8 || plan.type == ptx::Type::kB128) plan.type = ptx::Type::kB32;
  }
  while (plan.bytes() > 16) plan.elements /= 2;
  plan.narrow_address = (plan.space == ptx::Space::kShared || plan.space == ptx::Space::kLocal) && d.one_in(2);
  const auto align = static_cast<uint8_t>(d.pick({0, 0, 0, 2, 4, 5, 7, 9}));
  switch (d.below(5)) {
    case 0: plan.address = LaneClass::uniform(align); break;
    case 1:
    case 2: plan.address = LaneClass::pattern(random_pattern(d, plan.bytes()), align); break;
    case 3: {
      plan.address = LaneClass{Shape::kScaled, {}, align, nullptr, codegen::intern_pattern(random_pattern(d, 1))};
      if (d.one_in(2)) plan.address.offsets = codegen::intern_pattern(random_pattern(d, plan.bytes()));
      if (d.one_in(2)) {  // rows of a tile
        const unsigned width = d.pick({4u, 8u, 16u});
        Pattern rows, columns;
        for (unsigned l = 0; l < 32; ++l) {
          rows[l] = l / width;
          columns[l] = static_cast<int64_t>(l % width * plan.bytes());
        }
        plan.address.steps = codegen::intern_pattern(rows);
        plan.address.offsets = codegen::intern_pattern(columns);
      }
      break;
    }
    default: plan.address = LaneClass::vector(); break;
  }
  if (plan.address.is_uniform() && plan.space == ptx::Space::kShared && d.one_in(2))
    plan.address = LaneClass::of_constant(1024 + 16 * d.below(300));
  plan.full_mask = d.one_in(2);
  plan.may_be_empty = !plan.full_mask && d.one_in(3);
  plan.unguarded = !plan.may_be_empty && !d.one_in(4);
  plan.uniform_value = d.one_in(4);
  plan.events = d.one_in(8);
  plan.many_sites = d.one_in(4);
  plan.bounds = !d.one_in(5);
  return plan;
}

uint32_t random_mask(Dice& d, const AccessPlan& plan) {
  if (plan.full_mask) return kFullMask;
  if (plan.may_be_empty && d.one_in(4)) return 0;
  uint32_t mask = 0;
  switch (d.below(6)) {
    case 0: mask = 1u << d.below(32); break;
    case 1: mask = static_cast<uint32_t>(low_bits(static_cast<unsigned>(d.below(33)))); break;
    case 2: mask = static_cast<uint32_t>(d.bits() & d.bits()); break;
    case 3: mask = static_cast<uint32_t>(d.bits() | d.bits()); break;
    case 4: mask = d.pick({0x55555555u, 0xaaaaaaaau, 0x0000ffffu, 0xff00ff00u, 0x33333333u, kFullMask}); break;
    default: mask = static_cast<uint32_t>(d.bits()); break;
  }
  return mask != 0 ? mask : 1;
}

/// A place where an access may begin, mostly a valid one.
uint64_t random_start(Dice& d, MemoryLab& lab, const AccessPlan& plan) {
  if (d.one_in(40)) return d.pick<uint64_t>({0, 8, 4096, ~uint64_t{15}, uint64_t{1} << 33});
  ptx::Space space = plan.space;
  uint64_t window = 0;
  if (space == ptx::Space::kGeneric && d.one_in(3)) {
    space = d.pick({ptx::Space::kShared, ptx::Space::kLocal});
    window = space == ptx::Space::kShared ? lab.warp().shared_window : lab.warp().local_window;
  }
  uint64_t begin = 0, bytes = 0;
  if (space == ptx::Space::kShared) {
    begin = 1024, bytes = lab.warp().shared_end - 1024;
  } else if (space == ptx::Space::kLocal) {
    bytes = lab.warp().local_end;
  } else {
    const auto& r = lab.allocations()[d.below(lab.allocations().size())];
    begin = r.begin, bytes = r.bytes;
  }
  uint64_t at = d.below(bytes);
  if (d.one_in(3)) at = bytes / 3;
  if (!d.one_in(30)) at = at / plan.bytes() * plan.bytes();
  return window + begin + at;
}

/// Fills the run's address inputs; returns the lanes' addresses.
std::array<uint64_t, 32> random_addresses(Dice& d, MemoryLab& lab, const AccessPlan& plan, AccessRun& run) {
  const LaneClass& c = plan.address;
  const uint64_t width = plan.narrow_address ? 0xffffffffu : ~uint64_t{0};
  std::array<uint64_t, 32> at = {};
  run.base = c.constant ? *c.constant : random_start(d, lab, plan) >> c.align_log2 << c.align_log2;
  if (c.is_vector()) {
    const Pattern p = random_pattern(d, plan.bytes());
    for (int l = 0; l < 32; ++l)
      at[l] = d.one_in(60) ? random_start(d, lab, plan) : run.base + static_cast<uint64_t>(p[l]);
    if (d.one_in(4))
      for (uint64_t& a : at) a = random_start(d, lab, plan);
    if (!plan.full_mask)  // lanes that are off hold anything
      for (int l = 0; l < 32; ++l)
        if (!(run.mask >> l & 1) && d.one_in(2)) at[l] = d.bits();
  } else {
    if (c.shape == Shape::kScaled)
      run.scale = static_cast<uint64_t>(
          d.one_in(20) ? static_cast<int64_t>(d.bits())
                       : d.pick<int64_t>({0, 1, 4, 16, 32, 48, 64, 128, 160, 400, 1000, -4, -32, -300}) *
                             (d.one_in(2) ? plan.bytes() : 1));
    for (int l = 0; l < 32; ++l) {
      at[l] = run.base;
      if (c.steps != nullptr) at[l] += run.scale * static_cast<uint64_t>((*c.steps)[l]);
      if (c.offsets != nullptr) at[l] += static_cast<uint64_t>((*c.offsets)[l]);
    }
  }
  for (int l = 0; l < 32; ++l) {
    at[l] &= width;
    run.lanes[l] = at[l];
    run.narrow[l] = static_cast<uint32_t>(at[l]);
  }
  return at;
}

void fill_random(Dice& d, uint8_t* bytes, size_t n) {
  for (size_t i = 0; i + 8 <= n; i += 8) {
    const uint64_t v = d.bits();
    std::memcpy(bytes + i, &v, 8);
  }
}

void expect_equal_values(const AccessPlan& plan, const AccessRun& got, const AccessRun& want) {
  const unsigned eb = ptx::bytes_of(plan.type);
  for (unsigned e = 0; e < plan.elements; ++e)
    for_each_lane(want.mask, [&](int lane) {
      const size_t at = (size_t{e} * 32 + static_cast<unsigned>(lane)) * eb;
      EXPECT_EQ(std::memcmp(got.loaded + at, want.loaded + at, eb), 0) << "lane " << lane << " element " << e;
    });
}

void expect_equal_counts(const events::SiteCounts& got, const events::SiteCounts& want) {
  EXPECT_EQ(got.requests, want.requests);
  EXPECT_EQ(got.lanes, want.lanes);
  EXPECT_EQ(got.sectors, want.sectors);
  EXPECT_EQ(got.lines, want.lines);
  EXPECT_EQ(got.ideal_sectors, want.ideal_sectors);
  EXPECT_EQ(got.wavefronts, want.wavefronts);
  EXPECT_EQ(got.ideal_wavefronts, want.ideal_wavefronts);
  EXPECT_EQ(got.repeated_sectors, want.repeated_sectors);
  EXPECT_EQ(got.empty_wavefronts, want.empty_wavefronts);
}

void expect_equal_events(const Outcome& got, const Outcome& want) {
  ASSERT_EQ(got.events.size(), want.events.size());
  for (size_t i = 0; i < got.events.size(); ++i) {
    EXPECT_EQ(got.events[i].mask, want.events[i].mask);
    EXPECT_EQ(got.events[i].space, want.events[i].space);
    EXPECT_EQ(got.events[i].site, want.events[i].site);
    for_each_lane(want.events[i].mask, [&](int lane) {
      EXPECT_EQ(got.event_addresses[i][lane], want.event_addresses[i][lane]) << "lane " << lane;
    });
  }
}

struct Tally {
  uint64_t runs = 0, findings = 0;
};

/// One run of one compiled access, compared in everything.
void compare_once(Dice& d, MemoryLab& lab, const AccessPlan& plan, Compiled code, Tally& tally) {
  auto run = std::make_unique<AccessRun>();
  run->mask = random_mask(d, plan);
  const std::array<uint64_t, 32> address = random_addresses(d, lab, plan, *run);
  fill_random(d, run->values, sizeof run->values);
  fill_random(d, run->second, sizeof run->second);
  auto model = std::make_unique<AccessRun>(*run);
  if (d.one_in(10)) lab.forget_ranges();
  const std::vector<uint8_t> before = lab.snapshot();
  const Outcome want = lab.expect(plan, *model, address);
  const std::vector<uint8_t> memory_wanted = lab.snapshot();
  lab.restore(before);
  if (want.finding && !plan.bounds) return;
  const Outcome got = lab.run(code, plan, *run);
  ++tally.runs;
  tally.findings += want.finding.has_value();
  EXPECT_TRUE(lab.snapshot() == memory_wanted) << "memory differs";
  ASSERT_EQ(got.finding.has_value(), want.finding.has_value());
  if (plan.events) expect_equal_events(got, want);
  if (want.finding) {
    EXPECT_EQ(got.finding->kind, want.finding->kind);
    EXPECT_EQ(got.finding->lane, want.finding->lane);
    EXPECT_EQ(got.finding->address, want.finding->address);
    return;
  }
  if (plan.access == events::Access::kLoad || plan.access == events::Access::kAtomic)
    expect_equal_values(plan, *run, *model);
  for (size_t i = 0; i < want.counts.sites.size(); ++i) expect_equal_counts(got.counts.sites[i], want.counts.sites[i]);
}

TEST(MemoryLowering, random_accesses_equal_the_plain_model) {
  const uint64_t seed = seed_of_run();
  RecordProperty("seed", std::to_string(seed));
  Dice d(seed);
  MemoryLab lab;
  std::vector<uint8_t> memory = lab.snapshot();
  fill_random(d, memory.data(), memory.size());
  lab.restore(memory);
  Tally tally;
  const char* rounds_text = std::getenv("WARPLENS_ROUNDS");
  const int rounds = rounds_text != nullptr ? std::atoi(rounds_text) : 20;
  for (int round = 0; round < rounds; ++round) {
    std::vector<AccessPlan> plans;
    for (int i = 0; i < 30; ++i) plans.push_back(random_plan(d, lab.avx512()));
    const std::vector<Compiled> code = lab.compile(plans);
    for (size_t i = 0; i < plans.size(); ++i) {
      SCOPED_TRACE(fmt::format("seed {} plan {}", seed, plans[i].text()));
      lab.forget_ranges();
      for (int k = 0; k < 40; ++k) {
        compare_once(d, lab, plans[i], code[i], tally);
        if (HasFailure()) return;
      }
    }
  }
  // Most runs must get as far as the comparison of values and counts.
  EXPECT_GT(tally.runs, 2 * tally.findings);
}

/// Addresses for one counted access: patterns with repeats, strides and jumps, random ones near and far, or one place.
std::array<uint64_t, 32> random_places(Dice& d, unsigned bytes, events::Space space) {
  const Pattern p = random_pattern(d, 1);
  const uint64_t kind = d.below(4), stretch = d.pick<uint64_t>({1, 1, 5, 32, 33});
  const uint64_t reach = d.pick<uint64_t>({8, 64, 1024, 60000});
  const uint64_t begin = space == events::Space::kGlobal ? d.pick<uint64_t>({0, 1, 0x7f123456, 1ull << 42}) : 0;
  std::array<uint64_t, 32> places;
  for (unsigned l = 0; l < 32; ++l) {
    uint64_t at = d.below(4) * 7 + 1000 + static_cast<uint64_t>(p[l] + 200) * stretch;
    if (kind == 1) at = d.below(reach);
    if (kind == 2) at = d.below(reach) * 32;
    if (kind == 3 && space == events::Space::kGlobal) at = d.below(uint64_t{1} << 30);  // of 16 bytes: the whole arena
    places[l] = begin * 4096 + at * bytes;
  }
  return places;
}

/// access_cost.h is the quick form of the oracle, for closed forms and hooks alike; every form of it that runs here.
TEST(MemoryLowering, quick_costs_equal_the_oracle) {
  Dice d(seed_of_run());
  for (const codegen::CostVariant& variant : codegen::cost_variants()) {
    for (int i = 0; i < 20000; ++i) {
      const unsigned bytes = 1u << d.below(6);
      const auto space =
          d.pick({events::Space::kGlobal, events::Space::kShared, events::Space::kLocal, events::Space::kConst});
      const auto access = d.pick({events::Access::kLoad, events::Access::kStore});
      const std::array<uint64_t, 32> address = random_places(d, bytes, space);
      const auto mask = i % 2 ? kFullMask : static_cast<uint32_t>(d.bits() & d.bits()) | 1u << d.below(32);
      const codegen::AccessCost cost = variant.cost(space, access, bytes, mask, address.data());
      events::SiteCounts want;
      memory::count_access(want, {0, mask, 0, 0, space, &address}, {0, space, access, static_cast<uint8_t>(bytes), ""});
      ASSERT_EQ(cost.sectors, want.sectors) << variant.name << " " << i;
      ASSERT_EQ(cost.lines, want.lines) << variant.name << " " << i;
      ASSERT_EQ(cost.wavefronts, want.wavefronts) << variant.name << " " << i;
    }
    EXPECT_EQ(variant.cost(events::Space::kGlobal, events::Access::kLoad, 4, 0, nullptr), codegen::AccessCost{});
  }
}

/// Small values, so that many lanes leave memory as it is; equal places hold equal ones.
class SmallValues final : public events::AtomicValues {
 public:
  SmallValues(Dice& d, const std::array<uint64_t, 32>& address) : address_(address), or_(d.one_in(2)) {
    for (uint64_t& v : operand_) v = d.below(8);
  }
  uint64_t before(unsigned lane) const override { return address_[lane] / 4 % 4; }
  uint64_t after(unsigned lane, uint64_t old) const override {
    return or_ ? old | operand_[lane] : std::max(old, operand_[lane]);
  }
  bool skips_unchanged() const override { return !or_; }

 private:
  const std::array<uint64_t, 32>& address_;
  std::array<uint64_t, 32> operand_{};
  bool or_;
};

/// The site of an atomic's loads (machine::accesses_of).
events::AccessSite loads_of(events::AccessSite site) {
  site.access = events::Access::kLoad;
  site.form = site.form == events::Form::kRetried ? events::Form::kRetryLoads : events::Form::kPlain;
  return site;
}

/// Likewise counts_of, for accesses of every form.
TEST(MemoryLowering, quick_counts_of_every_form_equal_the_oracle) {
  using events::Access;
  using events::Form;
  using events::Space;
  Dice d(seed_of_run());
  for (int i = 0; i < 40000; ++i) {
    events::AccessSite site;
    site.bytes = static_cast<uint8_t>(1u << d.below(5));
    site.space = d.pick({Space::kGlobal, Space::kShared, Space::kSharedCluster, Space::kLocal, Space::kConst});
    site.access = d.pick({Access::kLoad, Access::kStore, Access::kAtomic, Access::kReduction});
    const bool atomic = site.access == Access::kAtomic || site.access == Access::kReduction;
    if (atomic) {
      site.bytes = static_cast<uint8_t>(2u << d.below(3));
      site.combined = d.pick({events::Combined::kNever, events::Combined::kNever, events::Combined::kFullWarps,
                              events::Combined::kAlways});
      site.form = d.pick({Form::kPlain, Form::kIncrement, Form::kCompareAndSwap, Form::kRetried});
    } else if (site.access == Access::kLoad && d.one_in(4)) {
      site.bytes = static_cast<uint8_t>(d.pick({4u, 8u}));
      site.form = Form::kRetryLoads;
    } else if (d.one_in(3)) {
      site.bytes = 16;
      site.form = Form::kMatrixRows;
    } else if (d.one_in(3)) {
      site.bytes = static_cast<uint8_t>(4u << d.below(3));
      site.form = d.pick({Form::kCopy, Form::kCopy, Form::kPastL1});
    }
    site.generic = (site.space == Space::kGlobal || site.space == Space::kShared) && d.one_in(3);
    std::array<uint64_t, 32> address = random_places(d, site.bytes, site.space);
    if (d.one_in(3)) address.fill(address[d.below(32)]);
    if (site.space == Space::kSharedCluster)
      for (uint64_t& at : address)
        if (d.one_in(2)) at = memory::cluster_address(at, d.below(3));
    const auto mask = i % 2 ? kFullMask : static_cast<uint32_t>(d.bits() & d.bits());
    events::WarpAccess access{0, mask, 0, 0, site.space, &address};
    if (site.generic) access.beside = static_cast<uint32_t>(d.bits()) & ~mask;
    const std::array<uint64_t, 32> source = random_places(d, site.bytes, Space::kGlobal);
    if (site.form == Form::kCopy && d.one_in(2)) {
      access.source = &source;
      access.reading = d.one_in(2) ? mask : static_cast<uint32_t>(d.bits());
    }
    const SmallValues values(d, address);
    if (d.one_in(2)) access.values = &values;
    events::SiteCounts want;
    memory::count_access(want, access, site);
    const events::SiteCounts got = codegen::counts_of(access, site);
    SCOPED_TRACE(fmt::format("{}: form {} space {} access {} bytes {}", i, static_cast<int>(site.form),
                             static_cast<int>(site.space), static_cast<int>(site.access), site.bytes));
    expect_equal_counts(got, want);
    if (events::has_loads(site)) {
      const events::AccessSite loads = loads_of(site);
      const auto [own, of_loads] = codegen::counts_with_loads(access, site, loads);
      expect_equal_counts(own, want);
      events::SiteCounts want_loads;
      memory::count_access(want_loads, access, loads);
      expect_equal_counts(of_loads, want_loads);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace warplens::lab
