// SPDX-License-Identifier: Apache-2.0
// Kernels made from control-flow graphs, to test what works on graphs: block i is a label, and a jump by its number of
// successors (0: ret, 1: bra, 2: guarded bra and bra, more: brx.idx). Random ones come from a seed.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "ir/kernel.h"
#include "ptx/parser.h"
#include "support/ptx_rows.h"

namespace warplens::test {

using Edges = std::vector<std::vector<uint32_t>>;

inline ptx::Module parse_or_fail(const std::string& text) {
  auto module = ptx::parse(text, "test.ptx", rows());
  if (module) return std::move(*module);
  for (const Diagnostic& d : module.error()) ADD_FAILURE() << render(d, text);
  return {};
}

/// `body` with the usual registers around it.
inline ptx::Module kernel_of(const std::string& body) {
  return parse_or_fail(
      ".version 8.5\n.target sm_90\n.address_size 64\n.entry k(.param .u64 in) { .reg .pred %p<9>; .reg .b32 %r<9>; "
      ".reg .b64 %rd<9>; .reg .f32 %f<9>;\n" +
      body + "\n}\n");
}

inline std::string text_of(const Edges& edges) {
  std::string text, tables;
  for (size_t i = 0; i < edges.size(); ++i) {
    text += fmt::format("B{}: ", i);
    const auto& to = edges[i];
    if (to.empty()) text += "ret;\n";
    if (to.size() == 1) text += fmt::format("bra B{};\n", to[0]);
    if (to.size() == 2) text += fmt::format("@%p1 bra B{};\nbra B{};\n", to[0], to[1]);
    if (to.size() < 3) continue;
    text += fmt::format("brx.idx %r1, T{};\n", i);
    tables += fmt::format("T{}: .branchtargets ", i);
    for (size_t k = 0; k < to.size(); ++k) tables += fmt::format("{}B{}", k ? ", " : "", to[k]);
    tables += ";\n";
  }
  return tables + text;
}

/// A graph of `n` blocks with up to three successors each.
inline Edges random_edges(uint32_t seed, uint32_t n) {
  std::mt19937 random(seed);
  Edges edges(n);
  for (auto& to : edges) {
    static constexpr uint32_t kCounts[] = {0, 1, 1, 2, 2, 2, 3};
    to.resize(kCounts[random() % 7]);
    for (uint32_t& t : to) t = random() % n;
  }
  return edges;
}

}  // namespace warplens::test
