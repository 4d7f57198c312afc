// SPDX-License-Identifier: Apache-2.0
// See lane_algebra.h. Every function ends in `affine`, which brings offsets and steps to the register's width and drops
// terms that are zero, so that equal values have equal classes.
#include "codegen/lane_algebra.h"

#include <algorithm>
#include <bit>

namespace warplens::codegen {
namespace {

const Pattern kZeros{};
/// Offsets further apart than this are not an address pattern but a hash: such values are plain vectors once they are
/// extended (their guard would fail).
constexpr int64_t kMaxSpan = int64_t{1} << 24;

bool has_patterns(unsigned bits) { return bits == 32 || bits == 64; }
bool is_bottom(const LaneClass& a, const LaneClass& b) {
  return a.shape == Shape::kBottom || b.shape == Shape::kBottom;
}
bool either_vector(const LaneClass& a, const LaneClass& b) { return a.is_vector() || b.is_vector(); }

template <typename F>
Pattern each_lane(const Pattern& a, const Pattern& b, F&& f) {
  Pattern out;
  for (size_t l = 0; l < 32; ++l) out[l] = f(a[l], b[l]);
  return out;
}

int64_t wrapping(uint64_t v, unsigned bits) { return wrap(static_cast<int64_t>(v), bits); }

LaneClass affine(unsigned align, const Pattern* steps, Pattern offsets, unsigned bits) {
  for (int64_t& o : offsets) o = wrap(o, bits);
  LaneClass out;
  out.align_log2 = static_cast<uint8_t>(std::min(align, bits));
  if (steps != nullptr && *steps != kZeros) {
    out.shape = Shape::kScaled;
    out.steps = intern_pattern(*steps);
    out.offsets = offsets == kZeros ? nullptr : intern_pattern(offsets);
  } else if (offsets != kZeros) {
    out.shape = Shape::kPattern;
    out.offsets = intern_pattern(offsets);
  } else {
    out.shape = Shape::kUniform;
  }
  return has_patterns(bits) || out.is_uniform() ? out : LaneClass::vector();
}

uint64_t mask_of(unsigned bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

/// Notes a bound, when it says anything.
LaneClass bounded(LaneClass c, unsigned width, unsigned bits) {
  if (!c.constant && !c.is_vector() && c.shape != Shape::kBottom && width < bits) c.width = static_cast<uint8_t>(width);
  return c;
}

LaneClass constant_class(uint64_t v, unsigned bits) {
  return LaneClass::of_constant(bits >= 64 ? v : v & ((uint64_t{1} << bits) - 1));
}

}  // namespace

int64_t wrap(int64_t v, unsigned bits) {
  if (bits >= 64) return v;
  const unsigned s = 64 - bits;
  return static_cast<int64_t>(static_cast<uint64_t>(v) << s) >> s;
}

unsigned alignment_of(const LaneClass& c, unsigned bits) {
  if (c.constant) return *c.constant == 0 ? bits : std::min<unsigned>(std::countr_zero(*c.constant), bits);
  return std::min<unsigned>(c.align_log2, bits);
}
unsigned width_of(const LaneClass& c, unsigned bits) {
  if (c.constant && bits <= 64) return static_cast<unsigned>(std::bit_width(*c.constant & mask_of(bits)));
  return std::min<unsigned>(c.width, bits);
}
const Pattern& offsets_of(const LaneClass& c) { return c.offsets == nullptr ? kZeros : *c.offsets; }
int64_t lowest(const Pattern& p) { return *std::min_element(p.begin(), p.end()); }
int64_t highest(const Pattern& p) { return *std::max_element(p.begin(), p.end()); }

static LaneClass sum(const LaneClass& a, const LaneClass& b, unsigned bits, bool subtract) {
  if (is_bottom(a, b)) return {};
  if (either_vector(a, b)) return LaneClass::vector();
  if (a.constant && b.constant && bits <= 64)
    return constant_class(subtract ? *a.constant - *b.constant : *a.constant + *b.constant, bits);
  if (a.steps != nullptr && b.steps != nullptr && a.steps != b.steps) return LaneClass::vector();
  const Pattern offsets = each_lane(offsets_of(a), offsets_of(b), [&](int64_t x, int64_t y) {
    const auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
    return static_cast<int64_t>(subtract ? ux - uy : ux + uy);
  });
  return affine(std::min(alignment_of(a, bits), alignment_of(b, bits)), a.steps != nullptr ? a.steps : b.steps, offsets,
                bits);
}

LaneClass class_of_add(const LaneClass& a, const LaneClass& b, unsigned bits) {
  const LaneClass out = sum(a, b, bits, false);
  const unsigned x = width_of(a, bits), y = width_of(b, bits);
  return bounded(out, x == 0 ? y : y == 0 ? x : std::max(x, y) + 1, bits);
}
LaneClass class_of_sub(const LaneClass& a, const LaneClass& b, unsigned bits) { return sum(a, b, bits, true); }

static LaneClass product(const LaneClass& a, const LaneClass& b, unsigned bits) {
  if (is_bottom(a, b)) return {};
  if (either_vector(a, b)) return LaneClass::vector();
  if (a.constant && b.constant && bits <= 64) return constant_class(*a.constant * *b.constant, bits);
  if (!a.is_uniform() && !b.is_uniform()) return LaneClass::vector();
  const LaneClass& v = a.is_uniform() ? b : a;  // the one that may vary
  const LaneClass& u = a.is_uniform() ? a : b;
  const unsigned align = std::min(alignment_of(a, bits) + alignment_of(b, bits), bits);
  if (v.is_uniform()) return LaneClass::uniform(align);
  if (u.constant) {
    if (wrapping(*u.constant, bits) == 0) return constant_class(0, bits);
    const Pattern offsets = each_lane(offsets_of(v), kZeros, [&](int64_t x, int64_t) {
      return static_cast<int64_t>(static_cast<uint64_t>(x) * *u.constant);
    });
    return affine(align, v.steps, offsets, bits);
  }
  if (v.shape == Shape::kPattern) return affine(align, v.offsets, kZeros, bits);
  return v.offsets == nullptr ? affine(align, v.steps, kZeros, bits) : LaneClass::vector();
}

LaneClass class_of_mul(const LaneClass& a, const LaneClass& b, unsigned bits) {
  return bounded(product(a, b, bits), width_of(a, bits) + width_of(b, bits), bits);
}

static LaneClass bitwise(Bitwise op, const LaneClass& a, const LaneClass& b, unsigned bits, unsigned* split) {
  *split = bits;
  const auto apply = [op](uint64_t x, uint64_t y) {
    return op == Bitwise::kAnd ? x & y : op == Bitwise::kOr ? x | y : x ^ y;
  };
  if (is_bottom(a, b)) return {};
  if (either_vector(a, b)) return LaneClass::vector();
  if (a.constant && b.constant && bits <= 64) return constant_class(apply(*a.constant, *b.constant), bits);
  if (a.is_uniform() && b.is_uniform()) {
    const unsigned x = alignment_of(a, bits), y = alignment_of(b, bits);
    return LaneClass::uniform(op == Bitwise::kAnd ? std::max(x, y) : std::min(x, y));
  }
  if (a.steps != nullptr || b.steps != nullptr || !has_patterns(bits)) return LaneClass::vector();
  // A constant is split where the other operand's base begins.
  const unsigned at = std::min(a.constant ? bits : alignment_of(a, bits), b.constant ? bits : alignment_of(b, bits));
  *split = at;
  const uint64_t low = at >= 64 ? ~uint64_t{0} : (uint64_t{1} << at) - 1;
  const auto low_part = [&](const LaneClass& c, Pattern* out) {
    if (c.constant) {
      out->fill(static_cast<int64_t>(*c.constant & low));
      return true;
    }
    *out = offsets_of(c);
    return std::all_of(out->begin(), out->end(), [&](int64_t o) {
      const uint64_t v = bits == 32 ? static_cast<uint32_t>(o) : static_cast<uint64_t>(o);
      return at >= bits || v <= low;
    });
  };
  Pattern x, y;
  if (!low_part(a, &x) || !low_part(b, &y)) return LaneClass::vector();
  const Pattern offsets = each_lane(x, y, [&](int64_t p, int64_t q) {
    return static_cast<int64_t>(apply(static_cast<uint64_t>(p), static_cast<uint64_t>(q)));
  });
  // Without an alignment of its own a constant has the bits from `at` up: those are a multiple of 2^at.
  return affine(at, nullptr, offsets, bits);
}

LaneClass class_of_bitwise(Bitwise op, const LaneClass& a, const LaneClass& b, unsigned bits, unsigned* split) {
  const unsigned x = width_of(a, bits), y = width_of(b, bits);
  return bounded(bitwise(op, a, b, bits, split), op == Bitwise::kAnd ? std::min(x, y) : std::max(x, y), bits);
}

static LaneClass shifted_right(const LaneClass& a, const LaneClass& amount, unsigned bits, bool arithmetic) {
  if (either_vector(a, amount) || !amount.is_uniform()) return LaneClass::vector();
  if (!amount.constant) return a.is_uniform() ? LaneClass::uniform() : LaneClass::vector();
  const auto k = static_cast<unsigned>(std::min<uint64_t>(*amount.constant & 0xffffffffu, bits));
  if (a.constant && bits <= 64) {
    const int64_t s = wrapping(*a.constant, bits);
    if (arithmetic) return constant_class(static_cast<uint64_t>(s >> std::min(k, 63u)), bits);
    return constant_class(k >= bits ? 0 : constant_class(*a.constant, bits).constant.value() >> k, bits);
  }
  const unsigned align = alignment_of(a, bits);
  if (a.is_uniform()) return LaneClass::uniform(align >= bits ? bits : align > k ? align - k : 0);
  if (a.steps != nullptr) return LaneClass::vector();
  const Pattern& offsets = offsets_of(a);
  if (align >= bits) {  // base zero: the lanes are known
    return affine(bits, nullptr,
                  each_lane(offsets, kZeros,
                            [&](int64_t o, int64_t) -> int64_t {
                              if (arithmetic) return wrap(o, bits) >> std::min(k, 63u);
                              const uint64_t v = bits == 32 ? static_cast<uint32_t>(o) : static_cast<uint64_t>(o);
                              return k >= bits ? 0 : static_cast<int64_t>(v >> k);
                            }),
                  bits);
  }
  if (lowest(offsets) < 0 || static_cast<uint64_t>(highest(offsets)) >> align != 0) return LaneClass::vector();
  return affine(align > k ? align - k : 0, nullptr,
                each_lane(offsets, kZeros, [&](int64_t o, int64_t) { return k >= 64 ? 0 : o >> k; }), bits);
}

LaneClass class_of_shift_right(const LaneClass& a, const LaneClass& amount, unsigned bits, bool arithmetic) {
  if (is_bottom(a, amount)) return {};
  const unsigned width = width_of(a, bits);
  if (a.is_vector() || !amount.constant || width >= bits) return shifted_right(a, amount, bits, arithmetic);
  // The sign bit is known to be clear, and nothing is left of a small number.
  const uint64_t k = *amount.constant & 0xffffffffu;
  if (k >= width) return constant_class(0, bits);
  return bounded(shifted_right(a, amount, bits, arithmetic), width - static_cast<unsigned>(k), bits);
}

LaneClass class_of_shift_left(const LaneClass& a, const LaneClass& amount, unsigned bits) {
  if (is_bottom(a, amount)) return {};
  if (either_vector(a, amount) || !amount.is_uniform()) return LaneClass::vector();
  if (!amount.constant) return a.is_uniform() ? LaneClass::uniform(alignment_of(a, bits)) : LaneClass::vector();
  const uint64_t k = *amount.constant & 0xffffffffu;
  if (bits > 64) return a.is_uniform() ? LaneClass::uniform() : LaneClass::vector();
  return class_of_mul(a, LaneClass::of_constant(k >= bits ? 0 : uint64_t{1} << k), bits);
}

static LaneClass truncated(const LaneClass& a, unsigned to) {
  if (a.shape == Shape::kBottom || a.is_vector()) return a;
  if (a.constant) return constant_class(*a.constant, to);
  if (a.steps == nullptr) return affine(a.align_log2, nullptr, offsets_of(a), to);
  Pattern steps = *a.steps;
  for (int64_t& s : steps) s = wrap(s, to);
  return affine(a.align_log2, &steps, offsets_of(a), to);
}

LaneClass class_of_trunc(const LaneClass& a, unsigned to) { return bounded(truncated(a, to), width_of(a, 128), to); }

static LaneClass extended(const LaneClass& a, unsigned from, unsigned to, bool is_signed, bool* guard) {
  *guard = false;
  if (a.shape == Shape::kBottom || a.is_vector()) return a;
  if (a.constant && from <= 64) {
    const uint64_t v = *constant_class(*a.constant, from).constant;
    if (to <= 64) return constant_class(is_signed ? static_cast<uint64_t>(wrapping(v, from)) : v, to);
    return LaneClass::uniform();
  }
  const unsigned align = alignment_of(a, from);
  const unsigned wide_align = align >= from ? to : align;
  if (a.is_uniform()) return LaneClass::uniform(wide_align);
  if (!has_patterns(from) || !has_patterns(to)) return LaneClass::vector();
  const Pattern& offsets = offsets_of(a);
  const int64_t lo = lowest(offsets), hi = highest(offsets);
  if (hi - lo >= kMaxSpan) return LaneClass::vector();
  if (a.steps != nullptr) {
    if (highest(*a.steps) - lowest(*a.steps) >= kMaxSpan) return LaneClass::vector();
    *guard = true;
    return affine(wide_align, a.steps, offsets, to);
  }
  if (align >= from && !is_signed && lo < 0) return LaneClass::vector();
  // Offsets below the base's alignment cannot carry into it.
  *guard = !(align >= from || (lo >= 0 && align < 63 && (hi >> align) == 0 && (!is_signed || align < from)));
  return affine(wide_align, nullptr, offsets, to);
}

LaneClass class_of_extend(const LaneClass& a, unsigned from, unsigned to, bool is_signed, bool* guard) {
  const LaneClass out = extended(a, from, to, is_signed, guard);
  if (a.shape == Shape::kBottom || a.is_vector()) return out;
  const unsigned width = width_of(a, from);
  if (width >= from) return is_signed ? out : bounded(out, from, to);
  // Numbers below half the range do not wrap when the base is one of them.
  if (a.steps == nullptr && lowest(offsets_of(a)) == 0) *guard = false;
  return bounded(out, width, to);
}

LaneClass class_of_choice(const LaneClass& a, const LaneClass& b) {
  if (a.shape == Shape::kBottom) return b;
  if (b.shape == Shape::kBottom || a == b) return a;
  return join(a, b);
}

}  // namespace warplens::codegen
