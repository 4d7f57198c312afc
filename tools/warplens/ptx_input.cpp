// SPDX-License-Identifier: Apache-2.0
#include "warplens/ptx_input.h"

#include <fmt/format.h>

#include "compile/process.h"
#include "ops/instruction_set.h"
#include "ptx/parser.h"
#include "report/kernel_name.h"

namespace warplens::cli {
namespace {

std::string list_of(const ptx::Module& module) {
  std::string kernels, faults;
  for (const ptx::Function& f : module.functions) {
    for (const Diagnostic& d : f.unsupported) faults += render(d, module.text);
    if (!f.is_entry || f.is_declaration) continue;
    kernels += fmt::format("  {}{}\n", report::demangled(f.name),
                           f.unsupported.empty() ? "" : "   (cannot run here, see above)");
  }
  if (kernels.empty()) return faults + fmt::format("{}: no kernel (.entry) in this file\n", module.file_name);
  return faults +
         fmt::format("{}: PTX {}.{} for {}, kernels:\n", module.file_name, module.version_major, module.version_minor,
                     module.target) +
         kernels;
}

}  // namespace

std::string check_ptx(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return render(text.error().at(0));
  const auto module = ptx::parse(*text, path, ops::instruction_set());
  if (!module) {
    std::string out;
    for (const Diagnostic& d : module.error()) out += render(d, *text);
    return out;
  }
  return list_of(*module) + render(make_error("PTX alone cannot be launched yet",
                                              "run the program that loads it, or the source that it was made from"));
}

}  // namespace warplens::cli
