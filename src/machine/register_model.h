// SPDX-License-Identifier: Apache-2.0
// What the GPU's assembler makes of the values that a kernel needs at once: three numbers, fitted to one half of the
// kernels whose registers are known and checked on the other (tests/unit/session/registers_test.cpp). Apart from
// machine/registers.h so that the test can fit them.
#pragma once
#include <cstdint>

#include "ir/kernel.h"

namespace warplens::machine {

struct RegisterModel {
  uint32_t own = 10;           ///< stack pointer, halves of addresses, results of comparisons
  uint32_t full_sm = 32;       ///< registers with which 2048 threads fit
  uint32_t some_of_large = 5;  ///< 1 / share that loads in flight may add to a kernel that is above that
};

/// Of a kernel that needs `pressure` words at once and brings in `loads` words in one stretch of code.
uint32_t modelled_registers(const RegisterModel& model, uint32_t pressure, uint32_t loads);

/// 32-bit words that the load-richest stretch of straight code (within a block, between barriers) brings in.
uint32_t words_in_flight(const ir::Kernel& kernel);

}  // namespace warplens::machine
