// SPDX-License-Identifier: Apache-2.0
// Which kernel of a module somebody means: the mangled name, the demangled one with or without its parameters and
// template arguments, or a part that only one kernel has.
#pragma once
#include <string>

#include "base/result.h"
#include "session/session.h"

namespace warplens::session {

/// The kernel called `name`; an empty name means the only one. The message of a failure says what is there.
Result<const ptx::Function*> find_entry(const Module& module, const std::string& name);

/// "  scale(float*, int)   _Z5scalePfi" for each kernel, a line each.
std::string entry_list(const std::vector<const ptx::Function*>& entries);

}  // namespace warplens::session
