// SPDX-License-Identifier: Apache-2.0
// Arithmetic in a rounding mode other than to-nearest, for machines whose instructions cannot name one: the numbers of
// the operations that the hook wl_rounded knows. Lanes are 64-bit words that hold the operand's bits.
#pragma once
#include <cstdint>

namespace warplens::codegen {

enum class RoundedOp : uint32_t { kAdd, kSub, kMul, kDiv, kFma, kSqrt, kFromSigned, kFromUnsigned };
/// Operation, then bit 8 for f64 results (else f32).
constexpr uint32_t rounded_op_code(RoundedOp op, bool is_double) {
  return static_cast<uint32_t>(op) | (is_double ? 256u : 0u);
}

}  // namespace warplens::codegen
