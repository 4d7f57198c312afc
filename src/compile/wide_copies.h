// SPDX-License-Identifier: Apache-2.0
// Copies of 16-byte aligned objects. For `out[i] = in[i]` with float4, clang leaves a memcpy of 16 bytes that its PTX
// writer splits into two 8-byte accesses, where nvcc makes one 16-byte access. An access more is a request more, so the
// copy is written as the vector load and store that it stands for, in the LLVM text between the two steps of the device
// half.
#pragma once
#include <string>

namespace warplens {

/// Replaces each memcpy of 16, 32, 48 or 64 bytes between 16-byte aligned places in LLVM text by loads and stores of
/// <4 x i32>: all loads first, since the places may be the same object.
std::string widen_copies(const std::string& ir);

}  // namespace warplens
