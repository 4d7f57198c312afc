// SPDX-License-Identifier: Apache-2.0
// Lane classes: what is known at compile time about the 32 lane values of a register. This knowledge is what makes the
// engine fast: addresses stay scalar, loads become contiguous, and counting becomes a constant.
//
//   uniform   value[l] = base
//   pattern   value[l] = base + offsets[l]                     (offsets: compile-time constants)
//   scaled    value[l] = base + scale * steps[l] + offsets[l]  (base, scale: run-time scalars)
//   vector    anything
//
// All arithmetic is modulo 2^bits of the register. The lattice is bottom < constant < uniform / pattern / scaled <
// vector; two different patterns join to vector. `align_log2` is what is known of the base: it is a multiple of
// 2^align_log2; `width` bounds the values of non-vectors: thread indices are small, which makes signed divisions of
// them shifts.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

namespace warplens::codegen {

/// 32 lane offsets, sign-extended to 64 bits; interned, so equal patterns have equal addresses.
using Pattern = std::array<int64_t, 32>;
const Pattern* intern_pattern(const Pattern& p);

enum class Shape : uint8_t { kBottom, kUniform, kPattern, kScaled, kVector };

struct LaneClass {
  Shape shape = Shape::kBottom;
  std::optional<uint64_t> constant;  ///< uniform of known value
  uint8_t align_log2 = 0;            ///< of the base (constant: implied by the value)
  const Pattern* offsets = nullptr;  ///< kPattern; kScaled: may be null (all zero)
  const Pattern* steps = nullptr;    ///< kScaled
  uint8_t width = 128;               ///< every lane, as unsigned number, is below 2^width (a constant's is implied)

  static LaneClass uniform(unsigned align = 0) {
    return {Shape::kUniform, {}, static_cast<uint8_t>(align), nullptr, nullptr, 128};
  }
  static LaneClass of_constant(uint64_t v) { return {Shape::kUniform, v, 0, nullptr, nullptr, 128}; }
  static LaneClass pattern(const Pattern& p, unsigned align) {
    return {Shape::kPattern, {}, static_cast<uint8_t>(align), intern_pattern(p), nullptr, 128};
  }
  static LaneClass vector() { return {Shape::kVector, {}, 0, nullptr, nullptr, 128}; }
  bool is_uniform() const { return shape == Shape::kUniform; }
  bool is_vector() const { return shape == Shape::kVector; }
  friend bool operator==(const LaneClass&, const LaneClass&) = default;
};

/// Least upper bound.
LaneClass join(const LaneClass& a, const LaneClass& b);

/// Whether generated code keeps values of either class alike.
bool same_form(const LaneClass& a, const LaneClass& b);

}  // namespace warplens::codegen
