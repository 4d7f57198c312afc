// SPDX-License-Identifier: Apache-2.0
// The algebra of lane classes against brute force: operands are drawn at random with concrete bases and scales, the
// result is computed lane by lane, and must equal what the class of the result says, built from the scalars that the
// header's rules name.
#include "codegen/lane_algebra.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

namespace warplens::codegen {
namespace {

struct Value {
  LaneClass cls;
  uint64_t base = 0, scale = 0;
};
using Lanes = std::array<uint64_t, 32>;

uint64_t mask_of(unsigned bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

Lanes lanes_of(const Value& v, unsigned bits) {
  Lanes out;
  for (size_t l = 0; l < 32; ++l) {
    uint64_t x = v.base;
    if (v.cls.steps != nullptr) x += v.scale * static_cast<uint64_t>((*v.cls.steps)[l]);
    x += static_cast<uint64_t>(offsets_of(v.cls)[l]);
    out[l] = x & mask_of(bits);
  }
  return out;
}

class Draw {
 public:
  explicit Draw(uint64_t seed) : rng_(seed) {}
  uint64_t operator()(uint64_t n) { return rng_() % n; }
  uint64_t any() { return rng_() >> (rng_() % 64); }
  Pattern pattern() {
    Pattern p;
    const uint64_t kind = (*this)(5), k = 1 + (*this)(4);
    for (int64_t l = 0; l < 32; ++l) {
      const auto u = static_cast<size_t>(l);
      p[u] = kind == 0 ? l : kind == 1 ? l >> k : kind == 2 ? l & ((1 << k) - 1) : kind == 3 ? l * 4 : -l;
    }
    return p;
  }
  Value value(unsigned bits) {
    Value v;
    const uint64_t kind = (*this)(4);
    const unsigned align = static_cast<unsigned>((*this)(9) == 0 ? bits : (*this)(10));
    v.base = align >= bits ? 0 : (any() << align) & mask_of(bits);
    if (kind == 0) {
      v.cls = LaneClass::of_constant(v.base);
    } else if (kind == 1) {
      v.cls = LaneClass::uniform(align);
    } else {
      v.cls = LaneClass::pattern(pattern(), align);
      if (kind == 3) {
        v.cls.shape = Shape::kScaled;
        v.cls.steps = intern_pattern(pattern());
        if ((*this)(2) == 0) v.cls.offsets = nullptr;
        v.scale = any() & mask_of(bits);
      }
    }
    // A bound that holds, now and then.
    if ((*this)(2) == 0 && !v.cls.constant) {
      uint64_t all = 0;
      for (const uint64_t lane : lanes_of(v, bits)) all |= lane;
      v.cls.width = static_cast<uint8_t>(std::bit_width(all));
    }
    return v;
  }

 private:
  std::mt19937_64 rng_;
};

/// The class's claims: the lanes, a known constant, the base's alignment.
void expect_describes(const Value& r, const Lanes& want, unsigned bits, const char* what) {
  if (r.cls.is_vector()) return;
  ASSERT_EQ(lanes_of(r, bits), want) << what << " bits " << bits;
  if (r.cls.constant) {
    ASSERT_EQ(*r.cls.constant, want[0]) << what;
    return;
  }
  for (const uint64_t lane : want)
    ASSERT_LE(static_cast<unsigned>(std::bit_width(lane)), width_of(r.cls, bits)) << what;
  const unsigned align = alignment_of(r.cls, bits);
  ASSERT_EQ(r.base & mask_of(std::min(align, bits)) & mask_of(bits), 0u) << what << " align " << align;
}

template <typename F>
Lanes each(const Lanes& a, const Lanes& b, unsigned bits, F&& f) {
  Lanes out;
  for (size_t l = 0; l < 32; ++l) out[l] = f(a[l], b[l]) & mask_of(bits);
  return out;
}

TEST(LaneAlgebra, sums_and_products_describe_every_lane) {
  Draw draw(1);
  int kept = 0;
  for (int i = 0; i < 40000; ++i) {
    const unsigned bits = draw(2) ? 32 : 64;
    const Value a = draw.value(bits), b = draw.value(bits);
    const Lanes x = lanes_of(a, bits), y = lanes_of(b, bits);
    Value s{class_of_add(a.cls, b.cls, bits), a.base + b.base, a.scale + b.scale};
    expect_describes(s, each(x, y, bits, [](uint64_t p, uint64_t q) { return p + q; }), bits, "add");
    Value d{class_of_sub(a.cls, b.cls, bits), a.base - b.base, a.scale - b.scale};
    expect_describes(d, each(x, y, bits, [](uint64_t p, uint64_t q) { return p - q; }), bits, "sub");
    Value m{class_of_mul(a.cls, b.cls, bits), a.base * b.base, 0};
    const Value &v = a.cls.is_uniform() ? b : a, &u = a.cls.is_uniform() ? a : b;
    m.scale = v.cls.steps != nullptr ? v.scale * u.base : u.base;
    expect_describes(m, each(x, y, bits, [](uint64_t p, uint64_t q) { return p * q; }), bits, "mul");
    kept += !s.cls.is_vector() + !d.cls.is_vector() + !m.cls.is_vector();
  }
  EXPECT_GT(kept, 60000);  // the test must not pass because everything became a vector
}

TEST(LaneAlgebra, bitwise_operations_split_at_the_alignment) {
  Draw draw(2);
  int kept = 0;
  for (int i = 0; i < 60000; ++i) {
    const unsigned bits = draw(2) ? 32 : 64;
    const Value a = draw.value(bits), b = draw.value(bits);
    const auto op = static_cast<Bitwise>(draw(3));
    const auto f = [op](uint64_t p, uint64_t q) {
      return op == Bitwise::kAnd ? p & q : op == Bitwise::kOr ? p | q : p ^ q;
    };
    unsigned split = 0;
    Value r{class_of_bitwise(op, a.cls, b.cls, bits, &split), 0, 0};
    const auto base = [&](const Value& v) {
      return v.cls.constant && !r.cls.is_uniform() ? v.base & ~mask_of(split) : v.base;
    };
    r.base = f(base(a), base(b));
    expect_describes(r, each(lanes_of(a, bits), lanes_of(b, bits), bits, f), bits, "bitwise");
    kept += r.cls.shape == Shape::kPattern;
  }
  EXPECT_GT(kept, 2000);
}

TEST(LaneAlgebra, shifts_by_constants_of_every_size) {
  Draw draw(3);
  int kept = 0;
  for (int i = 0; i < 60000; ++i) {
    const unsigned bits = draw(2) ? 32 : 64;
    const Value a = draw.value(bits);
    const uint64_t k = draw(10) == 0 ? draw(200) : draw(8);
    const LaneClass amount = LaneClass::of_constant(k);
    const Lanes x = lanes_of(a, bits), zero{};
    const auto lsr = [&](uint64_t p, uint64_t) { return k >= bits ? 0 : p >> k; };
    const auto asr = [&](uint64_t p, uint64_t) {
      return static_cast<uint64_t>(wrap(static_cast<int64_t>(p), bits) >> std::min<uint64_t>(k, 63));
    };
    Value r{class_of_shift_right(a.cls, amount, bits, false), lsr(a.base, 0), 0};
    expect_describes(r, each(x, zero, bits, lsr), bits, "lshr");
    Value s{class_of_shift_right(a.cls, amount, bits, true), asr(a.base, 0), 0};
    expect_describes(s, each(x, zero, bits, asr), bits, "ashr");
    const uint64_t factor = k >= bits ? 0 : uint64_t{1} << k;
    Value l{class_of_shift_left(a.cls, amount, bits), a.base * factor, a.scale * factor};
    expect_describes(l, each(x, zero, bits, [&](uint64_t p, uint64_t) { return p * factor; }), bits, "shl");
    kept += (r.cls.shape == Shape::kPattern) + (s.cls.shape == Shape::kPattern);
  }
  EXPECT_GT(kept, 3000);
}

TEST(LaneAlgebra, extension_holds_whenever_no_lane_wraps) {
  Draw draw(4);
  int kept = 0, unguarded = 0;
  for (int i = 0; i < 60000; ++i) {
    const Value a = draw.value(32);
    const bool is_signed = draw(2);
    bool guard = false;
    const LaneClass c = class_of_extend(a.cls, 32, 64, is_signed, &guard);
    if (c.is_vector()) continue;
    const auto extend = [&](uint64_t v) {
      return is_signed ? static_cast<uint64_t>(wrap(static_cast<int64_t>(v), 32)) : v & 0xffffffffu;
    };
    // The exact value of each lane without wrapping; the guard passes when all are in range.
    Value r{c, extend(a.base), static_cast<uint64_t>(wrap(static_cast<int64_t>(a.scale), 32))};
    bool in_range = true;
    for (uint64_t v : lanes_of(r, 64)) in_range &= v == extend(v);
    if (guard && !in_range) continue;
    unguarded += !guard && c.shape == Shape::kPattern;
    ++kept;
    Lanes want;
    const Lanes narrow = lanes_of(a, 32);
    for (size_t l = 0; l < 32; ++l) want[l] = extend(narrow[l]);
    expect_describes(r, want, 64, is_signed ? "sext" : "zext");
    Value t{class_of_trunc(a.cls, 16), a.base, a.scale};
    Lanes low;
    for (size_t l = 0; l < 32; ++l) low[l] = narrow[l] & 0xffff;
    expect_describes(t, low, 16, "trunc");
  }
  EXPECT_GT(kept, 20000);
  EXPECT_GT(unguarded, 200);
}

TEST(LaneAlgebra, join_is_an_upper_bound_of_both) {
  Draw draw(5);
  for (int i = 0; i < 20000; ++i) {
    const LaneClass a = draw.value(32).cls, b = draw.value(32).cls;
    const LaneClass j = join(a, b);
    EXPECT_EQ(j, join(b, a));
    EXPECT_EQ(join(a, a), a);
    EXPECT_EQ(join(LaneClass{}, a), a);
    EXPECT_EQ(join(j, a), j);  // a is below j
    EXPECT_EQ(join(j, b), j);
    if (!j.is_vector()) {
      EXPECT_EQ(j.offsets, a.offsets);
      EXPECT_LE(alignment_of(j, 32), std::min(alignment_of(a, 32), alignment_of(b, 32)));
    }
  }
}

TEST(LaneAlgebra, signed_division_of_a_thread_index_is_a_shift) {
  Pattern lanes;
  for (size_t l = 0; l < 32; ++l) lanes[l] = static_cast<int64_t>(l);
  LaneClass tid = LaneClass::pattern(lanes, 5);
  tid.width = 10;
  // tid / 2 as compilers write it: (tid + (tid >> 31 unsigned)) >> 1
  const LaneClass sign = class_of_shift_right(tid, LaneClass::of_constant(31), 32, true);
  ASSERT_EQ(sign.constant, 0u);
  const LaneClass half = class_of_shift_right(class_of_add(tid, sign, 32), LaneClass::of_constant(1), 32, true);
  ASSERT_EQ(half.shape, Shape::kPattern);
  EXPECT_EQ((*half.offsets)[7], 3);
  EXPECT_EQ(half.width, 9);
  bool guard = true;
  class_of_extend(class_of_add(half, LaneClass::of_constant(3), 32), 32, 64, true, &guard);
  EXPECT_FALSE(guard);
}

TEST(LaneAlgebra, thread_indices_of_a_tile_stay_patterns) {
  Pattern lanes;
  for (size_t l = 0; l < 32; ++l) lanes[l] = static_cast<int64_t>(l);
  const LaneClass tid = LaneClass::pattern(lanes, 5);
  unsigned split = 0;
  const LaneClass column = class_of_bitwise(Bitwise::kAnd, tid, LaneClass::of_constant(15), 32, &split);
  ASSERT_EQ(column.shape, Shape::kPattern);
  EXPECT_EQ((*column.offsets)[17], 1);
  const LaneClass row = class_of_shift_right(tid, LaneClass::of_constant(4), 32, false);
  ASSERT_EQ(row.shape, Shape::kPattern);
  EXPECT_EQ((*row.offsets)[17], 1);
  EXPECT_TRUE(class_of_shift_right(tid, LaneClass::of_constant(5), 32, true).is_uniform());
  // row * pitch + column: two terms
  const LaneClass index = class_of_add(class_of_mul(row, LaneClass::uniform(), 32), column, 32);
  EXPECT_EQ(index.shape, Shape::kScaled);
  EXPECT_EQ(index.steps, row.offsets);
  EXPECT_EQ(index.offsets, column.offsets);
}

}  // namespace
}  // namespace warplens::codegen
