// SPDX-License-Identifier: Apache-2.0
// Chapter: asynchronous copies and their barriers ("Data Movement and Conversion Instructions: Asynchronous copy",
// "Parallel Synchronization and Communication Instructions: mbarrier"), and multimem. None runs yet.
#include "ops/chapters.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

#define WL_ASYNC(name, major, minor, sm_version, form_text)                                \
  {.form = form_text,                                                                      \
   .spec = {"Data Movement and Conversion Instructions: " name, major, minor, sm_version}, \
   .pipe = Pipe::kLsu,                                                                     \
   .unsupported = "asynchronous copies are not run yet"}
#define WL_MBARRIER(name, major, minor, sm_version, form_text)                                           \
  {.form = form_text,                                                                                    \
   .spec = {"Parallel Synchronization and Communication Instructions: " name, major, minor, sm_version}, \
   .pipe = Pipe::kLsu,                                                                                   \
   .unsupported = "mbarrier objects are not modelled yet"}
#define WL_SHARED ".space = {.shared, .shared::cta, .shared::cluster}"
#define WL_ORDER ".sem = {.release, .acquire, .relaxed}; .scope = {.cta, .cluster}"
#define WL_HINT ".l2 = {.L2::64B, .L2::128B, .L2::256B, .L2::cache_hint}"
constexpr OpDef kRows[] = {
    WL_ASYNC(
        "cp.async", 7, 0, 80,
        "cp.async.cop.space.global{.l2}{.l2hint} [d], [a], size:imm:b32, actual:u32?, policy:b64?; .cop = {.ca, .cg}; "
        ".l2hint = {.L2::cache_hint}; " WL_SHARED "; " WL_HINT),
    WL_ASYNC("cp.async.commit_group", 7, 0, 80, "cp.async.commit_group"),
    WL_ASYNC("cp.async.wait_group", 7, 0, 80, "cp.async.wait_group n:imm:b32"),
    WL_ASYNC("cp.async.wait_all", 7, 0, 80, "cp.async.wait_all"),
    WL_ASYNC("cp.async.mbarrier.arrive", 7, 0, 80, "cp.async.mbarrier.arrive{.noinc}{.space}.b64 [a]; " WL_SHARED),
    WL_ASYNC("cp.async.bulk.commit_group", 8, 0, 90, "cp.async.bulk.commit_group"),
    WL_ASYNC("cp.async.bulk.wait_group", 8, 0, 90, "cp.async.bulk.wait_group{.read} n:imm:b32"),
    WL_ASYNC(
        "cp.async.bulk", 8, 0, 90,
        "cp.async.bulk.space.source.completion{.multicast}{.l2} [d], [a], size:u32, [mbar]?, x:any?, y:any?; .space = "
        ".source = {.shared::cluster, .shared::cta, .global}; .completion = {.mbarrier::complete_tx::bytes, "
        ".bulk_group}; .multicast = {.multicast::cluster}; " WL_HINT),
    WL_ASYNC(
        "cp.async.bulk.tensor", 8, 0, 90,
        "cp.async.bulk.tensor.dim.space.source{.mode}.completion{.multicast}{.l2} [d, c:any?], [a, b:any?], [mbar]?, "
        "x:any?, y:any?; .dim = {.1d, .2d, .3d, .4d, .5d}; .space = .source = {.shared::cluster, .shared::cta, "
        ".global}; .mode = {.tile, .im2col}; .completion = {.mbarrier::complete_tx::bytes, .bulk_group}; .multicast = "
        "{.multicast::cluster}; " WL_HINT),
    WL_MBARRIER("mbarrier.init", 7, 0, 80, "mbarrier.init{.space}.b64 [a], count:u32; " WL_SHARED),
    WL_MBARRIER("mbarrier.inval", 7, 0, 80, "mbarrier.inval{.space}.b64 [a]; " WL_SHARED),
    WL_MBARRIER("mbarrier.arrive", 7, 0, 80,
                "mbarrier.arrive{.expect_tx}{.noComplete}{.sem}{.scope}{.space}.b64 d:b64, [a], count:u32?; " WL_ORDER
                "; " WL_SHARED),
    WL_MBARRIER("mbarrier.arrive", 7, 0, 80,
                "mbarrier.arrive{.expect_tx}{.sem}{.scope}{.space}.b64 [a], count:u32?; " WL_ORDER "; " WL_SHARED),
    WL_MBARRIER(
        "mbarrier.arrive_drop", 7, 0, 80,
        "mbarrier.arrive_drop{.expect_tx}{.noComplete}{.sem}{.scope}{.space}.b64 d:b64, [a], count:u32?; " WL_ORDER
        "; " WL_SHARED),
    WL_MBARRIER("mbarrier.expect_tx", 8, 0, 90,
                "mbarrier.expect_tx{.sem}{.scope}{.space}.b64 [a], count:u32; " WL_ORDER "; " WL_SHARED),
    WL_MBARRIER("mbarrier.complete_tx", 8, 0, 90,
                "mbarrier.complete_tx{.sem}{.scope}{.space}.b64 [a], count:u32; " WL_ORDER "; " WL_SHARED),
    WL_MBARRIER(
        "mbarrier.test_wait", 7, 0, 80,
        "mbarrier.wait{.parity}{.sem}{.scope}{.space}.b64 p:pred, [a], state:any, hint:u32?; .wait = {.test_wait, "
        ".try_wait}; " WL_ORDER "; " WL_SHARED),
    WL_MBARRIER("mbarrier.pending_count", 7, 0, 80, "mbarrier.pending_count.b64 d:u32, state:b64"),
    WL_MBARRIER(
        "multimem.ld_reduce", 8, 1, 90,
        "multimem.ld_reduce{.sem}{.scope}{.space}.op{.vec}.type d:any, [a]; .sem = {.weak, .relaxed, .acquire}; "
        ".scope = {.cta, .cluster, .gpu, .sys}; .space = {.global}; .op = {.min, .max, .add, .and, .or, .xor}; .vec "
        "= {.v2, .v4, .v8}; .type = {.b32, .b64, .u32, .u64, .s32, .s64, .f16, .f16x2, .bf16, .bf16x2, .f32, .f64}"),
    WL_MBARRIER(
        "multimem.red", 8, 1, 90,
        "multimem.red{.sem}{.scope}{.space}.op{.vec}.type [a], b:any; .sem = {.relaxed, .release}; .scope = {.cta, "
        ".cluster, .gpu, .sys}; .space = {.global}; .op = {.min, .max, .add, .and, .or, .xor}; .vec = {.v2, .v4, "
        ".v8}; .type = {.b32, .b64, .u32, .u64, .s32, .s64, .f16, .f16x2, .bf16, .bf16x2, .f32, .f64}"),
};

}  // namespace

Chapter async_chapter() { return kRows; }

}  // namespace warplens::ops
