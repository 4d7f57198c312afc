// SPDX-License-Identifier: Apache-2.0
// A compiled kernel as plain bytes: the object file that LLVM wrote and what the executor must know beside it. The
// object has no address of this process in it: hooks are symbols, tables are its own data, the rest comes through the
// WarpContext.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codegen/counter_layout.h"

namespace warplens::codegen {

struct StoredKernel {
  CounterLayout layout;
  std::vector<ConstantCost> constants;
  uint64_t frame_bytes = 0;     ///< stack of the generated function
  std::vector<uint8_t> object;  ///< ELF; its function is kKernelSymbol
};
constexpr const char* kKernelSymbol = "warplens_kernel";

std::vector<uint8_t> encode(const StoredKernel& kernel);
/// Nothing for bytes that encode() did not make, or with indices outside of the layout.
std::optional<StoredKernel> decode(std::span<const uint8_t> bytes);

}  // namespace warplens::codegen
