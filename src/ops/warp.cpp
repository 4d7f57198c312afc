// SPDX-License-Identifier: Apache-2.0
// Chapter: instructions that look across the lanes of a warp ("Parallel Synchronization and Communication
// Instructions": shfl, vote, match, redux, elect, activemask). A lane that reads from a lane that is not active gets
// its own value; the manual calls that result unpredictable. The member mask names the lanes that must take part; those
// that are active do.
#include <algorithm>

#include "ops/chapters.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

using Lanes = std::array<uint64_t, 32>;

bool holds(uint32_t mask, unsigned lane) { return ((mask >> lane) & 1) != 0; }
unsigned lowest(uint32_t mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

// --- references
/// Source lane of `lane`, and whether it lies inside the segment that operand c describes: c[4:0] limits it, c[12:8]
/// are the lane bits that must not change.
struct Source {
  unsigned lane;
  bool inside;
};
Source source_lane(std::string_view mode, unsigned lane, uint64_t b, uint64_t c) {
  const unsigned offset = b & 31, clamp = c & 31, segment = (c >> 8) & 31;
  const unsigned most = (lane & segment) | (clamp & ~segment), least = lane & segment;
  if (mode == "up") return lane >= most + offset ? Source{lane - offset, true} : Source{lane, false};
  unsigned from = least | (offset & ~segment);
  if (mode == "down") from = lane + offset;
  if (mode == "bfly") from = lane ^ offset;
  return from <= most ? Source{from, true} : Source{lane, false};
}
void ref_shfl(const WarpArgs& a) {
  const std::string_view mode = a.instr.word("mode");
  for_each_lane(a.active, [&](int l) {
    const auto lane = static_cast<size_t>(l);
    const Source s = source_lane(mode, static_cast<unsigned>(l), a.in[1][lane], a.in[2][lane]);
    a.out[0][lane] = a.in[0][holds(a.active, s.lane) ? s.lane : lane];
    a.out[1][lane] = s.inside;
  });
}

/// Active lanes that are in lane `l`'s member mask; `mask_at` is the operand's place, or none.
uint32_t members(const WarpArgs& a, size_t mask_at, int l) {
  if (a.in.size() <= mask_at) return a.active;
  return a.active & static_cast<uint32_t>(a.in[mask_at][static_cast<size_t>(l)]);
}
uint32_t ballot(const WarpArgs& a, uint32_t lanes) {
  uint32_t bits = 0;
  for_each_lane(lanes, [&](int l) { bits |= uint32_t{a.in[0][static_cast<size_t>(l)] != 0} << l; });
  return bits;
}
void ref_vote(const WarpArgs& a) {
  for_each_lane(a.active, [&](int l) {
    const uint32_t lanes = members(a, 1, l), yes = ballot(a, lanes);
    uint64_t d = yes;
    if (a.instr.has("all")) d = yes == lanes;
    if (a.instr.has("any")) d = yes != 0;
    if (a.instr.has("uni")) d = yes == 0 || yes == lanes;
    a.out[0][static_cast<size_t>(l)] = d;
  });
}
void ref_activemask(const WarpArgs& a) {
  for_each_lane(a.active, [&](int l) { a.out[0][static_cast<size_t>(l)] = a.active; });
}
void ref_match(const WarpArgs& a) {
  for_each_lane(a.active, [&](int l) {
    const auto lane = static_cast<size_t>(l);
    const uint32_t lanes = members(a, 1, l);
    uint32_t same = 0;
    for_each_lane(lanes, [&](int k) { same |= uint32_t{a.in[0][static_cast<size_t>(k)] == a.in[0][lane]} << k; });
    if (!a.instr.has("all")) {
      a.out[0][lane] = same;
      return;
    }
    a.out[0][lane] = same == lanes ? lanes : 0;
    a.out[1][lane] = same == lanes;
  });
}
uint64_t reduced(const Instr& in, uint64_t x, uint64_t y) {
  const std::string_view op = in.word("op");
  if (op == "add") return (x + y) & 0xffffffff;
  if (op == "and") return x & y;
  if (op == "or") return x | y;
  if (op == "xor") return x ^ y;
  const bool less = in.type() == Type::kS32 ? as_signed(x, 32) < as_signed(y, 32) : x < y;
  return less == (op == "min") ? x : y;
}
void ref_redux(const WarpArgs& a) {
  for_each_lane(a.active, [&](int l) {
    const uint32_t lanes = members(a, 1, l);
    if (lanes == 0) return;
    uint64_t d = a.in[0][lowest(lanes)];
    for_each_lane(lanes & (lanes - 1), [&](int k) { d = reduced(a.instr, d, a.in[0][static_cast<size_t>(k)]); });
    a.out[0][static_cast<size_t>(l)] = d;
  });
}
/// One lane of the members is elected: the lowest, as every GPU so far does (the manual only says that it is the same
/// one).
void ref_elect(const WarpArgs& a) {
  for_each_lane(a.active, [&](int l) {
    const uint32_t lanes = members(a, 0, l);
    const unsigned leader = lanes == 0 ? 0 : lowest(lanes);
    a.out[0][static_cast<size_t>(l)] = leader;
    a.out[1][static_cast<size_t>(l)] = static_cast<unsigned>(l) == leader;
  });
}

// --- lowerings
void lower_shfl(LaneBuilder& b, const Instr& in) {
  const std::string_view mode = in.word("mode");
  const LaneValue value = b.src(2), lane = b.lane_index(), five = b.i32(31);
  const LaneValue offset = b.and_(b.src(3), five), c = b.src(4);
  const LaneValue clamp = b.and_(c, five), segment = b.and_(b.lshr(c, b.i32(8)), five);
  const LaneValue least = b.and_(lane, segment), most = b.or_(least, b.and_(clamp, b.not_(segment)));
  LaneValue from, inside;
  if (mode == "up") {
    from = b.sub(lane, offset);
    inside = b.compare(Compare::kSge, from, most);
  } else {
    from = mode == "down"   ? b.add(lane, offset)
           : mode == "bfly" ? b.xor_(lane, offset)
                            : b.or_(least, b.and_(offset, b.not_(segment)));
    inside = b.compare(Compare::kSle, from, most);
  }
  const LaneValue source = b.select(inside, from, lane);
  if (b.present(0)) {
    const LaneValue active = b.compare(Compare::kNe, b.and_(b.lshr(b.active_mask(), source), b.i32(1)), b.i32(0));
    b.set(0, b.select(active, b.permute(value, source), value));
  }
  if (b.present(1)) b.set(1, inside);
}
/// A predicate operand, only of lanes that take part. Masks may differ by lane: tiles of a warp execute together.
void lower_vote(LaneBuilder& b, const Instr& in) {
  LaneValue lanes = b.active_mask();
  if (in.operands.size() > 2) lanes = b.and_(lanes, b.src(2));
  const LaneValue yes = b.and_(b.ballot(b.src(1)), lanes);
  const LaneValue all = b.compare(Compare::kEq, yes, lanes), any = b.compare(Compare::kNe, yes, b.i32(0));
  if (in.has("ballot")) return b.set(0, yes);
  b.set(0, in.has("all") ? all : in.has("any") ? any : b.or_(all, b.not_(any)));
}
/// The members among the active lanes, as each lane names them in operand `mask_at`.
LaneValue members(LaneBuilder& b, int mask_at) { return b.and_(b.active_mask(), b.src(mask_at)); }
/// Whether a lane's own bit is set in `lanes`.
LaneValue is_in(LaneBuilder& b, LaneValue lanes) {
  return b.compare(Compare::kNe, b.and_(b.lshr(lanes, b.lane_index()), b.i32(1)), b.i32(0));
}
/// Compares with each lane in turn: bit k of the result says that lane k is a member and holds the same value.
void lower_match_any(LaneBuilder& b, const Instr&) {
  const LaneValue value = b.src(1), lanes = members(b, 2);
  LaneValue same = b.i32(0);
  for (uint32_t k = 0; k < 32; ++k) {
    const LaneValue equal = b.compare(Compare::kEq, value, b.permute(value, b.i32(k)));
    same = b.or_(same, b.select(equal, b.i32(1u << k), b.i32(0)));
  }
  b.set(0, b.and_(same, lanes));
}
void lower_match_all(LaneBuilder& b, const Instr&) {
  const LaneValue value = b.src(2), lanes = members(b, 3);
  // Any member's value will do to compare with; when there is none, no lane is left to see the result.
  const LaneValue first = b.permute(value, b.and_(b.count_trailing_zeros(lanes), b.i32(31)));
  const LaneValue equal = b.and_(b.ballot(b.compare(Compare::kEq, value, first)), lanes);
  const LaneValue all = b.compare(Compare::kEq, equal, lanes);
  if (b.present(0)) b.set(0, b.select(all, lanes, b.i32(0)));
  if (b.present(1)) b.set(1, all);
}
uint32_t identity(const Instr& in) {
  const std::string_view op = in.word("op");
  const bool is_signed = in.type() == Type::kS32;
  if (op == "and") return ~0u;
  if (op == "min") return is_signed ? 0x7fffffffu : ~0u;
  if (op == "max") return is_signed ? 0x80000000u : 0;
  return 0;
}
/// Five exchanges with partners at distance 16, 8, 4, 2, 1; lanes that do not take part hold the identity. One mask for
/// all lanes; what differs by lane is left to the reference.
void lower_redux(LaneBuilder& b, const Instr& in) {
  const codegen::LaneClass mask = b.src(2).cls;
  if (!mask.is_uniform() && mask.shape != codegen::Shape::kBottom) return b.call_reference();
  const std::string_view op = in.word("op");
  const bool is_signed = in.type() == Type::kS32;
  LaneValue v = b.select(is_in(b, members(b, 2)), b.src(1), b.i32(identity(in)));
  for (uint32_t distance = 16; distance != 0; distance /= 2) {
    const LaneValue other = b.permute(v, b.xor_(b.lane_index(), b.i32(distance)));
    v = op == "add"   ? b.add(v, other)
        : op == "and" ? b.and_(v, other)
        : op == "or"  ? b.or_(v, other)
        : op == "xor" ? b.xor_(v, other)
        : op == "min" ? b.min(v, other, is_signed)
                      : b.max(v, other, is_signed);
  }
  b.set(0, b.first_active(v));  // the same in all lanes
}
void lower_activemask(LaneBuilder& b, const Instr&) { b.set(0, b.active_mask()); }
void lower_elect(LaneBuilder& b, const Instr&) {
  const LaneValue lanes = members(b, 2);
  const LaneValue leader = b.count_trailing_zeros(lanes);
  const LaneValue safe = b.and_(leader, b.i32(31));  // no member at all: lane 0, as the reference
  if (b.present(0)) b.set(0, safe);
  if (b.present(1)) b.set(1, b.compare(Compare::kEq, b.lane_index(), safe));
}

#define WL_SECTION "Parallel Synchronization and Communication Instructions: "
#define WL_WARP_SHFL .role = Role::kWarp, .pipe = Pipe::kLsu, .reference = {.warp = ref_shfl}, .lower = lower_shfl
#define WL_WARP_VOTE .role = Role::kWarp, .pipe = Pipe::kAlu, .reference = {.warp = ref_vote}, .lower = lower_vote
constexpr OpDef kRows[] = {
    {.form =
         "shfl.sync.mode.type d|p:pred, a, b:u32, c:u32, membermask:u32; .mode = {.up, .down, .bfly, .idx}; .type = "
         "{.b32}",
     .spec = {WL_SECTION "shfl.sync", 6, 0, 30},
     WL_WARP_SHFL},
    {.form = "shfl.mode.type d|p:pred, a, b:u32, c:u32; .mode = {.up, .down, .bfly, .idx}; .type = {.b32}",
     .spec = {WL_SECTION "shfl", 3, 0, 30},
     WL_WARP_SHFL},
    {.form = "vote.sync.mode.type d, a, membermask:u32; .mode = {.all, .any, .uni}; .type = {.pred}",
     .spec = {WL_SECTION "vote.sync", 6, 0, 30},
     WL_WARP_VOTE},
    {.form = "vote.sync.ballot.type d, a:pred, membermask:u32; .type = {.b32}",
     .spec = {WL_SECTION "vote.sync", 6, 0, 30},
     WL_WARP_VOTE},
    {.form = "vote.mode.sync.type d, a, membermask:u32; .mode = {.all, .any, .uni}; .type = {.pred}",
     .spec = {WL_SECTION "vote.sync", 6, 0, 30},
     WL_WARP_VOTE},
    {.form = "vote.ballot.sync.type d, a:pred, membermask:u32; .type = {.b32}",
     .spec = {WL_SECTION "vote.sync", 6, 0, 30},
     WL_WARP_VOTE},
    {.form = "vote.mode.type d, a; .mode = {.all, .any, .uni}; .type = {.pred}",
     .spec = {WL_SECTION "vote", 1, 2, 12},
     WL_WARP_VOTE},
    {.form = "vote.ballot.type d, a:pred; .type = {.b32}", .spec = {WL_SECTION "vote", 1, 2, 12}, WL_WARP_VOTE},
    {.form = "match.any.sync.type d:b32, a, membermask:u32; .type = {.b32, .b64}",
     .spec = {WL_SECTION "match.sync", 6, 0, 70},
     .role = Role::kWarp,
     .reference = {.warp = ref_match},
     .lower = lower_match_any},
    {.form = "match.sync.any.type d:b32, a, membermask:u32; .type = {.b32, .b64}",
     .spec = {WL_SECTION "match.sync", 6, 0, 70},
     .role = Role::kWarp,
     .reference = {.warp = ref_match},
     .lower = lower_match_any},
    {.form = "match.all.sync.type d:b32|p:pred, a, membermask:u32; .type = {.b32, .b64}",
     .spec = {WL_SECTION "match.sync", 6, 0, 70},
     .role = Role::kWarp,
     .reference = {.warp = ref_match},
     .lower = lower_match_all},
    {.form = "redux.sync.op.type d, a, membermask:u32; .op = {.add, .min, .max}; .type = {.u32, .s32}",
     .spec = {WL_SECTION "redux.sync", 7, 0, 80},
     .role = Role::kWarp,
     .reference = {.warp = ref_redux},
     .lower = lower_redux},
    {.form = "redux.sync.op.type d, a, membermask:u32; .op = {.and, .or, .xor}; .type = {.b32}",
     .spec = {WL_SECTION "redux.sync", 7, 0, 80},
     .role = Role::kWarp,
     .reference = {.warp = ref_redux},
     .lower = lower_redux},
    {.form = "activemask.type d; .type = {.b32}",
     .spec = {WL_SECTION "activemask", 6, 2, 30},
     .role = Role::kWarp,
     .reference = {.warp = ref_activemask},
     .lower = lower_activemask},
    {.form = "elect.sync d:b32|p:pred, membermask:u32",
     .spec = {WL_SECTION "elect.sync", 8, 0, 90},
     .role = Role::kWarp,
     .reference = {.warp = ref_elect},
     .lower = lower_elect},
};

}  // namespace

Chapter warp_chapter() { return kRows; }

}  // namespace warplens::ops
