// SPDX-License-Identifier: Apache-2.0
// How generated code hands a register's 32 values to the interpreter (deoptimise.cpp): in the form in which it holds
// them, since bringing all into one form would be a good part of a kernel's code that hardly ever runs. One constant
// in the generated code for each register; wl_widen_registers brings the values into the interpreter's form.
#pragma once
#include <cstdint>

namespace warplens::codegen {

struct KeptRegister {
  uint32_t reg = 0;
  uint32_t bits = 0;  ///< of a value: 1, 8, 16, 32 or 64
  /// 1: the register's 256 bytes begin with 32 values (of 1 bit: one word of lanes). 0: they begin with two 64-bit
  /// words, base and scale, and a lane's value is base + scale * steps[lane] + offsets[lane]; null: zeros.
  uint64_t in_lanes = 0;
  const int64_t* steps = nullptr;
  const int64_t* offsets = nullptr;
  // Values beyond `infinity`, the sign aside, are to be written as `nan`; see LaneValue::lazy_nan. Zero: none.
  uint64_t infinity = 0;
  uint64_t nan = 0;
};

}  // namespace warplens::codegen
