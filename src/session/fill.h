// SPDX-License-Identifier: Apache-2.0
// Arrays made from a few words, as --arg has them: "f32[512,512]=random:7". Random numbers come from a generator that
// is written down in docs/bare-ptx.md, so that a test elsewhere can make the same array: element i of seed s is drawn
// from splitmix64's output number i + 1 for the state s.
#pragma once
#include <string>

#include "base/result.h"
#include "session/element_type.h"

namespace warplens::session {

struct Fill {
  enum class Kind : uint8_t { kZeros, kOnes, kIota, kRandom, kConstant, kPoison };
  Kind kind = Kind::kZeros;
  uint64_t seed = 0;
  double low = 0, high = 1;  ///< kRandom: low <= x < high
  uint64_t bits = 0;         ///< kConstant: raw bits of the element
};

/// "zeros", "ones", "iota" (or "arange"), "random[:SEED[:LOW:HIGH]]", "poison" (all bits set), or a number. `what`
/// names the argument in messages. Without LOW and HIGH random numbers are in [0, 1), whole ones in [0, 100), bool 0
/// or 1.
Result<Fill> parse_fill(std::string_view text, ElementType type, const std::string& what);

/// The array. Iota counts 0, 1, 2 ... in row-major order, wrapping as the type does.
Array make_array(ElementType type, std::vector<uint64_t> shape, const Fill& fill);

}  // namespace warplens::session
