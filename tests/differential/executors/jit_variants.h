// SPDX-License-Identifier: Apache-2.0
// The ways to generate code that tests compare: all of it must compute and count the same.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "exec/executor.h"

namespace warplens::test {

struct JitVariant {
  std::string name;
  exec::JitOptions options;
};

inline std::vector<JitVariant> jit_variants() {
  std::vector<JitVariant> all = {
      {"all_classes", {}}, {"vectors_only", {}}, {"masked_only", {}}, {"avx2", {}}, {"one_function", {}}};
  all[1].options.lane_classes = false;
  all[2].options.copies = exec::JitCopies::kMaskedOnly;
  all[3].options.avx512 = false;
  all[4].options.copies = exec::JitCopies::kOneFunction;
  return all;
}

inline std::string name_of_variant(const testing::TestParamInfo<int>& info) {
  return jit_variants()[static_cast<size_t>(info.param)].name;
}

}  // namespace warplens::test
