// SPDX-License-Identifier: Apache-2.0
// What the test programs share: SHOW(call) prints the call and the name of the error that it returned. The expected
// outputs beside the programs (NAME.expected) were printed on an H200; README.md says with what.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define SHOW(call) std::printf("%-70s %s\n", #call, cudaGetErrorName(call))
#define VALUE(what, value) std::printf("%-70s %lld\n", what, static_cast<long long>(value))
