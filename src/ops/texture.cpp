// SPDX-License-Identifier: Apache-2.0
// Chapter: textures and surfaces ("Texture Instructions", "Surface Instructions"). The rows parse what compilers write;
// none runs yet, so a kernel that needs one is refused at load with this reason.
#include "ops/chapters.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

#define WL_TEXTURE(name, form_text)                   \
  {.form = form_text,                                 \
   .spec = {"Texture Instructions: " name, 1, 0, 10}, \
   .pipe = Pipe::kTex,                                \
   .unsupported = "textures are not modelled yet"}
#define WL_SURFACE(name, form_text)                   \
  {.form = form_text,                                 \
   .spec = {"Surface Instructions: " name, 1, 5, 20}, \
   .pipe = Pipe::kTex,                                \
   .unsupported = "surfaces are not modelled yet"}
#define WL_GEOMETRY ".geom = {.1d, .2d, .3d, .a1d, .a2d, .cube, .acube, .2dms, .a2dms}"
#define WL_DTYPE ".dtype = {.u32, .s32, .f32, .f16, .f16x2}"
#define WL_CTYPE ".ctype = {.s32, .f32}"
#define WL_BITS ".type = {.b8, .b16, .b32, .b64, .u32, .s32, .f32}"
#define WL_CLAMP ".clamp = {.trap, .clamp, .zero}"
constexpr OpDef kRows[] = {
    WL_TEXTURE("tex",
               "tex{.mip}.geom.v.dtype.ctype d:any|p:pred, [a, b:any, c:any?], e:any?, f:any?, g:any?; .mip = {.base, "
               ".level, .grad}; " WL_GEOMETRY "; .v = {.v2, .v4}; " WL_DTYPE "; " WL_CTYPE),
    WL_TEXTURE("tld4",
               "tld4.comp.geom.v4.dtype.ctype d:any|p:pred, [a, b:any, c:any?], e:any?; .comp = {.r, .g, .b, .a}; "
               ".geom = {.2d, .a2d, .cube, .acube}; .dtype = {.u32, .s32, .f32}; " WL_CTYPE),
    WL_TEXTURE("txq",
               "txq{.level}.query.type d, [a], lod:b32?; .query = {.width, .height, .depth, .channel_data_type, "
               ".channel_order, .normalized_coords, .array_size, .num_mipmap_levels, .num_samples, .filter_mode, "
               ".addr_mode_0, .addr_mode_1, .addr_mode_2}; .type = {.b32}"),
    WL_TEXTURE("istypep", "istypep.kind d:pred, a:b64; .kind = {.texref, .samplerref, .surfref}"),
    WL_SURFACE("suld", "suld.b.geom{.cop}{.v}.type.clamp d:any, [a, b:any]; " WL_GEOMETRY
                       "; .cop = {.ca, .cg, .cs, .cv}; .v = {.v2, .v4}; " WL_BITS "; " WL_CLAMP),
    WL_SURFACE("sust", "sust.mode.geom{.cop}{.v}.type.clamp [a, b:any], c:any; .mode = {.b, .p}; " WL_GEOMETRY
                       "; .cop = {.wb, .cg, .cs, .wt}; .v = {.v2, .v4}; " WL_BITS "; " WL_CLAMP),
    WL_SURFACE("sured",
               "sured.mode.op.geom.type.clamp [a, b:any], c; .mode = {.b, .p}; .op = {.add, .min, .max, .and, .or}; "
               ".geom = {.1d, .2d, .3d}; .type = {.u32, .u64, .s32, .b32, .s64}; " WL_CLAMP),
    WL_SURFACE("suq",
               "suq.query.type d, [a]; .query = {.width, .height, .depth, .channel_data_type, .channel_order, "
               ".array_size, .memory_layout}; .type = {.b32}"),
};

}  // namespace

Chapter texture_chapter() { return kRows; }

}  // namespace warplens::ops
