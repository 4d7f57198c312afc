// SPDX-License-Identifier: Apache-2.0
// Chapter: asynchronous copies and their barriers ("Data Movement and Conversion Instructions: Asynchronous copy",
// "Parallel Synchronization and Communication Instructions: mbarrier"), and multimem.
//
// Copies happen when they are issued, which is one of the orders that the manual allows; waiting for them has nothing
// to do then. An mbarrier object is opaque; here its 64 bits are
//   [0, 20) arrivals that this phase still expects   [20, 40) arrivals of each phase
//   [40, 62) bytes still expected (two's complement)  62 parity of the phase
#include <algorithm>

#include "ops/chapters.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

using ptx::AccessShape;
using ptx::LaneBits;
using ptx::MemoryArgs;
using ptx::Space;

uint32_t lane_bit(int lane) { return uint32_t{1} << lane; }

// --- copies
const ptx::Operand& operand_named(const Instr& in, std::string_view name) {
  size_t k = 0;
  while (in.def->form.operands[k].name != name) ++k;
  return in.operands[k];
}
unsigned copy_accesses(const Instr& in, std::array<AccessShape, 3>& shapes) {
  const auto bytes = static_cast<uint8_t>(operand_named(in, "size").imm);
  shapes[0] = {Space::kGlobal, Role::kLoad, bytes};
  shapes[1] = {in.space() == Space::kSharedCluster ? Space::kSharedCluster : Space::kShared, Role::kStore, bytes,
               in.has("ca") ? AccessShape::Way::kCopy : AccessShape::Way::kPastL1};
  return 2;
}
/// Lanes that read nothing (`actual` is 0, or the source is ignored) write zeros.
void ref_copy(const MemoryArgs& args) {
  const Instr& in = args.instr;
  const auto bytes = static_cast<unsigned>(operand_named(in, "size").imm);
  uint8_t values[32 * 16] = {};
  uint32_t reading = args.active;
  const bool has_actual = operand_named(in, "actual").tag != ptx::OperandTag::kNone;
  for_each_lane(has_actual ? args.active : 0, [&](int lane) {
    const uint64_t actual = args.in[1][static_cast<size_t>(lane)];
    const bool ignored = operand_named(in, "actual").type == Type::kPred ? actual != 0 : actual == 0;
    if (ignored) reading &= ~lane_bit(lane);
  });
  if (reading != 0) args.memory.load(0, reading, args.addresses[1], values);
  const bool cuts = has_actual && operand_named(in, "actual").type != Type::kPred;
  for_each_lane(cuts ? reading : 0, [&](int l) {
    const auto lane = static_cast<size_t>(l);
    for (uint64_t at = args.in[1][lane]; at < bytes; ++at) values[lane * bytes + at] = 0;
  });
  args.memory.store_copy(1, args.active, args.addresses[0], values, reading, args.addresses[1]);
}

// --- mbarrier
struct Barrier {
  uint32_t pending = 0, expected = 0;
  int64_t bytes = 0;
  bool parity = false;
};
constexpr uint64_t kCountMask = (1u << 20) - 1, kBytesMask = (1u << 22) - 1;
Barrier barrier_from(uint64_t v) {
  return {static_cast<uint32_t>(v & kCountMask), static_cast<uint32_t>(v >> 20 & kCountMask),
          as_signed(v >> 40 & kBytesMask, 22), (v >> 62 & 1) != 0};
}
uint64_t bits_of(const Barrier& b) {
  return (b.pending & kCountMask) | (b.expected & kCountMask) << 20 |
         (static_cast<uint64_t>(b.bytes) & kBytesMask) << 40 | uint64_t{b.parity} << 62;
}
void complete_phase(Barrier& b) {
  if (b.pending != 0 || b.bytes != 0) return;
  b.pending = b.expected;
  b.parity = !b.parity;
}
unsigned barrier_accesses(const Instr& in, std::array<AccessShape, 3>& shapes) {
  const Space space = in.space();
  shapes[0] = {space, in.has("test_wait") || in.has("try_wait") ? Role::kLoad : Role::kAtomic, 8,
               AccessShape::Way::kPastL1, true};
  return 1;
}
/// Lane after lane; `change` is given each barrier and the lane's index.
template <typename F>
void change_barriers(const MemoryArgs& args, unsigned access, const LaneBits& address, F&& change) {
  args.memory.touch(access, args.active, address);
  for_each_lane(args.active, [&](int l) {
    const auto lane = static_cast<unsigned>(l);
    Barrier b = barrier_from(args.memory.peek(access, lane, address[lane]));
    change(b, lane);
    args.memory.poke(access, lane, address[lane], bits_of(b));
  });
}
void ref_init(const MemoryArgs& args) {
  change_barriers(args, 0, args.addresses[0], [&](Barrier& b, unsigned lane) {
    const auto count = static_cast<uint32_t>(args.in[0][lane] & kCountMask);
    b = {count, count, 0, false};
  });
}
void ref_inval(const MemoryArgs& args) {
  change_barriers(args, 0, args.addresses[0], [](Barrier& b, unsigned) { b = {}; });
}
/// The state that arrive returns is the object as it was: wait compares the parity.
void ref_arrive(const MemoryArgs& args) {
  const Instr& in = args.instr;
  const bool has_count = operand_named(in, "count").tag != ptx::OperandTag::kNone;
  const bool expects = in.has("expect_tx"), drops = in.def->form.mnemonic == "mbarrier" && in.has("arrive_drop");
  change_barriers(args, 0, args.addresses[0], [&](Barrier& b, unsigned lane) {
    if (!args.out.empty()) args.out[0][lane] = bits_of(b);
    const auto operand = static_cast<uint32_t>(has_count ? args.in[0][lane] : 1);
    const uint32_t arrivals = expects ? 1 : operand;
    if (expects) b.bytes += operand;
    b.pending -= std::min(b.pending, arrivals);
    if (drops) b.expected -= std::min(b.expected, arrivals);
    complete_phase(b);
  });
}
void ref_transactions(const MemoryArgs& args) {
  const bool completes = args.instr.has("complete_tx");
  change_barriers(args, 0, args.addresses[0], [&](Barrier& b, unsigned lane) {
    const auto bytes = static_cast<int64_t>(args.in[0][lane] & 0xffffffff);
    b.bytes += completes ? -bytes : bytes;
    if (completes) complete_phase(b);
  });
}
/// Without .noinc the copy's own arrival is added to what is expected, so that nothing is left to do.
void ref_copy_arrives(const MemoryArgs& args) {
  if (!args.instr.has("noinc")) return args.memory.touch(0, args.active, args.addresses[0]);
  change_barriers(args, 0, args.addresses[0], [](Barrier& b, unsigned) {
    b.pending -= std::min(b.pending, 1u);
    complete_phase(b);
  });
}
bool all_done(const MemoryArgs& args) {
  bool all = true;
  for_each_lane(args.active, [&](int l) {
    const auto lane = static_cast<unsigned>(l);
    const bool parity = barrier_from(args.memory.peek(0, lane, args.addresses[0][lane])).parity;
    const uint64_t state = args.in[0][lane];
    const bool waited_for = args.instr.has("parity") ? (state & 1) != 0 : barrier_from(state).parity;
    args.out[0][lane] = parity != waited_for;
    all = all && parity != waited_for;
  });
  return all;
}
/// Waiting lets the warps run that must arrive.
void ref_wait(const MemoryArgs& args) {
  args.memory.touch(0, args.active, args.addresses[0]);
  if (all_done(args)) return;
  args.memory.yield();
  all_done(args);
}
void ref_pending_count(const LaneArgs& a) { put(a, barrier_from(a.in[0]).pending); }
void lower_pending_count(LaneBuilder& b, const Instr&) {
  b.set(0, b.trunc(b.and_(b.src(1), b.constant(Elem::kI64, kCountMask)), Elem::kI32));
}

// --- bulk copies: what one thread asks for moves in pieces of 16 bytes, 32 of them a request
unsigned bulk_accesses(const Instr& in, std::array<AccessShape, 3>& shapes) {
  const auto space_of = [](std::string_view w) {
    return w == "global" ? Space::kGlobal : w == "shared::cluster" ? Space::kSharedCluster : Space::kShared;
  };
  shapes[0] = {space_of(in.word("source")), Role::kLoad, 16, AccessShape::Way::kPastL1, true};
  shapes[1] = {space_of(in.word("space")), Role::kStore, 16, AccessShape::Way::kPastL1, true};
  shapes[2] = {in.word("space") == "shared::cluster" ? Space::kSharedCluster : Space::kShared, Role::kAtomic, 8,
               AccessShape::Way::kPastL1, true};
  return in.has("bulk_group") ? 2 : 3;
}
void copy_bulk(const MemoryArgs& args, uint64_t to, uint64_t from, uint64_t bytes) {
  uint8_t values[32 * 16];
  for (uint64_t at = 0; at < bytes; at += sizeof values) {
    LaneBits source{}, destination{};
    const auto pieces = static_cast<unsigned>(std::min<uint64_t>(32, (bytes - at) / 16));
    for (unsigned k = 0; k < pieces; ++k) {
      source[k] = from + at + k * 16;
      destination[k] = to + at + k * 16;
    }
    const auto mask = static_cast<uint32_t>(low_bits(pieces));
    if (mask == 0) break;
    args.memory.load(0, mask, source, values);
    args.memory.store(1, mask, destination, values);
  }
}
void ref_bulk(const MemoryArgs& args) {
  for_each_lane(args.active, [&](int l) {
    const auto lane = static_cast<size_t>(l);
    copy_bulk(args, args.addresses[0][lane], args.addresses[1][lane], args.in[0][lane] & 0xffffffff);
  });
  if (args.addresses.size() < 3 || args.instr.has("bulk_group")) return;
  change_barriers(args, 2, args.addresses[2], [&](Barrier& b, unsigned lane) {
    b.bytes -= static_cast<int64_t>(args.in[0][lane] & 0xffffffff);
    complete_phase(b);
  });
}

#define WL_COPY "Data Movement and Conversion Instructions: "
#define WL_SYNC "Parallel Synchronization and Communication Instructions: "
#define WL_WAIT(name, major, minor, sm_version, form_text) \
  {.form = form_text, .spec = {WL_COPY name, major, minor, sm_version}, .role = Role::kNoEffect, .pipe = Pipe::kControl}
#define WL_MEMORY(section, major, minor, sm_version, form_text, ref, shapes) \
  {.form = form_text,                                                        \
   .spec = {section, major, minor, sm_version},                              \
   .role = Role::kWarpMemory,                                                \
   .pipe = Pipe::kLsu,                                                       \
   .reference = {.memory = ref},                                             \
   .accesses = shapes}
#define WL_NOT_YET(section, major, minor, sm_version, form_text, reason) \
  {.form = form_text, .spec = {section, major, minor, sm_version}, .pipe = Pipe::kLsu, .unsupported = reason}
#define WL_SHARED ".space = {.shared, .shared::cta, .shared::cluster}"
#define WL_ORDER ".sem = {.release, .acquire, .relaxed}; .scope = {.cta, .cluster}"
#define WL_HINT ".l2 = {.L2::64B, .L2::128B, .L2::256B, .L2::cache_hint}"
#define WL_COPY_HEAD "cp.async.cop.space.global{.l2}{.l2hint} [d], [a], size:imm:b32, "
#define WL_COPY_TAIL ", policy:b64?; .cop = {.ca, .cg}; .l2hint = {.L2::cache_hint}; " WL_SHARED "; " WL_HINT
constexpr OpDef kRows[] = {
    WL_MEMORY(WL_COPY "cp.async", 7, 0, 80, WL_COPY_HEAD "actual:u32?" WL_COPY_TAIL, ref_copy, copy_accesses),
    WL_MEMORY(WL_COPY "cp.async", 8, 3, 80, WL_COPY_HEAD "actual:pred" WL_COPY_TAIL, ref_copy, copy_accesses),
    WL_WAIT("cp.async.commit_group", 7, 0, 80, "cp.async.commit_group"),
    WL_WAIT("cp.async.wait_group", 7, 0, 80, "cp.async.wait_group n:imm:b32"),
    WL_WAIT("cp.async.wait_all", 7, 0, 80, "cp.async.wait_all"),
    WL_MEMORY(WL_COPY "cp.async.mbarrier.arrive", 7, 0, 80,
              "cp.async.mbarrier.arrive{.noinc}{.space}.b64 [a]; " WL_SHARED, ref_copy_arrives, barrier_accesses),
    WL_WAIT("cp.async.bulk.commit_group", 8, 0, 90, "cp.async.bulk.commit_group"),
    WL_WAIT("cp.async.bulk.wait_group", 8, 0, 90, "cp.async.bulk.wait_group{.read} n:imm:b32"),
    WL_MEMORY(WL_COPY "cp.async.bulk", 8, 0, 90,
              "cp.async.bulk.space.source.completion{.l2} [d], [a], size:u32, [mbar], policy:b64?; .space = "
              "{.shared::cluster, .shared::cta}; .source = {.global, .shared::cta}; .completion = "
              "{.mbarrier::complete_tx::bytes}; " WL_HINT,
              ref_bulk, bulk_accesses),
    WL_MEMORY(WL_COPY "cp.async.bulk", 8, 0, 90,
              "cp.async.bulk.space.source.completion{.l2} [d], [a], size:u32, policy:b64?; .space = {.global}; .source "
              "= {.shared::cta}; .completion = {.bulk_group}; " WL_HINT,
              ref_bulk, bulk_accesses),
    WL_NOT_YET(
        WL_COPY "cp.async.bulk", 8, 0, 90,
        "cp.async.bulk.space.source.completion.multicast{.l2} [d], [a], size:u32, [mbar], mask:b16, policy:b64?; "
        ".space = {.shared::cluster}; .source = {.global}; .completion = {.mbarrier::complete_tx::bytes}; "
        ".multicast = {.multicast::cluster}; " WL_HINT,
        "copies to several blocks of a cluster are not run yet"),
    WL_NOT_YET(
        WL_COPY "cp.async.bulk.tensor", 8, 0, 90,
        "cp.async.bulk.tensor.dim.space.source{.mode}.completion{.multicast}{.l2} [d, c:any?], [a, b:any?], [mbar]?, "
        "x:any?, y:any?; .dim = {.1d, .2d, .3d, .4d, .5d}; .space = .source = {.shared::cluster, .shared::cta, "
        ".global}; .mode = {.tile, .im2col}; .completion = {.mbarrier::complete_tx::bytes, .bulk_group}; .multicast = "
        "{.multicast::cluster}; " WL_HINT,
        "copies through tensor maps are not run yet"),
    WL_MEMORY(WL_SYNC "mbarrier.init", 7, 0, 80, "mbarrier.init{.space}.b64 [a], count:u32; " WL_SHARED, ref_init,
              barrier_accesses),
    WL_MEMORY(WL_SYNC "mbarrier.inval", 7, 0, 80, "mbarrier.inval{.space}.b64 [a]; " WL_SHARED, ref_inval,
              barrier_accesses),
    WL_MEMORY(WL_SYNC "mbarrier.arrive", 7, 0, 80,
              "mbarrier.arrive{.expect_tx}{.noComplete}{.sem}{.scope}{.space}.b64 d:b64, [a], count:u32?; " WL_ORDER
              "; " WL_SHARED,
              ref_arrive, barrier_accesses),
    WL_MEMORY(WL_SYNC "mbarrier.arrive", 7, 0, 80,
              "mbarrier.arrive{.expect_tx}{.sem}{.scope}{.space}.b64 [a], count:u32?; " WL_ORDER "; " WL_SHARED,
              ref_arrive, barrier_accesses),
    WL_MEMORY(
        WL_SYNC "mbarrier.arrive_drop", 7, 0, 80,
        "mbarrier.arrive_drop{.expect_tx}{.noComplete}{.sem}{.scope}{.space}.b64 d:b64, [a], count:u32?; " WL_ORDER
        "; " WL_SHARED,
        ref_arrive, barrier_accesses),
    WL_MEMORY(WL_SYNC "mbarrier.expect_tx", 8, 0, 90,
              "mbarrier.expect_tx{.sem}{.scope}{.space}.b64 [a], count:u32; " WL_ORDER "; " WL_SHARED, ref_transactions,
              barrier_accesses),
    WL_MEMORY(WL_SYNC "mbarrier.complete_tx", 8, 0, 90,
              "mbarrier.complete_tx{.sem}{.scope}{.space}.b64 [a], count:u32; " WL_ORDER "; " WL_SHARED,
              ref_transactions, barrier_accesses),
    WL_MEMORY(WL_SYNC "mbarrier.test_wait", 7, 0, 80,
              "mbarrier.wait{.sem}{.scope}{.space}.b64 p:pred, [a], state:b64, hint:u32?; .wait = {.test_wait, "
              ".try_wait}; " WL_ORDER "; " WL_SHARED,
              ref_wait, barrier_accesses),
    WL_MEMORY(WL_SYNC "mbarrier.test_wait", 7, 1, 80,
              "mbarrier.wait.parity{.sem}{.scope}{.space}.b64 p:pred, [a], state:b32, hint:u32?; .wait = {.test_wait, "
              ".try_wait}; " WL_ORDER "; " WL_SHARED,
              ref_wait, barrier_accesses),
    {.form = "mbarrier.pending_count.b64 d:u32, state:b64",
     .spec = {WL_SYNC "mbarrier.pending_count", 7, 0, 80},
     .reference = {.lane = ref_pending_count},
     .lower = lower_pending_count},
    WL_NOT_YET(
        WL_SYNC "multimem.ld_reduce", 8, 1, 90,
        "multimem.ld_reduce{.sem}{.scope}{.space}.op{.vec}.type d:any, [a]; .sem = {.weak, .relaxed, .acquire}; "
        ".scope = {.cta, .cluster, .gpu, .sys}; .space = {.global}; .op = {.min, .max, .add, .and, .or, .xor}; .vec "
        "= {.v2, .v4, .v8}; .type = {.b32, .b64, .u32, .u64, .s32, .s64, .f16, .f16x2, .bf16, .bf16x2, .f32, .f64}",
        "addresses of several GPUs are not modelled"),
    WL_NOT_YET(
        WL_SYNC "multimem.red", 8, 1, 90,
        "multimem.red{.sem}{.scope}{.space}.op{.vec}.type [a], b:any; .sem = {.relaxed, .release}; .scope = {.cta, "
        ".cluster, .gpu, .sys}; .space = {.global}; .op = {.min, .max, .add, .and, .or, .xor}; .vec = {.v2, .v4, "
        ".v8}; .type = {.b32, .b64, .u32, .u64, .s32, .s64, .f16, .f16x2, .bf16, .bf16x2, .f32, .f64}",
        "addresses of several GPUs are not modelled"),
};

}  // namespace

Chapter async_chapter() { return kRows; }

}  // namespace warplens::ops
