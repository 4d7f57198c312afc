// SPDX-License-Identifier: Apache-2.0
// Random kernels by both executors. WARPLENS_SEED runs one seed and prints its program; WARPLENS_PROGRAMS sets how
// many; WARPLENS_SECONDS goes on for that long, from seed WARPLENS_FIRST on.
#include "random_program.h"

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "jit_variants.h"
#include "two_executors.h"

namespace warplens::test {
namespace {

std::vector<uint8_t> random_bytes(size_t count, uint32_t seed) {
  std::vector<uint8_t> out(count);
  for (uint8_t& b : out) {
    seed = seed * 1664525u + 1013904223u;
    b = static_cast<uint8_t>(seed >> 24);
  }
  return out;
}

uint64_t number_from(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class RandomPrograms : public testing::TestWithParam<int> {
 protected:
  void check(uint64_t seed, exec::Executor& jit) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string ptx = random_program(seed);
    if (std::getenv("WARPLENS_SEED") != nullptr) std::cout << ptx;
    TwoExecutors two(ptx);
    constexpr events::Dim3 kBlocks[] = {{64, 1, 1}, {16, 4, 1}, {32, 2, 1}, {40, 1, 1}, {7, 3, 2}, {8, 8, 1}};
    PtxLauncher::Options options;
    options.block = kBlocks[seed % 6];
    options.grid = {2, 1, 1};
    const size_t dumped = options.block.count() * 2 * kDumpedWords * 4;
    Params params;
    params.add(two.array(random_bytes(kSharedWords * 4, 1)));
    params.add(two.array(std::vector<uint8_t>(kSharedWords * 4 + dumped)));
    const auto interpreter = exec::make_interpreter();
    two.compare("random", options, params, *interpreter, jit, false);
    if (seed % 2 == 0) two.compare("random", options, params, *interpreter, jit, true);
  }
};

TEST_P(RandomPrograms, generated_code_equals_the_interpreter) {
  const auto jit = exec::make_jit(jit_variants()[static_cast<size_t>(GetParam())].options);
  if (const uint64_t seed = number_from("WARPLENS_SEED", 0); seed != 0) return check(seed, *jit);
  const uint64_t programs = number_from("WARPLENS_PROGRAMS", 12), seconds = number_from("WARPLENS_SECONDS", 0);
  const uint64_t first = number_from("WARPLENS_FIRST", 1) + 1000 * static_cast<uint64_t>(GetParam());
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (uint64_t i = 0; seconds != 0 ? std::chrono::steady_clock::now() < end : i < programs; ++i) {
    check(first + i, *jit);
    if (HasFatalFailure()) return;
    if (seconds != 0 && HasNonfatalFailure()) return;
  }
}

// Seeds that once failed.
class KnownSeeds : public RandomPrograms {};
TEST_P(KnownSeeds, that_found_faults) {
  const auto jit = exec::make_jit({});
  check(41, *jit);  // an operand read after a result was set in the same register
  const auto vectors = exec::make_jit(jit_variants()[1].options);
  check(1202, *vectors);  // bf16 held as LLVM's type called a library
  check(89, *jit);        // ldmatrix of a warp without the lanes that hold its addresses
}

INSTANTIATE_TEST_SUITE_P(All, KnownSeeds, testing::Values(0));

INSTANTIATE_TEST_SUITE_P(All, RandomPrograms, testing::Range(0, 5), name_of_variant);

}  // namespace
}  // namespace warplens::test
