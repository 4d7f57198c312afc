// SPDX-License-Identifier: Apache-2.0
// The name by which programs include the primitives.
#pragma once
#include "cuda_pipeline_primitives.h"
