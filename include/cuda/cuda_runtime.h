// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime for C++: what a .cu file sees without including anything (compile/clang_driver includes this file
// by force), and what a host file gets that includes it by name.
#ifndef WARPLENS_CUDA_RUNTIME_H
#define WARPLENS_CUDA_RUNTIME_H
#define __CUDA_RUNTIME_H__  // programs ask whether the file was included by this name

#if defined(__CUDA__) && defined(__clang__)
#include "warplens/device.h"
#endif
#include "builtin_types.h"
#include "channel_descriptor.h"
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "vector_functions.h"
#ifdef __cplusplus
#include <initializer_list>  // nvcc's files have it, too: `for (int n : {1, 2})` compiles without an include
#include "warplens/runtime_templates.h"
#endif

#endif
