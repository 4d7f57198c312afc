// SPDX-License-Identifier: Apache-2.0
// Random kernels full of locks that every lane takes, in branches, in loops and inside each other (in one order, so
// that no two lanes wait for each other), with barriers between: by both executors, with equal memory, counts and
// events. WARPLENS_SEED runs one seed and prints its program; WARPLENS_PROGRAMS sets how many.
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "jit_variants.h"
#include "two_executors.h"

namespace warplens::test {
namespace {

constexpr unsigned kLocks = 4, kState = 8, kVariables = 6;
constexpr unsigned kOut = (kLocks + kState) * 4;  // byte offset: kVariables words a thread

class SpinProgram {
 public:
  explicit SpinProgram(uint64_t seed) : random_(seed) {}

  std::string text() {
    for (unsigned i = 0; i < 6; ++i) {
      statement(0, 0);
      if (below(3) == 0) line("bar.sync 0;");
    }
    std::string head = kPtxHead + fmt::format(R"(
.visible .entry spin(.param .u64 data) {{
  .reg .pred %p<{}>; .reg .b32 %r<{}>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, {};
  add.s64 %rd2, %rd1, %rd2;
  mov.u32 %r10, %r1;
  mov.u32 %r11, %r4;
  mov.u32 %r12, %r2;
  mov.u32 %r13, 3;
  and.b32 %r14, %r1, 7;
  shr.u32 %r15, %r1, 5;
)",
                                              predicates_ + 1, registers_ + 1, kVariables * 4);
    for (unsigned v = 0; v < kVariables; ++v) line(fmt::format("st.global.u32 [%rd2+{}], %r{};", kOut + 4 * v, 10 + v));
    return head + body_ + "  ret;\n}\n";
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::string variable() { return fmt::format("%r{}", 10 + below(kVariables)); }
  std::string state() { return fmt::format("[%rd1+{}]", 4 * (kLocks + below(kState))); }
  std::string label() { return fmt::format("$l{}", labels_++); }
  std::string predicate() { return fmt::format("%p{}", predicates_++); }
  std::string counter() { return fmt::format("%r{}", registers_++); }
  void line(const std::string& text) { body_ += "  " + text + "\n"; }
  void place(const std::string& l) { body_ += l + ":\n"; }

  std::string condition() {
    const std::string p = predicate(), bits = counter();
    line(fmt::format("and.b32 {}, {}, {};", bits, variable(), 1 + below(7)));
    line(fmt::format("setp.{}.u32 {}, {}, {};", below(2) == 0 ? "eq" : "lt", p, bits, below(4)));
    return p;
  }

  void arithmetic(const std::string& guard) {
    constexpr const char* kOps[] = {"add.u32", "xor.b32", "mul.lo.u32", "sub.u32"};
    line(fmt::format("{}{} {}, {}, {};", guard, kOps[below(4)], variable(), variable(),
                     below(2) == 0 ? variable() : std::to_string(below(100))));
  }

  void statements(unsigned depth, unsigned lock) {
    for (unsigned i = 0, n = 1 + below(3); i < n; ++i) statement(depth, lock);
  }

  void statement(unsigned depth, unsigned lock) {
    switch (below(depth < 3 ? 11 : 6)) {
      case 0:
      case 1: return arithmetic("");
      case 2: return line(fmt::format("ld.volatile.global.u32 {}, {};", variable(), state()));
      case 3: return line(fmt::format("st.volatile.global.u32 {}, {};", state(), variable()));
      case 4: return line(fmt::format("activemask.b32 {};", variable()));
      case 5: return arithmetic("@" + condition() + " ");
      case 6: return branch(depth, lock);
      case 7: return loop(depth, lock);
      default: return lock < kLocks ? critical_section(depth, lock) : arithmetic("");
    }
  }

  void branch(unsigned depth, unsigned lock) {
    const std::string p = condition(), other = label(), behind = label();
    line(fmt::format("@{} bra {};", p, other));
    statements(depth + 1, lock);
    line("bra " + behind + ";");
    place(other);
    if (below(2) == 0) statements(depth + 1, lock);
    place(behind);
  }

  void loop(unsigned depth, unsigned lock) {
    const std::string i = counter(), limit = counter(), p = predicate(), head = label();
    line(fmt::format("and.b32 {}, {}, 1;", limit, variable()));
    line(fmt::format("mov.u32 {}, 0;", i));
    place(head);
    statements(depth + 1, lock);
    line(fmt::format("add.u32 {}, {}, 1;", i, i));
    line(fmt::format("setp.le.u32 {}, {}, {};", p, i, below(2) == 0 ? limit : "1"));
    line(fmt::format("@{} bra {};", p, head));
  }

  void critical_section(unsigned depth, unsigned lock) {
    const unsigned mine = lock + below(kLocks - lock);
    const std::string got = counter(), p = predicate(), spin = label();
    place(spin);
    line(fmt::format("atom.global.cas.b32 {}, [%rd1+{}], 0, 1;", got, 4 * mine));
    line(fmt::format("setp.ne.u32 {}, {}, 0;", p, got));
    line(fmt::format("@{} bra {};", p, spin));
    statements(depth + 1, mine + 1);
    line("membar.gl;");
    line(fmt::format("atom.global.exch.b32 {}, [%rd1+{}], 0;", got, 4 * mine));
  }

  std::mt19937_64 random_;
  std::string body_;
  unsigned labels_ = 0, predicates_ = 0, registers_ = 16;
};

class SpinPrograms : public testing::TestWithParam<int> {
 protected:
  void check(uint64_t seed, exec::Executor& jit) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string ptx = SpinProgram(seed).text();
    if (std::getenv("WARPLENS_SEED") != nullptr) std::cout << ptx;
    TwoExecutors two(ptx);
    constexpr unsigned kThreads[] = {32, 64, 40, 70};
    PtxLauncher::Options options;
    options.block = {kThreads[seed % 4], 1, 1};
    options.grid = {1 + static_cast<uint32_t>(seed / 4 % 2), 1, 1};
    Params params;
    params.add(two.array(std::vector<uint8_t>(kOut + options.grid.x * options.block.x * kVariables * 4)));
    const auto interpreter = exec::make_interpreter();
    two.compare("spin", options, params, *interpreter, jit, false);
    if (seed % 2 == 0) two.compare("spin", options, params, *interpreter, jit, true);
  }
};

TEST_P(SpinPrograms, generated_code_equals_the_interpreter) {
  const auto jit = exec::make_jit(jit_variants()[static_cast<size_t>(GetParam())].options);
  const auto number_from = [](const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
  };
  if (const uint64_t seed = number_from("WARPLENS_SEED", 0); seed != 0) return check(seed, *jit);
  const uint64_t first = 1 + 1000 * static_cast<uint64_t>(GetParam()), programs = number_from("WARPLENS_PROGRAMS", 8);
  for (uint64_t i = 0; i < programs && !HasFailure(); ++i) check(first + i, *jit);
}

INSTANTIATE_TEST_SUITE_P(All, SpinPrograms, testing::Range(0, 4), name_of_variant);

}  // namespace
}  // namespace warplens::test
