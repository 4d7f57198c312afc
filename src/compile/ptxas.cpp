// SPDX-License-Identifier: Apache-2.0
// Three lines a kernel, e.g.
//   ptxas info    : Compiling entry function '_Z4axpyPf' for 'sm_90'
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 10 registers, used 1 barriers, 1024 bytes smem
#include "compile/ptxas.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "compile/process.h"

namespace warplens {
namespace {

/// The number that ends where `behind` begins: "... 16 bytes smem" -> 16.
template <typename T>
void number_before(std::string_view line, std::string_view behind, T& to) {
  const size_t end = line.find(behind);
  if (end == std::string_view::npos) return;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::from_chars(line.data() + begin, line.data() + end, to);
}

/// What stands in quotes behind `before`.
std::string_view quoted_after(std::string_view line, std::string_view before) {
  const size_t at = line.find(before);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + before.size());
  return line.substr(0, line.find('\''));
}

}  // namespace

std::string find_ptxas() {
  if (const char* choice = std::getenv("WARPLENS_PTXAS"); choice != nullptr && std::string_view(choice) == "off")
    return {};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable); root != nullptr && *root != '\0')
      if (std::string path = find_on_path(std::string(root) + "/bin/ptxas"); !path.empty()) return path;
  for (const char* name : {"ptxas", "/usr/local/cuda/bin/ptxas"})
    if (std::string path = find_on_path(name); !path.empty()) return path;
  return {};
}

AssemblerUses parse_ptxas_output(std::string_view text) {
  AssemblerUses uses;
  AssemblerUse* now = nullptr;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (const auto name = quoted_after(line, "Compiling entry function '"); !name.empty())
      now = &uses[std::string(name)];
    else if (line.find("Function properties for ") != std::string_view::npos && now)
      continue;
    if (!now) continue;
    number_before(line, " bytes stack frame", now->stack_bytes);
    number_before(line, " bytes spill stores", now->spill_store_bytes);
    number_before(line, " bytes spill loads", now->spill_load_bytes);
    number_before(line, " registers", now->registers);
    number_before(line, " barriers", now->barriers);
    number_before(line, " bytes smem", now->shared_bytes);
  }
  std::erase_if(uses, [](const auto& use) { return use.second.registers == 0; });
  return uses;
}

Result<AssemblerUses> assembler_uses(const std::string& ptxas, const std::string& ptx, int target, int max_registers) {
  auto folder = TemporaryDirectory::create();
  if (!folder) return folder.error();
  const std::string input = folder->path() + "/kernels.ptx";
  if (Status written = write_file(input, ptx); !written) return written.error();
  std::vector<std::string> command = {ptxas, "-v", "-arch=sm_" + std::to_string(target),
                                      input, "-o", folder->path() + "/kernels.o"};
  if (max_registers > 0) command.push_back("-maxrregcount=" + std::to_string(max_registers));
  auto run = run_process(command);
  if (!run) return run.error();
  if (!run->ok()) return make_error(ptxas + ": " + run->errors.substr(0, run->errors.find('\n')));
  return parse_ptxas_output(run->errors);
}

}  // namespace warplens
