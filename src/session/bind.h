// SPDX-License-Identifier: Apache-2.0
// Puts arguments to a kernel's parameters: arrays are copied to device memory and stand there as addresses, everything
// else is copied into the parameter block. What does not fit is explained at the parameter's place in the PTX: what it
// takes, and what was given.
#pragma once
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "session/argument.h"
#include "session/session.h"

namespace warplens::session {

/// A parameter's place in the module's text.
SourcePos position_of(const ptx::Module& module, const ptx::Function& entry, size_t parameter);
/// "an address (an array)", "a number such as i32:5", "12 bytes" ...
std::string expectation_of(const ptx::Param& parameter);

struct BoundArguments {
  std::vector<uint8_t> parameters;  ///< Launch::parameters
  std::vector<uint64_t> addresses;  ///< by argument: of its array in device memory; 0 for all else, and empty arrays
};

/// Number, kinds and sizes of the arguments against the parameters; all faults at once.
Status check_arguments(const Module& module, const ptx::Function& entry, const std::vector<Argument>& arguments);
/// Checks, allocates and copies. Fails too when device memory is used up.
Result<BoundArguments> bind_arguments(Session& session, const Module& module, const ptx::Function& entry,
                                      const std::vector<Argument>& arguments);

}  // namespace warplens::session
