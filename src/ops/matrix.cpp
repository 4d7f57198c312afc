// SPDX-License-Identifier: Apache-2.0
// Chapter: matrix instructions ("Warp-Level Matrix Instructions", "Asynchronous Warpgroup-Level Matrix Instructions"):
// wmma, mma, ldmatrix, stmatrix, movmatrix, wgmma. Fragments are lists of 32-bit registers (64-bit for f64) whatever
// their element type. None runs yet.
#include "ops/chapters.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

#define WL_MATRIX(name, major, minor, sm_version, form_text)                    \
  {.form = form_text,                                                           \
   .spec = {"Warp-Level Matrix Instructions: " name, major, minor, sm_version}, \
   .role = Role::kWarp,                                                         \
   .pipe = Pipe::kTensor,                                                       \
   .unsupported = "matrix instructions are not run yet"}
#define WL_WGMMA(name, form_text)                                                 \
  {.form = form_text,                                                             \
   .spec = {"Asynchronous Warpgroup-Level Matrix Instructions: " name, 8, 0, 90}, \
   .role = Role::kWarp,                                                           \
   .pipe = Pipe::kTensor,                                                         \
   .unsupported = "warpgroup matrix instructions are not run yet"}
#define WL_LAYOUT ".layout = {.row, .col}"
#define WL_SHAPE                                                                                              \
  ".shape = {.m16n16k16, .m8n32k16, .m32n8k16, .m16n16k8, .m8n8k4, .m8n8k32, .m8n8k128, .m8n8k16, .m16n8k4, " \
  ".m16n8k8, .m16n8k16, .m16n8k32, .m16n8k64, .m16n8k128, .m16n8k256}"
#define WL_SPACE ".space = {.global, .shared, .shared::cta}"
/// .m64n8k16 to .m64n256k16, in steps of 8.
#define WL_EIGHT_COLUMNS(k) \
  ".m64n8" k ", .m64n16" k ", .m64n24" k ", .m64n32" k ", .m64n40" k ", .m64n48" k ", .m64n56" k ", .m64n64" k ", "
#define WL_COLUMNS(k)                                                                                               \
  WL_EIGHT_COLUMNS(k)                                                                                               \
  ".m64n72" k ", .m64n80" k ", .m64n88" k ", .m64n96" k ", .m64n104" k ", .m64n112" k ", .m64n120" k ", .m64n128" k \
  ", .m64n136" k ", .m64n144" k ", .m64n152" k ", .m64n160" k ", .m64n168" k ", .m64n176" k ", .m64n184" k          \
  ", .m64n192" k ", .m64n200" k ", .m64n208" k ", .m64n216" k ", .m64n224" k ", .m64n232" k ", .m64n240" k          \
  ", .m64n248" k ", .m64n256" k
constexpr OpDef kRows[] = {
    WL_MATRIX(
        "wmma.load", 6, 0, 70,
        "wmma.load.frag.sync.aligned.layout.shape{.space}.type r:vec:b32, [p], stride:u32?; .frag = {.a, .b, .c}; "
        ".type = {.f16, .bf16, .tf32, .f32, .s32, .u8, .s8, .u4, .s4, .b1}; " WL_LAYOUT "; " WL_SHAPE "; " WL_SPACE),
    WL_MATRIX("wmma.load", 7, 0, 80,
              "wmma.load.frag.sync.aligned.layout.shape{.space}.type r:vec, [p], stride:u32?; .frag = {.a, .b, .c}; "
              ".type = {.f64}; " WL_LAYOUT "; " WL_SHAPE "; " WL_SPACE),
    WL_MATRIX("wmma.store", 6, 0, 70,
              "wmma.store.d.sync.aligned.layout.shape{.space}.type [p], r:vec:b32, stride:u32?; .type = {.f16, .f32, "
              ".s32}; " WL_LAYOUT "; " WL_SHAPE "; " WL_SPACE),
    WL_MATRIX("wmma.store", 7, 0, 80,
              "wmma.store.d.sync.aligned.layout.shape{.space}.type [p], r:vec, stride:u32?; .type = {.f64}; " WL_LAYOUT
              "; " WL_SHAPE "; " WL_SPACE),
    WL_MATRIX(
        "wmma.mma", 6, 0, 70,
        "wmma.mma.sync.aligned.layout.blayout.shape.dtype.ctype{.satfinite} d:any, a:any, b:any, c:any; .layout = "
        ".blayout = {.row, .col}; .dtype = .ctype = {.f16, .f32}; " WL_SHAPE),
    WL_MATRIX(
        "wmma.mma", 6, 3, 72,
        "wmma.mma.sync.aligned.layout.blayout.shape.dtype.atype.btype.ctype{.tail} d:any, a:any, b:any, c:any; "
        ".layout = .blayout = {.row, .col}; .dtype = .ctype = {.f32, .s32, .f64}; .atype = .btype = {.bf16, .tf32, "
        ".u8, .s8, .u4, .s4, .f64}; .tail = {.satfinite, .rn, .rz, .rm, .rp}; " WL_SHAPE),
    WL_MATRIX(
        "wmma.mma", 6, 3, 75,
        "wmma.mma.op.popc.sync.aligned.layout.blayout.shape.dtype.atype.btype.ctype d:any, a:any, b:any, c:any; .op = "
        "{.xor, .and}; .layout = .blayout = {.row, .col}; .dtype = .ctype = {.s32}; .atype = .btype = "
        "{.b1}; " WL_SHAPE),
    WL_MATRIX(
        "mma", 6, 4, 70,
        "mma.sync.aligned.shape.layout.blayout{.satfinite}.dtype.atype.btype.ctype{.op}{.popc} d:any, a:any, b:any, "
        "c:any; .layout = .blayout = {.row, .col}; .dtype = .ctype = {.f16, .f32, .s32, .f64}; .atype = .btype = "
        "{.f16, .bf16, .tf32, .e4m3, .e5m2, .u8, .s8, .u4, .s4, .b1, .f64}; .op = {.xor, .and}; " WL_SHAPE),
    WL_MATRIX(
        "ldmatrix", 6, 5, 75,
        "ldmatrix.sync.aligned.shape.num{.trans}{.space}.type r:vec:b32, [p]; .shape = {.m8n8, .m16n16, .m8n16}; .num "
        "= {.x1, .x2, .x4}; .space = {.shared, .shared::cta}; .type = {.b16, .b8}"),
    WL_MATRIX(
        "ldmatrix", 6, 5, 75,
        "ldmatrix.sync.aligned.num{.trans}.shape{.space}.type r:vec:b32, [p]; .shape = {.m8n8}; .num = {.x1, .x2, "
        ".x4}; .space = {.shared, .shared::cta}; .type = {.b16}"),
    WL_MATRIX(
        "stmatrix", 7, 8, 90,
        "stmatrix.sync.aligned.shape.num{.trans}{.space}.type [p], r:vec:b32; .shape = {.m8n8, .m16n8}; .num = {.x1, "
        ".x2, .x4}; .space = {.shared, .shared::cta}; .type = {.b16, .b8}"),
    WL_MATRIX("movmatrix", 7, 8, 75, "movmatrix.sync.aligned.m8n8.trans.type d:b32, a:b32; .type = {.b16}"),
    WL_WGMMA("wgmma.mma_async",
             "wgmma.mma_async.sync.aligned.shape.dtype.atype.btype d:any, a:any, b:any, p:any?, x:any?, y:any?, "
             "u:any?, v:any?; "
             ".dtype = {.f16, .f32}; .atype = .btype = {.f16, .bf16}; .shape = {" WL_COLUMNS("k16") "}"),
    WL_WGMMA("wgmma.mma_async",
             "wgmma.mma_async.sync.aligned.shape.dtype.atype.btype d:any, a:any, b:any, p:any?, x:any?, y:any?, "
             "u:any?, v:any?; "
             ".dtype = {.f32}; .atype = .btype = {.tf32}; .shape = {" WL_COLUMNS("k8") "}"),
    WL_WGMMA(
        "wgmma.mma_async",
        "wgmma.mma_async.sync.aligned.shape{.satfinite}.dtype.atype.btype d:any, a:any, b:any, p:any?, x:any?, y:any?; "
        ".dtype = {.f16, .f32, .s32}; .atype = .btype = {.e4m3, .e5m2, .u8, .s8}; .shape = {" WL_COLUMNS("k32") "}"),
    WL_WGMMA("wgmma.fence", "wgmma.fence.sync.aligned"),
    WL_WGMMA("wgmma.commit_group", "wgmma.commit_group.sync.aligned"),
    WL_WGMMA("wgmma.wait_group", "wgmma.wait_group.sync.aligned n:imm:b32"),
};

}  // namespace

Chapter matrix_chapter() { return kRows; }

}  // namespace warplens::ops
