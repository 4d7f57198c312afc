// SPDX-License-Identifier: Apache-2.0
// Compares what a kernel wrote with what was expected, by NumPy's rule: an element agrees when
// |actual - expected| <= atol + rtol * |expected|. NaN agrees with NaN, an infinity with itself; integers must be equal
// unless tolerances are given.
#pragma once
#include <optional>
#include <string>

#include "base/result.h"
#include "session/element_type.h"

namespace warplens::session {

struct Tolerance {
  std::optional<double> relative, absolute;  ///< nothing: default_tolerance() of the type
};
struct UsedTolerance {
  double relative = 0, absolute = 0;
};
/// About half the digits of the type: f64 1e-7, f32 1.3e-6 and 1e-5, f16 1e-3, bf16 1.6e-2; 0 for whole numbers.
UsedTolerance default_tolerance(ElementType type);

struct Comparison {
  uint64_t count = 0, different = 0;
  std::vector<uint64_t> worst;    ///< index of the element that is furthest beyond its tolerance
  std::string actual, expected;   ///< that element's values
  double largest_difference = 0;  ///< of that element; NaN where only one side is a number
  UsedTolerance tolerance;
  bool equal() const { return different == 0; }
};

/// Whether the arrays can be compared: equal shapes, both floating point or the same type. `name` is the file's.
Status check_comparable(ElementType type, const std::vector<uint64_t>& shape, const Array& expected,
                        const std::string& name);
/// Needs comparable arrays.
Comparison compare(const Array& actual, const Array& expected, const Tolerance& tolerance);
/// "y.npy: 3 of 4096 elements differ; worst at [17, 3]: 0.5, expected 0.25 (rtol 1e-5, atol 0)".
std::string describe(const Comparison& comparison, const std::string& name);

}  // namespace warplens::session
