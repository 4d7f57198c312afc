// SPDX-License-Identifier: Apache-2.0
// Chapter: atomics ("Parallel Synchronization and Communication Instructions: atom, red"). The reference says how
// memory's old value and the operands make the new one; executors do the rest, always with the strongest order and
// widest scope, which every weaker one permits. Compilers write order, scope and space in more than one sequence, so
// the forms have their slots twice. f32 addition flushes subnormals on global memory and keeps them on shared memory
// [documented].
#include <algorithm>

#include "ops/chapters.h"
#include "ops/float_format.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

uint64_t sum_of_floats(const FloatFormat& f, uint64_t x, uint64_t y) {
  return pack(f, add(unpack(f, x), unpack(f, y), Rounding::kNearestEven), Rounding::kNearestEven);
}
uint64_t sum(const AtomicArgs& a, Type type) {
  switch (type) {
    case Type::kF32: {
      // Which of the two happens is decided by where the address points; only written spaces are known here.
      const bool flush = a.instr.space() == ptx::Space::kGlobal;
      const auto ftz = [&](uint64_t v) { return flush ? flush_subnormal(kF32, v) : v; };
      return ftz(sum_of_floats(kF32, ftz(a.old), ftz(a.a)));
    }
    case Type::kF64: {
      if (is_nan(kF64, a.a)) return quiet(kF64, a.a);
      return is_nan(kF64, a.old) ? quiet(kF64, a.old) : sum_of_floats(kF64, a.old, a.a);
    }
    case Type::kF16:
    case Type::kBF16: return sum_of_floats(format_of(type), a.old, a.a);
    case Type::kF16x2:
    case Type::kBF16x2:
      return each_half(
          [&](uint16_t x, uint16_t y, uint16_t) { return static_cast<uint16_t>(sum_of_floats(format_of(type), x, y)); },
          a.old, a.a);
    default: return a.old + a.a;
  }
}
uint64_t pick(const AtomicArgs& a, Type type, bool larger) {
  const unsigned bits = ptx::bits_of(type);
  const bool less = ptx::is_signed(type) ? as_signed(a.a, bits) < as_signed(a.old, bits) : a.a < a.old;
  return less != larger ? a.a : a.old;
}
uint64_t combine(const AtomicArgs& a) {
  const Type type = a.instr.type();
  const std::string_view op = a.instr.word("op");
  const auto keep = [&](uint64_t v) { return v & low_bits(ptx::bits_of(type)); };
  if (op == "add") return keep(sum(a, type));
  if (op == "exch") return a.a;
  if (op == "cas") return a.old == a.a ? a.b : a.old;
  if (op == "and") return a.old & a.a;
  if (op == "or") return a.old | a.a;
  if (op == "xor") return a.old ^ a.a;
  if (op == "inc") return a.old >= a.a ? 0 : a.old + 1;
  if (op == "dec") return a.old == 0 || a.old > a.a ? a.a : a.old - 1;
  return pick(a, type, op == "max");
}

#define WL_SECTION "Parallel Synchronization and Communication Instructions: "
#define WL_HEAD "{.sem}{.scope}{.space}{.scope2}"
#define WL_TAIL "{.sem3}{.scope3}{.level}"
#define WL_WORDS                                                                                                  \
  ".sem = .sem3 = {.relaxed, .acquire, .release, .acq_rel}; .scope = .scope2 = .scope3 = {.cta, .cluster, .gpu, " \
  ".sys}; .space = {.global, .shared, .shared::cta, .shared::cluster}; .level = {.L2::cache_hint}; "
#define WL_ATOM(op_words, type_words, more)                                                         \
  "atom" WL_HEAD ".op" WL_TAIL ".type d, [a], b" more ", policy:b64?; " WL_WORDS ".op = {" op_words \
  "}; .type = {" type_words "}"
#define WL_RED(op_words, type_words) \
  "red" WL_HEAD ".op" WL_TAIL ".type [a], b, policy:b64?; " WL_WORDS ".op = {" op_words "}; .type = {" type_words "}"
#define WL_NOFTZ(start, operands)                                                \
  start WL_HEAD ".op.noftz" WL_TAIL ".type " operands ", policy:b64?; " WL_WORDS \
                ".op = {.add}; .type = {.f16, .f16x2, .bf16, .bf16x2}"
constexpr OpDef kRows[] = {
    {.form = WL_ATOM(".add", ".u32, .s32, .u64, .s64, .f32, .f64", ""),
     .spec = {WL_SECTION "atom", 1, 1, 11},
     .role = Role::kAtomic,
     .pipe = Pipe::kLsu,
     .reference = {.atomic = combine}},
    {.form = WL_NOFTZ("atom", "d, [a], b"),
     .spec = {WL_SECTION "atom", 6, 3, 70},
     .role = Role::kAtomic,
     .pipe = Pipe::kLsu,
     .reference = {.atomic = combine}},
    {.form = WL_ATOM(".and, .or, .xor", ".b32, .b64", ""),
     .spec = {WL_SECTION "atom", 1, 1, 11},
     .role = Role::kAtomic,
     .pipe = Pipe::kLsu,
     .reference = {.atomic = combine}},
    {.form = WL_ATOM(".exch", ".b32, .b64", ""),
     .spec = {WL_SECTION "atom", 1, 1, 11},
     .role = Role::kAtomic,
     .pipe = Pipe::kLsu,
     .reference = {.atomic = combine}},
    {.form = WL_ATOM(".cas", ".b16, .b32, .b64", ", c"),
     .spec = {WL_SECTION "atom", 1, 1, 11},
     .role = Role::kAtomic,
     .pipe = Pipe::kLsu,
     .reference = {.atomic = combine}},
    {.form = WL_ATOM(".inc, .dec", ".u32", ""),
     .spec = {WL_SECTION "atom", 1, 1, 11},
     .role = Role::kAtomic,
     .pipe = Pipe::kLsu,
     .reference = {.atomic = combine}},
    {.form = WL_ATOM(".min, .max", ".u32, .s32, .u64, .s64", ""),
     .spec = {WL_SECTION "atom", 1, 1, 11},
     .role = Role::kAtomic,
     .pipe = Pipe::kLsu,
     .reference = {.atomic = combine}},
    {.form = "atom" WL_HEAD ".op" WL_TAIL ".type d:any, [a], b:any, c:any?, policy:b64?; " WL_WORDS
             ".op = {.exch, .cas}; .type = {.b128}",
     .spec = {WL_SECTION "atom", 8, 4, 90},
     .role = Role::kAtomic,
     .pipe = Pipe::kLsu,
     .unsupported = "128-bit registers are not held yet"},
    {.form =
         "atom" WL_HEAD ".vec.op{.noftz}{.level}.type d:vec, [a], b:vec, policy:b64?; .sem = {.relaxed, .acquire, "
         ".release, .acq_rel}; .scope = .scope2 = {.cta, .cluster, .gpu, .sys}; .space = {.global}; .vec = {.v2, .v4, "
         ".v8}; .op = {.add, .min, .max}; .level = {.L2::cache_hint}; .type = {.f16, .f16x2, .bf16, .bf16x2, .f32}",
     .spec = {WL_SECTION "atom", 8, 1, 90},
     .role = Role::kAtomic,
     .pipe = Pipe::kLsu,
     .unsupported = "vector atomics are not run yet"},
    {.form = WL_RED(".add", ".u32, .s32, .u64, .s64, .f32, .f64"),
     .spec = {WL_SECTION "red", 1, 2, 11},
     .role = Role::kReduction,
     .pipe = Pipe::kLsu,
     .reference = {.atomic = combine}},
    {.form = WL_NOFTZ("red", "[a], b"),
     .spec = {WL_SECTION "red", 6, 3, 70},
     .role = Role::kReduction,
     .pipe = Pipe::kLsu,
     .reference = {.atomic = combine}},
    {.form = WL_RED(".and, .or, .xor", ".b32, .b64"),
     .spec = {WL_SECTION "red", 1, 2, 11},
     .role = Role::kReduction,
     .pipe = Pipe::kLsu,
     .reference = {.atomic = combine}},
    {.form = WL_RED(".inc, .dec", ".u32"),
     .spec = {WL_SECTION "red", 1, 2, 11},
     .role = Role::kReduction,
     .pipe = Pipe::kLsu,
     .reference = {.atomic = combine}},
    {.form = WL_RED(".min, .max", ".u32, .s32, .u64, .s64"),
     .spec = {WL_SECTION "red", 1, 2, 11},
     .role = Role::kReduction,
     .pipe = Pipe::kLsu,
     .reference = {.atomic = combine}},
    {.form =
         "red" WL_HEAD ".vec.op{.noftz}{.level}.type [a], b:vec, policy:b64?; .sem = {.relaxed, .release}; .scope = "
         ".scope2 = {.cta, .cluster, .gpu, .sys}; .space = {.global}; .vec = {.v2, .v4, .v8}; .op = {.add, .min, "
         ".max}; .level = {.L2::cache_hint}; .type = {.f16, .f16x2, .bf16, .bf16x2, .f32}",
     .spec = {WL_SECTION "red", 8, 1, 90},
     .role = Role::kReduction,
     .pipe = Pipe::kLsu,
     .unsupported = "vector atomics are not run yet"},
    {.form =
         "red.async{.sem}{.scope}{.space}{.completion}.op.type [a], b, [mbar]; .sem = {.relaxed}; .scope = {.cluster}; "
         ".space = {.shared::cluster}; .completion = {.mbarrier::complete_tx::bytes}; .op = {.add, .inc, .dec, .min, "
         ".max, .and, .or, .xor}; .type = {.u32, .s32, .u64, .b32}",
     .spec = {WL_SECTION "red.async", 8, 1, 90},
     .pipe = Pipe::kLsu,
     .unsupported = "asynchronous operations on a cluster's shared memory are not run yet"},
};

}  // namespace

Chapter atomic_chapter() { return kRows; }

}  // namespace warplens::ops
