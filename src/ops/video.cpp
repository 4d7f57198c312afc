// SPDX-License-Identifier: Apache-2.0
// Chapter: video instructions ("Video Instructions"): SIMD within a register with selectors and a second operation.
// Hardware since Maxwell emulates most of them; compilers write them only for the __v* intrinsics and in old inline
// assembly. None runs yet.
#include "ops/chapters.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

#define WL_TYPES ".dtype = .atype = .btype = {.u32, .s32}"
#define WL_SIMD(name)                                                                          \
  {.form = name "{.dtype}{.atype}{.btype}{.sat}{.add} d:b32, a:b32, b:b32, c:b32?; " WL_TYPES, \
   .spec = {"Video Instructions: " name, 3, 0, 30},                                            \
   .unsupported = "video instructions are not run yet"}
constexpr OpDef kRows[] = {
    WL_SIMD("vadd"),  WL_SIMD("vsub"),   WL_SIMD("vabsdiff"),  WL_SIMD("vmin"),   WL_SIMD("vmax"),
    WL_SIMD("vshl"),  WL_SIMD("vshr"),   WL_SIMD("vmad"),      WL_SIMD("vset"),   WL_SIMD("vadd2"),
    WL_SIMD("vsub2"), WL_SIMD("vavrg2"), WL_SIMD("vabsdiff2"), WL_SIMD("vmin2"),  WL_SIMD("vmax2"),
    WL_SIMD("vset2"), WL_SIMD("vadd4"),  WL_SIMD("vsub4"),     WL_SIMD("vavrg4"), WL_SIMD("vabsdiff4"),
    WL_SIMD("vmin4"), WL_SIMD("vmax4"),  WL_SIMD("vset4"),
};

}  // namespace

Chapter video_chapter() { return kRows; }

}  // namespace warplens::ops
