// SPDX-License-Identifier: Apache-2.0
// Each PTX memory instruction is one machine access, but for atomics.
#include "machine/access_list.h"

#include "base/check.h"

namespace warplens::machine {
namespace {

events::Space event_space(ptx::Space space) {
  switch (space) {
    case ptx::Space::kGlobal: return events::Space::kGlobal;
    case ptx::Space::kShared: return events::Space::kShared;
    case ptx::Space::kLocal: return events::Space::kLocal;
    case ptx::Space::kConst: return events::Space::kConst;
    case ptx::Space::kParam: return events::Space::kParam;
    case ptx::Space::kSharedCluster: return events::Space::kSharedCluster;
    case ptx::Space::kGeneric:
    case ptx::Space::kReg: return events::Space::kGlobal;
  }
  return events::Space::kGlobal;
}

bool event_access(ptx::Role role, events::Access& access) {
  switch (role) {
    case ptx::Role::kLoad: access = events::Access::kLoad; return true;
    case ptx::Role::kStore: access = events::Access::kStore; return true;
    case ptx::Role::kAtomic: access = events::Access::kAtomic; return true;
    case ptx::Role::kReduction: access = events::Access::kReduction; return true;
    default: return false;
  }
}

void add(AccessList& list, Access access, ptx::Space space) {
  list.of_instr[access.instr].push_back(static_cast<uint32_t>(list.accesses.size()));
  access.space = event_space(space);
  access.generic = space == ptx::Space::kGeneric;
  list.accesses.push_back(access);
  if (!access.generic) return;
  for (const events::Space other : {events::Space::kShared, events::Space::kLocal}) {
    access.space = other;
    list.accesses.push_back(access);
  }
}

void apply(Access& access, const AtomicPlan& plan) {
  access.access = plan.access;
  access.form = plan.form;
  access.combined = plan.combined;
  access.estimate = plan.estimate;
}

/// What differs where the address may name any memory: the hardware adds integers of 64 bits in shared memory, too, and
/// has no increment. (Measured: truth/h200/warps_mixed.csv, warps_cluster_mixed.csv; not: 16 bits.)
void apply_any_memory(Access& site, const ptx::Instr& in) {
  if (site.form == events::Form::kIncrement) site.form = events::Form::kPlain;
  if (site.form == events::Form::kRetried && in.word("op") == "add" && !ptx::is_float(in.type()))
    site.form = events::Form::kPlain;
  if (site.space == events::Space::kSharedCluster && site.form == events::Form::kRetried)
    site.estimate = !ptx::is_float(in.type());  // seen of floats only
  if (site.space == events::Space::kGlobal && in.word("op") == "cas") site.form = events::Form::kCompareAndSwap;
  if (site.space == events::Space::kLocal) site.form = events::Form::kPlain;
}

/// What the functions of events/events.h ask for.
events::AccessSite description_of(const Access& access) {
  events::AccessSite site;
  site.space = access.space;
  site.bytes = access.bytes;
  site.generic = access.generic;
  site.form = access.form;
  return site;
}

/// The sites that `add` made for the instruction.
void add_atomic(AccessList& list, const Access& access, const ptx::Instr& in, const AccessFacts* facts) {
  const size_t first = list.accesses.size();
  add(list, access, in.space());
  for (size_t s = first; s < list.accesses.size(); ++s) {
    Access& site = list.accesses[s];
    const bool cluster = site.space == events::Space::kSharedCluster;
    apply(site, plan_atomic(in, cluster ? events::Space::kShared : site.space, facts));
    if (site.generic || cluster) apply_any_memory(site, in);
  }
  // Of a generic access the middle site is shared memory's.
  Access loads = list.accesses[list.accesses[first].generic ? first + 1 : first];
  if (!events::has_loads(description_of(loads))) return;
  loads.access = events::Access::kLoad;
  loads.form = loads.form == events::Form::kRetried ? events::Form::kRetryLoads : events::Form::kPlain;
  list.of_instr[access.instr].push_back(static_cast<uint32_t>(list.accesses.size()));
  list.accesses.push_back(loads);
}

/// Where all lanes name one place and the GPU's assembler can see that, most loads become operands of other
/// instructions.
void add_constant(AccessList& list, Access access, const AccessFacts* facts) {
  access.estimate = facts == nullptr || facts->one_place;
  add(list, access, ptx::Space::kConst);
}

events::Form form_of(ptx::AccessShape::Way way) {
  switch (way) {
    case ptx::AccessShape::Way::kLanes: break;
    case ptx::AccessShape::Way::kMatrixRows: return events::Form::kMatrixRows;
    case ptx::AccessShape::Way::kCopy: return events::Form::kCopy;
    case ptx::AccessShape::Way::kPastL1: return events::Form::kPastL1;
  }
  return events::Form::kPlain;
}

/// Of an instruction that takes memory for the whole warp its row says what it may do.
void add_warp_accesses(AccessList& list, const ptx::Instr& in, uint32_t i) {
  std::array<ptx::AccessShape, 3> shapes{};
  const unsigned count = in.def->accesses(in, shapes);
  for (unsigned k = 0; k < count; ++k) {
    Access access;
    WL_CHECK(event_access(shapes[k].role, access.access));
    access.instr = i;
    access.bytes = shapes[k].bytes;
    access.form = form_of(shapes[k].way);
    access.estimate = shapes[k].estimate;
    add(list, access, shapes[k].space);
  }
}

}  // namespace

AccessList accesses_of(const ptx::Function& function, const std::vector<AccessFacts>& facts) {
  AccessList list;
  list.of_instr.resize(function.body.size());
  for (uint32_t i = 0; i < function.body.size(); ++i) {
    const ptx::Instr& in = function.body[i];
    if (in.def->role == ptx::Role::kWarpMemory) add_warp_accesses(list, in, i);
    Access access;
    if (!event_access(in.def->role, access.access) || in.space() == ptx::Space::kParam) continue;
    access.instr = i;
    access.bytes = static_cast<uint8_t>(ptx::bytes_of(in.type()) * in.vector_length());
    const bool atomic = access.access == events::Access::kAtomic || access.access == events::Access::kReduction;
    if (atomic)
      add_atomic(list, access, in, facts.empty() ? nullptr : &facts[i]);
    else if (in.space() == ptx::Space::kConst)
      add_constant(list, access, facts.empty() ? nullptr : &facts[i]);
    else
      add(list, access, in.space());
  }
  return list;
}

}  // namespace warplens::machine
