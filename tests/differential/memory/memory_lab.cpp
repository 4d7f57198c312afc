// SPDX-License-Identifier: Apache-2.0
// The lab: emission of one access around lower_load / lower_store / lower_atomic, and the plain model beside it.
#include "memory_lab.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include <csetjmp>
#include <cstring>

#include "base/bits.h"
#include "base/check.h"
#include "codegen/emit_context.h"
#include "codegen/memory_lowering.h"
#include "exec/access_check.h"
#include "exec/jit_memory_hooks.h"

namespace warplens::lab {
namespace {

thread_local std::jmp_buf t_abandoned;

/// Depends on the order of lanes, so that lane order is tested.
uint64_t combine_for_test(const ptx::AtomicArgs& a) { return a.old * 3 + a.a + 5 * a.b; }
constexpr ptx::OpDef kTestAtomic = {.form = "atom.op.type d, [a], b; .op = {.mix}; .type = {.b16, .b32, .b64}",
                                    .spec = {"test"},
                                    .role = ptx::Role::kAtomic,
                                    .reference = {.atomic = combine_for_test}};

events::Space events_space(ptx::Space s) {
  switch (s) {
    case ptx::Space::kShared: return events::Space::kShared;
    case ptx::Space::kLocal: return events::Space::kLocal;
    case ptx::Space::kConst: return events::Space::kConst;
    default: return events::Space::kGlobal;
  }
}

class RecordingListener : public events::Listener {
 public:
  explicit RecordingListener(Outcome& out) : out_(out) {}
  uint32_t interest() const override { return events::kAccesses; }
  void on_access(unsigned, const events::WarpAccess& access) override {
    out_.events.push_back(access);
    out_.event_addresses.push_back(*access.address);
  }

 private:
  Outcome& out_;
};

size_t sites_of(const AccessPlan& plan) { return plan.space == ptx::Space::kGeneric ? events::kGenericSites : 1; }
codegen::CounterLayout layout_of(const AccessPlan& plan) { return {1, plan.many_sites ? size_t{100} : sites_of(plan)}; }

codegen::Elem elem_of_bytes(unsigned bytes) {
  return bytes == 1   ? codegen::Elem::kI8
         : bytes == 2 ? codegen::Elem::kI16
         : bytes == 4 ? codegen::Elem::kI32
         : bytes == 8 ? codegen::Elem::kI64
                      : codegen::Elem::kI128;
}

/// Emits `void name(WarpContext*, AccessRun*)` for one plan.
class PlanEmitter {
 public:
  PlanEmitter(llvm::Module& module, llvm::IRBuilder<>& ir, const AccessPlan& plan, const std::string& name)
      : ir_(ir), plan_(plan), e_{.ir = ir, .module = module} {
    llvm::Type* ptr = ir.getPtrTy();
    e_.function = llvm::Function::Create(llvm::FunctionType::get(ir.getVoidTy(), {ptr, ptr}, false),
                                         llvm::Function::ExternalLinkage, name, module);
    e_.alloca_block = llvm::BasicBlock::Create(ir.getContext(), "entry", e_.function);
    e_.warp = e_.function->getArg(0);
    run_ = e_.function->getArg(1);
    e_.options = {.count = plan.count, .emit_events = plan.events, .bounds = plan.bounds, .avx512 = plan.avx512};
    e_.layout = layout_of(plan);
    e_.full_mask = plan.full_mask;
    e_.mask_may_be_empty = plan.may_be_empty;
    e_.unguarded = plan.unguarded;
  }

  std::vector<codegen::ConstantCost> emit() {
    auto* body = llvm::BasicBlock::Create(ir_.getContext(), "body", e_.function);
    ir_.SetInsertPoint(e_.alloca_block);
    ir_.CreateBr(body);
    ir_.SetInsertPoint(body);
    e_.mask_bits = ir_.CreateLoad(ir_.getInt32Ty(), field(offsetof(AccessRun, mask)));
    e_.mask_vector = ir_.CreateBitCast(e_.mask_bits, llvm::FixedVectorType::get(ir_.getInt1Ty(), 32));
    if (plan_.loop)
      emit_loop();
    else
      emit_access();
    e_.flush_counters();
    ir_.CreateRetVoid();
    return e_.constants;
  }

 private:
  void emit_loop() {
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    auto* loop = llvm::BasicBlock::Create(ir_.getContext(), "loop", e_.function);
    auto* end = llvm::BasicBlock::Create(ir_.getContext(), "end", e_.function);
    llvm::Value* repeat = ir_.CreateLoad(ir_.getInt64Ty(), field(offsetof(AccessRun, repeat)));
    llvm::Value* advance = ir_.CreateLoad(ir_.getInt64Ty(), field(offsetof(AccessRun, advance)));
    ir_.CreateBr(loop);
    ir_.SetInsertPoint(loop);
    llvm::PHINode* i = ir_.CreatePHI(ir_.getInt64Ty(), 2);
    i->addIncoming(ir_.getInt64(0), before);
    moved_ = ir_.CreateMul(ir_.CreateAnd(i, ir_.getInt64(7)), advance);
    emit_access();
    llvm::Value* next = ir_.CreateAdd(i, ir_.getInt64(1));
    i->addIncoming(next, ir_.GetInsertBlock());
    ir_.CreateCondBr(ir_.CreateICmpULT(next, repeat), loop, end);
    ir_.SetInsertPoint(end);
  }

  llvm::Value* moved(llvm::Value* address) {
    if (moved_ == nullptr) return address;
    llvm::Value* by = ir_.CreateTrunc(moved_, address->getType()->getScalarType());
    return ir_.CreateAdd(address, address->getType()->isVectorTy() ? ir_.CreateVectorSplat(32, by) : by);
  }

  llvm::Value* field(size_t offset) { return ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), run_, offset); }

  codegen::LaneValue address() {
    codegen::LaneValue v;
    v.elem = plan_.narrow_address ? codegen::Elem::kI32 : codegen::Elem::kI64;
    v.cls = plan_.address;
    llvm::Type* type = codegen::lane_type(ir_.getContext(), v.elem);
    if (v.cls.is_vector()) {
      const size_t at = plan_.narrow_address ? offsetof(AccessRun, narrow) : offsetof(AccessRun, lanes);
      v.vector = ir_.CreateAlignedLoad(llvm::FixedVectorType::get(type, 32), field(at), llvm::Align(4));
      v.vector = moved(v.vector);
      return v;
    }
    v.base = v.cls.constant ? static_cast<llvm::Value*>(llvm::ConstantInt::get(type, *v.cls.constant))
                            : ir_.CreateLoad(type, field(offsetof(AccessRun, base)));
    v.base = moved(v.base);
    if (v.cls.shape == codegen::Shape::kScaled) v.scale = ir_.CreateLoad(type, field(offsetof(AccessRun, scale)));
    return v;
  }

  codegen::LaneValue operand(size_t offset, unsigned element) {
    const unsigned bytes = ptx::bytes_of(plan_.type);
    codegen::LaneValue v;
    v.elem = elem_of_bytes(bytes);
    llvm::Type* type = codegen::lane_type(ir_.getContext(), v.elem);
    llvm::Value* at = field(offset + size_t{element} * 32 * bytes);
    if (plan_.uniform_value) {
      v.cls = codegen::LaneClass::uniform();
      v.base = ir_.CreateAlignedLoad(type, at, llvm::Align(1));
    } else {
      v.cls = codegen::LaneClass::vector();
      v.vector = ir_.CreateAlignedLoad(llvm::FixedVectorType::get(type, 32), at, llvm::Align(1));
    }
    return v;
  }

  void keep(const std::vector<codegen::LaneValue>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      llvm::Value* wide = e_.widen(values[i]);
      ir_.CreateAlignedStore(wide, field(offsetof(AccessRun, loaded) + i * 32 * ptx::bytes_of(plan_.type)),
                             llvm::Align(1));
      if (values[i].cls.is_uniform()) ir_.CreateStore(ir_.getInt32(1), field(offsetof(AccessRun, result_is_uniform)));
    }
  }

  void emit_access() {
    const uint32_t site[] = {0};
    codegen::MemoryOp op;
    op.space = plan_.space;
    op.type = plan_.type;
    op.elements = plan_.elements;
    op.sites = site;
    std::vector<codegen::LaneValue> values;
    switch (plan_.access) {
      case events::Access::kLoad: return keep(codegen::lower_load(e_, op, address()));
      case events::Access::kStore:
        for (unsigned i = 0; i < plan_.elements; ++i) values.push_back(operand(offsetof(AccessRun, values), i));
        return codegen::lower_store(e_, op, address(), values);
      default: break;
    }
    const codegen::LaneValue a = operand(offsetof(AccessRun, values), 0), b = operand(offsetof(AccessRun, second), 0);
    const bool reduction = plan_.access == events::Access::kReduction;
    const codegen::LaneValue old = codegen::lower_atomic(e_, op, address(), a, reduction ? nullptr : &b, reduction);
    if (!reduction) keep({old});
  }

  llvm::IRBuilder<>& ir_;
  const AccessPlan& plan_;
  codegen::EmitContext e_;
  llvm::Value* run_ = nullptr;
  llvm::Value* moved_ = nullptr;
};

}  // namespace

std::string AccessPlan::text() const {
  constexpr const char* kShapes[] = {"bottom", "uniform", "pattern", "scaled", "vector"};
  constexpr const char* kAccesses[] = {"load", "store", "red", "atom"};
  std::string s =
      fmt::format("{}.{}.v{}.{} address {} align {}{}{}{}{}{}{}{}", kAccesses[static_cast<int>(access)],
                  ptx::name_of(space), elements, ptx::name_of(type), kShapes[static_cast<int>(address.shape)],
                  address.align_log2, narrow_address ? " i32" : "", full_mask ? " full" : " partial",
                  may_be_empty ? " may-be-empty" : "", unguarded ? "" : " guarded",
                  uniform_value ? " uniform-value" : "", events ? " events" : "", avx512 ? " avx512" : "");
  if (many_sites) s += " many-sites";
  if (!bounds) s += " unchecked";
  if (address.offsets != nullptr) s += fmt::format(" offsets {}", fmt::join(*address.offsets, " "));
  if (address.steps != nullptr) s += fmt::format(" steps {}", fmt::join(*address.steps, " "));
  return s;
}

class MemoryLab::Jit {
 public:
  Jit() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto builder = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
    builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
    jit = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create());
    llvm::orc::SymbolMap hooks;
    const auto define = [&](const char* name, auto* f) {
      hooks[jit->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(f), llvm::JITSymbolFlags::Exported};
    };
    define("wl_check_lanes", &wl_check_lanes);
    define("wl_load_lanes", &wl_load_lanes);
    define("wl_store_lanes", &wl_store_lanes);
    define("wl_atomic_lanes", &wl_atomic_lanes);
    define("wl_count_lanes", &wl_count_lanes);
    llvm::cantFail(jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(hooks)));
    // For calls that LLVM makes itself (memcpy and the like).
    const char prefix = jit->getDataLayout().getGlobalPrefix();
    jit->getMainJITDylib().addGenerator(
        llvm::cantFail(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix)));
  }
  std::unique_ptr<llvm::orc::LLJIT> jit;
  unsigned modules = 0;
  std::vector<std::pair<Compiled, std::vector<codegen::ConstantCost>>> constants;
};

MemoryLab::MemoryLab() : jit_(std::make_unique<Jit>()), arena_(std::move(*memory::Arena::create(uint64_t{1} << 30))) {
  for (const uint64_t bytes : {4096u, 100u, 8192u, 1021u, 16384u})
    allocations_.push_back({*arena_->allocate(bytes), bytes});
  shared_.resize(8 * 1024 + 64);
  local_.resize(32 * 512);
  ranges_.resize(1);
  counters_.resize(codegen::CounterLayout{1, 100}.words());
  warp_.shared = reinterpret_cast<uint8_t*>(round_up(reinterpret_cast<uintptr_t>(shared_.data()), 16));
  warp_.local = local_.data();
  warp_.shared_end = 7000;
  warp_.local_end = 500;
  warp_.shared_window = arena_->space().shared_window();
  warp_.local_window = arena_->space().local_window();
  warp_.global_begin = arena_->space().global_begin();
  warp_.counters = counters_.data();
  warp_.ranges = ranges_.data();
  warp_.launch = &launch_;
  function_.body.resize(1);
  function_.body[0].def = &kTestAtomic;
  kernel_.function = &function_;
  kernel_.info.sites.resize(3);
  request_.kernel = &kernel_;
  launch_.request = &request_;
  launch_.info.kernel = &kernel_.info;
  launch_.arena = arena_.get();
  const auto features = llvm::sys::getHostCPUFeatures();
  avx512_ = features.lookup("avx512f") && features.lookup("avx512vl") && features.lookup("avx512bw");
}

MemoryLab::~MemoryLab() = default;

std::vector<Compiled> MemoryLab::compile(const std::vector<AccessPlan>& plans) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("lab", *context);
  module->setDataLayout(jit_->jit->getDataLayout());
  llvm::IRBuilder<> ir(*context);
  const unsigned number = jit_->modules++;
  const auto name_of = [&](size_t i) { return fmt::format("access_{}_{}", number, i); };
  std::vector<std::vector<codegen::ConstantCost>> constants;
  for (size_t i = 0; i < plans.size(); ++i) constants.push_back(PlanEmitter(*module, ir, plans[i], name_of(i)).emit());
  std::string message;
  llvm::raw_string_ostream text(message);
  WL_CHECK(!llvm::verifyModule(*module, &text), "{}", message);
  llvm::PassBuilder builder;
  llvm::FunctionAnalysisManager functions;
  builder.registerFunctionAnalyses(functions);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::PromotePass());
  passes.addPass(llvm::EarlyCSEPass());
  for (llvm::Function& f : *module)
    if (!f.isDeclaration()) passes.run(f, functions);
  llvm::cantFail(jit_->jit->addIRModule({std::move(module), std::move(context)}));
  std::vector<Compiled> out;
  for (size_t i = 0; i < plans.size(); ++i) {
    out.push_back(llvm::cantFail(jit_->jit->lookup(name_of(i))).toPtr<Compiled>());
    jit_->constants.emplace_back(out.back(), constants[i]);
  }
  return out;
}

void MemoryLab::forget_ranges() { ranges_.assign(1, {}); }

Outcome MemoryLab::run(Compiled code, const AccessPlan& plan, AccessRun& run) {
  Outcome out;
  RecordingListener listener(out);
  request_.listeners.assign(plan.events ? 1 : 0, &listener);
  launch_.interests.assign(plan.events ? 1 : 0, listener.interest());
  for (events::AccessSite& site : kernel_.info.sites)  // of a generic access: three
    site = {0, events_space(plan.space), plan.access, static_cast<uint8_t>(plan.bytes()), ""};
  launch_.findings.clear();
  counters_.assign(counters_.size(), 0);
  warp_.counters = counters_.data();
  if (setjmp(t_abandoned) == 0) code(&warp_, &run);
  if (!launch_.findings.empty()) out.finding = launch_.findings.front();
  // What the block's own counting would have done.
  if (plan.full_mask || run.mask != 0) {
    counters_[0] += 1;
    counters_[1] += static_cast<unsigned>(std::popcount(run.mask));
    counters_[2] += plan.full_mask;
  }
  const std::vector<codegen::ConstantCost>* constants = nullptr;
  for (const auto& [f, c] : jit_->constants)
    if (f == code) constants = &c;
  out.counts = codegen::counts_from_words(layout_of(plan), counters_, *constants);
  return out;
}

uint8_t* MemoryLab::host(events::Space space, uint64_t address, unsigned lane) {
  if (space == events::Space::kShared) return warp_.shared + address;
  if (space == events::Space::kLocal) return warp_.local + exec::local_byte(address, lane);
  return reinterpret_cast<uint8_t*>(address);
}

std::optional<events::FindingKind> MemoryLab::fault(events::Space space, uint64_t address, unsigned bytes) const {
  const bool global = space == events::Space::kGlobal || space == events::Space::kConst;
  if (global ? address < 4096 : (space == events::Space::kShared && address == 0))
    return events::FindingKind::kNullPointer;
  if (address % bytes != 0) return events::FindingKind::kMisaligned;
  bool inside = false;
  if (global)
    for (const Region& r : allocations_)
      inside |= address >= r.begin && address + bytes <= r.begin + r.bytes && address < r.begin + r.bytes;
  else if (space == events::Space::kShared)
    inside = address >= 1024 && address < warp_.shared_end && address + bytes <= warp_.shared_end;
  else
    inside = address < warp_.local_end && address + bytes <= warp_.local_end;
  return inside ? std::nullopt : std::optional(events::FindingKind::kOutOfBounds);
}

Outcome MemoryLab::expect(const AccessPlan& plan, AccessRun& run, const std::array<uint64_t, 32>& given) {
  Outcome out;
  const bool generic = plan.space == ptx::Space::kGeneric;
  out.counts.sites.resize(sites_of(plan));
  out.counts.blocks.resize(1);
  const events::AccessSite site{0, events_space(plan.space), plan.access, static_cast<uint8_t>(plan.bytes()), ""};
  const unsigned eb = ptx::bytes_of(plan.type);
  std::array<uint64_t, 32> address = given;
  std::array<uint32_t, 3> parts = {run.mask, 0, 0};  // global (or the only one), shared, local
  std::array<events::Space, 3> spaces = {site.space, events::Space::kShared, events::Space::kLocal};
  if (generic) {
    parts = {};
    for_each_lane(run.mask, [&](int l) {
      const bool shared = address[l] - warp_.shared_window < memory::kWindowBytes;
      const bool local = address[l] - warp_.local_window < memory::kWindowBytes;
      parts[shared ? 1 : local ? 2 : 0] |= 1u << l;
      if (shared) address[l] -= warp_.shared_window;
      if (local) address[l] -= warp_.local_window;
    });
  }
  for (int p = 0; p < 3; ++p) {
    if (parts[p] == 0) continue;
    for (int l = 0; l < 32; ++l) {
      if (!(parts[p] >> l & 1)) continue;
      const auto kind = fault(spaces[p], address[l], plan.bytes());
      if (!kind) continue;
      out.finding.emplace();
      out.finding->kind = *kind;
      out.finding->lane = static_cast<uint32_t>(l);
      out.finding->address = address[l];
      return out;
    }
  }
  for (int p = 0; p < 3; ++p) {
    if (parts[p] == 0) continue;
    const uint32_t resolved = events::resolved_site(0, generic, spaces[p]);
    const events::WarpAccess event{resolved, parts[p], warp_.block, warp_.warp, spaces[p], &address};
    memory::count_access(out.counts.sites[resolved], event, site);
    out.events.push_back(event);
    out.event_addresses.push_back(address);
    for_each_lane(parts[p], [&](int l) {
      for (unsigned e = 0; e < plan.elements; ++e) {
        const size_t slot = (size_t{e} * 32 + static_cast<unsigned>(l)) * eb;
        const size_t value_slot = plan.uniform_value ? size_t{e} * 32 * eb : slot;
        if (plan.access == events::Access::kLoad || plan.access == events::Access::kStore) {
          for (unsigned b = 0; b < eb; ++b) {
            uint8_t* at = host(spaces[p], address[l] + e * eb + b, static_cast<unsigned>(l));
            if (plan.access == events::Access::kLoad)
              run.loaded[slot + b] = *at;
            else
              *at = run.values[value_slot + b];
          }
          continue;
        }
        uint64_t old = 0, a = 0, b = 0;
        for (unsigned k = 0; k < eb; ++k)
          reinterpret_cast<uint8_t*>(&old)[k] = *host(spaces[p], address[l] + k, static_cast<unsigned>(l));
        std::memcpy(&a, run.values + value_slot, eb);
        if (plan.access == events::Access::kAtomic) std::memcpy(&b, run.second + value_slot, eb);
        const uint64_t next = old * 3 + a + 5 * b;
        for (unsigned k = 0; k < eb; ++k)
          *host(spaces[p], address[l] + k, static_cast<unsigned>(l)) = reinterpret_cast<const uint8_t*>(&next)[k];
        std::memcpy(run.loaded + slot, &old, eb);
      }
    });
  }
  return out;
}

std::vector<uint8_t> MemoryLab::snapshot() const {
  std::vector<uint8_t> bytes;
  for (const Region& r : allocations_) {
    const auto* at = reinterpret_cast<const uint8_t*>(r.begin);
    bytes.insert(bytes.end(), at, at + r.bytes + 64);  // the gap behind it, too
  }
  bytes.insert(bytes.end(), shared_.begin(), shared_.end());
  bytes.insert(bytes.end(), local_.begin(), local_.end());
  return bytes;
}

void MemoryLab::restore(const std::vector<uint8_t>& bytes) {
  const uint8_t* from = bytes.data();
  for (const Region& r : allocations_) {
    std::memcpy(reinterpret_cast<uint8_t*>(r.begin), from, r.bytes + 64);
    from += r.bytes + 64;
  }
  std::memcpy(shared_.data(), from, shared_.size());
  std::memcpy(local_.data(), from + shared_.size(), local_.size());
}

}  // namespace warplens::lab

// The lab has no scheduler: a warp is abandoned by jumping back to the caller of the compiled function.
void warplens::exec::LaunchState::fail(events::Finding finding) { findings.push_back(std::move(finding)); }
bool warplens::exec::LaunchState::has_remark(uint32_t) { return false; }
void warplens::exec::LaunchState::remark(events::Finding finding) { remarks.push_back(std::move(finding)); }
void warplens::exec::abandon_warp(WarpContext&) { std::longjmp(warplens::lab::t_abandoned, 1); }
bool warplens::exec::may_use_reserved_shared(const LoadedKernel&) { return false; }
