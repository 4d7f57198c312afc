// SPDX-License-Identifier: Apache-2.0
// The default for programs that link the objects directly (tests); each shared library brings its own value.
#include "cuda/runtime_api.h"

namespace warplens::cuda {

__attribute__((weak)) extern const int kRuntimeMajor = 13;

}  // namespace warplens::cuda
