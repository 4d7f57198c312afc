// SPDX-License-Identifier: Apache-2.0
// The key of a kernel's machine code: a hash of everything that code generation reads. Two sources of equal digest give
// equal code, so it names kernels by what they do; names, places in the text and comments do not take part, nor do the
// addresses of module variables, which generated code reads at run time.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "codegen/kernel_source.h"

namespace warplens::codegen {

using SourceDigest = std::array<uint8_t, 32>;

/// `generator` stands for the code generator itself and the machine: generator_identity().
SourceDigest digest_of(const KernelSource& source, const std::string& generator);

/// The build of Warplens and of LLVM that run in this process, LLVM's version, `cpu` and its `features`; empty when a
/// build cannot be told apart from others (a program linked without --build-id): nothing may be kept then.
std::string generator_identity(const std::string& cpu, const std::string& features);

}  // namespace warplens::codegen
