// SPDX-License-Identifier: Apache-2.0
// The chapters of the instruction set, one file each, joined in instruction_set.cpp. No registration at start-up: a
// chapter that is not listed there does not exist.
#pragma once
#include <span>

#include "ptx/op.h"

namespace warplens::ops {

using Chapter = std::span<const ptx::OpDef>;

Chapter integer_chapter();
Chapter carry_chapter();
Chapter float_chapter();
Chapter special_chapter();
Chapter half_chapter();
Chapter compare_chapter();
Chapter logic_chapter();
Chapter move_chapter();
Chapter memory_chapter();
Chapter convert_chapter();
Chapter atomic_chapter();
Chapter control_chapter();
Chapter sync_chapter();
Chapter warp_chapter();
Chapter video_chapter();
Chapter texture_chapter();
Chapter matrix_chapter();
Chapter async_chapter();

}  // namespace warplens::ops
