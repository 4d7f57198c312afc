// SPDX-License-Identifier: Apache-2.0
// "Did you mean ...", for the command line: base/nearest.h under the name that the commands use.
#pragma once
#include "base/nearest.h"

namespace warplens::cli {

using warplens::nearest;

}  // namespace warplens::cli
