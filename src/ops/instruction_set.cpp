// SPDX-License-Identifier: Apache-2.0
// Joins the chapters. Rows of one mnemonic may come from several chapters (add: integer, float, half); the parser tries
// them in this order, and no two rows accept the same text.
#include "ops/instruction_set.h"

#include "ops/chapters.h"

namespace warplens::ops {

const ptx::OpTable& instruction_set() {
  static const Chapter kChapters[] = {
      integer_chapter(), carry_chapter(), float_chapter(),  special_chapter(), half_chapter(),   compare_chapter(),
      logic_chapter(),   move_chapter(),  memory_chapter(), convert_chapter(), atomic_chapter(), control_chapter(),
      sync_chapter(),    warp_chapter(),  video_chapter(),  texture_chapter(), matrix_chapter(), async_chapter(),
  };
  static const ptx::OpTable kTable(kChapters);
  return kTable;
}

}  // namespace warplens::ops
