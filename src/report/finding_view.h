// SPDX-License-Identifier: Apache-2.0
// View 3: what went wrong while kernels ran, compiler-style with the source line:
//
//   oob.cu:7:12: error: reads 4 bytes at 0x7f..., 16 bytes past the end of a 1024-byte allocation
//     kernel oob, block (3, 0, 0), thread (5, 0, 0)
//     | out[i] = in[i + 4];
#pragma once
#include <string>

#include "report/run_record.h"
#include "report/text_style.h"

namespace warplens::report {

/// "out of bounds", "null pointer", ... also the JSON word with "_" for " ".
const char* word(events::FindingKind kind);
/// The finding's sentence, with PTX parameter names as the source spells them when `kernel` is given.
std::string message_text(const events::Finding& finding, const events::KernelInfo* kernel);
/// Whether both say one thing about one instruction and let their launches go on: a hundred launches have it, each.
bool is_repeated(const events::Finding& finding, const events::Finding& earlier);
std::string finding_text(const events::Finding& finding, const TextStyle& style,
                         const events::KernelInfo* kernel = nullptr);

}  // namespace warplens::report
