// SPDX-License-Identifier: Apache-2.0
// Copies of 16-byte aligned objects. For `out[i] = in[i]` with float4, clang leaves a memcpy of 16 bytes that its PTX
// writer splits into two 8-byte accesses; of `float4 v = in[i]` it reads the components that are used, one by one. nvcc
// makes one 16-byte access of both. An access more is a request more, so the copy is written as the vector load and
// store that it stands for, in the LLVM text between the steps of the device half: before the optimiser, which would
// otherwise take objects apart, and after it for what it leaves or makes.
#pragma once
#include <string>

namespace warplens {

/// Replaces, in LLVM text that is not optimised yet, each copy of an object of 16, 32, 48 or 64 bytes (a memcpy with
/// !tbaa.struct) from or to memory that is not the function's own by loads and stores of 16-byte vectors. The element
/// is the object's smallest field, so that the optimiser can still keep the other side in registers.
std::string widen_object_copies(const std::string& ir);

/// Replaces each memcpy of 16, 32, 48 or 64 bytes between 16-byte aligned places in LLVM text by loads and stores of
/// <4 x i32>: all loads first, since the places may be the same object.
std::string widen_copies(const std::string& ir);

}  // namespace warplens
