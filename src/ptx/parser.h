// SPDX-License-Identifier: Apache-2.0
// PTX text -> Module. Syntax errors fail the module (all that can be found are reported, each with line and column);
// an unknown or unsupported opcode only marks its function (Function::unsupported), and the rest of the module loads.
#pragma once
#include <string>

#include "base/result.h"
#include "ptx/module.h"

namespace warplens::ptx {

/// Parses PTX `text` (any version 3.x to 9.x). `file_name` is used in diagnostics only.
Result<Module> parse(std::string text, std::string file_name, const OpTable& table);

/// Prints a module back as PTX text that parses to an equal module (names of flattened scopes are made unique).
std::string print(const Module& module);
/// One instruction as PTX text, without location: "@%p1 add.s32 %r1, %r2, 3;"
std::string print(const Module& module, const Function& function, const Instr& instr);

}  // namespace warplens::ptx
