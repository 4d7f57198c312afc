// SPDX-License-Identifier: Apache-2.0
// Spelling of state spaces and special registers (manual sections "State Spaces" and "Special Registers"). One table of
// special registers serves reading, printing and typing; vector registers appear with their components only, since a
// whole %tid cannot be an operand of anything that the corpus contains.
#include "ptx/types.h"

#include <algorithm>
#include <array>

namespace warplens::ptx {

std::string_view name_of(Space s) {
  switch (s) {
    case Space::kGeneric: return "generic";
    case Space::kGlobal: return "global";
    case Space::kShared: return "shared";
    case Space::kLocal: return "local";
    case Space::kConst: return "const";
    case Space::kParam: return "param";
    case Space::kReg: return "reg";
    case Space::kSharedCluster: return "shared::cluster";
  }
  return "";
}

namespace {

struct SpecialInfo {
  std::string_view name;
  SpecialReg reg;
  Type type;
};

using enum SpecialReg;
constexpr SpecialInfo kSpecials[] = {
    {"%tid.x", kTidX, Type::kU32},
    {"%tid.y", kTidY, Type::kU32},
    {"%tid.z", kTidZ, Type::kU32},
    {"%ntid.x", kNtidX, Type::kU32},
    {"%ntid.y", kNtidY, Type::kU32},
    {"%ntid.z", kNtidZ, Type::kU32},
    {"%ctaid.x", kCtaidX, Type::kU32},
    {"%ctaid.y", kCtaidY, Type::kU32},
    {"%ctaid.z", kCtaidZ, Type::kU32},
    {"%nctaid.x", kNctaidX, Type::kU32},
    {"%nctaid.y", kNctaidY, Type::kU32},
    {"%nctaid.z", kNctaidZ, Type::kU32},
    {"%laneid", kLaneid, Type::kU32},
    {"%warpid", kWarpid, Type::kU32},
    {"%nwarpid", kNwarpid, Type::kU32},
    {"%smid", kSmid, Type::kU32},
    {"%nsmid", kNsmid, Type::kU32},
    {"%gridid", kGridid, Type::kU64},
    {"%lanemask_eq", kLanemaskEq, Type::kU32},
    {"%lanemask_le", kLanemaskLe, Type::kU32},
    {"%lanemask_lt", kLanemaskLt, Type::kU32},
    {"%lanemask_ge", kLanemaskGe, Type::kU32},
    {"%lanemask_gt", kLanemaskGt, Type::kU32},
    {"%clock", kClock, Type::kU32},
    {"%clock_hi", kClockHi, Type::kU32},
    {"%clock64", kClock64, Type::kU64},
    {"%globaltimer", kGlobaltimer, Type::kU64},
    {"%globaltimer_lo", kGlobaltimerLo, Type::kU32},
    {"%globaltimer_hi", kGlobaltimerHi, Type::kU32},
    {"%clusterid.x", kClusteridX, Type::kU32},
    {"%clusterid.y", kClusteridY, Type::kU32},
    {"%clusterid.z", kClusteridZ, Type::kU32},
    {"%nclusterid.x", kNclusteridX, Type::kU32},
    {"%nclusterid.y", kNclusteridY, Type::kU32},
    {"%nclusterid.z", kNclusteridZ, Type::kU32},
    {"%cluster_ctaid.x", kClusterCtaidX, Type::kU32},
    {"%cluster_ctaid.y", kClusterCtaidY, Type::kU32},
    {"%cluster_ctaid.z", kClusterCtaidZ, Type::kU32},
    {"%cluster_nctaid.x", kClusterNctaidX, Type::kU32},
    {"%cluster_nctaid.y", kClusterNctaidY, Type::kU32},
    {"%cluster_nctaid.z", kClusterNctaidZ, Type::kU32},
    {"%cluster_ctarank", kClusterCtarank, Type::kU32},
    {"%cluster_nctarank", kClusterNctarank, Type::kU32},
    {"%is_explicit_cluster", kIsExplicitCluster, Type::kPred},
    {"%dynamic_smem_size", kDynamicSmemSize, Type::kU32},
    {"%total_smem_size", kTotalSmemSize, Type::kU32},
    {"%aggr_smem_size", kAggrSmemSize, Type::kU32},
    {"%reserved_smem_offset_begin", kReservedSmemOffset, Type::kB32},
    {"%reserved_smem_offset_end", kReservedSmemOffset, Type::kB32},
    {"%reserved_smem_offset_cap", kReservedSmemOffset, Type::kB32},
    {"%reserved_smem_offset_", kReservedSmemOffset, Type::kB32},  // a number follows
    {"%envreg", kEnvreg, Type::kB32},                             // a number follows
    {"%current_graph_exec", kCurrentGraphExec, Type::kU64},
};
// %reserved_smem_offset_{begin,end,cap} are told from the numbered ones by their index.
constexpr unsigned kReservedNamed = 100;

const SpecialInfo* row_named(std::string_view word) {
  const auto it =
      std::find_if(std::begin(kSpecials), std::end(kSpecials), [&](const auto& s) { return s.name == word; });
  return it == std::end(kSpecials) ? nullptr : it;
}

}  // namespace

std::optional<SpecialReg> special_register_named(std::string_view word, unsigned* index) {
  if (index) *index = 0;
  if (word.size() < 2 || word[0] != '%') return std::nullopt;
  const size_t last = word.find_last_not_of("0123456789") + 1;
  const std::string_view digits = word.substr(last);
  if (!digits.empty() && digits.size() <= 2 &&
      (word.starts_with("%envreg") || word.starts_with("%reserved_smem_off"))) {
    const SpecialInfo* row = row_named(word.substr(0, last));
    unsigned n = 0;
    for (char c : digits) n = n * 10 + static_cast<unsigned>(c - '0');
    const unsigned limit = row && row->reg == kEnvreg ? 31 : 1;
    if (!row || n > limit) return std::nullopt;
    if (index) *index = n;
    return row->reg;
  }
  const SpecialInfo* row = row_named(word);
  if (!row || row->name == "%envreg" || row->name.ends_with('_')) return std::nullopt;
  if (index && row->reg == kReservedSmemOffset)
    *index = kReservedNamed + (word.ends_with("_end") ? 1 : word.ends_with("_cap") ? 2 : 0);
  return row->reg;
}

std::string_view name_of(SpecialReg r) {
  for (const SpecialInfo& s : kSpecials)
    if (s.reg == r) return s.name;
  return "";
}

Type type_of(SpecialReg r) {
  for (const SpecialInfo& s : kSpecials)
    if (s.reg == r) return s.type;
  return Type::kNone;
}

}  // namespace warplens::ptx
