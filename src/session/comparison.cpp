// SPDX-License-Identifier: Apache-2.0
#include "session/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"

namespace warplens::session {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<uint64_t> index_of(uint64_t linear, const std::vector<uint64_t>& shape) {
  std::vector<uint64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = linear % shape[i];
    linear /= shape[i];
  }
  return index;
}

/// How far an element is outside: 0 or less agrees. Infinite when only one side is a number.
double beyond(double actual, double expected, const UsedTolerance& t) {
  if (std::isnan(actual) || std::isnan(expected)) return std::isnan(actual) == std::isnan(expected) ? 0 : kInfinity;
  if (std::isinf(actual) || std::isinf(expected)) return actual == expected ? 0 : kInfinity;
  return std::fabs(actual - expected) - (t.absolute + t.relative * std::fabs(expected));
}

}  // namespace

UsedTolerance default_tolerance(ElementType type) {
  switch (type) {
    case ElementType::kF64: return {1e-7, 1e-7};
    case ElementType::kF32: return {1.3e-6, 1e-5};
    case ElementType::kF16: return {1e-3, 1e-5};
    case ElementType::kBF16: return {1.6e-2, 1e-5};
    default: return {0, 0};
  }
}

Status check_comparable(ElementType type, const std::vector<uint64_t>& shape, const Array& expected,
                        const std::string& name) {
  const bool types = type == expected.type || (kind_of(type) == 'f' && kind_of(expected.type) == 'f');
  if (types && shape == expected.shape) return Done{};
  return make_error(fmt::format("{} is {}, and the result is {}", name, describe(expected.type, expected.shape),
                                describe(type, shape)),
                    types ? fmt::format("write out:{}", describe(type, expected.shape)) : "the types must agree");
}

Comparison compare(const Array& actual, const Array& expected, const Tolerance& tolerance) {
  WL_CHECK(actual.count() == expected.count());
  // The coarser of two floating-point types decides.
  const ElementType coarser = bytes_of(actual.type) <= bytes_of(expected.type) ? actual.type : expected.type;
  Comparison c;
  c.tolerance = default_tolerance(coarser);
  if (tolerance.relative || tolerance.absolute)
    c.tolerance = {tolerance.relative.value_or(0), tolerance.absolute.value_or(0)};
  c.count = actual.count();
  double worst = -kInfinity;
  uint64_t worst_at = 0;
  const unsigned a_bytes = bytes_of(actual.type), e_bytes = bytes_of(expected.type);
  const bool exact = kind_of(actual.type) != 'f' && c.tolerance.relative == 0 && c.tolerance.absolute == 0;
  for (uint64_t i = 0; i < c.count; ++i) {
    const uint8_t *a = actual.bytes.data() + i * a_bytes, *e = expected.bytes.data() + i * e_bytes;
    const double x = value_of(actual.type, a), y = value_of(expected.type, e);
    double excess = beyond(x, y, c.tolerance);
    // Neighbours among 64-bit integers can be one double.
    if (exact && std::memcmp(a, e, a_bytes) != 0) excess = std::max(excess, 1.0);
    if (!(excess > 0)) continue;
    ++c.different;
    if (excess <= worst) continue;
    worst = excess;
    worst_at = i;
  }
  if (c.different == 0) return c;
  c.worst = index_of(worst_at, actual.shape);
  const uint8_t *a = actual.bytes.data() + worst_at * a_bytes, *e = expected.bytes.data() + worst_at * e_bytes;
  c.actual = text_of(actual.type, a);
  c.expected = text_of(expected.type, e);
  c.largest_difference = std::fabs(value_of(actual.type, a) - value_of(expected.type, e));
  return c;
}

std::string describe(const Comparison& c, const std::string& name) {
  const std::string tolerance = fmt::format("rtol {}, atol {}", c.tolerance.relative, c.tolerance.absolute);
  if (c.equal()) return fmt::format("{}: all {} elements agree ({})", name, c.count, tolerance);
  return fmt::format("{}: {} of {} elements differ; worst at [{}]: {}, expected {} ({})", name, c.different, c.count,
                     fmt::join(c.worst, ", "), c.actual, c.expected, tolerance);
}

}  // namespace warplens::session
