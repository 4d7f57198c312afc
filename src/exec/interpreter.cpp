// SPDX-License-Identifier: Apache-2.0
// The reference interpreter: every instruction by its row's plain C++ reference, every access counted by the slow
// rules. It is what generated code is compared with, what takes over where generated code gives up, and what a reader
// should understand first. Order of blocks: schedule.h. Checks: access_check.h.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "base/bits.h"
#include "base/check.h"
#include "exec/access_check.h"
#include "exec/atomic_values.h"
#include "exec/device_calls.h"
#include "exec/emit_events.h"
#include "exec/executor.h"
#include "exec/lane_memory.h"
#include "exec/program.h"
#include "exec/schedule.h"
#include "exec/special_registers.h"
#include "exec/warp_memory.h"
#include "ir/barrier_blocks.h"
#include "memory/coalescer.h"

namespace warplens::exec {
namespace {

using events::Space;
using ptx::Role;
using Lanes = std::array<uint64_t, 32>;

constexpr size_t kSiteWords = sizeof(events::SiteCounts) / sizeof(uint64_t);
constexpr size_t kBlockWords = sizeof(events::BlockCounts) / sizeof(uint64_t);

Space event_space(ptx::Space space) {
  switch (space) {
    case ptx::Space::kShared: return Space::kShared;
    case ptx::Space::kSharedCluster: return Space::kSharedCluster;
    case ptx::Space::kLocal: return Space::kLocal;
    case ptx::Space::kConst: return Space::kConst;
    case ptx::Space::kParam: return Space::kParam;
    default: return Space::kGlobal;
  }
}

/// One warp's registers and where its lanes are. Kept by its WarpContext, so that a warp that is abandoned in the
/// middle leaks nothing: nothing on its stack owns memory.
class Warp {
 public:
  explicit Warp(const LoadedKernel& kernel)
      : kernel_(kernel),
        program_(*kernel.program),
        schedule_(program_.plan),
        registers_(program_.registers),
        call_frames_(size_t{kernel.call_frame_bytes} * 32),
        in_(program_.most_sources + 1),
        out_(program_.most_destinations + 1),
        lane_in_(in_.size()),
        lane_out_(out_.size()) {}

  const LoadedKernel& kernel() const { return kernel_; }
  void run(WarpContext& context, uint64_t* words, RegisterObserver* observer);
  void resume(WarpContext& context, uint64_t* words, const uint64_t* registers, uint32_t position, uint32_t mask,
              uint32_t instr, const uint32_t* waiting);

 private:
  void run_scheduled();
  void run_block(uint32_t first_instr);
  /// False: the block ends behind this instruction, and all lanes know where they go.
  bool execute(uint32_t pc, uint32_t& active);
  void count_block();

  uint64_t source(const Source& s, unsigned lane) const;
  void set(const Destination& d, unsigned lane, uint64_t value);
  uint32_t guarded(const Operation& op, uint32_t active) const;

  void value(const Operation& op, uint32_t lanes);
  void warp_wide(const Operation& op, uint32_t lanes);
  void memory(const Operation& op, uint32_t pc, uint32_t lanes);
  void memory_of_warp(const Operation& op, uint32_t pc, uint32_t lanes);
  void access_lane(const Operation& op, unsigned lane, Space space, uint64_t address);
  void move_16_bytes(const Operation& op, unsigned lane, uint64_t address);
  void parameter_access(const Operation& op, uint32_t pc, uint32_t lanes);
  void prepare_access(const Operation& op, uint32_t pc, uint32_t lanes, Space space, const Lanes& address);
  void branch(const Operation& op, uint32_t taken);
  void barrier(const Operation& op, uint32_t pc, uint32_t lanes);
  void check_alignment(const Operation& op, uint32_t pc, uint32_t lanes);
  bool warp_barrier(const Operation& op, uint32_t pc, uint32_t lanes);
  bool release_at_end();
  bool run_released();
  void call(const Operation& op, uint32_t pc, uint32_t lanes);
  uint64_t argument_bits(const ptx::Operand& argument, const Source& s, unsigned lane) const;
  void go(uint32_t position, uint32_t lanes) {
    if (position != ptx::kNoIndex) schedule_.go(position, lanes);  // else these lanes have ended
  }

  const LoadedKernel& kernel_;
  const Program& program_;
  Schedule schedule_;
  WarpContext* context_ = nullptr;
  uint64_t* words_ = nullptr;
  RegisterObserver* observer_ = nullptr;
  uint32_t interest_ = 0;
  /// Lanes that wait at bar.warp.sync for others of their member mask, which are in other branches.
  struct Group {
    uint32_t position = 0, instr = 0;  ///< where they go on
    uint32_t lanes = 0, members = 0;
  };
  std::array<Group, 32> waiting_;
  std::array<Group, 32> released_;
  size_t waiting_count_ = 0, released_count_ = 0;
  std::vector<Lanes> registers_;
  std::vector<uint8_t> call_frames_;  // lane by lane
  std::vector<Lanes> in_, out_;
  std::vector<uint64_t> lane_in_, lane_out_;
  Lanes address_{};
  std::array<Lanes, 3> addresses_{};  // of an instruction that takes memory for the whole warp
};

void Warp::run(WarpContext& context, uint64_t* words, RegisterObserver* observer) {
  context_ = &context;
  observer_ = observer;
  words_ = words;
  interest_ = context.launch->interest;
  // Registers that were never written read as 0, which makes runs repeatable.
  for (Lanes& r : registers_) r.fill(0);
  schedule_.start(context.entry_mask);
  waiting_count_ = released_count_ = 0;
  run_scheduled();
}

void Warp::resume(WarpContext& context, uint64_t* words, const uint64_t* registers, uint32_t position, uint32_t mask,
                  uint32_t instr, const uint32_t* waiting) {
  context_ = &context;
  words_ = words;
  interest_ = context.launch->interest;
  if (!registers_.empty()) std::memcpy(registers_.data(), registers, registers_.size() * sizeof(Lanes));
  schedule_.resume(position, mask, waiting);
  waiting_count_ = released_count_ = 0;
  run_block(instr);
  run_scheduled();
}

void Warp::run_scheduled() {
  for (;;) {
    if (run_released()) continue;
    if (!schedule_.next()) {
      if (!release_at_end()) return;
      continue;
    }
    if (context_->stop->load(std::memory_order_relaxed) != 0) abandon_warp(*context_);
    if (schedule_.take_yield()) yield_warp(*context_);
    count_block();
    run_block(program_.blocks[schedule_.position()].begin);
  }
}

void Warp::count_block() {
  const uint32_t id = program_.blocks[schedule_.position()].id;
  if (words_ != nullptr) {
    uint64_t* block = words_ + kernel_.accesses.accesses.size() * kSiteWords + id * kBlockWords;
    block[0] += 1;
    block[1] += static_cast<uint64_t>(std::popcount(schedule_.mask()));
  }
  if (interest_ & events::kBlocks) emit_block_run(*context_, id, schedule_.mask());
}

void Warp::run_block(uint32_t first_instr) {
  const Program::Block& block = program_.blocks[schedule_.position()];
  uint32_t active = schedule_.mask();
  for (uint32_t pc = first_instr; pc < block.end; ++pc) {
    const uint32_t lanes = observer_ == nullptr ? 0 : guarded(program_.operations[pc], active);
    const bool goes_on = execute(pc, active);
    if (lanes != 0) observer_->after(*context_, pc, lanes, registers_);
    if (!goes_on) return;
  }
  go(block.next, active);
}

uint32_t Warp::guarded(const Operation& op, uint32_t active) const {
  if (op.guard == ptx::kNoReg) return active;
  uint32_t lanes = 0;
  for_each_lane(active, [&](int lane) {
    const bool is_true = (registers_[op.guard][static_cast<size_t>(lane)] & 1) != 0;
    if (is_true != op.guard_negated) lanes |= uint32_t{1} << lane;
  });
  return lanes;
}

bool Warp::execute(uint32_t pc, uint32_t& active) {
  const Operation& op = program_.operations[pc];
  const uint32_t lanes = guarded(op, active);
  if (lanes == 0) return true;
  switch (op.role) {
    case Role::kValue: value(op, lanes); break;
    case Role::kWarp: warp_wide(op, lanes); break;
    case Role::kLoad:
    case Role::kStore:
    case Role::kAtomic:
    case Role::kReduction: memory(op, pc, lanes); break;
    case Role::kBranch:
    case Role::kBranchIndexed:
      branch(op, lanes);
      active &= ~lanes;
      return active != 0;
    case Role::kReturn:
    case Role::kExit: active &= ~lanes; return active != 0;
    case Role::kWarpMemory: memory_of_warp(op, pc, lanes); break;
    case Role::kCall: call(op, pc, lanes); break;
    case Role::kBarrier: barrier(op, pc, lanes); break;
    case Role::kFence: std::atomic_thread_fence(std::memory_order_seq_cst); break;
    case Role::kWarpBarrier:
      if (!warp_barrier(op, pc, lanes)) active &= ~lanes;
      return active != 0;
    case Role::kNoEffect: break;
    case Role::kClusterBarrier:
      check_alignment(op, pc, lanes);
      context_->waiting_pc = pc;
      if (op.instr->has("wait"))
        wait_at_cluster_barrier(*context_);
      else
        arrive_at_cluster_barrier(*context_);
      break;
    case Role::kTrap: {
      context_->launch->fail([&] {
        events::Finding f =
            finding_at(*context_, events::FindingKind::kTrap, pc, static_cast<unsigned>(std::countr_zero(lanes)));
        f.message = "executes a trap instruction";
        return f;
      }());
      abandon_warp(*context_);
    }
  }
  return true;
}

uint64_t Warp::source(const Source& s, unsigned lane) const {
  switch (s.kind) {
    case Source::Kind::kRegister: return registers_[s.reg][lane] & s.mask;
    case Source::Kind::kNegated: return (registers_[s.reg][lane] & 1) ^ 1;
    case Source::Kind::kConstant: return s.constant & s.mask;
    case Source::Kind::kSpecial: return special_register(*context_, s.special, s.reg, lane) & s.mask;
  }
  return 0;
}

void Warp::set(const Destination& d, unsigned lane, uint64_t value) {
  if (d.reg == ptx::kNoReg) return;
  value &= low_bits(d.bits);
  if (d.sign_extends) value = static_cast<uint64_t>(static_cast<int64_t>(value << (64 - d.bits)) >> (64 - d.bits));
  registers_[d.reg][lane] = value & low_bits(d.register_bits);
}

void Warp::value(const Operation& op, uint32_t lanes) {
  const ptx::Windows windows{context_->shared_window, context_->local_window, context_->global_begin,
                             context_->cluster_rank};
  for_each_lane(lanes, [&](int l) {
    const auto lane = static_cast<unsigned>(l);
    for (uint32_t i = 0; i < op.sources; ++i) lane_in_[i] = source(program_.sources[op.first_source + i], lane);
    op.instr->def->reference.lane(
        {*op.instr, {lane_in_.data(), op.sources}, {lane_out_.data(), op.destinations}, windows});
    for (uint32_t i = 0; i < op.destinations; ++i)
      set(program_.destinations[op.first_destination + i], lane, lane_out_[i]);
  });
}

void Warp::warp_wide(const Operation& op, uint32_t lanes) {
  for (uint32_t i = 0; i < op.sources; ++i)
    for (unsigned lane = 0; lane < 32; ++lane) in_[i][lane] = source(program_.sources[op.first_source + i], lane);
  op.instr->def->reference.warp({*op.instr, lanes, {in_.data(), op.sources}, {out_.data(), op.destinations}});
  for (uint32_t i = 0; i < op.destinations; ++i)
    for_each_lane(lanes, [&](int lane) {
      set(program_.destinations[op.first_destination + i], static_cast<unsigned>(lane),
          out_[i][static_cast<size_t>(lane)]);
    });
}

// --- memory

/// Checks, then reports and counts, one space's lanes of an access.
void Warp::prepare_access(const Operation& op, uint32_t pc, uint32_t lanes, Space space, const Lanes& address) {
  CheckedAccess checked;
  checked.pc = pc;
  checked.site = op.site;
  checked.mask = lanes;
  checked.bytes = unsigned{op.element_bytes} * op.elements;
  checked.space = space;
  checked.access = kernel_.info.sites[op.site].access;
  checked.address = &address;
  check_access(*context_, checked);
}

/// By the slow rules, into the interpreter's words.
class SlowCounter final : public RequestCounter {
 public:
  explicit SlowCounter(uint64_t* words) : words_(words) {}
  void count(const events::WarpAccess& request, const events::AccessSite& site) override {
    events::SiteCounts counts;
    memory::count_access(counts, request, site);
    std::array<uint64_t, kSiteWords> added;
    std::memcpy(added.data(), &counts, sizeof counts);
    for (size_t k = 0; k < kSiteWords; ++k) words_[request.site * kSiteWords + k] += added[k];
  }

 private:
  uint64_t* words_;
};

void Warp::memory(const Operation& op, uint32_t pc, uint32_t lanes) {
  const Address& a = op.address;
  for_each_lane(lanes, [&](int lane) {
    const auto l = static_cast<size_t>(lane);
    address_[l] = a.constant + (a.reg == ptx::kNoReg ? 0 : registers_[a.reg][l]);
    if (a.narrow) address_[l] &= 0xffffffff;
  });
  if (op.space == ptx::Space::kParam) return parameter_access(op, pc, lanes);
  SpaceParts parts{{{{event_space(op.space), lanes}}}, 1};
  if (op.space == ptx::Space::kGeneric) parts = parts_of(resolve_generic(*context_, lanes, address_));
  name_own_memory(*context_, event_space(op.space), lanes, address_);
  for (const auto& [space, part] : parts) prepare_access(op, pc, part, space, address_);
  for (const auto& [space, part] : parts) {
    const uint32_t first = events::resolved_site(op.site, op.space == ptx::Space::kGeneric, space);
    const auto& sites = kernel_.info.sites;
    if (sites[first].form == events::Form::kFolded) continue;
    events::WarpAccess event{first, part, context_->block, context_->warp, space, &address_};
    event.beside = lanes_beside(parts, space);
    const LaneAtomicValues values(*context_, kernel_.function->body[pc], space, op.element_bytes, address_,
                                  [&](unsigned lane) { return source(program_.sources[op.first_source], lane); });
    if (sites[first].form == events::Form::kRetried) event.values = &values;
    const auto count = [&](uint32_t site) {
      event.site = site;
      if (words_ != nullptr) SlowCounter(words_).count(event, sites[site]);
      if (interest_ & events::kAccesses) emit_access(*context_, event);
    };
    count(first);
    if (events::has_loads(sites[first])) count(events::loads_site(first, sites[first]));
  }
  for_each_lane(lanes, [&](int lane) {
    Space space = Space::kGlobal;
    for (const auto& [candidate, part] : parts)
      if (part >> lane & 1) space = candidate;
    access_lane(op, static_cast<unsigned>(lane), space, address_[static_cast<size_t>(lane)]);
  });
}

void Warp::access_lane(const Operation& op, unsigned lane, Space space, uint64_t address) {
  const LaneMemory memory(*context_, lane);
  const Source* sources = program_.sources.data() + op.first_source;
  const Destination* destinations = program_.destinations.data() + op.first_destination;
  const bool moves = op.role == Role::kLoad || op.role == Role::kStore;
  if (moves && space == Space::kGlobal && op.elements > 1 && op.elements * op.element_bytes == 16)
    return move_16_bytes(op, lane, address);
  for (unsigned e = 0; e < op.elements; ++e) {
    const uint64_t at = address + e * op.element_bytes;
    switch (op.role) {
      case Role::kLoad:
        // The register of the address may be one of the destinations: all addresses were computed before.
        set(destinations[e], lane, memory.read(space, at, op.element_bytes));
        break;
      case Role::kStore: memory.write(space, at, op.element_bytes, source(sources[e], lane)); break;
      default: {
        const uint64_t second = op.elements == 1 && op.sources > 1 ? source(sources[1], lane) : 0;
        const uint64_t old = memory.update(space, at, op.element_bytes, *op.instr, source(sources[e], lane), second);
        if (op.role == Role::kAtomic) set(destinations[e], lane, old);
      }
    }
  }
}

void Warp::move_16_bytes(const Operation& op, unsigned lane, uint64_t address) {
  auto* const memory = reinterpret_cast<void*>(static_cast<uintptr_t>(address));
  Bytes16 whole{};
  if (op.role == Role::kLoad) whole = load_16_bytes(memory);
  for (unsigned e = 0; e < op.elements; ++e) {
    uint8_t* const at = whole.bytes + size_t{e} * op.element_bytes;
    uint64_t value = 0;
    if (op.role == Role::kLoad) {
      std::memcpy(&value, at, op.element_bytes);
      set(program_.destinations[op.first_destination + e], lane, value);
    } else {
      value = source(program_.sources[op.first_source + e], lane);
      std::memcpy(at, &value, op.element_bytes);
    }
  }
  if (op.role == Role::kStore) store_16_bytes(memory, whole);
}

void Warp::memory_of_warp(const Operation& op, uint32_t pc, uint32_t lanes) {
  for (size_t k = 0; k < op.addresses.size(); ++k) {
    const Address& a = op.addresses[k];
    for (size_t lane = 0; lane < 32; ++lane) {
      const uint64_t at = a.constant + (a.reg == ptx::kNoReg ? 0 : registers_[a.reg][lane]);
      addresses_[k][lane] = a.narrow ? at & 0xffffffff : at;
    }
  }
  for (uint32_t i = 0; i < op.sources; ++i)
    for (unsigned lane = 0; lane < 32; ++lane) in_[i][lane] = source(program_.sources[op.first_source + i], lane);
  SlowCounter counter(words_);
  run_warp_memory(
      *context_,
      {pc, lanes, {in_.data(), op.sources}, {out_.data(), op.destinations}, {addresses_.data(), op.addresses.size()}},
      words_ != nullptr ? &counter : nullptr);
  for (uint32_t i = 0; i < op.destinations; ++i)
    for_each_lane(lanes, [&](int lane) {
      set(program_.destinations[op.first_destination + i], static_cast<unsigned>(lane),
          out_[i][static_cast<size_t>(lane)]);
    });
}

/// ld.param of the kernel's parameters, and both directions for arguments and results of calls.
void Warp::parameter_access(const Operation& op, uint32_t pc, uint32_t lanes) {
  const unsigned bytes = unsigned{op.element_bytes} * op.elements;
  const uint64_t size = op.call_frame ? kernel_.call_frame_bytes : kernel_.function->param_bytes;
  for_each_lane(lanes, [&](int l) {
    const auto lane = static_cast<unsigned>(l);
    const uint64_t offset = address_[lane];
    if (offset > size || bytes > size - offset || (!op.call_frame && op.role == Role::kStore)) {
      context_->launch->fail([&] {
        events::Finding f = finding_at(*context_, events::FindingKind::kOutOfBounds, pc, lane);
        f.address = offset;
        f.bytes = bytes;
        f.message = fmt::format("accesses {} bytes at offset {} of {} bytes of parameters", bytes, offset, size);
        return f;
      }());
      abandon_warp(*context_);
    }
    for (unsigned e = 0; e < op.elements; ++e) {
      const uint64_t at = offset + e * op.element_bytes;
      uint64_t value = 0;
      if (op.role == Role::kStore) {
        value = source(program_.sources[op.first_source + e], lane);
        std::memcpy(call_frames_.data() + lane * size + at, &value, op.element_bytes);
      } else {
        std::memcpy(&value, op.call_frame ? call_frames_.data() + lane * size + at : context_->params + at,
                    op.element_bytes);
        set(program_.destinations[op.first_destination + e], lane, value);
      }
    }
  });
}

// --- control

void Warp::branch(const Operation& op, uint32_t taken) {
  if (op.role == Role::kBranch) return go(op.target, taken);
  for_each_lane(taken, [&](int lane) {
    const uint64_t index = source(program_.sources[op.first_source], static_cast<unsigned>(lane));
    // The manual leaves an index beyond the table undefined; the lane ends here.
    if (index < op.targets.size()) go(op.targets[index], uint32_t{1} << lane);
  });
}

void Warp::barrier(const Operation& op, uint32_t pc, uint32_t lanes) {
  // Sources: barrier, then the number of threads if written; the predicate of a reduction wherever it stands.
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  uint32_t number[2] = {0, 0}, values = 0;
  size_t numbers = 0;
  for (size_t k = 0, s = 0; k < op.instr->operands.size(); ++k) {
    const ptx::OperandForm& form = op.instr->def->form.operands[k];
    if (form.is_dest) continue;
    const Source& src = program_.sources[op.first_source + s++];
    if (op.instr->operands[k].type == ptx::Type::kPred) {
      for_each_lane(lanes, [&](int lane) {
        values |= static_cast<uint32_t>(source(src, static_cast<unsigned>(lane)) & 1) << lane;
      });
    } else if (numbers < 2) {
      number[numbers++] = static_cast<uint32_t>(source(src, first));
    }
  }
  if (number[0] >= 16) {
    context_->launch->fail([&] {
      events::Finding f = finding_at(*context_, events::FindingKind::kUnsupported, pc, first);
      f.message = fmt::format("uses barrier {}; there are barriers 0 to 15", number[0]);
      return f;
    }());
    abandon_warp(*context_);
  }
  check_alignment(op, pc, lanes);
  if (interest_ & events::kBarriers) emit_barrier(*context_, pc, number[0], lanes);
  context_->waiting_pc = pc;
  if (op.destinations == 0) return wait_at_barrier(*context_, number[0], number[1], lanes, op.instr->has("arrive"));
  const int how = op.instr->has("popc") ? 0 : op.instr->has("and") ? 1 : 2;
  const uint32_t result = wait_at_barrier_reduce(*context_, number[0], number[1], lanes, values, how);
  for_each_lane(
      lanes, [&](int lane) { set(program_.destinations[op.first_destination], static_cast<unsigned>(lane), result); });
}

/// Aligned barriers are for whole warps.
void Warp::check_alignment(const Operation& op, uint32_t pc, uint32_t lanes) {
  if (!ir::is_aligned_barrier(*op.instr)) return;
  uint32_t others = schedule_.mask() & ~lanes;
  const auto ask = [&](uint32_t position, uint32_t waiting) {
    if (program_.missing(pc, position)) others |= waiting;
  };
  schedule_.for_each_waiting(ask);
  for (size_t i = 0; i < waiting_count_; ++i) ask(waiting_[i].position, waiting_[i].lanes);
  for (size_t i = 0; i < released_count_; ++i) ask(released_[i].position, released_[i].lanes);
  if (others != 0) remark_divergent_barrier(*context_, pc, lanes, others);
}

/// bar.warp.sync: whether the lanes go on. They wait while members of theirs are on their way; lanes that wait for the
/// same members are let go together, wherever they are.
bool Warp::warp_barrier(const Operation& op, uint32_t pc, uint32_t lanes) {
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const auto members = static_cast<uint32_t>(source(program_.sources[op.first_source], first));
  const auto same = [&](const Group& g) { return g.members == members; };
  Group* const end = waiting_.data() + waiting_count_;
  uint32_t arrived = lanes, others = (schedule_.mask() & ~lanes) | schedule_.elsewhere();
  for (const Group* g = waiting_.data(); g != end; ++g) (same(*g) ? arrived : others) |= g->lanes;
  for (size_t i = 0; i < released_count_; ++i) others |= released_[i].lanes;
  if ((members & others & ~arrived) != 0) {
    context_->waiting_pc = pc;
    waiting_[waiting_count_++] = {schedule_.position(), pc + 1, lanes, members};
    return false;
  }
  for (Group* g = waiting_.data(); g != end; ++g)
    if (same(*g)) released_[released_count_++] = *g;
  waiting_count_ = static_cast<size_t>(std::remove_if(waiting_.data(), end, same) - waiting_.data());
  return true;
}

/// The walk has ended: lanes that have ended are not waited for. True: some go on.
bool Warp::release_at_end() {
  if (waiting_count_ == 0) return false;
  Group* const end = waiting_.data() + waiting_count_;
  for (size_t i = 0; i < waiting_count_; ++i) {
    const uint32_t members = waiting_[i].members;
    const auto same = [&](const Group& g) { return g.members == members; };
    uint32_t others = 0;
    for (const Group* g = waiting_.data(); g != end; ++g)
      if (!same(*g)) others |= g->lanes;
    if ((members & others) != 0) continue;
    for (Group* g = waiting_.data(); g != end; ++g)
      if (same(*g)) released_[released_count_++] = *g;
    waiting_count_ = static_cast<size_t>(std::remove_if(waiting_.data(), end, same) - waiting_.data());
    return true;
  }
  context_->launch->fail([&] {
    events::Finding f = finding_at(*context_, events::FindingKind::kDeadlock, waiting_[0].instr - 1,
                                   static_cast<unsigned>(std::countr_zero(waiting_[0].lanes)));
    f.message = fmt::format("lanes {:#x} wait at bar.warp.sync for lanes {:#x}, some of which wait for others there",
                            waiting_[0].lanes, waiting_[0].members);
    return f;
  }());
  abandon_warp(*context_);
}

/// Runs the rest of one group's block, if there is a group. Always true then.
bool Warp::run_released() {
  if (released_count_ == 0) return false;
  const auto at = std::min_element(released_.data(), released_.data() + released_count_,
                                   [](const Group& a, const Group& b) { return a.position < b.position; });
  const Group group = *at;
  *at = released_[--released_count_];
  schedule_.go_on_at(group.position, group.lanes);
  run_block(group.instr);
  return true;
}

uint64_t Warp::argument_bits(const ptx::Operand& argument, const Source& s, unsigned lane) const {
  if (argument.tag != ptx::OperandTag::kSymbol) return source(s, lane);
  uint64_t bits = 0;
  const ptx::Variable& v = kernel_.function->variables[argument.symbol.index];
  std::memcpy(&bits, call_frames_.data() + size_t{lane} * kernel_.call_frame_bytes + s.constant,
              std::min<uint64_t>(v.bytes, sizeof bits));
  return bits;
}

void Warp::call(const Operation& op, uint32_t pc, uint32_t lanes) {
  const ptx::Instr& in = *op.instr;
  const DeviceFunction& callee = program_.callees[op.callee];
  std::array<uint64_t, kMostCallParameters> arguments{}, results{};
  for_each_lane(lanes, [&](int l) {
    const auto lane = static_cast<unsigned>(l);
    const size_t count = in.args.size() - in.returns;
    const uint32_t first = op.first_source + op.sources - static_cast<uint32_t>(count);
    for (size_t k = 0; k < count; ++k)
      arguments[k] = argument_bits(in.args[in.returns + k], program_.sources[first + k], lane);
    results.fill(0);
    call_function(*context_, callee, pc, lane, {arguments.data(), count}, {results.data(), in.returns});
    // Results in registers are the last destinations, as arguments are the last sources.
    auto destination =
        op.first_destination + op.destinations -
        static_cast<uint32_t>(std::count_if(in.args.begin(), in.args.begin() + in.returns,
                                            [](const ptx::Operand& r) { return r.tag == ptx::OperandTag::kReg; }));
    for (uint32_t k = 0; k < in.returns; ++k) {
      const ptx::Operand& r = in.args[k];
      if (r.tag == ptx::OperandTag::kReg) {
        set(program_.destinations[destination++], lane, results[k]);
      } else if (r.tag == ptx::OperandTag::kSymbol) {
        const ptx::Variable& v = kernel_.function->variables[r.symbol.index];
        std::memcpy(
            call_frames_.data() + size_t{lane} * kernel_.call_frame_bytes + kernel_.variable_offsets[r.symbol.index],
            &results[k], std::min<uint64_t>(v.bytes, 8));
      }
    }
  });
}

/// The warp's interpreter, made at its first use.
Warp& warp_of(WarpContext& context) {
  const LoadedKernel& kernel = *context.launch->request->kernel;
  if (context.executor_state == nullptr) {
    context.executor_state = new Warp(kernel);
    context.free_executor_state = [](void* state) { delete static_cast<Warp*>(state); };
  }
  return *static_cast<Warp*>(context.executor_state);
}

class Interpreter : public Executor {
 public:
  explicit Interpreter(RegisterObserver* observer) : observer_(observer) {}
  const char* name() const override { return "interpreter"; }
  Status prepare(LaunchState&) override { return Done{}; }
  uint64_t stack_bytes(const LaunchState&) const override { return 192 << 10; }
  void run_warp(LaunchState& launch, WarpContext& warp) override {
    warp_of(warp).run(warp, launch.request->count ? warp.counters : nullptr, observer_);
  }
  size_t counter_words(const LaunchState& launch) const override {
    return interpreter_counter_words(*launch.request->kernel);
  }
  void collect(LaunchState& launch, const std::vector<uint64_t>& words, events::LaunchCounts& out) override {
    if (launch.request->count) add_interpreter_counts(*launch.request->kernel, words.data(), out);
  }

 private:
  RegisterObserver* observer_;
};

}  // namespace

std::unique_ptr<Executor> make_interpreter(RegisterObserver* observer) {
  return std::make_unique<Interpreter>(observer);
}

void interpret_from(LaunchState&, WarpContext& warp, const uint64_t* registers, uint32_t position, uint32_t mask,
                    uint32_t instr, const uint32_t* waiting, uint64_t* words) {
  warp_of(warp).resume(warp, words, registers, position, mask, instr, waiting);
}

size_t interpreter_counter_words(const LoadedKernel& kernel) {
  return kernel.accesses.accesses.size() * kSiteWords + kernel.graph.blocks.size() * kBlockWords;
}

void add_interpreter_counts(const LoadedKernel& kernel, const uint64_t* words, events::LaunchCounts& out) {
  const size_t sites = kernel.accesses.accesses.size(), blocks = kernel.graph.blocks.size();
  out.sites.resize(sites);
  out.blocks.resize(blocks);
  for (size_t i = 0; i < sites; ++i) {
    events::SiteCounts c;
    std::memcpy(static_cast<void*>(&c), words + i * kSiteWords, sizeof c);
    out.sites[i] += c;
  }
  for (size_t i = 0; i < blocks; ++i) {
    events::BlockCounts c;
    std::memcpy(static_cast<void*>(&c), words + sites * kSiteWords + i * kBlockWords, sizeof c);
    out.blocks[i] += c;
  }
}

}  // namespace warplens::exec
