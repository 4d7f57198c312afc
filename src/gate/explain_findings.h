// SPDX-License-Identifier: Apache-2.0
// The pages about findings: errors of the program under test.
#pragma once
#include <span>

#include "gate/explain_pages.h"

namespace warplens::gate {

std::span<const Page> finding_pages();

}  // namespace warplens::gate
