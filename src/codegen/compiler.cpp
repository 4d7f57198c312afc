// SPDX-License-Identifier: Apache-2.0
#include "codegen/compiler.h"

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/DataExtractor.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include <chrono>
#include <mutex>

#include "analysis/dominance.h"
#include "analysis/liveness.h"
#include "codegen/chain_order.h"
#include "codegen/kernel_writer.h"
#include "codegen/lane_analysis.h"
#include "codegen/source_digest.h"

namespace warplens::codegen {
namespace {

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // Without the schedulers 40 % of a large kernel's compile time is saved at no cost in speed (measured). Sinking
    // would move all arithmetic of a block behind the cold branches of its bounds checks and spill every loaded value
    // on the way. CodeGenPrepare takes a quarter of an unrolled kernel's time, and its code is no faster.
    // Moving integers to mask registers is quadratic: three quarters of a large matrix product's time.
    const char* options[] = {"warplens",
                             "-enable-misched=false",
                             "-pre-RA-sched=source",
                             "-disable-post-ra",
                             "-disable-machine-sink",
                             "-disable-cgp",
                             "-disable-x86-domain-reassignment"};
    llvm::cl::ParseCommandLineOptions(static_cast<int>(std::size(options)), options);
  });
}

struct Host {
  std::string cpu, features;
  bool avx512 = false;
};

Host host(bool avx512) {
  Host out;
  out.cpu = llvm::sys::getHostCPUName().str();
  auto features = llvm::sys::getHostCPUFeatures();
  // Their conversions flush subnormals or double-round; half and bf16 arithmetic goes through f32 instead.
  features["avx512bf16"] = false;
  features["avx512fp16"] = false;
  if (!avx512)
    for (auto& f : features)
      if (f.first().starts_with("avx512") || f.first().starts_with("avx10") || f.first() == "evex512") f.second = false;
  for (const auto& f : features) out.features += (f.second ? "+" : "-") + f.first().str() + ",";
  out.avx512 = features["avx512f"] && features["avx512bw"] && features["avx512dq"] && features["avx512vl"];
  return out;
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine, bool avx512) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::PromotePass());
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::ADCEPass());
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) {
      passes.run(f, functions);
      order_chains(f, avx512 ? 16 : 8, avx512 ? 512 : 256);  // half of the registers
    }
}

/// False: LLVM has no code generator for this machine.
bool emit(llvm::Module& module, llvm::TargetMachine& machine, std::vector<uint8_t>& object) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  llvm::MCContext* context = nullptr;
  if (machine.addPassesToEmitMC(passes, context, out)) return false;
  passes.run(module);
  object.assign(bytes.begin(), bytes.end());
  return true;
}

CounterLayout layout_of(const KernelSource& source) {
  return {source.graph->blocks.size(), source.accesses->accesses.size()};
}

/// The frame of the one function, from the section that the code generator writes for such questions.
uint64_t frame_of(const std::vector<uint8_t>& object) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
  auto file = llvm::object::ObjectFile::createObjectFile({bytes, "kernel"});
  if (!file) {
    llvm::consumeError(file.takeError());
    return 0;
  }
  uint64_t most = 0;
  for (const llvm::object::SectionRef& section : (*file)->sections()) {
    auto name = section.getName();
    auto contents = section.getContents();
    if (!name || *name != ".stack_sizes" || !contents) continue;
    const llvm::DataExtractor data(*contents, true, 8);
    for (uint64_t at = 0; at + 9 <= contents->size();) {
      at += 8;  // the function's address, not relocated yet
      most = std::max(most, data.getULEB128(&at));
    }
  }
  return most;
}

}  // namespace

/// LLVM's side: target machines, of which each kernel that is being compiled has one to itself.
struct KernelCompiler::Generator {
  explicit Generator(bool avx512) : target(host(avx512)) {}
  Host target;
  std::string identity = generator_identity(target.cpu, target.features);

  std::unique_ptr<llvm::TargetMachine> take_machine(std::string& failure) {
    {
      const std::lock_guard lock(mutex_);
      if (!machines_.empty()) {
        auto machine = std::move(machines_.back());
        machines_.pop_back();
        return machine;
      }
    }
    initialise_llvm();
    llvm::orc::JITTargetMachineBuilder builder{llvm::Triple(llvm::sys::getProcessTriple())};
    builder.setCPU(target.cpu);
    builder.getFeatures() = llvm::SubtargetFeatures(target.features);
    builder.setRelocationModel(llvm::Reloc::PIC_);
    builder.setCodeModel(llvm::CodeModel::Small);
    builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
    builder.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
    builder.getOptions().EmitStackSizeSection = true;
    auto made = builder.createTargetMachine();
    if (made) return std::move(*made);
    failure = llvm::toString(made.takeError());
    return nullptr;
  }
  void give_back(std::unique_ptr<llvm::TargetMachine> machine) {
    const std::lock_guard lock(mutex_);
    machines_.push_back(std::move(machine));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<llvm::TargetMachine>> machines_;
};

Result<StoredKernel> KernelCompiler::generate(const KernelSource& source) {
  std::string failure;
  std::unique_ptr<llvm::TargetMachine> machine = generator_->take_machine(failure);
  if (machine == nullptr) return make_error("code generation: " + failure);
  const analysis::DominatorTree dominators = analysis::dominators(*source.graph);
  const analysis::DominatorTree post = analysis::post_dominators(*source.graph);
  const analysis::Liveness live = analysis::liveness(*source.graph);
  const LaneAnalysis all = analyse_lanes(source, dominators, post, live);
  std::optional<LaneAnalysis> whole;
  if (source.part == CodePart::kFullMask) whole = analyse_whole_warps(source, all);
  const LaneAnalysis& lanes = whole ? *whole : all;

  llvm::LLVMContext context;
  llvm::Module module("kernel", context);
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple().str());
  llvm::IRBuilder<> ir(context);
  EmitContext e{.ir = ir, .module = module};
  e.options = source.options;
  e.layout = layout_of(source);
  KernelWriter(source, lanes, all.info, live, e).write_kernel(kKernelSymbol);
  if (source.dump_after == "codegen") module.print(llvm::errs(), nullptr);
  std::string text;
  llvm::raw_string_ostream stream(text);
  WL_CHECK(!llvm::verifyModule(module, &stream), "kernel {}: {}", source.function->name, text);
  optimise(module, *machine, source.options.avx512);
  if (source.dump_after == "optimise") module.print(llvm::errs(), nullptr);

  StoredKernel out;
  out.layout = e.layout;
  out.constants = std::move(e.constants);
  const bool written = emit(module, *machine, out.object);
  generator_->give_back(std::move(machine));
  if (!written) return make_error("code generation: this machine's code cannot be written");
  out.frame_bytes = frame_of(out.object);
  return out;
}

Result<CompiledKernel> KernelCompiler::load(const StoredKernel& kernel) {
  const auto run = loader_.load(kernel.object, kKernelSymbol);
  if (!run) return run.error();
  CompiledKernel out;
  out.run = reinterpret_cast<RunWarp>(*run);
  out.layout = kernel.layout;
  out.constants = kernel.constants;
  out.frame_bytes = kernel.frame_bytes;
  return out;
}

/// What the cache holds and can be used; an entry that cannot goes.
std::optional<CompiledKernel> KernelCompiler::find(const KernelSource& source, const FileCache::Key& key) {
  const auto bytes = cache_->find(key);
  if (!bytes) return std::nullopt;
  const auto stored = decode(*bytes);
  const CounterLayout layout = layout_of(source);
  if (stored && stored->layout.blocks == layout.blocks && stored->layout.sites == layout.sites)
    if (auto loaded = load(*stored)) {
      loaded->from_cache = true;
      return std::move(*loaded);
    }
  cache_->remove(key);
  return std::nullopt;
}

Result<CompiledKernel> KernelCompiler::compile(KernelSource source) {
  const auto begin = std::chrono::steady_clock::now();
  const auto timed = [&](CompiledKernel kernel) {
    kernel.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return kernel;
  };
  if (source.part == CodePart::kBoth && source.function->body.size() > kMostInstructionsInTwoClones)
    source.part = CodePart::kMasked;
  source.options.avx512 = generator_->target.avx512;
  const bool cached = cache_ != nullptr && source.dump_after.empty() && !generator_->identity.empty();
  FileCache::Key key = {};
  if (cached) {
    key = digest_of(source, generator_->identity);
    if (auto found = find(source, key)) return timed(std::move(*found));
  }
  const auto made = generate(source);
  if (!made) return made.error();
  auto loaded = load(*made);
  if (!loaded) return loaded.error();
  if (cached) cache_->store(key, encode(*made));
  return timed(std::move(*loaded));
}

KernelCompiler::KernelCompiler(std::span<const HookAddress> hooks, std::shared_ptr<FileCache> cache, bool avx512)
    : loader_(hooks), generator_(std::make_unique<Generator>(avx512)), cache_(std::move(cache)) {}
KernelCompiler::~KernelCompiler() = default;

}  // namespace warplens::codegen
