// SPDX-License-Identifier: Apache-2.0
// Chapter: barriers and fences ("Parallel Synchronization and Communication Instructions": bar, barrier, membar,
// fence). Roles again; the block runner keeps the barriers, and every memory access already has the order of the
// strongest fence. bar.red has its operation in slot "op"; its predicate is the operand named c, its thread count (if
// any) b.
#include "ops/chapters.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

#define WL_SECTION "Parallel Synchronization and Communication Instructions: "
#define WL_BARRIER(form_text, name, major, sm_version) \
  {.form = form_text, .spec = {WL_SECTION name, major, 0, sm_version}, .role = Role::kBarrier, .pipe = Pipe::kControl}
#define WL_CLUSTER(form_text)                        \
  {.form = form_text,                                \
   .spec = {WL_SECTION "barrier.cluster", 7, 8, 90}, \
   .role = Role::kClusterBarrier,                    \
   .pipe = Pipe::kControl}
#define WL_FENCE(form_text, name, major, minor, sm_version) \
  {.form = form_text, .spec = {WL_SECTION name, major, minor, sm_version}, .role = Role::kFence, .pipe = Pipe::kLsu}
constexpr OpDef kRows[] = {
    WL_BARRIER("bar{.cta}.sync a:u32, b:u32?", "bar", 1, 10),
    WL_BARRIER("bar{.cta}.arrive a:u32, b:u32", "bar", 2, 20),
    WL_BARRIER("bar{.cta}.red.op.type d, a, b, c:pred; .op = {.popc}; .type = {.u32}", "bar", 2, 20),
    WL_BARRIER("bar{.cta}.red.op.type d, a, c:pred; .op = {.popc}; .type = {.u32}", "bar", 2, 20),
    WL_BARRIER("bar{.cta}.red.op.type d, a:u32, b:u32, c; .op = {.and, .or}; .type = {.pred}", "bar", 2, 20),
    WL_BARRIER("bar{.cta}.red.op.type d, a:u32, c; .op = {.and, .or}; .type = {.pred}", "bar", 2, 20),
    WL_BARRIER("barrier{.cta}.sync{.aligned} a:u32, b:u32?", "barrier", 6, 30),
    WL_BARRIER("barrier{.cta}.arrive{.aligned} a:u32, b:u32", "barrier", 6, 30),
    WL_BARRIER("barrier{.cta}.red.op{.aligned}.type d, a, b, c:pred; .op = {.popc}; .type = {.u32}", "barrier", 6, 30),
    WL_BARRIER("barrier{.cta}.red.op{.aligned}.type d, a, c:pred; .op = {.popc}; .type = {.u32}", "barrier", 6, 30),
    WL_BARRIER("barrier{.cta}.red.op{.aligned}.type d, a:u32, b:u32, c; .op = {.and, .or}; .type = {.pred}", "barrier",
               6, 30),
    WL_BARRIER("barrier{.cta}.red.op{.aligned}.type d, a:u32, c; .op = {.and, .or}; .type = {.pred}", "barrier", 6, 30),
    {.form = "bar.warp.sync membermask:b32",
     .spec = {WL_SECTION "bar.warp.sync", 6, 0, 30},
     .role = Role::kWarpBarrier,
     .pipe = Pipe::kControl},
    WL_CLUSTER("barrier.cluster.arrive{.sem}{.aligned}; .sem = {.release, .relaxed}"),
    WL_CLUSTER("barrier.cluster.wait{.acquire}{.aligned}"),
    WL_FENCE("membar.level; .level = {.cta, .gl, .sys}", "membar", 1, 4, 10),
    WL_FENCE("membar.proxy.kind; .kind = {.alias}", "membar", 7, 5, 70),
    WL_FENCE("fence{.sem}.scope; .sem = {.sc, .acq_rel}; .scope = {.cta, .cluster, .gpu, .sys}", "fence", 6, 0, 70),
    WL_FENCE("fence.sem.sync_restrict.scope; .sem = {.acquire, .release}; .sync_restrict = "
             "{.sync_restrict::shared::cta, .sync_restrict::shared::cluster}; .scope = {.cluster}",
             "fence", 8, 6, 90),
    WL_FENCE("fence.mbarrier_init.release.cluster", "fence", 8, 0, 90),
    WL_FENCE("fence.proxy.kind; .kind = {.alias, .async, .async::generic}", "fence", 7, 5, 70),
    WL_FENCE("fence.proxy.async.space; .space = {.global, .shared::cta, .shared::cluster}", "fence", 8, 0, 90),
    WL_FENCE(
        "fence.proxy.tensormap::generic.sem.scope [a]?, size:imm:b32?; .sem = {.acquire, .release}; .scope = {.cta, "
        ".cluster, .gpu, .sys}",
        "fence", 8, 3, 90),
};

}  // namespace

Chapter sync_chapter() { return kRows; }

}  // namespace warplens::ops
