// SPDX-License-Identifier: Apache-2.0
// The instruction set of PTX as one table. Everything that parses, runs or describes PTX asks this one instance.
#pragma once
#include "ptx/op.h"

namespace warplens::ops {

const ptx::OpTable& instruction_set();

}  // namespace warplens::ops
