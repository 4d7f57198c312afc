// SPDX-License-Identifier: Apache-2.0
// Chapter: moves between registers and address spaces ("Data Movement and Conversion Instructions" without memory):
// mov with its packing and unpacking of vectors, cvta and isspacep on generic addresses. Generic addresses are windows
// (memory/address_space.h): shared and local addresses are offsets from theirs, global and constant ones are
// themselves.
#include "ops/chapters.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

using ptx::OperandTag;
using ptx::Space;

constexpr uint64_t kWindowBytes = uint64_t{4} << 30;
constexpr unsigned kClusterRankShift = 24;
constexpr uint64_t kClusterOffsetMask = (uint64_t{1} << kClusterRankShift) - 1;

/// Elements of operand `i`: 1 for anything but a {list}.
unsigned elements(const Instr& in, size_t i) {
  const ptx::Operand& o = in.operands[i];
  return o.tag == OperandTag::kVector ? o.count : 1;
}

// --- references
/// Joins the sources (first element lowest) and cuts the bits into the destinations.
void ref_mov(const LaneArgs& a) {
  const unsigned width = ptx::bits_of(a.instr.type());
  const unsigned in_bits = width / elements(a.instr, 1), out_bits = width / elements(a.instr, 0);
  uint64_t v = 0;
  for (size_t i = 0; i < a.in.size(); ++i) v |= (a.in[i] & low_bits(in_bits)) << (in_bits * i);
  for (size_t i = 0; i < a.out.size(); ++i) a.out[i] = (v >> (out_bits * i)) & low_bits(out_bits);
}
uint64_t window_of(const ptx::Windows& w, Space s) {
  if (s == Space::kShared || s == Space::kSharedCluster) return w.shared;
  return s == Space::kLocal ? w.local : 0;
}
void ref_cvta(const LaneArgs& a) {
  const uint64_t window = window_of(a.windows, a.instr.space());
  put(a, a.instr.has("to") ? a.in[0] - window : a.in[0] + window);
}
void ref_isspacep(const LaneArgs& a) {
  const uint64_t v = a.in[0];
  const Space s = a.instr.space();
  if (s == Space::kShared || s == Space::kSharedCluster || s == Space::kLocal)
    a.out[0] = v - window_of(a.windows, s) < kWindowBytes;
  else
    a.out[0] = s == Space::kGlobal && v >= a.windows.global;
}
void ref_mov_vector(const LaneArgs& a) {
  for (size_t i = 0; i < a.out.size(); ++i) a.out[i] = a.in[i];
}
/// The same place in the shared memory of block `b` of the cluster; generic without .shared::cluster.
/// (kClusterRankShift of memory/address_space.h.)
void ref_mapa(const LaneArgs& a) {
  const uint64_t window = a.instr.has("shared::cluster") ? 0 : a.windows.shared;
  put(a, (((a.in[0] - window) & kClusterOffsetMask) | ((a.in[1] + 1) << kClusterRankShift)) + window);
}
void ref_getctarank(const LaneArgs& a) {
  const uint64_t window = a.instr.has("shared::cluster") ? 0 : a.windows.shared;
  const uint64_t rank = (a.in[0] - window) >> kClusterRankShift & 0xff;
  a.out[0] = rank == 0 ? a.windows.cluster_rank : rank - 1;
}

// --- lowerings
Elem integer_elem(unsigned bits) {
  return bits == 1 ? Elem::kI1 : bits == 8 ? Elem::kI8 : bits == 16 ? Elem::kI16 : bits == 32 ? Elem::kI32 : Elem::kI64;
}
void lower_mov(LaneBuilder& b, const Instr& in) {
  const int in_count = b.elements(1), out_count = b.elements(0);
  if (in_count == 1 && out_count == 1) return b.set(0, b.src(1));
  const unsigned width = ptx::bits_of(in.type());
  const unsigned in_bits = width / static_cast<unsigned>(in_count), out_bits = width / static_cast<unsigned>(out_count);
  const Elem whole = integer_elem(width);
  LaneValue v = b.constant(whole, 0);
  for (int i = 0; i < in_count; ++i) {
    LaneValue part = b.src_as(1, integer_elem(in_bits), i);
    if (in_bits != width) part = b.zext(part, whole);
    v = i == 0 ? part : b.or_(v, b.shl(part, b.i32(in_bits * static_cast<uint32_t>(i))));
  }
  for (int i = 0; i < out_count; ++i) {
    const LaneValue part = i == 0 ? v : b.lshr(v, b.i32(out_bits * static_cast<uint32_t>(i)));
    b.set(0, out_bits == width ? part : b.trunc(part, integer_elem(out_bits)), i);
  }
}
bool has_window(Space s) { return s == Space::kShared || s == Space::kSharedCluster || s == Space::kLocal; }
LaneValue window_of(LaneBuilder& b, Space s) { return b.window(s == Space::kLocal ? Space::kLocal : Space::kShared); }
void lower_cvta(LaneBuilder& b, const Instr& in) {
  const LaneValue v = b.src(1);
  if (!has_window(in.space())) return b.set(0, v);
  LaneValue window = window_of(b, in.space());
  if (v.elem != Elem::kI64) window = b.trunc(window, v.elem);
  b.set(0, in.has("to") ? b.sub(v, window) : b.add(v, window));
}
void lower_isspacep(LaneBuilder& b, const Instr& in) {
  const Space s = in.space();
  const LaneValue v = b.src(1);
  if (has_window(s))
    b.set(0, b.compare(Compare::kUlt, b.sub(v, window_of(b, s)), b.constant(Elem::kI64, kWindowBytes)));
  else if (s == Space::kGlobal)
    b.set(0, b.compare(Compare::kUge, v, b.window(Space::kGlobal)));
  else
    b.set(0, b.constant(Elem::kI1, 0));
}
void lower_mov_vector(LaneBuilder& b, const Instr&) {
  for (int k = 0; k < b.elements(0); ++k) b.set(0, b.src(1, k), k);
}
void lower_mapa(LaneBuilder& b, const Instr& in) {
  LaneValue at = b.src(1);
  const LaneValue shift = b.i32(kClusterRankShift);
  const bool generic = !in.has("shared::cluster");
  const LaneValue window = generic ? b.window(Space::kShared) : b.constant(at.elem, 0);
  at = b.and_(b.sub(at, window), b.constant(at.elem, kClusterOffsetMask));
  LaneValue rank = b.add(b.src(2), b.i32(1));
  if (at.elem == Elem::kI64) rank = b.zext(rank, Elem::kI64);
  b.set(0, b.add(b.or_(at, b.shl(rank, shift)), window));
}

#define WL_SECTION "Data Movement and Conversion Instructions: "
#define WL_SPACES ".space = {.global, .shared, .shared::cta, .shared::cluster, .local, .const, .param, .param::entry}"
constexpr OpDef kRows[] = {
    {.form = "mov.type d:any:type, a:any:type; .type = {.pred, .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, "
             ".f16, .f16x2, .bf16, .bf16x2, .f32, .f64}",
     .spec = {WL_SECTION "mov", 1, 0, 10},
     .reference = {.lane = ref_mov},
     .lower = lower_mov},
    {.form =
         "mov.vec.type d:vec, a:vec; .vec = {.v2, .v4, .v8}; .type = {.b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, "
         ".s64, .f32, .f64}",
     .spec = {WL_SECTION "mov", 1, 0, 10},
     .reference = {.lane = ref_mov_vector},
     .lower = lower_mov_vector},
    {.form = "mov.type d:any:type, a:any:type; .type = {.b128}",
     .spec = {WL_SECTION "mov", 8, 3, 70},
     .unsupported = "128-bit registers are not held yet"},
    {.form = "cvta{.to}.space.type d, a:any:type; .type = {.u32, .u64}; " WL_SPACES,
     .spec = {WL_SECTION "cvta", 2, 0, 20},
     .reference = {.lane = ref_cvta},
     .lower = lower_cvta},
    {.form = "isspacep.space d:pred, a:b64; " WL_SPACES,
     .spec = {WL_SECTION "isspacep", 2, 0, 20},
     .reference = {.lane = ref_isspacep},
     .lower = lower_isspacep},
    {.form = "mapa{.space}.type d, a:any:type, b:u32; .space = {.shared::cluster}; .type = {.u32, .u64}",
     .spec = {WL_SECTION "mapa", 7, 8, 90},
     .reference = {.lane = ref_mapa},
     .lower = lower_mapa},
    {.form = "getctarank{.space}.type d:u32, a:any:type; .space = {.shared::cluster}; .type = {.u32, .u64}",
     .spec = {WL_SECTION "getctarank", 7, 8, 90},
     .reference = {.lane = ref_getctarank}},
};

}  // namespace

Chapter move_chapter() { return kRows; }

}  // namespace warplens::ops
