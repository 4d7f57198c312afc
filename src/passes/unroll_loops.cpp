// SPDX-License-Identifier: Apache-2.0
#include "passes/unroll_loops.h"

#include <fmt/format.h>

#include <bit>

#include "base/bits.h"
#include "base/check.h"
#include "passes/instruction_writer.h"

namespace warplens::passes {
namespace {

using Goes = CountedLoop::Goes;

class Unroller {
 public:
  Unroller(const ptx::Function& function, const ptx::OpTable& table)
      : in_(function), out_(function), writer_(out_, table), place_(function.body.size() + 1) {
    out_.body.clear();
  }

  ptx::Function run(std::span<const CountedLoop> loops) {
    auto next = loops.begin();
    for (uint32_t i = 0; i < in_.body.size(); ++i) {
      place_[i] = writer_.here();
      if (next != loops.end() && next->first == i) {
        unroll(*next);
        i = next->last;
        ++next;
      } else {
        copied_.push_back(writer_.here());
        out_.body.push_back(in_.body[i]);
      }
    }
    place_.back() = writer_.here();
    for (const uint32_t i : copied_)
      for (ptx::Operand& o : out_.body[i].operands)
        if (o.tag == ptx::OperandTag::kLabel) o.first = place_[o.first];
    for (auto& table : out_.branch_tables)
      for (uint32_t& target : table) target = place_[target];
    for (auto& [name, target] : out_.labels) target = place_[target];
    return std::move(out_);
  }

 private:
  /// Registers that one loop takes: its rounds, those left in this part, which part, and predicates.
  struct Added {
    ptx::RegId rounds, left, part, none, more;
  };

  void unroll(const CountedLoop& loop) {
    const ptx::Instr& like = in_.body[loop.last];
    const bool wide = ptx::bits_of(loop.type) == 64;
    const auto word = wide ? ptx::Type::kB64 : ptx::Type::kB32;
    const Added a{writer_.new_register(word, "%rounds"), writer_.new_register(word, "%rounds_left"),
                  writer_.new_register(ptx::Type::kB32, "%part"), writer_.new_register(ptx::Type::kPred, "%no_rounds"),
                  writer_.new_register(ptx::Type::kPred, "%more_rounds")};
    const InstructionWriter::Names names = {
        {"n", a.rounds}, {"left", a.left}, {"part", a.part}, {"none", a.none}, {"more", a.more}};
    const unsigned bits = wide ? 64 : 32;
    count_rounds(loop, like, names, bits);

    // No rounds at all cannot be: the branch is behind the first. 0 stands for 2^32 (2^64).
    writer_.append(like, fmt::format("sub.u{0} left, n, 1; setp.lt.u{0} none, left, 3; and.b{0} left, n, -4;", bits),
                   names);
    const uint32_t to_rest = writer_.append_jump(like, a.none, false);
    copy_rounds(loop, like, names, bits, a.more);
    writer_.set_target(to_rest, writer_.here());

    writer_.append(like, fmt::format("and.b{} left, n, 2; mov.u32 part, 0;", bits), names);
    const uint32_t part = writer_.here();
    writer_.append(like, fmt::format("setp.eq.u{} none, left, 0;", bits), names);
    const uint32_t to_next = writer_.append_jump(like, a.none, false);
    copy_rounds(loop, like, names, bits, a.more);
    writer_.set_target(to_next, writer_.here());
    writer_.append(like, fmt::format("add.u32 part, part, 1; and.b{} left, n, 1; setp.eq.u32 more, part, 1;", bits),
                   names);
    writer_.append_jump(like, a.more, false, part);
  }

  /// n = the rounds that are still to come, when the first has not begun.
  void count_rounds(const CountedLoop& loop, const ptx::Instr& like, InstructionWriter::Names names, unsigned bits) {
    names.emplace_back("counter", loop.counter);
    std::string bound = "bound";
    if (loop.bound.tag == ptx::OperandTag::kReg)
      names.emplace_back("bound", loop.bound.reg);
    else
      bound = fmt::format("{}", bits == 32 ? static_cast<int64_t>(static_cast<int32_t>(loop.bound.imm))
                                           : static_cast<int64_t>(loop.bound.imm));
    const bool up = loop.step > 0;
    const auto step = static_cast<uint64_t>(up ? loop.step : -loop.step);
    const bool strict = loop.goes == Goes::kBelow || loop.goes == Goes::kAbove;
    // What is compared first is the counter after its first step, which may have wrapped around: clang counts from
    // `start - step` for unsigned numbers.
    std::string text, from = "counter";
    if (loop.goes != Goes::kUntil) {
      from = "left";
      text = fmt::format("{}.u{} left, counter, {}; ", up ? "add" : "sub", bits, step);
    }
    text += up ? fmt::format("sub.u{} n, {}, {}; ", bits, bound, from)
               : fmt::format("sub.u{} n, {}, {}; ", bits, from, bound);
    if (strict) text += fmt::format("sub.u{} n, n, 1; ", bits);
    if (is_power_of_two(step))
      text += step == 1 ? "" : fmt::format("shr.u{} n, n, {}; ", bits, std::countr_zero(step));
    else
      text += fmt::format("div.u{} n, n, {}; ", bits, step);
    if (loop.goes != Goes::kUntil) {
      // Behind the bound then: one round, since the test comes after it.
      const char* const cmp = loop.goes == Goes::kBelow   ? "lt"
                              : loop.goes == Goes::kTo    ? "le"
                              : loop.goes == Goes::kAbove ? "gt"
                                                          : "ge";
      const bool is_signed = ptx::is_signed(loop.type);
      text += fmt::format("add.u{0} n, n, 2; setp.{1}.{2}{0} more, left, {3}; selp.b{0} n, n, 1, more;", bits, cmp,
                          is_signed ? 's' : 'u', bound);
    }
    writer_.append(like, text, names);
  }

  /// The body, then "left -= 1" and back while any is left.
  void copy_rounds(const CountedLoop& loop, const ptx::Instr& like, const InstructionWriter::Names& names,
                   unsigned bits, ptx::RegId more) {
    const uint32_t begin = writer_.here();
    for (uint32_t i = loop.first; i < loop.last; ++i) {
      out_.body.push_back(in_.body[i]);
      for (ptx::Operand& o : out_.body.back().operands)
        if (o.tag == ptx::OperandTag::kLabel) o.first = o.first - loop.first + begin;
    }
    writer_.append(like, fmt::format("sub.u{0} left, left, 1; setp.ne.u{0} more, left, 0;", bits), names);
    writer_.append_jump(like, more, false, begin);
  }

  const ptx::Function& in_;
  ptx::Function out_;
  InstructionWriter writer_;
  std::vector<uint32_t> place_;   ///< by instruction of in_: where it, or its loop, begins in out_
  std::vector<uint32_t> copied_;  ///< instructions of out_ whose labels are still those of in_
};

}  // namespace

ptx::Function unroll_loops(const ptx::Function& function, std::span<const CountedLoop> loops,
                           const ptx::OpTable& table) {
  return Unroller(function, table).run(loops);
}

}  // namespace warplens::passes
