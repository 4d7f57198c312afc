// SPDX-License-Identifier: Apache-2.0
// A name that programs include; all of it comes with the runtime header.
#pragma once
#include "cuda_runtime.h"
