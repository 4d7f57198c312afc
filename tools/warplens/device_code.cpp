// SPDX-License-Identifier: Apache-2.0
#include "warplens/device_code.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "compile/clang_driver.h"
#include "compile/elf_file.h"
#include "compile/process.h"
#include "compile/program_kind.h"
#include "report/kernel_name.h"
#include "report/number_text.h"
#include "report/text_table.h"
#include "session/session.h"
#include "warplens/installation.h"

namespace warplens::cli {

namespace {

Result<std::vector<PtxImage>> compiled(const std::string& source, int target) {
  const auto installation = find_installation();
  if (!installation) return installation.error();
  const auto folder = TemporaryDirectory::create();
  if (!folder) return folder.error();
  CompileRequest request;
  request.options.sources = {source};
  request.options.output = folder->path() + "/program";
  if (target != 0) request.options.target = target;
  request.toolchain.cuda_headers = installation->cuda_headers;
  request.toolchain.runtime_library = installation->runtime_library;
  auto outcome = compile_with_clang(request);
  if (!outcome) return outcome.error();
  if (!outcome->ok) return make_error(fmt::format("{} does not compile:\n{}", source, outcome->messages));
  return std::move(outcome->device);
}

}  // namespace

Result<std::vector<PtxImage>> device_code_of(const std::string& path, int target) {
  const auto program = identify_program(path);
  if (!program) return program.error();
  if (program->kind == ProgramKind::kCudaSource || program->kind == ProgramKind::kHostSource)
    return compiled(path, target);
  if (program->kind == ProgramKind::kOther) return std::vector<PtxImage>{};
  auto text = read_file(path);
  if (!text) return text.error();
  const auto bytes = std::as_bytes(std::span(*text));
  if (!ElfFile::has_magic(bytes)) return std::vector<PtxImage>{{std::move(*text), path, 0, 0}};
  const auto elf = ElfFile::parse(bytes);
  if (!elf) return elf.error();
  const auto section = elf->section(".nv_fatbin");
  if (section.empty()) return std::vector<PtxImage>{};
  auto binary = read_fat_binary(section);
  if (!binary) return binary.error();
  return std::move(binary->ptx);
}

AssemblerUses assembled_for(const std::vector<PtxImage>& images, int target, int max_registers) {
  // Beyond this (whole libraries in one program) assembling would take longer than what it tells is worth.
  constexpr size_t kMostBytes = size_t{4} << 20;
  AssemblerUses all;
  size_t bytes = 0;
  for (const PtxImage& image : images) bytes += image.text.size();
  const std::string ptxas = bytes == 0 || bytes > kMostBytes ? std::string() : find_ptxas();
  if (ptxas.empty()) return all;
  std::vector<PtxImage> ordered = images;  // of a kernel in several images the newest is run
  std::ranges::stable_sort(ordered, {}, &PtxImage::target);
  for (const PtxImage& image : ordered) {
    if (image.target > static_cast<uint32_t>(target)) continue;
    if (auto uses = assembler_uses(ptxas, image.text, target, max_registers))
      for (auto& [name, use] : *uses) all[name] = use;
  }
  return all;
}

namespace {

const report::Column kTable[] = {{"kernel"},          {"registers"}, {"stack"},       {"spill stores", 60},
                                 {"spill loads", 60}, {"shared"},    {"barriers", 70}};

void add_estimates(const PtxImage& image, const AssemblerUses& known, session::Session& session,
                   report::TextTable& table) {
  const auto module = session.load(image.text, image.name);
  if (!module) return;
  for (const ptx::Function* entry : (*module)->entries()) {
    if (known.contains(entry->name)) continue;
    const auto needs = session.needs(**module, *entry);
    if (!needs) continue;
    table.add({{report::demangled(entry->name)},
               {fmt::format("~{}", needs->use.registers)},
               {report::bytes_text(needs->local_bytes)},
               {"-"},
               {"-"},
               {report::bytes_text(needs->static_shared_bytes)},
               {fmt::format("{}", needs->use.barriers)}});
  }
}

}  // namespace

std::string resource_usage_text(const std::vector<PtxImage>& images, int target, const std::string& gpu,
                                int max_registers) {
  const AssemblerUses uses = assembled_for(images, target, max_registers);
  report::TextTable table({std::begin(kTable), std::end(kTable)}, 20);
  for (const auto& [name, use] : uses)
    table.add({{report::demangled(name)},
               {fmt::format("{}", use.registers)},
               {report::bytes_text(use.stack_bytes)},
               {report::bytes_text(use.spill_store_bytes)},
               {report::bytes_text(use.spill_load_bytes)},
               {report::bytes_text(use.shared_bytes)},
               {fmt::format("{}", use.barriers)}});
  session::SessionOptions options;
  options.gpu = gpu;
  if (auto session = session::Session::create(options))
    for (const PtxImage& image : images) add_estimates(image, uses, **session, table);
  if (table.empty()) return "no kernels\n";
  const std::string from = uses.empty() ? "estimated from the PTX: no ptxas took it" : "from ptxas -v";
  return fmt::format("resources of kernels for sm_{}, {}\n", target, from) +
         table.render(report::style_of(STDERR_FILENO), 0);
}

std::map<std::string, uint32_t> registers_of(const AssemblerUses& uses) {
  std::map<std::string, uint32_t> registers;
  for (const auto& [name, use] : uses) registers[name] = use.registers;
  return registers;
}

}  // namespace warplens::cli
