// SPDX-License-Identifier: Apache-2.0
// The front end and the graph must survive any text: no crash, no failed CHECK, no endless work. What parses must also
// print to text that parses to an equal module. Built with libFuzzer in the preset "fuzz"; in every other build a plain
// main runs the files it is given, so that the seeds and old findings are tests.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "analysis/dominance.h"
#include "analysis/liveness.h"
#include "analysis/loops.h"
#include "ptx/parser.h"
#include "support/module_equality.h"
#include "support/ptx_rows.h"

using namespace warplens;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto module = ptx::parse(text, "fuzz.ptx", test::rows());
  if (!module) {
    for (const Diagnostic& d : module.error()) (void)render(d, text);
    return 0;
  }
  for (const ptx::Function& f : module->functions) {
    if (f.is_declaration) continue;
    const ir::Kernel k = ir::build(f);
    (void)analysis::post_dominators(k);
    (void)analysis::dominators(k);
    (void)analysis::find_loops(k);
    (void)analysis::liveness(k);
  }
  const std::string printed = ptx::print(*module);
  const auto again = ptx::parse(printed, "printed.ptx", test::rows());
  std::string problem;
  if (!again)
    problem = render(again.error()[0], printed);
  else
    problem = test::difference(*module, *again);
  if (problem.empty()) return 0;
  std::fprintf(stderr, "printed module differs: %s\n%s", problem.c_str(), printed.c_str());
  std::abort();
}

#ifndef WARPLENS_LIBFUZZER
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    std::stringstream whole;
    whole << file.rdbuf();
    const std::string text = whole.str();
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  }
}
#endif
