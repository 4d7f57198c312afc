// SPDX-License-Identifier: Apache-2.0
// What the code generator is given: a kernel placed in memory (its graph, accesses, variables) and the choices that
// make one compiled version of it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/loops.h"
#include "codegen/block_shape.h"
#include "codegen/emit_context.h"
#include "ir/kernel.h"
#include "machine/access_list.h"
#include "ptx/module.h"

namespace warplens::codegen {

/// Which copies of the code a compiled version has (kernel_writer.h).
enum class CodePart : uint8_t {
  kBoth,      ///< one function that goes from one copy to the other and back
  kFullMask,  ///< warps with all lanes; one whose lanes part hands over to the masked part, made when that happens
              ///< first (classes of its own: analyse_whole_warps)
  kMasked,    ///< begins with any lanes, or where the full-mask part has left
};

/// A new member must be added to the digest that cached code is found by (source_digest.cpp), too.
struct KernelSource {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  const ir::Kernel* graph = nullptr;
  const machine::AccessList* accesses = nullptr;
  std::span<const uint64_t> symbols;                ///< by Module::variables: device address or shared offset
  std::span<const uint32_t> variable_offsets;       ///< by Function::variables: shared, local or call-frame offset
  uint32_t call_frame_bytes = 0;                    ///< per thread: .param variables of the body
  uint64_t (*function_handle)(uint32_t) = nullptr;  ///< what the address of Module::functions[i] reads as
  const analysis::LoopForest* loops = nullptr;
  std::vector<bool> spinning_loops;  ///< by loop of `loops`
  BlockShape shape = BlockShape::kGeneral;
  EmitOptions options;
  bool lane_classes = true;     ///< off: every register a vector
  bool extend_patterns = true;  ///< patterns may be widened to 64 bits under a test that no lane wraps
  CodePart part = CodePart::kBoth;
  std::string dump_after;  ///< "codegen" or "optimise": print the module there, to stderr

  /// Whether Module::variables[index] has an address in device memory, which differs from run to run: generated code
  /// reads it from WarpContext::symbols. All others are offsets, known here.
  bool variable_is_placed(uint32_t index) const {
    const ptx::Space space = module->variables[index].space;
    return space == ptx::Space::kGlobal || space == ptx::Space::kConst;
  }
};

}  // namespace warplens::codegen
