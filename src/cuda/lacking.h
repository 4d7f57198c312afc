// SPDX-License-Identifier: Apache-2.0
// What a call of a function that we lack does.
#pragma once
#include <atomic>

namespace warplens::cuda {

/// Says once (`said`) that `function` is not supported, remembers cudaErrorNotSupported and returns its number.
int not_supported(const char* function, std::atomic<bool>& said);

}  // namespace warplens::cuda
