// SPDX-License-Identifier: Apache-2.0
// The lattice of lane classes: interned patterns and the join. Arithmetic on classes is in lane_algebra.cpp.
#include "codegen/lane_class.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <set>

namespace warplens::codegen {
namespace {

uint8_t alignment(const LaneClass& c) {
  if (c.constant) return *c.constant == 0 ? 64 : static_cast<uint8_t>(std::countr_zero(*c.constant));
  return c.align_log2;
}

uint8_t bound(const LaneClass& c) { return c.constant ? static_cast<uint8_t>(std::bit_width(*c.constant)) : c.width; }

}  // namespace

const Pattern* intern_pattern(const Pattern& p) {
  // Lives as long as the process: the patterns of all kernels are a few hundred at most, and code may refer to them.
  static std::mutex mutex;
  static std::set<Pattern>* patterns = new std::set<Pattern>;
  const std::lock_guard lock(mutex);
  return &*patterns->insert(p).first;
}

LaneClass join(const LaneClass& a, const LaneClass& b) {
  if (a.shape == Shape::kBottom) return b;
  if (b.shape == Shape::kBottom || a == b) return a;
  if (a.shape != b.shape || a.shape == Shape::kVector || a.offsets != b.offsets || a.steps != b.steps)
    return LaneClass::vector();
  LaneClass out = a;
  out.constant.reset();
  out.align_log2 = std::min(alignment(a), alignment(b));
  out.width = std::max(bound(a), bound(b));
  return out;
}

bool same_form(const LaneClass& a, const LaneClass& b) {
  return a.shape == b.shape && a.constant == b.constant && a.offsets == b.offsets && a.steps == b.steps;
}

}  // namespace warplens::codegen
