// SPDX-License-Identifier: Apache-2.0
// What the address of a device function is: a number that no allocation can have, so that a call through a wrong
// pointer is noticed. (Functions have no code in device memory here.)
#pragma once
#include <cstdint>

namespace warplens::exec {

constexpr uint64_t kFunctionHandles = 0x1000;  ///< all below the first valid address

/// Handle of Module::functions[index].
constexpr uint64_t function_handle(uint32_t index) { return kFunctionHandles + uint64_t{index} * 16; }

}  // namespace warplens::exec
