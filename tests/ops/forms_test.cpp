// SPDX-License-Identifier: Apache-2.0
// Every opcode form that public CUDA programs use (tests/data/ptx_forms.txt) is either run, by both executors with
// equal results, or in the list of what is refused below. Operands are made from the rows; what the values must be is
// the business of the other tests here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "support/ptx_launcher.h"

namespace warplens::ops_test {
namespace {

using ptx::OperandForm;
using ptx::OperandKind;
using ptx::Type;
using test::Params;
using test::PtxLauncher;

/// What is not run, by the beginning of the form, and why.
const std::map<std::string, std::string> kRefused = {
    {"tex.", "textures are not modelled yet"},
    {"wgmma.", "warpgroup matrix instructions are not run yet"},
    {"cp.async.bulk.tensor.", "copies through tensor maps are not run yet"},
};

std::vector<std::string> words_of(const std::string& form) {
  std::vector<std::string> words;
  std::stringstream in(form);
  for (std::string w; std::getline(in, w, '.');) words.push_back(w);
  return words;
}

/// How many registers a matrix operand has, by the manual's tables.
unsigned matrix_registers(const std::string& form, const std::string& operand) {
  const auto has = [&](const char* w) { return form.find(w) != std::string::npos; };
  const bool c = operand == "c" || operand == "d" || has(".load.c.") || has(".store.d.");
  if (has("m8n8k4")) return c ? 2 : 1;  // f64
  if (form.starts_with("mma")) {
    if (c) return has(".f32") ? 4 : 2;
    return operand == "a" ? 4 : 2;
  }
  if (c) return has(".f32") ? 8 : 4;
  return has(".bf16") || has(".tf32") ? 4 : 8;
}

/// Writes the instruction of a form with one row's operands; nothing when its modifiers do not fit.
class Writer {
 public:
  Writer(const std::string& form, const ptx::OpDef& row) : form_(form), row_(row) {}

  std::optional<std::string> run() {
    if (!match_words()) return std::nullopt;
    std::string text = form_;
    bool first = true;
    for (int k = 0; k < row_.form.operand_count; ++k) {
      const OperandForm& o = row_.form.operands[k];
      if (o.implicit || (o.optional && !o.pair_second)) continue;
      if (o.pair_second && row_.form.mnemonic != "elect") continue;
      text += (first ? " " : o.pair_second ? "|" : ", ") + operand(o);
      first = false;
    }
    return text + ";";
  }
  const std::vector<std::string>& results() const { return results_; }

 private:
  bool match_words() {
    const std::vector<std::string> words = words_of(form_);
    size_t at = 1;
    types_.assign(row_.form.slot_count, Type::kNone);
    for (int s = 0; s < row_.form.slot_count; ++s) {
      bool taken = false;
      for (int w = 0; w < row_.form.slots[s].count && at < words.size() && !taken; ++w) {
        if (row_.form.word(s, w) != words[at]) continue;
        types_[static_cast<size_t>(s)] = row_.form.word_type(s, w);
        taken = true;
      }
      if (taken)
        ++at;
      else if (!row_.form.slots[s].optional)
        return false;
    }
    return at == words.size();
  }
  bool has(const char* w) const {
    const auto words = words_of(form_);
    return std::find(words.begin(), words.end(), w) != words.end();
  }
  bool matrix() const { return form_.starts_with("wmma") || form_.starts_with("mma"); }

  std::string fresh(Type type, bool is_dest) {
    const char* cls = "r";
    switch (type == Type::kNone ? 32 : ptx::bits_of(type)) {
      case 1: cls = "p"; break;
      case 8:
      case 16: cls = "h"; break;
      case 64: cls = type == Type::kF64 ? "fd" : "rd"; break;
      default: cls = type == Type::kF32 ? "f" : "r";
    }
    std::string name = fmt::format("%{}{}", cls, is_dest ? 8 + dests_[cls]++ : sources_[cls]++ % 8);
    if (is_dest) results_.push_back(name);
    return name;
  }
  std::string list(Type type, unsigned count, bool is_dest) {
    std::string text = "{";
    for (unsigned i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + fresh(type, is_dest);
    return text + "}";
  }
  std::string address(const OperandForm& o) {
    const bool first = o.name == "d", copy = form_.starts_with("cp.async") && !has("mbarrier");
    if (o.name == "mbar" || form_.starts_with("mbarrier")) return has("shared::cluster") ? "[%bar]" : "[bar]";
    if (copy && o.name == "a") return has("bulk_group") ? "[tile]" : "[%in]";
    if (copy && first) return "[tile]";
    if (form_.starts_with("ldmatrix")) return has("shared") ? "[%rows]" : "[%generic]";
    if (matrix()) return has("shared") ? "[tile]" : "[%in]";
    if (has("param")) return form_.starts_with("st") ? "[frame]" : "[values]";
    if (has("shared")) return "[%rows]";
    if (has("local")) return "[depot]";
    if (has("const")) return "[table]";
    return "[%at]";
  }
  std::string operand(const OperandForm& o) {
    const Type type = o.type_slot >= 0 ? types_[static_cast<size_t>(o.type_slot)] : o.type;
    if (o.name == "membermask" || (o.name == "mask" && !o.is_dest)) return "0xffffffff";
    if (form_.starts_with("shfl") && o.name == "c") return "31";
    if (form_.starts_with("bar") && o.name == "a") return "0";
    if (o.name == "size") return "16";
    if (o.kind == OperandKind::kAddress) return address(o);
    if (o.kind == OperandKind::kLabel) return "END";
    if (o.kind == OperandKind::kImmediate) return form_.starts_with("setmaxnreg") ? "40" : "0";
    if (o.kind == OperandKind::kVector && matrix()) {
      return list(has("f64") ? Type::kF64 : Type::kB32, matrix_registers(form_, std::string(o.name)), o.is_dest);
    }
    if (o.kind == OperandKind::kVector) {
      unsigned count = 1;
      for (const auto& [w, n] : {std::pair{"v2", 2u}, {"v4", 4u}, {"x2", 2u}, {"x4", 4u}})
        if (has(w)) count = n;
      return count == 1 ? fresh(type, o.is_dest) : list(type, count, o.is_dest);
    }
    if (o.kind == OperandKind::kAny && matrix()) {
      const bool c = o.name == "c" || o.name == "d";
      const Type t = has("f64") ? Type::kF64 : c && has("f32") ? Type::kF32 : Type::kB32;
      return list(t, matrix_registers(form_, std::string(o.name)), o.is_dest);
    }
    if (o.name == "state") return fresh(has("parity") ? Type::kB32 : Type::kB64, false);
    return fresh(type, o.is_dest);
  }

  std::string form_;
  const ptx::OpDef& row_;
  std::vector<Type> types_;
  std::map<std::string, unsigned> dests_, sources_;
  std::vector<std::string> results_;
};

/// Registers 0 to 7 of each class get values that differ by lane; 8 and up are results, stored behind the instruction.
std::string kernel(const std::string& instruction, const std::vector<std::string>& results, bool initialises_barrier) {
  std::string text = test::kPtxHead +
                     ".const .align 16 .b8 table[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9};\n"
                     ".func (.param .b32 r) twice(.param .b32 a) {\n.reg .b32 x;\nld.param.b32 x, [a];\nadd.u32 x, x, "
                     "x;\nst.param.b32 [r], x;\nret;\n}\n"
                     ".visible .entry k(.param .u64 in, .param .u64 out, .param .align 16 .b8 values[32]) {\n"
                     ".reg .pred %p<16>; .reg .b16 %h<24>; .reg .b32 %r<24>; .reg .b64 %rd<24>; .reg .f32 %f<24>; .reg "
                     ".f64 %fd<24>;\n.reg .b64 %in, %out, %at, %generic; .reg .b32 %lane, %rows, %bar;\n"
                     ".shared .align 128 .b8 tile[2048]; .shared .align 8 .b64 bar; .local .align 16 .b8 depot[64];\n"
                     ".param .align 16 .b8 frame[32];\n"
                     "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %lane, %laneid;\n"
                     "mad.wide.u32 %at, %lane, 32, %in; mad.wide.u32 %out, %lane, 128, %out;\n"
                     "mov.u32 %rows, tile; mad.lo.u32 %rows, %lane, 32, %rows; mov.u32 %bar, bar;\n"
                     "cvt.u64.u32 %generic, %rows; cvta.shared.u64 %generic, %generic;\n"
                     "st.shared.v2.b64 [%rows], {%at, %at}; st.shared.v2.b64 [%rows+16], {%at, %in};\n"
                     "st.local.v2.u32 [depot], {%lane, %rows}; st.local.v2.u32 [depot+8], {%rows, %lane};\n";
  for (int i = 0; i < 8; ++i) {
    text += fmt::format("mad.lo.u32 %r{0}, %lane, {1}, {2};\ncvt.u64.u32 %rd{0}, %r{0};\ncvt.u16.u32 %h{0}, %r{0};\n",
                        i, 3 + i, i + 1);
    text += fmt::format("cvt.rn.f32.u32 %f{0}, %r{0};\ncvt.rn.f64.u32 %fd{0}, %r{0};\n", i);
    text += fmt::format("setp.gt.u32 %p{0}, %r{0}, 40;\n", i);
  }
  if (initialises_barrier) text += "mbarrier.init.shared.b64 [bar], 1000;\n";
  text += "bar.sync 0;\n" + instruction + "\nEND:\n";
  unsigned at = 0;
  for (const std::string& r : results) {
    if (r[1] == 'p')
      text += fmt::format("selp.u32 %r0, 1, 0, {};\nst.global.u32 [%out+{}], %r0;\n", r, at);
    else
      text += fmt::format("st.global.{} [%out+{}], {};\n", r[1] == 'h' ? "b16" : r[2] == 'd' ? "b64" : "b32", at, r);
    at += 8;
  }
  return text + "ld.shared.u32 %r0, [%rows];\nst.global.u32 [%out+96], %r0;\nret;\n}\n";
}

struct Outcome {
  std::string finding;
  std::vector<uint8_t> memory;
  events::LaunchCounts counts;
};

Outcome run(const std::string& text, exec::Executor& executor) {
  PtxLauncher launcher(text);
  std::vector<uint8_t> content(4096);
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<uint8_t>(i * 7 % 61);
  uint8_t *in = launcher.array(content), *out = launcher.zeros<uint8_t>(4096);
  Params params;
  params.add(in).add(out).add(uint64_t{0x0102030405060708}).add(uint64_t{9}).add(uint64_t{10}).add(uint64_t{11});
  const auto result = launcher.launch("k", {.block = {32, 1, 1}}, params, &executor);
  Outcome o;
  if (!result.complete()) o.finding = result.findings[0].message;
  o.memory.assign(in, in + 4096);
  o.memory.insert(o.memory.end(), out, out + 4096);
  o.counts = result.counts;
  return o;
}

std::vector<std::string> all_forms() {
  std::ifstream in(std::string(WARPLENS_OPS_CASES) + "/../data/ptx_forms.txt");
  std::vector<std::string> forms;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') forms.push_back(line.substr(0, line.find(' ')));
  return forms;
}

/// The text of a kernel with that form that the parser takes; empty when there is none.
std::string accepted_kernel(const std::string& form) {
  if (form.starts_with("call"))
    return kernel(fmt::format("{{ .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %r1; {} (r0), twice, (a0); "
                              "ld.param.b32 %r8, [r0]; }}",
                              form),
                  {"%r8"}, false);
  for (const ptx::OpDef* row : ops::instruction_set().rows(form.substr(0, form.find('.')))) {
    Writer writer(form, *row);
    const auto instruction = writer.run();
    if (!instruction) continue;
    const bool barrier = instruction->find("bar]") != std::string::npos && !form.starts_with("mbarrier.init");
    const std::string text = kernel(*instruction, writer.results(), barrier);
    const auto module = ptx::parse(text, "form.ptx", ops::instruction_set());
    const ptx::Function* k = module ? module->find_function("k") : nullptr;
    if (k != nullptr && k->unsupported.empty()) return text;
  }
  return {};
}

std::string reason_for_refusal(const std::string& form) {
  for (const auto& [prefix, reason] : kRefused)
    if (form.starts_with(prefix)) return reason;
  return {};
}

// Sharded, so that ctest can spread them.
class Forms : public testing::TestWithParam<size_t> {};

TEST_P(Forms, of_public_programs_run_in_both_executors) {
  const std::vector<std::string> forms = all_forms();
  ASSERT_GT(forms.size(), 500u);
  const auto interpreter = exec::make_interpreter(), jit = exec::make_jit({});
  for (size_t i = GetParam(); i < forms.size(); i += 4) {
    SCOPED_TRACE(forms[i]);
    const std::string text = accepted_kernel(forms[i]);
    if (!reason_for_refusal(forms[i]).empty()) {
      EXPECT_TRUE(text.empty()) << "runs now; take it from the list of what is refused";
      continue;
    }
    EXPECT_FALSE(text.empty()) << "no row takes it";
    if (text.empty()) continue;
    const Outcome expected = run(text, *interpreter), actual = run(text, *jit);
    EXPECT_EQ(expected.finding, forms[i] == "trap" ? "executes a trap instruction" : "");
    EXPECT_EQ(actual.finding, expected.finding);
    EXPECT_TRUE(actual.memory == expected.memory);
    if (expected.finding.empty()) {
      EXPECT_EQ(actual.counts, expected.counts);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Quarter, Forms, testing::Values(0, 1, 2, 3));

}  // namespace
}  // namespace warplens::ops_test
