// SPDX-License-Identifier: Apache-2.0
#include "codegen/class_flow.h"

#include "base/check.h"
#include "codegen/memory_operands.h"

namespace warplens::codegen {

using ptx::Role;

namespace {

/// Whether these bits of a floating-point register are no NaN.
bool is_number(Elem e, uint64_t bits) {
  switch (e) {
    case Elem::kF16: return (bits & 0x7fff) <= 0x7c00;
    case Elem::kBF16: return (bits & 0x7fff) <= 0x7f80;
    case Elem::kF32: return (bits & 0x7fffffff) <= 0x7f800000;
    case Elem::kF64: return (bits & 0x7fffffffffffffff) <= 0x7ff0000000000000;
    default: return true;
  }
}

bool is_uniform(const LaneValue& v) { return v.cls.is_uniform() || v.cls.shape == Shape::kBottom; }

}  // namespace

ClassFlow::ClassFlow(const KernelSource& source, const Webs& webs)
    : source_(source),
      webs_(webs),
      emitter_(source, *this, nullptr),
      info_(webs.webs.size()),
      seed_(webs.webs.size()),
      varies_(webs.webs.size()),
      of_value_(webs.values.size()) {}

bool ClassFlow::make_vary(WebId web) {
  if (varies_[web]) return false;
  varies_[web] = true;
  return true;
}

void ClassFlow::seed(WebId web, const LaneClass& cls) { seed_[web] = cls; }

LaneValue ClassFlow::read(ptx::RegId reg) {
  LaneValue v;
  v.elem = elem_of(source_.function->registers[reg].type);
  const WebId web = webs_.read(instr_, reg);
  if (web == kNoWeb) return emitter_.constant(v.elem, 0);
  v.cls = info_[web].cls;
  v.lazy_nan = info_[web].lazy_nan;
  return v;
}

void ClassFlow::write(ptx::RegId reg, const LaneValue& value) {
  const RegisterUse* use = webs_.use(instr_, reg);
  WL_CHECK(use != nullptr && use->written != kNoWeb);
  LaneClass cls = value.cls;
  if (guard_varies_ && cls.shape != Shape::kBottom) cls = LaneClass::vector();
  ValueInfo& info = of_value_[use->value];
  const bool nan_free = value.cls.constant && is_number(value.elem, *value.cls.constant);
  if (cls == info.cls && value.lazy_nan == info.lazy_nan && nan_free == info.nan_free) return;
  // Classes mostly grow from round to round; a value that keeps changing becomes a vector, which is always right.
  const bool restless = ++info.changes > 24;
  info.cls = restless ? LaneClass::vector() : cls;
  info.lazy_nan = value.lazy_nan && !restless;
  info.nan_free = nan_free && !restless;
  changed_ = changed_ || info.changes <= 25;
  update(use->written);
}

void ClassFlow::update(WebId web) {
  LaneClass cls = seed_[web];
  bool lazy = true, any = false;
  for (const uint32_t v : webs_.webs[web].values) {
    if (webs_.values[v].is_phi) continue;
    cls = join(cls, of_value_[v].cls);
    if (of_value_[v].cls.shape == Shape::kBottom) continue;
    any |= of_value_[v].lazy_nan;
    lazy &= of_value_[v].lazy_nan || of_value_[v].nan_free;
  }
  // Bounds of what goes round a loop would creep up bit by bit.
  if (webs_.webs[web].values.size() > 1) cls.width = LaneClass{}.width;
  if (varies_[web]) cls = LaneClass::vector();
  info_[web].cls = cls;
  info_[web].lazy_nan = lazy && any;
}

void ClassFlow::run(std::span<const ir::BlockId> blocks) {
  for (WebId w = 0; w < info_.size(); ++w) update(w);
  int rounds = 0;
  do {
    changed_ = false;
    WL_CHECK(++rounds < 1000, "lane classes do not settle");
    for (const ir::BlockId b : blocks)
      for (uint32_t i = source_.graph->blocks[b].begin; i < source_.graph->blocks[b].end; ++i) visit(i);
  } while (changed_);
}

void ClassFlow::visit(uint32_t i) {
  instr_ = i;
  const ptx::Instr& in = source_.function->body[i];
  guard_varies_ = false;
  if (in.guard != ptx::kNoReg) guard_varies_ = !is_uniform(read(in.guard));
  emitter_.begin(in);
  switch (in.def->role) {
    case Role::kValue:
    case Role::kWarp: emitter_.lower(in); break;
    case Role::kLoad: visit_load(i); break;
    case Role::kAtomic:
    case Role::kWarpMemory:
    case Role::kBarrier:
    case Role::kCall: {
      const bool uniform = in.def->role == Role::kBarrier;  // a reduction's result is the block's
      ir::for_each_write(in, [&](ptx::RegId r) {
        LaneValue v = emitter_.uniform_value(elem_of(source_.function->registers[r].type), nullptr);
        emitter_.write_register(r, uniform ? v : emitter_.widened(v), false);
      });
      break;
    }
    default: break;
  }
}

void ClassFlow::visit_load(uint32_t i) {
  const MemoryOperands m = memory_operands(source_, i);
  LaneClass cls = LaneClass::vector();
  if (!m.call_frame) {
    const LaneClass address = emitter_.address(*m.address).cls;
    if (m.op.space != ptx::Space::kParam)
      cls = loaded_class(address, m.op.space);
    else if (source_.lane_classes && address.is_uniform())
      cls = LaneClass::uniform();
  }
  LaneValue v;
  v.elem = integer_of(elem_of(m.op.type));
  v.cls = cls;
  for (unsigned k = 0; k < m.op.elements; ++k) emitter_.set(m.destination, v, static_cast<int>(k));
}

WebInfo ClassFlow::info(WebId web) const {
  WebInfo info = info_[web];
  if (info.cls.shape == Shape::kBottom) info.cls = LaneClass::uniform();  // only undefined values flow here
  return info;
}

bool ClassFlow::is_divergent(ir::BlockId b) {
  const ir::Block& block = source_.graph->blocks[b];
  if (block.begin == block.end) return false;
  const ptx::Instr& in = source_.function->body[block.end - 1];
  instr_ = block.end - 1;
  if (in.def->role == Role::kBranchIndexed) {
    emitter_.begin(in);
    return !is_uniform(emitter_.src(0)) || (in.guard != ptx::kNoReg && !is_uniform(read(in.guard)));
  }
  return block.successors.size() > 1 && in.guard != ptx::kNoReg && !is_uniform(read(in.guard));
}

}  // namespace warplens::codegen
