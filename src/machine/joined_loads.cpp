// SPDX-License-Identifier: Apache-2.0
#include "machine/joined_loads.h"

#include <algorithm>
#include <map>
#include <utility>

namespace warplens::machine {
namespace {

constexpr int64_t kWidest = 16;

struct Load {
  uint32_t instr = 0;
  int64_t offset = 0;
  unsigned bytes = 4;
};

bool is_ordered(const ptx::Instr& in) {
  return in.has("volatile") || in.has("relaxed") || in.has("acquire") || in.has("mmio");
}

/// Whether loads before and behind it may read different values.
bool may_change_shared(const ptx::Instr& in) {
  switch (in.def->role) {
    case ptx::Role::kValue:
    case ptx::Role::kWarp:
    case ptx::Role::kNoEffect: return false;
    case ptx::Role::kLoad: return is_ordered(in);
    case ptx::Role::kStore: return in.space() != ptx::Space::kGlobal && in.space() != ptx::Space::kLocal;
    default: return true;
  }
}

const ptx::Operand* address_of(const ptx::Instr& in) {
  for (const ptx::Operand& o : in.operands)
    if (o.tag == ptx::OperandTag::kAddress) return &o;
  return nullptr;
}

/// Joins what fills [begin, begin + bytes) exactly; whether it did.
bool join(AccessList& list, const std::map<int64_t, Load>& loads, int64_t begin, int64_t bytes) {
  std::vector<const Load*> parts;
  for (int64_t at = begin; at < begin + bytes;) {
    const auto found = loads.find(at);
    if (found == loads.end()) return false;
    parts.push_back(&found->second);
    at += found->second.bytes;
    if (at > begin + bytes) return false;
  }
  if (parts.size() < 2) return false;
  for (const Load* part : parts) list.accesses[list.of_instr[part->instr][0]].form = events::Form::kFolded;
  Access& whole = list.accesses[list.of_instr[parts[0]->instr][0]];
  whole.form = events::Form::kPlain;
  whole.bytes = static_cast<uint8_t>(bytes);
  return true;
}

/// The loads at one base register, by offset.
void join_all(AccessList& list, const std::map<int64_t, Load>& loads, int64_t alignment) {
  const auto down = [](int64_t v, int64_t to) { return v - ((v % to) + to) % to; };
  int64_t done = INT64_MIN;
  for (const auto& [offset, load] : loads) {
    for (int64_t bytes = std::min(alignment, kWidest); bytes > load.bytes && offset >= done; bytes /= 2)
      if (down(offset, bytes) == offset && join(list, loads, offset, bytes)) done = offset + bytes;
  }
}

class BlockLoads {
 public:
  BlockLoads(AccessList& list, const ptx::Function& function, const std::vector<uint8_t>& base_alignment)
      : list_(list), function_(function), base_alignment_(base_alignment) {}

  void pass(uint32_t i) {
    const ptx::Instr& in = function_.body[i];
    if (may_change_shared(in)) finish();
    const bool plain = in.def->role == ptx::Role::kLoad && !is_ordered(in);
    if (plain && in.space() == ptx::Space::kShared && in.guard == ptx::kNoReg)
      if (const ptx::Operand* address = address_of(in); address != nullptr && address->reg != ptx::kNoReg)
        add(i, in, *address);
    ir::for_each_write(in, [&](ptx::RegId r) { finish(r); });
  }
  void finish() {
    while (!open_.empty()) finish(open_.begin()->first);
  }

 private:
  struct Group {
    std::map<int64_t, Load> loads;
    uint8_t alignment = 0;
  };

  void add(uint32_t i, const ptx::Instr& in, const ptx::Operand& address) {
    const unsigned bytes = ptx::bytes_of(in.type()) * in.vector_length();
    if (bytes != 4 && bytes != 8) return;
    Group& group = open_[address.reg];
    group.alignment = base_alignment_[i];
    group.loads.try_emplace(static_cast<int64_t>(address.imm), Load{i, static_cast<int64_t>(address.imm), bytes});
  }
  void finish(ptx::RegId base) {
    const auto at = open_.find(base);
    if (at == open_.end()) return;
    join_all(list_, at->second.loads, int64_t{1} << std::min<unsigned>(at->second.alignment, 4));
    open_.erase(at);
  }

  AccessList& list_;
  const ptx::Function& function_;
  const std::vector<uint8_t>& base_alignment_;
  std::map<ptx::RegId, Group> open_;
};

}  // namespace

void join_loads(AccessList& list, const ptx::Function& function, const ir::Kernel& graph,
                const std::vector<uint8_t>& base_alignment) {
  for (const ir::Block& block : graph.blocks) {
    BlockLoads loads(list, function, base_alignment);
    for (uint32_t i = block.begin; i < block.end; ++i) loads.pass(i);
    loads.finish();
  }
}

}  // namespace warplens::machine
