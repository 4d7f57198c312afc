// SPDX-License-Identifier: Apache-2.0
// All types of the runtime API at once.
#ifndef WARPLENS_CUDA_BUILTIN_TYPES_H
#define WARPLENS_CUDA_BUILTIN_TYPES_H
#define __BUILTIN_TYPES_H__  // programs ask whether the file was included by this name
#include "driver_types.h"
#include "vector_types.h"
#endif
