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

/// The sites that `add` made for the instruction.
void add_atomic(AccessList& list, const Access& access, const ptx::Instr& in, const AtomicFacts* facts) {
  const size_t first = list.accesses.size();
  add(list, access, in.space());
  for (size_t s = first; s < list.accesses.size(); ++s) {
    Access& site = list.accesses[s];
    const bool cluster = site.space == events::Space::kSharedCluster;
    apply(site, plan_atomic(in, cluster ? events::Space::kShared : site.space, facts));
    if (!site.generic && !cluster) continue;
    // By a generic address the hardware does add integers of 64 bits in shared memory, and it may be another block's.
    // Its loops around floats, there and in another block's memory, are not modelled.
    site.estimate = site.space != events::Space::kGlobal;
    if (site.form == events::Form::kRetried) site.form = events::Form::kPlain;
  }
  if (list.accesses[first].form != events::Form::kRetried) return;
  Access loads = list.accesses[first];
  loads.access = events::Access::kLoad;
  loads.form = events::Form::kRetryLoads;
  list.of_instr[access.instr].push_back(static_cast<uint32_t>(list.accesses.size()));
  list.accesses.push_back(loads);
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
    if (shapes[k].matrix_rows) access.form = events::Form::kMatrixRows;
    access.estimate = shapes[k].estimate;
    add(list, access, shapes[k].space);
  }
}

}  // namespace

AccessList accesses_of(const ptx::Function& function, const std::vector<AtomicFacts>& facts) {
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
    else
      add(list, access, in.space());
  }
  return list;
}

}  // namespace warplens::machine
