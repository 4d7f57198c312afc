// SPDX-License-Identifier: Apache-2.0
// The identity pass: each PTX memory instruction is one machine access.
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

/// Of an instruction that takes memory for the whole warp its row says what it may do.
void add_warp_accesses(AccessList& list, const ptx::Instr& in, uint32_t i) {
  std::array<ptx::AccessShape, 3> shapes{};
  const unsigned count = in.def->accesses(in, shapes);
  for (unsigned k = 0; k < count; ++k) {
    Access access;
    WL_CHECK(event_access(shapes[k].role, access.access));
    access.instr = i;
    access.bytes = shapes[k].bytes;
    add(list, access, shapes[k].space);
  }
}

}  // namespace

AccessList accesses_of(const ptx::Function& function) {
  AccessList list;
  list.of_instr.resize(function.body.size());
  for (uint32_t i = 0; i < function.body.size(); ++i) {
    const ptx::Instr& in = function.body[i];
    if (in.def->role == ptx::Role::kWarpMemory) add_warp_accesses(list, in, i);
    Access access;
    if (!event_access(in.def->role, access.access) || in.space() == ptx::Space::kParam) continue;
    access.instr = i;
    access.bytes = static_cast<uint8_t>(ptx::bytes_of(in.type()) * in.vector_length());
    add(list, access, in.space());
  }
  return list;
}

}  // namespace warplens::machine
