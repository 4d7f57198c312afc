// SPDX-License-Identifier: Apache-2.0
#include "random_program.h"

#include <random>
#include <vector>

#include "ops/instruction_set.h"
#include "ptx/parser.h"

namespace warplens::test {
namespace {

constexpr const char* kHead = ".version 8.5\n.target sm_90\n.address_size 64\n";
constexpr const char* kRegisters =
    "  .reg .pred %p<8>;\n  .reg .b16 %h<6>;\n  .reg .b32 %r<48>;\n  .reg .b64 %rd<16>;\n  .reg .f32 %f<8>;\n"
    "  .reg .f64 %fd<6>;\n";
// Registers by role: those that instructions use freely come first in each class.
constexpr unsigned kFreeR = 14, kFreeRd = 6, kFreeF = 8, kFreeFd = 6, kFreeH = 6, kFreeP = 6;

class Generator {
 public:
  explicit Generator(uint64_t seed) : rng_(seed), equal_(seed % 3 == 1) {}

  std::string run() {
    text_ = std::string(kHead) + ".visible .entry random(.param .u64 in, .param .u64 out)\n{\n" + kRegisters +
            "  .shared .align 16 .b8 tile[4096];\n  .shared .align 8 .b64 bar;\n";
    line("ld.param.u64 %rd10, [in];\n  ld.param.u64 %rd11, [out];");
    line("mov.u32 %r0, %tid.x;\n  mov.u32 %r1, %tid.y;\n  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;");
    line("mad.lo.u32 %r40, %r1, %r3, %r0;\n  mov.u32 %r41, %ntid.y;\n  mul.lo.u32 %r42, %r41, %r3;");
    line("mad.lo.u32 %r40, %r2, %r42, %r40;");  // number of the thread
    for (unsigned i = 4; i < kFreeR; ++i) line(reg("r", i, "mov.u32", value32(i)));
    if (equal_) hide_values();
    for (unsigned i = 0; i < kFreeRd; ++i) line("cvt.u64.u32 %rd" + n(i) + ", " + r() + ";");
    for (unsigned i = 0; i < kFreeF; ++i) line("cvt.rn.f32.s32 %f" + n(i) + ", " + r() + ";");
    for (unsigned i = 0; i < kFreeFd; ++i) line("cvt.rn.f64.s32 %fd" + n(i) + ", " + r() + ";");
    for (unsigned i = 0; i < kFreeH; ++i) line("cvt.u16.u32 %h" + n(i) + ", " + r() + ";");
    for (unsigned i = 0; i < kFreeP; ++i) compare(i);
    line("mov.u32 %r46, bar;\n  mbarrier.init.shared.b64 [%r46], " + n(1 + pick(200)) + ";\n  bar.sync 0;");
    statements(0, 10 + pick(10));
    dump();
    text_ += "DONE:\n  ret;\n}\n";
    return text_;
  }

 private:
  unsigned pick(unsigned n) { return static_cast<unsigned>(rng_() % n); }
  bool chance(unsigned percent) { return pick(100) < percent; }
  static std::string n(unsigned v) { return std::to_string(v); }
  void line(const std::string& s) { text_ += "  " + s + "\n"; }
  static std::string reg(const char* cls, unsigned i, const char* op, const std::string& from) {
    return std::string(op) + " %" + cls + n(i) + ", " + from + ";";
  }
  std::string value32(unsigned i) {
    switch (pick(5)) {
      case 0: return equal_ ? "%ctaid.x" : "%r" + n(pick(i < 4 ? 4 : i));
      case 1: return n(pick(64));
      case 2: return equal_ ? "%ctaid.x" : "%laneid";
      case 3: return "%warpid";
      default: return n(static_cast<unsigned>(rng_()));
    }
  }
  /// In programs of equal lanes rarely one that differs from the start.
  std::string r() { return "%r" + n(equal_ && chance(95) ? 4 + pick(kFreeR - 4) : pick(kFreeR)); }
  /// Registers become vectors for the compiler, which cannot know that their lanes are equal: plus what each thread
  /// reads where it will write at the end, zero until then.
  void hide_values() {
    line("mul.wide.u32 %rd13, %r40, " + n(kDumpedWords * 4) + ";\n  add.s64 %rd13, %rd13, %rd11;");
    line("ld.global.u32 %r43, [%rd13+" + n(kSharedWords * 4) + "];");
    for (unsigned i = 4; i < kFreeR; ++i) line("add.u32 %r" + n(i) + ", %r" + n(i) + ", %r43;");
  }
  std::string p() { return "%p" + n(pick(kFreeP)); }
  std::string label() { return "L" + n(labels_++); }

  void compare(unsigned p) {
    static const char* kOps[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    const std::string b = chance(50) ? r() : n(pick(40));
    line("setp." + std::string(kOps[pick(6)]) + (chance(50) ? ".u32" : ".s32") + " %p" + n(p) + ", " + r() + ", " + b +
         ";");
  }

  void statements(unsigned depth, unsigned count) {
    for (unsigned i = 0; i < count; ++i) statement(depth);
  }

  void statement(unsigned depth) {
    const unsigned kind = pick(100);
    if (kind < 45) return value_instruction();
    if (kind < 52) return compare(pick(kFreeP));
    if (kind < 60) return load();
    if (kind < 66) return store();
    if (kind < 69) return atomic();
    if (kind < 71 && depth == 0) return line("bar.sync 0;");
    if (kind < 73) return of_the_warp();
    if (kind < 76) return line("mov.u32 " + r() + ", " + value32(kFreeR) + ";");
    if (depth >= 3) return value_instruction();
    if (kind < 87) return branch(depth);
    if (kind < 97) return loop(depth);
    if (kind < 99) return line("@" + p() + " bra DONE;");
    line("@!" + p() + " ret;");
  }

  void branch(unsigned depth) {
    const std::string other = label(), end = label();
    line("@" + std::string(chance(30) ? "!" : "") + p() + " bra " + other + ";");
    statements(depth + 1, 1 + pick(4));
    if (chance(50)) {
      line("bra " + end + ";");
      text_ += other + ":\n";
      statements(depth + 1, 1 + pick(4));
    } else {
      text_ += other + ":\n";
    }
    text_ += end + ":\n";
  }

  // A counter of its own a depth, down to zero; the trip count is uniform or not. Sometimes it is entered in the middle
  // (irreducible), left early, or continued early.
  void loop(unsigned depth) {
    const std::string counter = "%r" + n(30 + depth), head = label(), middle = label(), end = label(), latch = label();
    if (chance(50))
      line("mov.u32 " + counter + ", " + n(1 + pick(4)) + ";");
    else
      line("and.b32 " + counter + ", " + r() + ", 3;");
    if (chance(25)) line("@" + p() + " bra " + middle + ";");
    text_ += head + ":\n";
    statements(depth + 1, 1 + pick(3));
    text_ += middle + ":\n";
    statements(depth + 1, 1 + pick(3));
    if (chance(40)) line("@" + p() + " bra " + end + ";");
    if (chance(30)) line("@" + p() + " bra " + latch + ";");
    statements(depth + 1, pick(2));
    text_ += latch + ":\n";
    line("setp.ne.u32 %p7, " + counter + ", 0;\n  sub.u32 " + counter + ", " + counter + ", 1;");
    line("@%p7 bra " + head + ";");
    text_ += end + ":\n";
  }

  /// An index below `limit` (a power of two) in %r45, of any class.
  void index(unsigned limit) {
    std::string from = chance(35) ? "%r0" : r();
    if (chance(30)) {
      line("mad.lo.u32 %r44, %r" + n(pick(4)) + ", " + (chance(50) ? r() : n(pick(9))) + ", " + from + ";");
      from = "%r44";
    }
    line("and.b32 %r45, " + from + ", " + n(limit - 1) + ";");
  }
  /// Address in %rd12 (global) or %r46 (shared) of an element of `bytes` bytes.
  std::string address(unsigned space, unsigned bytes) {
    index((space == 2 ? 4096u : 16384u) / bytes);
    if (space == 2) {
      line("mov.u32 %r46, tile;\n  mad.lo.u32 %r46, %r45, " + n(bytes) + ", %r46;");
      return "[%r46]";
    }
    line("mul.wide.u32 %rd12, %r45, " + n(bytes) + ";\n  add.s64 %rd12, %rd12, %rd" + n(10 + space) + ";");
    return "[%rd12]";
  }
  std::string guard() { return chance(25) ? "@" + std::string(chance(50) ? "!" : "") + p() + " " : ""; }

  struct Access {
    const char* type;
    const char* cls;
    unsigned count, bytes;
  };
  const Access& access() {
    static const Access kAll[] = {{"u32", "r", kFreeR, 4}, {"f32", "f", kFreeF, 4},   {"u64", "rd", kFreeRd, 8},
                                  {"u8", "r", kFreeR, 1},  {"s16", "r", kFreeR, 2},   {"f64", "fd", kFreeFd, 8},
                                  {"b16", "h", kFreeH, 2}, {"s32", "rd", kFreeRd, 4}, {"u32", "r", kFreeR, 4}};
    return kAll[pick(9)];
  }
  void load() {
    const unsigned space = pick(3);
    const Access& a = access();
    const bool vector = a.bytes >= 4 && chance(20);
    const std::string at = address(space, vector ? a.bytes * 2 : a.bytes);
    const auto one = [&] { return "%" + std::string(a.cls) + n(pick(a.count)); };
    std::string first = one(), second = one();
    while (vector && second == first) second = one();
    line(guard() + "ld." + (space == 2 ? "shared" : "global") + (vector ? ".v2." : ".") + a.type + " " +
         (vector ? "{" + first + ", " + second + "}" : first) + ", " + at + ";");
  }
  void store() {
    const unsigned space = 1 + pick(2);
    const Access& a = access();
    const std::string at = address(space, a.bytes);
    line(guard() + "st." + (space == 2 ? "shared." : "global.") + a.type + " " + at + ", %" + a.cls + n(pick(a.count)) +
         ";");
  }
  void atomic() {
    static const char* kOps[] = {"add.u32", "xor.b32", "max.s32", "inc.u32", "exch.b32", "min.u32"};
    const unsigned space = 1 + pick(2);
    const std::string at = address(space, 4), name = space == 2 ? "shared" : "global";
    if (chance(40))
      line(guard() + "red." + name + "." + kOps[pick(3)] + " " + at + ", " + r() + ";");
    else
      line(guard() + "atom." + name + "." + kOps[pick(6)] + " " + r() + ", " + at + ", " + r() + ";");
  }

  /// Instructions that take memory or matrices for the whole warp, and ways to reach memory that are rare.
  void of_the_warp() {
    switch (pick(11)) {
      case 0:
        return line(guard() + "mma.sync.aligned.m16n8k16.row.col.f32." + (chance(50) ? "f16.f16" : "bf16.bf16") +
                    ".f32 {%f0, %f1, %f2, %f3}, {" + r() + ", " + r() + ", " + r() + ", " + r() + "}, {" + r() + ", " +
                    r() + "}, {%f4, %f1, %f6, %f2};");
      case 1:
        return line("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r4, %r5, %r6, %r7}, {" + r() + ", " + r() +
                    ", " + r() + ", " + r() + "}, {" + r() + ", " + r() + "}, {%r8, %r9, %r10, %r11};");
      case 2:
      case 3: {
        const std::string at = address(2, 16), trans = chance(50) ? ".trans" : "";
        if (chance(50))
          return line(guard() + "ldmatrix.sync.aligned.m8n8.x2" + trans + ".shared.b16 {%r4, %r5}, " + at + ";");
        return line(guard() + "stmatrix.sync.aligned.m8n8.x4" + trans + ".shared.b16 " + at + ", {" + r() + ", " + r() +
                    ", " + r() + ", " + r() + "};");
      }
      case 4: {
        static constexpr unsigned kBytes[] = {4, 8, 16};
        const unsigned bytes = kBytes[pick(3)];
        const std::string to = address(2, bytes), from = address(0, bytes);
        const std::string some = chance(50) ? ", " + r() : "";
        return line(guard() + "cp.async.ca.shared.global " + to + ", " + from + ", " + n(bytes) + some + ";");
      }
      case 5: return line(guard() + "mbarrier.arrive.shared.b64 %rd1, [bar];");
      case 6: return line(guard() + "mbarrier.test_wait.shared.b64 " + p() + ", [bar], %rd1;");
      case 7: return line("bar.warp.sync -1;");
      case 8: {
        const std::string at = address(2, 4);
        line("mov.u32 %r47, 0;\n  mapa.shared::cluster.u32 %r46, %r46, %r47;");
        return line(guard() + "ld.shared::cluster.u32 " + r() + ", " + at + ";");
      }
      case 9: {
        address(2, 8);
        line("cvt.u64.u32 %rd12, %r46;\n  cvta.shared.u64 %rd12, %rd12;");
        if (chance(50)) return line(guard() + "ld.u64 %rd" + n(pick(kFreeRd)) + ", [%rd12];");
        return line(guard() + "atom.add.u64 %rd" + n(pick(kFreeRd)) + ", [%rd12], %rd" + n(pick(kFreeRd)) + ";");
      }
      default: {
        const unsigned space = 1 + pick(2);
        const std::string name = space == 2 ? "shared" : "global";
        if (chance(50)) {
          const std::string at = address(space, 4);
          return line(guard() + "atom." + name + ".add.f32 %f" + n(pick(kFreeF)) + ", " + at + ", %f" +
                      n(pick(kFreeF)) + ";");
        }
        const std::string at = address(space, 8);
        const bool swaps = chance(50);
        return line(guard() + "atom." + name + (swaps ? ".cas.b64 " : ".max.s64 ") + "%rd" + n(pick(kFreeRd)) + ", " +
                    at + ", %rd" + n(pick(kFreeRd)) + (swaps ? ", %rd" + n(pick(kFreeRd)) : "") + ";");
      }
    }
  }

  // --- value instructions, from the table
  std::string operand(const ptx::OperandForm& form, ptx::Type type, bool is_dest) {
    if (form.name == "membermask") return "0xffffffff";  // executing lanes must be members
    if (form.kind == ptx::OperandKind::kImmediate) return n(pick(256));
    if (form.kind != ptx::OperandKind::kTyped) return {};
    if (!is_dest && ptx::is_integer(type) && ptx::bits_of(type) >= 16 && chance(20)) return n(pick(300));
    if (type == ptx::Type::kF32) return "%f" + n(pick(kFreeF));
    if (type == ptx::Type::kF64) return "%fd" + n(pick(kFreeFd));
    switch (ptx::bits_of(type)) {
      case 1: return p();
      case 16: return "%h" + n(pick(kFreeH));
      case 32: return r();
      case 64: return "%rd" + n(pick(kFreeRd));
      default: return {};
    }
  }

  std::string instruction_of(const ptx::OpDef& def) {
    const ptx::Form& form = def.form;
    std::string out(form.mnemonic);
    std::vector<ptx::Type> types(form.slot_count, ptx::Type::kNone);
    for (int s = 0; s < form.slot_count; ++s) {
      if (form.slots[s].optional && chance(60)) continue;
      const int w = static_cast<int>(pick(form.slots[s].count));
      out += "." + std::string(form.word(s, w));
      types[static_cast<size_t>(s)] = form.word_type(s, w);
    }
    for (int k = 0; k < form.operand_count; ++k) {
      const ptx::OperandForm& o = form.operands[k];
      if (o.implicit || o.in_bracket) return {};
      if (o.optional && (chance(50) || !o.pair_second)) {
        if (!o.pair_second) break;
        continue;
      }
      const ptx::Type type = o.type_slot >= 0 ? types[static_cast<size_t>(o.type_slot)] : o.type;
      const std::string text = operand(o, type, o.is_dest);
      if (text.empty()) return {};
      out += (k == 0 ? " " : o.pair_second ? "|" : ", ") + text;
    }
    return out + ";";
  }

  void value_instruction() {
    const auto all = ops::instruction_set().all();
    for (int tries = 0; tries < 200; ++tries) {
      const ptx::OpDef& def = *all[pick(static_cast<unsigned>(all.size()))];
      const bool wanted = def.role == ptx::Role::kValue || (def.role == ptx::Role::kWarp && chance(50));
      if (!wanted || !def.unsupported.empty()) continue;
      std::string in = instruction_of(def);
      if (in.empty() || !accepted(in)) continue;
      return line(guard() + in);
    }
  }

  static bool accepted(const std::string& in) {
    const std::string text = std::string(kHead) + ".visible .entry k()\n{\n" + kRegisters + "  " + in + "\n  ret;\n}\n";
    const auto module = ptx::parse(text, "try.ptx", ops::instruction_set());
    return module && module->functions[0].unsupported.empty();
  }

  void dump() {
    line("mul.wide.u32 %rd13, %r40, " + n(kDumpedWords * 4) + ";\n  add.s64 %rd13, %rd13, %rd11;");
    unsigned at = kSharedWords * 4;
    // What nobody reads afterwards may be held in other ways: half of the programs leave most registers out.
    const bool sparse = chance(50);
    const auto store = [&](const char* type, const std::string& from, unsigned bytes) {
      if (sparse && chance(75)) return;
      at = (at + bytes - 1) / bytes * bytes;
      line("st.global." + std::string(type) + " [%rd13+" + n(at) + "], " + from + ";");
      at += bytes;
    };
    for (unsigned i = 0; i < kFreeR; ++i) store("b32", "%r" + n(i), 4);
    for (unsigned i = 0; i < kFreeRd; ++i) store("b64", "%rd" + n(i), 8);
    for (unsigned i = 0; i < kFreeH; ++i) store("b16", "%h" + n(i), 2);
    for (unsigned i = 0; i < 4; ++i) store("f32", "%f" + n(i), 4);
    for (unsigned i = 0; i < 3; ++i) store("f64", "%fd" + n(i), 8);
  }

  std::mt19937_64 rng_;
  bool equal_;  ///< lanes mostly hold equal values, of which the compiler does not know
  std::string text_;
  unsigned labels_ = 0;
};

}  // namespace

std::string random_program(uint64_t seed) { return Generator(seed).run(); }

}  // namespace warplens::test
