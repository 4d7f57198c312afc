// SPDX-License-Identifier: Apache-2.0
// Chapter: loads, stores and hints ("Data Movement and Conversion Instructions": ld, ldu, st, prefetch, ...). A load or
// store is all role: executors resolve the space, count and check, whatever the order of its modifiers. Orders
// (.relaxed, .acquire, ...) need no values; cache hints and eviction priorities change no result and are accepted.
#include "ops/chapters.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

/// An access policy is an opaque 64-bit word that only later cache hints read: always 0 here.
void ref_policy(const LaneArgs& a) { a.out[0] = 0; }
void lower_policy(LaneBuilder& b, const Instr&) { b.set(0, b.constant(Elem::kI64, 0)); }

#define WL_SECTION "Data Movement and Conversion Instructions: "
#define WL_TYPES                                                                                                 \
  ".type = {.b8, .b16, .b32, .b64, .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .f16, .f16x2, .bf16, .bf16x2, " \
  ".f32, .f64}"
#define WL_SPACES                                                                                       \
  ".space = {.global, .shared, .shared::cta, .shared::cluster, .local, .const, .param, .param::entry, " \
  ".param::func}"
#define WL_ORDER ".sem = {.weak, .volatile, .relaxed, .acquire, .release, .mmio}; .scope = {.cta, .cluster, .gpu, .sys}"
#define WL_HINTS                                                                                                 \
  ".l1 = {.L1::evict_normal, .L1::evict_unchanged, .L1::evict_first, .L1::evict_last, .L1::no_allocate}; .l2 = " \
  "{.L2::evict_normal, .L2::evict_first, .L2::evict_last, .L2::cache_hint, .L2::64B, .L2::128B, .L2::256B}"
#define WL_VECTORS ".vec = {.v2, .v4, .v8}"
constexpr OpDef kRows[] = {
    {.form = "ld{.sem}{.scope}{.space}{.nc}{.cop}{.l1}{.l2}{.vec}.type d:vec, [a], policy:b64?; " WL_ORDER
             "; " WL_SPACES "; .cop = {.ca, .cg, .cs, .lu, .cv}; " WL_HINTS "; " WL_VECTORS "; " WL_TYPES,
     .spec = {WL_SECTION "ld", 1, 0, 10},
     .role = Role::kLoad,
     .pipe = Pipe::kLsu},
    {.form = "ld.space.sem{.scope}{.l1}{.l2}{.vec}.type d:vec, [a], policy:b64?; " WL_ORDER "; " WL_SPACES "; " WL_HINTS
             "; " WL_VECTORS "; " WL_TYPES,
     .spec = {WL_SECTION "ld", 1, 0, 10},
     .role = Role::kLoad,
     .pipe = Pipe::kLsu},
    {.form = "ld{.sem}{.scope}{.space}{.nc}{.cop}{.l1}{.l2}{.vec}.type d:any, [a], policy:b64?; " WL_ORDER
             "; " WL_SPACES "; .cop = {.ca, .cg, .cs, .lu, .cv}; " WL_HINTS "; " WL_VECTORS "; .type = {.b128}",
     .spec = {WL_SECTION "ld", 8, 3, 70},
     .role = Role::kLoad,
     .pipe = Pipe::kLsu,
     .unsupported = "128-bit registers are not held yet"},
    {.form = "ldu{.space}{.vec}.type d:vec, [a]; .space = {.global}; " WL_VECTORS "; " WL_TYPES,
     .spec = {WL_SECTION "ldu", 2, 0, 20},
     .role = Role::kLoad,
     .pipe = Pipe::kLsu},
    {.form = "st{.sem}{.scope}{.space}{.cop}{.l1}{.l2}{.vec}.type [a], b:vec, policy:b64?; " WL_ORDER "; " WL_SPACES
             "; .cop = {.wb, .cg, .cs, .wt}; " WL_HINTS "; " WL_VECTORS "; " WL_TYPES,
     .spec = {WL_SECTION "st", 1, 0, 10},
     .role = Role::kStore,
     .pipe = Pipe::kLsu},
    {.form = "st.space.sem{.scope}{.l1}{.l2}{.vec}.type [a], b:vec, policy:b64?; " WL_ORDER "; " WL_SPACES "; " WL_HINTS
             "; " WL_VECTORS "; " WL_TYPES,
     .spec = {WL_SECTION "st", 1, 0, 10},
     .role = Role::kStore,
     .pipe = Pipe::kLsu},
    {.form = "st{.sem}{.scope}{.space}{.cop}{.l1}{.l2}{.vec}.type [a], b:any, policy:b64?; " WL_ORDER "; " WL_SPACES
             "; .cop = {.wb, .cg, .cs, .wt}; " WL_HINTS "; " WL_VECTORS "; .type = {.b128}",
     .spec = {WL_SECTION "st", 8, 3, 70},
     .role = Role::kStore,
     .pipe = Pipe::kLsu,
     .unsupported = "128-bit registers are not held yet"},
    {.form = "prefetch{.space}.level [a]; .space = {.global, .local}; .level = {.L1, .L2, .L2::evict_last, "
             ".L2::evict_normal}",
     .spec = {WL_SECTION "prefetch", 2, 0, 20},
     .role = Role::kNoEffect,
     .pipe = Pipe::kLsu},
    {.form = "prefetch{.space}.tensormap [a]; .space = {.const, .param, .param::entry}",
     .spec = {WL_SECTION "prefetch", 8, 0, 90},
     .role = Role::kNoEffect,
     .pipe = Pipe::kLsu},
    {.form = "prefetchu.L1 [a]",
     .spec = {WL_SECTION "prefetchu", 2, 0, 20},
     .role = Role::kNoEffect,
     .pipe = Pipe::kLsu},
    {.form = "applypriority{.space}.L2::evict_normal [a], size:imm:b32; .space = {.global}",
     .spec = {WL_SECTION "applypriority", 7, 4, 80},
     .role = Role::kNoEffect,
     .pipe = Pipe::kLsu},
    {.form = "discard{.space}.L2 [a], size:imm:b32; .space = {.global}",
     .spec = {WL_SECTION "discard", 7, 4, 80},
     .pipe = Pipe::kLsu,
     .unsupported = "discarded bytes read as anything; this is not modelled"},
    {.form =
         "createpolicy.fractional{.first}{.second}.type d, f:f32?; .first = {.L2::evict_last, .L2::evict_normal, "
         ".L2::evict_first, .L2::evict_unchanged}; .second = {.L2::evict_first, .L2::evict_unchanged}; .type = {.b64}",
     .spec = {WL_SECTION "createpolicy", 7, 4, 80},
     .reference = {.lane = ref_policy},
     .lower = lower_policy},
    {.form = "createpolicy.cvt.L2.type d, a; .type = {.b64}",
     .spec = {WL_SECTION "createpolicy", 7, 4, 80},
     .reference = {.lane = ref_policy},
     .lower = lower_policy},
};

}  // namespace

Chapter memory_chapter() { return kRows; }

}  // namespace warplens::ops
