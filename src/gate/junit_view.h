// SPDX-License-Identifier: Apache-2.0
// JUnit's XML as CI services read it: a suite for the run; in it one case for the program's end, and for each kernel
// one for its findings and one for each limit. A limit that was not checked is a case that was skipped.
#pragma once
#include <string>

#include "gate/verdict.h"

namespace warplens::gate {

std::string junit_text(const Verdict& verdict);

}  // namespace warplens::gate
