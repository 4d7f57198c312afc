// SPDX-License-Identifier: Apache-2.0
// What executors ask of an instruction, answered from its row's form and the chosen alternatives.
#include "ptx/module.h"

namespace warplens::ptx {

std::string_view Instr::word(std::string_view slot) const {
  const int s = def->form.slot(slot);
  return s < 0 || slots[s] < 0 ? std::string_view{} : def->form.word(s, slots[s]);
}

bool Instr::has(std::string_view w) const {
  for (int s = 0; s < def->form.slot_count; ++s)
    if (slots[s] >= 0 && def->form.word(s, slots[s]) == w) return true;
  return false;
}

Type Instr::type(std::string_view slot) const {
  const int s = def->form.slot(slot);
  return s < 0 || slots[s] < 0 ? Type::kNone : def->form.word_type(s, slots[s]);
}

Space Instr::space() const {
  const Form& f = def->form;
  for (int s = 0; s < f.slot_count; ++s) {
    if (slots[s] < 0) continue;
    const std::string_view w = f.word(s, slots[s]);
    if (w == "global") return Space::kGlobal;
    if (w == "shared::cluster") return Space::kSharedCluster;
    if (w == "shared" || w == "shared::cta") return Space::kShared;
    if (w == "local") return Space::kLocal;
    if (w == "const") return Space::kConst;
    if (w == "param" || w == "param::entry" || w == "param::func") return Space::kParam;
  }
  return Space::kGeneric;
}

unsigned Instr::vector_length() const {
  const Form& f = def->form;
  for (int s = 0; s < f.slot_count; ++s) {
    if (slots[s] < 0) continue;
    const std::string_view w = f.word(s, slots[s]);
    if (w.size() == 2 && w[0] == 'v' && (w[1] == '2' || w[1] == '4' || w[1] == '8'))
      return static_cast<unsigned>(w[1] - '0');
  }
  return 1;
}

const Function* Module::find_function(std::string_view name) const {
  for (const Function& f : functions)
    if (f.name == name) return &f;
  return nullptr;
}

}  // namespace warplens::ptx
