// SPDX-License-Identifier: Apache-2.0
// Device functions that the engine supplies: PTX from clang calls the mathematical functions of CUDA (sinf, pow, erf,
// ...) as external `__nv_*` functions that a device library would define. They are defined here, one lane at a time,
// with the host's libm; single precision is computed in double and rounded once, so results are within the error bounds
// that CUDA documents for them, though not the GPU library's bits. printf, assert, malloc and free are not here:
// executors run those.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace warplens::ops {

/// How a function reaches memory through the generic pointers it is given (sincos, frexp, modf, norm ...).
class BuiltinMemory {
 public:
  virtual ~BuiltinMemory() = default;
  virtual uint64_t load(uint64_t generic_address, unsigned bytes) = 0;
  virtual void store(uint64_t generic_address, uint64_t bits, unsigned bytes) = 0;
};

/// One call of one lane: raw bits of each argument, in order; raw bits of the result (none for void functions).
using BuiltinFunction = void (*)(std::span<const uint64_t> args, std::span<uint64_t> results, BuiltinMemory& memory);

struct Builtin {
  std::string_view name;
  BuiltinFunction function;
  uint8_t arguments, results;
};

/// The function of that name, or null.
const Builtin* find_builtin(std::string_view name);
/// All of them.
std::span<const Builtin> builtins();

}  // namespace warplens::ops
