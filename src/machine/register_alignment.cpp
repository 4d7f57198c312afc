// SPDX-License-Identifier: Apache-2.0
// From "everything is zero" down, over all definitions of each register, until nothing changes.
#include "machine/register_alignment.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "ir/kernel.h"

namespace warplens::machine {
namespace {

constexpr uint8_t kZero = 63;

uint8_t zeros_of(uint64_t v) {
  return v == 0 ? kZero : std::min<uint8_t>(kZero, static_cast<uint8_t>(std::countr_zero(v)));
}

class Alignments {
 public:
  Alignments(const ptx::Function& function, const std::function<uint64_t(const ptx::SymbolRef&)>& place_of)
      : function_(function), place_of_(place_of), of_(function.registers.size(), kZero) {}

  std::vector<uint8_t> find() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const ptx::Instr& in : function_.body) {
        const uint8_t made = result(in);
        ir::for_each_write(in, [&](ptx::RegId r) {
          changed = changed || made < of_[r];
          of_[r] = std::min(of_[r], made);
        });
      }
    }
    return of_;
  }

 private:
  uint8_t operand(const ptx::Instr& in, size_t k) const {
    const ptx::Operand& o = in.operands[k];
    switch (o.tag) {
      case ptx::OperandTag::kReg: return of_[o.reg];
      case ptx::OperandTag::kImm: return zeros_of(o.imm);
      case ptx::OperandTag::kSymbol: return zeros_of(place_of_(o.symbol) + o.imm);
      default: return 0;
    }
  }

  /// Of what `in` writes; 0 where nothing is known.
  uint8_t result(const ptx::Instr& in) const {
    const std::string_view name = in.def->form.mnemonic;
    const auto at = [&](size_t k) { return operand(in, k); };
    const auto product = [&](size_t a, size_t b) { return static_cast<uint8_t>(std::min(kZero + 0, at(a) + at(b))); };
    if (in.operands.size() < 2 || in.has("sat") || in.operands[0].tag != ptx::OperandTag::kReg) return 0;
    if (name == "mov" || name == "cvta" || name == "cvt") return ptx::is_float(in.type()) ? 0 : at(1);
    if (in.operands.size() < 3 || ptx::is_float(in.type())) return 0;
    if (name == "add" || name == "sub" || name == "or") return std::min(at(1), at(2));
    if (name == "and") return std::max(at(1), at(2));
    if (in.has("hi")) return 0;
    if (name == "mul") return product(1, 2);
    if (name == "shl") {
      const ptx::Operand& by = in.operands[2];
      return by.tag == ptx::OperandTag::kImm ? static_cast<uint8_t>(std::min<uint64_t>(kZero, at(1) + by.imm)) : at(1);
    }
    if (name == "mad" && in.operands.size() > 3) return std::min(product(1, 2), at(3));
    if (name == "selp") return std::min(at(1), at(2));
    return 0;
  }

  const ptx::Function& function_;
  const std::function<uint64_t(const ptx::SymbolRef&)>& place_of_;
  std::vector<uint8_t> of_;
};

}  // namespace

std::vector<uint8_t> register_alignments(const ptx::Function& function,
                                         const std::function<uint64_t(const ptx::SymbolRef&)>& place_of) {
  return Alignments(function, place_of).find();
}

}  // namespace warplens::machine
