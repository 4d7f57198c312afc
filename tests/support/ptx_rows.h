// SPDX-License-Identifier: Apache-2.0
// A small instruction set for tests of the front end and of the graph: rows without references or lowerings, broad
// enough to read what compilers write. Tests of the parser must not change when src/ops grows, and need no LLVM.
#pragma once
#include <span>

#include "ptx/op.h"

namespace warplens::test {

#define INTEGERS ".type = {.u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .u16x2, .s16x2}"
#define FLOATS ".type = {.f16, .f16x2, .bf16, .bf16x2, .f32, .f64}"
#define BITS ".type = {.pred, .b8, .b16, .b32, .b64}"
#define ALL \
  ".b8, .b16, .b32, .b64, .b128, .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .f16, .f16x2, .bf16, .f32, .f64"
#define RND ".rnd = {.rn, .rz, .rm, .rp, .rni, .rzi, .rmi, .rpi, .approx, .full}"
#define SPACES ".space = {.global, .shared, .shared::cta, .shared::cluster, .local, .const, .param, .param::func}"
#define ORDER ".sem = {.relaxed, .acquire, .release, .acq_rel, .volatile, .weak}; .scope = {.cta, .cluster, .gpu, .sys}"

inline constexpr ptx::OpDef kRows[] = {
    {.form = "add{.sat}{.cc}.type d, a, b; " INTEGERS, .spec = {"add"}},
    {.form = "add{.rnd}{.ftz}{.sat}.type d, a, b; " RND "; " FLOATS, .spec = {"add"}},
    {.form = "addc.type d, a, b, cin:carry; .type = {.u32, .s32}", .spec = {"addc"}},
    {.form = "addc.cc.type d, cout:carry, a, b, cin:carry; .type = {.u32, .s32}", .spec = {"addc"}},
    {.form = "sub{.sat}.type d, a, b; " INTEGERS, .spec = {"sub"}},
    {.form = "sub{.rnd}{.ftz}{.sat}.type d, a, b; " RND "; " FLOATS, .spec = {"sub"}},
    {.form = "mul.half.type d, a, b; .half = {.lo, .hi}; " INTEGERS, .spec = {"mul"}},
    {.form = "mul.wide.u16 d:u32, a:u16, b:u16", .spec = {"mul"}},
    {.form = "mul.wide.s16 d:s32, a:s16, b:s16", .spec = {"mul"}},
    {.form = "mul.wide.u32 d:u64, a:u32, b:u32", .spec = {"mul"}},
    {.form = "mul.wide.s32 d:s64, a:s32, b:s32", .spec = {"mul"}},
    {.form = "mul{.rnd}{.ftz}{.sat}.type d, a, b; " RND "; " FLOATS, .spec = {"mul"}},
    {.form = "mad.half.type d, a, b, c; .half = {.lo, .hi}; " INTEGERS, .spec = {"mad"}},
    {.form = "mad.wide.u32 d:u64, a:u32, b:u32, c:u64", .spec = {"mad"}},
    {.form = "mad.wide.s32 d:s64, a:s32, b:s32, c:s64", .spec = {"mad"}},
    {.form = "fma.rnd{.ftz}{.sat}{.relu}.type d, a, b, c; " RND "; " FLOATS, .spec = {"fma"}},
    {.form = "div.type d, a, b; " INTEGERS, .spec = {"div"}},
    {.form = "div.rnd{.ftz}.type d, a, b; " RND "; " FLOATS, .spec = {"div"}},
    {.form = "rem.type d, a, b; " INTEGERS, .spec = {"rem"}},
    {.form = "neg{.ftz}.type d, a; .type = {.s16, .s32, .s64, .f16, .f16x2, .f32, .f64}", .spec = {"neg"}},
    {.form = "abs{.ftz}.type d, a; .type = {.s16, .s32, .s64, .f16, .f16x2, .f32, .f64}", .spec = {"abs"}},
    {.form = "min{.ftz}{.NaN}.type d, a, b; .type = {.u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64}", .spec = {"min"}},
    {.form = "max{.ftz}{.NaN}.type d, a, b; .type = {.u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64}", .spec = {"max"}},
    {.form = "copysign.type d, a, b; .type = {.f32, .f64}", .spec = {"copysign"}},
    {.form = "rcp{.rnd}{.ftz}.type d, a; " RND "; .type = {.f32, .f64}", .spec = {"rcp"}},
    {.form = "sqrt{.rnd}{.ftz}.type d, a; " RND "; .type = {.f32, .f64}", .spec = {"sqrt"}},
    {.form = "rsqrt.approx{.ftz}.type d, a; .type = {.f32, .f64}", .spec = {"rsqrt"}},
    {.form = "ex2.approx{.ftz}.f32 d, a", .spec = {"ex2"}},
    {.form = "lg2.approx{.ftz}.f32 d, a", .spec = {"lg2"}},
    {.form = "sin.approx{.ftz}.f32 d, a", .spec = {"sin"}},
    {.form = "cos.approx{.ftz}.f32 d, a", .spec = {"cos"}},
    {.form = "tanh.approx.f32 d, a", .spec = {"tanh"}},
    {.form = "and.type d, a, b; " BITS, .spec = {"and"}},
    {.form = "or.type d, a, b; " BITS, .spec = {"or"}},
    {.form = "xor.type d, a, b; " BITS, .spec = {"xor"}},
    {.form = "not.type d, a; " BITS, .spec = {"not"}},
    {.form = "shl.type d, a, b:u32; .type = {.b16, .b32, .b64}", .spec = {"shl"}},
    {.form = "shr.type d, a, b:u32; .type = {.b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64}", .spec = {"shr"}},
    {.form = "shf.dir.mode.b32 d, a, b, c:u32; .dir = {.l, .r}; .mode = {.clamp, .wrap}", .spec = {"shf"}},
    {.form = "bfi.type d, a, b, c:u32, e:u32; .type = {.b32, .b64}", .spec = {"bfi"}},
    {.form = "bfe.type d, a, b:u32, c:u32; .type = {.u32, .s32, .u64, .s64}", .spec = {"bfe"}},
    {.form = "clz.type d:u32, a; .type = {.b32, .b64}", .spec = {"clz"}},
    {.form = "popc.type d:u32, a; .type = {.b32, .b64}", .spec = {"popc"}},
    {.form = "brev.type d, a; .type = {.b32, .b64}", .spec = {"brev"}},
    {.form = "prmt.b32{.mode} d, a, b, c:u32; .mode = {.f4e, .b4e}", .spec = {"prmt"}},
    {.form = "lop3.b32 d, a, b, c, e:imm:b32", .spec = {"lop3"}},
    {.form = "dp4a.atype.btype d:b32, a:b32, b:b32, c:b32; .atype = .btype = {.u32, .s32}", .spec = {"dp4a"}},
    {.form =
         "setp.cmp{.bool}{.ftz}.type d:pred|q:pred?, a, b, c:pred?; .cmp = {.eq, .ne, .lt, .le, .gt, .ge, .lo, .hi, "
         ".ls, "
         ".hs, .equ, .neu, .ltu, .leu, .gtu, .geu, .num, .nan}; .bool = {.and, .or, .xor}; .type = {.b16, .b32, .b64, "
         ".u16, .u32, .u64, .s16, .s32, .s64, .f16, .f16x2, .bf16, .f32, .f64}",
     .spec = {"setp"}},
    {.form = "selp.type d, a, b, c:pred; .type = {" ALL "}", .spec = {"selp"}},
    {.form = "mov.type d:any, a:any; .type = {.pred, " ALL "}", .spec = {"mov"}},
    {.form = "cvt{.rnd}{.ftz}{.sat}.dtype.atype d:dtype, a:atype; " RND "; .dtype = .atype = {" ALL "}",
     .spec = {"cvt"}},
    {.form = "cvt.rnd{.ftz}{.relu}.dtype.f32 d:dtype, a:f32, b:f32; " RND "; .dtype = {.f16x2, .bf16x2}",
     .spec = {"cvt"}},
    {.form = "cvta.space.type d, a; " SPACES "; .type = {.u32, .u64}", .spec = {"cvta"}},
    {.form = "cvta.to.space.type d, a; " SPACES "; .type = {.u32, .u64}", .spec = {"cvta"}},
    {.form = "isspacep.space d:pred, a:u64; " SPACES, .spec = {"isspacep"}},
    {.form = "mapa{.space}.type d, a, b:u32; .space = {.shared::cluster}; .type = {.u32, .u64}", .spec = {"mapa"}},
    {.form = "ld{.sem}{.scope}{.space}{.nc}{.cop}{.level}{.prefetch}{.vec}.type d:vec, [a], c:b64?; " ORDER "; " SPACES
             "; .cop = {.ca, .cg, .cs, .lu, .cv}; .level = {.L1::evict_last, .L1::no_allocate}; .prefetch = "
             "{.L2::128B}; .vec = "
             "{.v2, .v4, "
             ".v8}; .type = {" ALL "}",
     .spec = {"ld"},
     .role = ptx::Role::kLoad},
    {.form = "st{.sem}{.scope}{.space}{.cop}{.vec}.type [a], b:vec, c:b64?; " ORDER "; " SPACES
             "; .cop = {.wb, .cg, .cs, .wt}; .vec = {.v2, .v4, .v8}; .type = {" ALL "}",
     .spec = {"st"},
     .role = ptx::Role::kStore},
    {.form = "atom{.sem}{.scope}{.space}.op{.noftz}.type d, [a], b; " ORDER "; " SPACES
             "; .op = {.add, .and, .or, .xor, .min, .max, .inc, .dec, .exch}; .type = {" ALL "}",
     .spec = {"atom"},
     .role = ptx::Role::kAtomic},
    {.form = "atom{.sem}{.scope}{.space}.cas.type d, [a], b, c; " ORDER "; " SPACES "; .type = {.b16, .b32, .b64}",
     .spec = {"atom"},
     .role = ptx::Role::kAtomic},
    {.form = "red{.sem}{.scope}{.space}.op{.noftz}.type [a], b; " ORDER "; " SPACES
             "; .op = {.add, .and, .or, .xor, .min, .max, .inc, .dec}; .type = {" ALL "}",
     .spec = {"red"},
     .role = ptx::Role::kReduction},
    {.form = "bra{.uni} t:label", .spec = {"bra"}, .role = ptx::Role::kBranch},
    {.form = "brx.idx{.uni} a:u32, t:label", .spec = {"brx.idx"}, .role = ptx::Role::kBranchIndexed},
    {.form = "ret{.uni}", .spec = {"ret"}, .role = ptx::Role::kReturn},
    {.form = "exit", .spec = {"exit"}, .role = ptx::Role::kExit},
    {.form = "trap", .spec = {"trap"}, .role = ptx::Role::kTrap},
    {.form = "call{.uni} r:params?, f:func, a:params?, t:label?", .spec = {"call"}, .role = ptx::Role::kCall},
    {.form = "bar{.cta}.sync a:u32, b:u32?", .spec = {"bar"}, .role = ptx::Role::kBarrier},
    {.form = "bar{.cta}.red.popc.u32 d, a, c:pred", .spec = {"bar"}, .role = ptx::Role::kBarrier},
    {.form = "bar.warp.sync a:u32", .spec = {"bar.warp.sync"}, .role = ptx::Role::kWarpBarrier},
    {.form = "barrier{.cta}.sync{.aligned} a:u32, b:u32?", .spec = {"barrier"}, .role = ptx::Role::kBarrier},
    {.form = "barrier.cluster.arrive{.sem}{.aligned}; .sem = {.release, .relaxed}",
     .spec = {"barrier.cluster"},
     .role = ptx::Role::kClusterBarrier},
    {.form = "barrier.cluster.wait{.acquire}{.aligned}",
     .spec = {"barrier.cluster"},
     .role = ptx::Role::kClusterBarrier},
    {.form = "membar.level; .level = {.cta, .gl, .sys}", .spec = {"membar"}, .role = ptx::Role::kFence},
    {.form = "fence.sem.scope; .sem = {.sc, .acq_rel}; .scope = {.cta, .gpu, .sys}",
     .spec = {"fence"},
     .role = ptx::Role::kFence},
    {.form = "shfl.sync.mode.b32 d|p:pred, a, b:u32, c:u32, m:u32; .mode = {.up, .down, .bfly, .idx}",
     .spec = {"shfl"},
     .role = ptx::Role::kWarp},
    {.form = "vote.sync.mode.pred d, a, m:u32; .mode = {.all, .any, .uni}", .spec = {"vote"}, .role = ptx::Role::kWarp},
    {.form = "vote.sync.ballot.b32 d, a:pred, m:u32", .spec = {"vote"}, .role = ptx::Role::kWarp},
    {.form = "vote.ballot.sync.b32 d, a:pred, m:u32", .spec = {"vote"}, .role = ptx::Role::kWarp},
    {.form = "match.mode.sync.type d:b32|p:pred, a, m:u32; .mode = {.any, .all}; .type = {.b32, .b64}",
     .spec = {"match"},
     .role = ptx::Role::kWarp},
    {.form = "redux.sync.op.type d, a, m:u32; .op = {.add, .min, .max, .and, .or, .xor}; .type = {.u32, .s32, .b32}",
     .spec = {"redux"},
     .role = ptx::Role::kWarp},
    {.form = "activemask.b32 d", .spec = {"activemask"}, .role = ptx::Role::kWarp},
    {.form = "elect.sync d:b32|p:pred, m:u32", .spec = {"elect"}, .role = ptx::Role::kWarp},
    {.form = "griddepcontrol.op; .op = {.wait, .launch_dependents}",
     .spec = {"griddepcontrol"},
     .role = ptx::Role::kNoEffect},
    {.form = "nanosleep.u32 a", .spec = {"nanosleep"}, .role = ptx::Role::kNoEffect},
    {.form = "prefetch{.space}.level [a]; .space = {.global, .local}; .level = {.L1, .L2}",
     .spec = {"prefetch"},
     .role = ptx::Role::kNoEffect},
    {.form = "tex.geom.v4.dtype.ctype d:vec:dtype, [t, c:vec:ctype]; .geom = {.1d, .2d, .3d}; .dtype = {.f32, .s32, "
             ".u32}; .ctype = {.f32, .s32}",
     .spec = {"tex"},
     .unsupported = "textures come later"},
};

#undef INTEGERS
#undef FLOATS
#undef BITS
#undef ALL
#undef RND
#undef SPACES
#undef ORDER

inline const ptx::OpTable& rows() {
  static const std::span<const ptx::OpDef> chapters[] = {kRows};
  static const ptx::OpTable table(chapters);
  return table;
}

}  // namespace warplens::test
