// SPDX-License-Identifier: Apache-2.0
// See program_kind.h. A static CUDA runtime is recognised by what it does to the file: device code is there, but no
// shared runtime is needed, so our library would never be asked.
#include "compile/program_kind.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "compile/elf_file.h"
#include "compile/fatbin.h"
#include "compile/options.h"
#include "compile/process.h"

namespace warplens {
namespace {

constexpr const char* kRebuild = "rebuild it with: nvcc -cudart shared -gencode arch=compute_90,code=compute_90 ...";

// PTX begins with comments and then .version; the file's name does not matter.
bool looks_like_ptx(std::string_view text) {
  while (!text.empty()) {
    const size_t start = text.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos) return false;
    text.remove_prefix(start);
    if (text.starts_with("//")) {
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    } else if (text.starts_with("/*")) {
      const size_t end = text.find("*/");
      if (end == std::string_view::npos) return false;
      text.remove_prefix(end + 2);
    } else {
      return text.starts_with(".version");
    }
  }
  return false;
}

bool any_starts_with(const std::vector<std::string>& names, std::string_view prefix) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& n) { return n.starts_with(prefix); });
}

std::string target_list(std::vector<uint32_t> targets) {
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  std::vector<std::string> names;
  for (const uint32_t t : targets) names.push_back(fmt::format("sm_{}", t));
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<Program> identify_executable(const std::string& path, std::span<const std::byte> bytes) {
  const auto elf = ElfFile::parse(bytes);
  if (!elf) return make_error("'" + path + "' cannot be run: " + elf.error()[0].message);
  if (elf->is_object_file())
    return make_error("'" + path + "' is an object file, not a program", "link it first: warplens cc " + path);
  if (!elf->is_x86_64()) return make_error("'" + path + "' is a program for another processor");
  Program program{ProgramKind::kExecutable, path, "", {}};
  const std::vector<std::string> needed = elf->needed();
  const bool shared_runtime = any_starts_with(needed, "libcudart.so");
  const auto section = elf->section(".nv_fatbin");
  if (section.empty()) {
    const bool driver = any_starts_with(needed, "libcuda.so");
    if (!shared_runtime && !driver) program.kind = ProgramKind::kOther;
    return program;
  }
  const auto binary = read_fat_binary(section);
  if (!binary) return make_error("'" + path + "': " + binary.error()[0].message, binary.error()[0].hint);
  for (const PtxImage& image : binary->ptx) program.ptx_targets.push_back(image.target);
  if (!shared_runtime && !any_starts_with(needed, "libcuda.so"))
    return make_error("'" + path + "' has the CUDA runtime linked in statically, so ours cannot take its place",
                      kRebuild);
  if (binary->ptx.empty() && !binary->machine_code.empty())
    return make_error("'" + path + "' holds only machine code (" + target_list(binary->machine_code) + "), no PTX",
                      kRebuild);
  return program;
}

}  // namespace

Result<Program> identify_program(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return make_error("there is no file '" + path + "'");
    return make_error("cannot look at '" + path + "': " + std::strerror(errno));
  }
  if (S_ISDIR(info.st_mode)) return make_error("'" + path + "' is a directory");
  const auto text = read_file(path);
  if (!text) return text.error();
  if (text->empty()) return make_error("'" + path + "' is empty");
  if (is_cuda_path(path)) return Program{ProgramKind::kCudaSource, path, "", {}};
  if (is_source_path(path)) return Program{ProgramKind::kHostSource, path, "", {}};

  const auto bytes = std::as_bytes(std::span(*text));
  if (ElfFile::has_magic(bytes)) {
    if (const auto elf = ElfFile::parse(bytes); elf && !elf->is_x86_64() && path.ends_with(".cubin"))
      return make_error("'" + path + "' is GPU machine code; only PTX can be run", "make PTX: nvcc -ptx ...");
    auto program = identify_executable(path, bytes);
    if (program && access(path.c_str(), X_OK) != 0)
      return make_error("'" + path + "' is not executable", "chmod +x " + path);
    return program;
  }
  if (looks_like_ptx(*text)) return Program{ProgramKind::kPtx, path, "", {}};
  if (const auto binary = read_fat_binary(bytes); binary || text->compare(0, 4, "\x50\xed\x55\xba") == 0)
    return make_error("'" + path + "' is a fat binary without a program", "give the PTX (nvcc -ptx) or the executable");
  if (access(path.c_str(), X_OK) == 0) return Program{ProgramKind::kOther, path, "", {}};
  return make_error("'" + path + "' is neither CUDA source, nor a program, nor PTX",
                    "sources end in .cu, .cpp or .c; PTX starts with .version");
}

}  // namespace warplens
