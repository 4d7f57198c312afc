// SPDX-License-Identifier: Apache-2.0
// Which registers hold a value that is still needed, at the edges of blocks (backward data flow over ir's read and
// write lists). Code generation blends only these at joins; the register estimate counts them.
#pragma once
#include <cstdint>
#include <vector>

#include "base/bits.h"
#include "ir/kernel.h"

namespace warplens::analysis {

/// A set of registers, one bit each.
class RegisterSet {
 public:
  explicit RegisterSet(size_t registers = 0) : words_((registers + 63) / 64) {}
  bool contains(ptx::RegId r) const { return words_[r / 64] >> (r % 64) & 1; }
  void insert(ptx::RegId r) { words_[r / 64] |= uint64_t{1} << (r % 64); }
  void erase(ptx::RegId r) { words_[r / 64] &= ~(uint64_t{1} << (r % 64)); }
  size_t size() const;
  /// Adds all of `other`; true when that added something.
  bool merge(const RegisterSet& other);
  /// Adds what is in `other` but not in `removed`.
  void merge_without(const RegisterSet& other, const RegisterSet& removed);
  /// Calls f(RegId), ascending.
  template <typename F>
  void for_each(F&& f) const {
    for (size_t i = 0; i < words_.size(); ++i)
      for (uint64_t w = words_[i]; w != 0; w &= w - 1) f(static_cast<ptx::RegId>(i * 64 + std::countr_zero(w)));
  }
  friend bool operator==(const RegisterSet&, const RegisterSet&) = default;

 private:
  std::vector<uint64_t> words_;
};

struct Liveness {
  std::vector<RegisterSet> live_in, live_out;  ///< by block
};

Liveness liveness(const ir::Kernel& kernel);

/// Walks one block backward: calls f(instruction index, registers live *behind* it), last instruction first.
template <typename F>
void for_each_instruction_backward(const ir::Kernel& kernel, const Liveness& live, ir::BlockId block, F&& f) {
  RegisterSet now = live.live_out[block];
  for (uint32_t i = kernel.blocks[block].end; i-- > kernel.blocks[block].begin;) {
    f(i, static_cast<const RegisterSet&>(now));
    const ptx::Instr& in = kernel.function->body[i];
    ir::for_each_write(in, [&](ptx::RegId r) { now.erase(r); });
    ir::for_each_read(in, [&](ptx::RegId r) { now.insert(r); });
  }
}

}  // namespace warplens::analysis
