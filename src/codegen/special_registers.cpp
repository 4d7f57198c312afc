// SPDX-License-Identifier: Apache-2.0
// Special registers and what is known of them: %tid by the class of block shapes, %laneid and the lane masks always;
// block and grid coordinates are uniform. Clocks and the other registers that move with time are read through a hook.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include <bit>

#include "base/bits.h"
#include "codegen/lane_emitter.h"
#include "exec/warp_context.h"

namespace warplens::codegen {
namespace {

using ptx::SpecialReg;

Pattern pattern_of(int64_t (*f)(int64_t lane, unsigned k), unsigned k) {
  Pattern p;
  for (int64_t l = 0; l < kWarpSize; ++l) p[static_cast<size_t>(l)] = f(l, k);
  return p;
}

/// A lane mask as a 32-bit offset.
int64_t wrap_mask(uint64_t mask) { return static_cast<int32_t>(static_cast<uint32_t>(mask)); }

/// Bound of a register as a power of two: the limits of CUDA's launches (documented; all architectures agree).
uint8_t width_of_register(SpecialReg r) {
  switch (r) {
    case SpecialReg::kTidX:
    case SpecialReg::kTidY: return 10;
    case SpecialReg::kTidZ: return 6;
    case SpecialReg::kNtidX:
    case SpecialReg::kNtidY: return 11;
    case SpecialReg::kNtidZ: return 7;
    case SpecialReg::kCtaidX: return 31;
    case SpecialReg::kCtaidY:
    case SpecialReg::kCtaidZ:
    case SpecialReg::kNctaidY:
    case SpecialReg::kNctaidZ: return 16;
    case SpecialReg::kLaneid:
    case SpecialReg::kWarpid: return 5;
    default: return 128;
  }
}

/// Offset in WarpContext of a uniform 32-bit register, or -1.
long field_of(SpecialReg r) {
  using W = exec::WarpContext;
  const auto component = [](size_t base, SpecialReg first, SpecialReg r) {
    return static_cast<long>(base + 4 * (static_cast<size_t>(r) - static_cast<size_t>(first)));
  };
  if (r >= SpecialReg::kNtidX && r <= SpecialReg::kNtidZ) return component(offsetof(W, ntid), SpecialReg::kNtidX, r);
  if (r >= SpecialReg::kCtaidX && r <= SpecialReg::kCtaidZ)
    return component(offsetof(W, ctaid), SpecialReg::kCtaidX, r);
  if (r >= SpecialReg::kNctaidX && r <= SpecialReg::kNctaidZ)
    return component(offsetof(W, nctaid), SpecialReg::kNctaidX, r);
  if (r >= SpecialReg::kClusteridX && r <= SpecialReg::kClusteridZ)
    return component(offsetof(W, clusterid), SpecialReg::kClusteridX, r);
  if (r >= SpecialReg::kNclusteridX && r <= SpecialReg::kNclusteridZ)
    return component(offsetof(W, nclusterid), SpecialReg::kNclusteridX, r);
  if (r >= SpecialReg::kClusterCtaidX && r <= SpecialReg::kClusterCtaidZ)
    return component(offsetof(W, cluster_ctaid), SpecialReg::kClusterCtaidX, r);
  if (r >= SpecialReg::kClusterNctaidX && r <= SpecialReg::kClusterNctaidZ)
    return component(offsetof(W, cluster_nctaid), SpecialReg::kClusterNctaidX, r);
  return r == SpecialReg::kWarpid ? static_cast<long>(offsetof(W, warp)) : -1;
}

}  // namespace

LaneValue LaneEmitter::special(ptx::SpecialReg reg, unsigned index) {
  LaneValue v = read_special(reg, index);
  if (!v.cls.is_vector() && !v.cls.constant) v.cls.width = width_of_register(reg);
  return v;
}

LaneValue LaneEmitter::read_special(ptx::SpecialReg reg, unsigned index) {
  const Elem elem = elem_of(ptx::type_of(reg));
  const unsigned width = width_of(source_.shape);
  const auto load = [&](size_t offset, bool vector) -> llvm::Value* {
    return e_ == nullptr ? nullptr : e_->load_field(offset, type(Elem::kI32, vector));
  };
  const auto known = [&](const Pattern& p) {  // the same lanes in every warp
    LaneValue v;
    v.cls = LaneClass::pattern(p, 32);
    if (e_ != nullptr) v.base = ir().getInt32(0);
    return v;
  };
  LaneValue out;
  out.elem = Elem::kI32;
  switch (reg) {
    case SpecialReg::kTidX: {
      const size_t field = offsetof(exec::WarpContext, tid_x);
      if (!source_.lane_classes || width == 0) return vector_value(Elem::kI32, load(field, true));
      if (width < 32) {
        if (width == 1) return constant(Elem::kI32, 0);
        return known(pattern_of([](int64_t l, unsigned w) { return l & (static_cast<int64_t>(w) - 1); }, width));
      }
      out.cls = LaneClass::pattern(pattern_of([](int64_t l, unsigned) { return l; }, 0), 5);
      out.base = load(field, false);
      return out;
    }
    case SpecialReg::kTidY: {
      const size_t field = offsetof(exec::WarpContext, tid_y);
      if (!source_.lane_classes || width == 0) return vector_value(Elem::kI32, load(field, true));
      if (width == 32) return uniform_value(Elem::kI32, load(field, false));
      const unsigned rows = 32 / width;
      const auto shift = static_cast<unsigned>(std::countr_zero(width));
      out.cls = LaneClass::pattern(pattern_of([](int64_t l, unsigned k) { return l >> k; }, shift),
                                   static_cast<unsigned>(std::countr_zero(rows)));
      out.base = load(field, false);
      return out;
    }
    case SpecialReg::kTidZ: {
      const size_t field = offsetof(exec::WarpContext, tid_z);
      if (!source_.lane_classes || width == 0) return vector_value(Elem::kI32, load(field, true));
      return uniform_value(Elem::kI32, load(field, false));
    }
    case SpecialReg::kLaneid: return source_.lane_classes ? lane_index() : widened(lane_index());
    case SpecialReg::kLanemaskEq:
      return widened(known(pattern_of([](int64_t l, unsigned) { return wrap_mask(1ull << l); }, 0)));
    case SpecialReg::kLanemaskLe:
      return widened(known(pattern_of([](int64_t l, unsigned) { return wrap_mask((2ull << l) - 1); }, 0)));
    case SpecialReg::kLanemaskLt:
      return widened(known(pattern_of([](int64_t l, unsigned) { return wrap_mask((1ull << l) - 1); }, 0)));
    case SpecialReg::kLanemaskGe:
      return widened(known(pattern_of([](int64_t l, unsigned) { return wrap_mask(~0ull << l); }, 0)));
    case SpecialReg::kLanemaskGt:
      return widened(known(pattern_of([](int64_t l, unsigned) { return wrap_mask(~0ull << 1 << l); }, 0)));
    default: break;
  }
  LaneValue v;
  if (const long field = field_of(reg); field >= 0) {
    // Of the shape's class: the width is a multiple of 32, or known.
    if (reg == SpecialReg::kNtidX && source_.lane_classes && width != 0 && width < 32)
      return constant(Elem::kI32, width);
    const unsigned align = reg == SpecialReg::kNtidX && source_.lane_classes && width == 32 ? 5 : 0;
    v = uniform_value(Elem::kI32, load(static_cast<size_t>(field), false), align);
  } else {
    v = uniform_value(elem, nullptr);
    if (e_ != nullptr) {
      llvm::Value* raw = ir().CreateCall(e_->hook("wl_special_register"),
                                         {e_->warp, ir().getInt32(static_cast<uint32_t>(reg)), ir().getInt32(index)});
      v.base = ir().CreateZExtOrTrunc(raw, type(elem, false));
    }
  }
  return source_.lane_classes ? v : widened(v);
}

}  // namespace warplens::codegen
