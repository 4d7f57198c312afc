// SPDX-License-Identifier: Apache-2.0
// The old place of the profiler's annotations.
#pragma once
#include "nvtx3/nvToolsExt.h"
