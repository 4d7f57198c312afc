// SPDX-License-Identifier: Apache-2.0
#include "machine/joined_accesses.h"

#include <algorithm>
#include <map>
#include <utility>

namespace warplens::machine {
namespace {

constexpr int64_t kWidest = 16;

struct Part {
  uint32_t instr = 0;
  int64_t offset = 0;
  unsigned bytes = 4;
};

bool is_ordered(const ptx::Instr& in) {
  return in.has("volatile") || in.has("relaxed") || in.has("acquire") || in.has("release") || in.has("mmio");
}

bool is_elsewhere(ptx::Space space) {
  return space == ptx::Space::kGlobal || space == ptx::Space::kLocal || space == ptx::Space::kParam ||
         space == ptx::Space::kConst;
}

/// Whether loads before and behind it may read different values.
bool may_change_shared(const ptx::Instr& in) {
  switch (in.def->role) {
    case ptx::Role::kValue:
    case ptx::Role::kWarp:
    case ptx::Role::kNoEffect: return false;
    case ptx::Role::kLoad: return is_ordered(in);
    case ptx::Role::kStore: return is_ordered(in) || !is_elsewhere(in.space());
    default: return true;
  }
}

/// Whether it may see which of the stores before and behind it are done.
bool may_see_shared(const ptx::Instr& in) {
  if (in.def->role == ptx::Role::kLoad) return is_ordered(in) || !is_elsewhere(in.space());
  return may_change_shared(in);
}

const ptx::Operand* address_of(const ptx::Instr& in) {
  for (const ptx::Operand& o : in.operands)
    if (o.tag == ptx::OperandTag::kAddress) return &o;
  return nullptr;
}

/// Joins what fills [begin, begin + bytes) exactly; whether it did.
bool join(AccessList& list, const std::map<int64_t, Part>& open, int64_t begin, int64_t bytes) {
  std::vector<const Part*> parts;
  for (int64_t at = begin; at < begin + bytes;) {
    const auto found = open.find(at);
    if (found == open.end()) return false;
    parts.push_back(&found->second);
    at += found->second.bytes;
    if (at > begin + bytes) return false;
  }
  if (parts.size() < 2) return false;
  for (const Part* part : parts) list.accesses[list.of_instr[part->instr][0]].form = events::Form::kFolded;
  Access& whole = list.accesses[list.of_instr[parts[0]->instr][0]];
  whole.form = events::Form::kPlain;
  whole.bytes = static_cast<uint8_t>(bytes);
  return true;
}

/// The accesses at one base, by offset.
void join_all(AccessList& list, const std::map<int64_t, Part>& parts, int64_t alignment) {
  const auto down = [](int64_t v, int64_t to) { return v - ((v % to) + to) % to; };
  int64_t done = INT64_MIN;
  for (const auto& [offset, part] : parts) {
    for (int64_t bytes = std::min(alignment, kWidest); bytes > part.bytes && offset >= done; bytes /= 2)
      if (down(offset, bytes) == offset && join(list, parts, offset, bytes)) done = offset + bytes;
  }
}

/// Loads, or stores, of the block so far that may still be joined, by base.
class Open {
 public:
  explicit Open(AccessList& list) : list_(list) {}

  void add(const Part& part, const AddressBase& base) {
    Group& group = of_base_[base.base];
    group.alignment = base.alignment;
    group.parts.try_emplace(part.offset, part);
  }
  bool has(const Part& part, const AddressBase& base) const {
    const auto at = of_base_.find(base.base);
    return at != of_base_.end() && at->second.parts.contains(part.offset);
  }
  void finish(uint32_t base) {
    const auto at = of_base_.find(base);
    if (at == of_base_.end()) return;
    join_all(list_, at->second.parts, int64_t{1} << std::min<unsigned>(at->second.alignment, 4));
    of_base_.erase(at);
  }
  void finish_all_but(uint32_t base) {
    std::vector<uint32_t> others;
    for (const auto& [other, group] : of_base_)
      if (other != base) others.push_back(other);
    for (const uint32_t other : others) finish(other);
  }
  void finish() {
    while (!of_base_.empty()) finish(of_base_.begin()->first);
  }

 private:
  struct Group {
    std::map<int64_t, Part> parts;
    uint8_t alignment = 0;
  };
  AccessList& list_;
  std::map<uint32_t, Group> of_base_;
};

class BlockAccesses {
 public:
  BlockAccesses(AccessList& list, const ptx::Function& function, const std::vector<AddressBase>& bases)
      : function_(function), bases_(bases), loads_(list), stores_(list) {}

  void pass(uint32_t i) {
    const ptx::Instr& in = function_.body[i];
    const bool store = in.def->role == ptx::Role::kStore;
    const bool plain = (store || in.def->role == ptx::Role::kLoad) && !is_ordered(in) &&
                       in.space() == ptx::Space::kShared && in.guard == ptx::kNoReg;
    if (may_change_shared(in)) loads_.finish();
    if (may_see_shared(in) && !(plain && store)) stores_.finish();
    if (plain) add(store ? stores_ : loads_, i, in, store);
    ir::for_each_write(in, [&](ptx::RegId r) {
      loads_.finish(r);
      stores_.finish(r);
    });
  }
  void finish() {
    loads_.finish();
    stores_.finish();
  }

 private:
  void add(Open& open, uint32_t i, const ptx::Instr& in, bool store) {
    const ptx::Operand* address = address_of(in);
    const unsigned bytes = ptx::bytes_of(in.type()) * in.vector_length();
    const AddressBase& base = bases_[i];
    const Part part = {i, base.begin + static_cast<int64_t>(address != nullptr ? address->imm : 0), bytes};
    // A store elsewhere may be to the same place, and so must stay behind or before the others.
    if (store) open.finish_all_but(base.base);
    if (store && open.has(part, base)) open.finish();
    if (address != nullptr && (bytes == 4 || bytes == 8)) open.add(part, base);
  }

  const ptx::Function& function_;
  const std::vector<AddressBase>& bases_;
  Open loads_, stores_;
};

}  // namespace

void join_accesses(AccessList& list, const ptx::Function& function, const ir::Kernel& graph,
                   const std::vector<AddressBase>& bases) {
  for (const ir::Block& block : graph.blocks) {
    BlockAccesses accesses(list, function, bases);
    for (uint32_t i = block.begin; i < block.end; ++i) accesses.pass(i);
    accesses.finish();
  }
}

}  // namespace warplens::machine
