// SPDX-License-Identifier: Apache-2.0
// SARIF 2.1.0 (OASIS): issues as results of stable rules at physical places. A result's fingerprint is made of the
// kernel, the rule and the text of the line, so that it stays the same when code moves.
#pragma once
#include <string>

#include "gate/verdict.h"

namespace warplens::gate {

std::string sarif_text(const Verdict& verdict);

}  // namespace warplens::gate
