// SPDX-License-Identifier: Apache-2.0
// The readers of fat binaries, executables and LLVM text take whatever a program or compiler left: any bytes, no
// crash. Built with libFuzzer in the preset "fuzz"; in every other build a plain main runs the seeds as tests.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "compile/elf_file.h"
#include "compile/fatbin.h"
#include "compile/inlined_places.h"

using namespace warplens;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto binary = read_fat_binary(bytes)) (void)choose_image(*binary, 90);
  if (const auto elf = ElfFile::parse(bytes)) {
    (void)elf->needed();
    (void)elf->has_dynamic_symbol("main");
    (void)elf->section(".nv_fatbin");
  }
  std::string text(reinterpret_cast<const char*>(data), size);
  const MarkedIr marked = mark_inlined_places(text);
  (void)restore_inlined_places(text, marked.places);
  (void)add_cluster_dims(text, take_cluster_dims(text));
  return 0;
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
