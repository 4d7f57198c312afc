// SPDX-License-Identifier: Apache-2.0
// Functions that a kernel calls but does not bring along: what the CUDA system supplies (vprintf, __assertfail, malloc,
// free) and the mathematical built-ins of src/ops. (The module's own functions were put in place before:
// passes/inline_calls.)
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "exec/warp_context.h"
#include "ptx/module.h"

namespace warplens::exec {

/// Most arguments, and most results, of a call that runs.
constexpr size_t kMostCallParameters = 16;

/// A function that can be called for one lane: raw bits of the arguments in, raw bits of the results out. May end the
/// warp for good (a failed assertion).
struct DeviceFunction {
  void (*call)(WarpContext&, const DeviceFunction&, uint32_t pc, unsigned lane, std::span<const uint64_t> arguments,
               std::span<uint64_t> results) = nullptr;
  const void* data = nullptr;  ///< the callee's own
};

/// What the call instruction calls, when it can run here.
std::optional<DeviceFunction> find_device_function(const ptx::Module& module, const ptx::Instr& call);
/// A sentence that says why a call cannot run; empty when it can.
std::string why_call_cannot_run(const ptx::Module& module, const ptx::Instr& call);

inline void call_function(WarpContext& warp, const DeviceFunction& f, uint32_t pc, unsigned lane,
                          std::span<const uint64_t> arguments, std::span<uint64_t> results) {
  f.call(warp, f, pc, lane, arguments, results);
}

}  // namespace warplens::exec
