// SPDX-License-Identifier: Apache-2.0
#include "codegen/address_forms.h"

#include <string_view>

#include "ir/kernel.h"
#include "ptx/op.h"

namespace warplens::codegen {
namespace {

using ptx::OperandTag;

/// Roots of equal nodes are equal; the operation's name and type are part of the node.
uint64_t number_of(std::string_view name, ptx::Type type) {
  uint64_t hash = static_cast<uint64_t>(type) + 1;
  for (const char c : name) hash = hash * 0x100000001b3 + static_cast<unsigned char>(c);
  return hash;
}

int64_t signed_value(const ptx::Operand& imm, ptx::Type type) {
  return ptx::bits_of(type) == 32 ? static_cast<int32_t>(imm.imm) : static_cast<int64_t>(imm.imm);
}

}  // namespace

AddressForm AddressForms::of(ptx::RegId reg) {
  const auto [at, is_new] = now_.emplace(reg, AddressForm{});
  if (is_new) at->second.root = fresh();
  return at->second;
}

uint32_t AddressForms::known(const Node& node) {
  const auto [at, is_new] = nodes_.emplace(node, 0);
  if (is_new) at->second = fresh();
  return at->second;
}

/// Sums, products by constants and conversions of registers keep the form "root + offset".
bool AddressForms::linear(const ptx::Instr& in, AddressForm& out) {
  const std::string_view name = in.def->form.mnemonic;
  const bool sum = name == "add" || name == "sub", product = name == "mul" || name == "mad", shift = name == "shl";
  const bool same = name == "mov" || name == "cvt" || name == "cvta";
  if ((!sum && !product && !shift && !same) || in.has("sat") || in.has("cc") || in.has("hi")) return false;
  std::vector<const ptx::Operand*> sources;
  for (size_t i = 0; i < in.operands.size(); ++i) {
    const ptx::Operand& o = in.operands[i];
    if (in.def->form.operands[i].is_dest || o.tag == OperandTag::kNone) continue;
    if (o.tag != OperandTag::kReg && o.tag != OperandTag::kImm) return false;
    sources.push_back(&o);
  }
  if (sources.empty() || sources[0]->tag != OperandTag::kReg) return false;
  const ptx::Type type = sources[0]->type;
  if (ptx::is_float(type) || (ptx::bits_of(type) != 32 && ptx::bits_of(type) != 64)) return false;
  AddressForm a = of(sources[0]->reg);
  Node node = {number_of(in.def->form.text, type)};
  for (const int8_t slot : in.slots) node.push_back(static_cast<uint64_t>(static_cast<int64_t>(slot)));
  const auto close = [&] {
    node.push_back(a.root);
    out = {known(node), a.offset};
    return true;
  };
  if (same) {
    if (sources.size() != 1) return false;
    if (name == "mov") return out = a, true;
    return close();
  }
  if (sources.size() < 2) return false;
  const ptx::Operand& second = *sources[1];
  const bool constant = second.tag == OperandTag::kImm;
  if (sum && constant) {
    const int64_t by = signed_value(second, type);
    out = {a.root, name == "add" ? a.offset + by : a.offset - by};
    return true;
  }
  if (sum) {
    const AddressForm b = of(second.reg);
    node.push_back(b.root);
    a.offset = name == "add" ? a.offset + b.offset : a.offset - b.offset;
    return close();
  }
  if (!constant) return false;
  const int64_t value = signed_value(second, type);
  if (shift && (value < 0 || value > 30)) return false;
  const int64_t factor = shift ? int64_t{1} << value : value;
  constexpr int64_t kMost = int64_t{1} << 30;
  if (factor <= -kMost || factor >= kMost || a.offset <= -kMost || a.offset >= kMost) return false;
  node.push_back(static_cast<uint64_t>(factor));
  a.offset *= factor;
  if (name == "mad") {
    if (sources.size() < 3 || sources[2]->tag != OperandTag::kReg) return false;
    const AddressForm c = of(sources[2]->reg);
    node.push_back(c.root);
    a.offset += c.offset;
  }
  return close();
}

void AddressForms::pass(const ptx::Instr& in) {
  AddressForm form;
  const bool known_form = in.guard == ptx::kNoReg && in.def->role == ptx::Role::kValue && linear(in, form);
  ir::for_each_write(in, [&](ptx::RegId r) { now_[r] = known_form ? form : AddressForm{fresh(), 0}; });
}

}  // namespace warplens::codegen
