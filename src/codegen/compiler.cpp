// SPDX-License-Identifier: Apache-2.0
#include "codegen/compiler.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/DataExtractor.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
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
#include "codegen/kernel_writer.h"
#include "codegen/lane_analysis.h"

namespace warplens::codegen {
namespace {

/// Kernels with more instructions get only the masked copy of their code: two would take seconds to compile.
constexpr size_t kMostInstructionsInTwoClones = 3000;

Diagnostic llvm_error(llvm::Error error) { return make_error("code generation: " + llvm::toString(std::move(error))); }

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // Without the schedulers 40 % of a large kernel's compile time is saved at no cost in speed (measured). Sinking
    // would move all arithmetic of a block behind the cold branches of its bounds checks and spill every loaded value
    // on the way.
    const char* options[] = {"warplens", "-enable-misched=false", "-pre-RA-sched=source", "-disable-post-ra",
                             "-disable-machine-sink"};
    llvm::cl::ParseCommandLineOptions(5, options);
  });
}

struct Host {
  std::string cpu, features;
  bool avx512 = false;
};

Host host() {
  Host out;
  out.cpu = llvm::sys::getHostCPUName().str();
  auto features = llvm::sys::getHostCPUFeatures();
  // Their conversions flush subnormals or double-round; half and bf16 arithmetic goes through f32 instead.
  features["avx512bf16"] = false;
  features["avx512fp16"] = false;
  for (const auto& f : features) out.features += (f.second ? "+" : "-") + f.first().str() + ",";
  out.avx512 = features["avx512f"] && features["avx512bw"] && features["avx512dq"] && features["avx512vl"];
  return out;
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
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
    if (!f.isDeclaration()) passes.run(f, functions);
}

/// The frame of the one function, from the section that the code generator writes for such questions.
uint64_t frame_of(llvm::MemoryBufferRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(object);
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

struct KernelCompiler::Session {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::unique_ptr<llvm::TargetMachine> machine;
  Host target;
  std::string failure;
  std::mutex mutex;
  uint64_t next = 0;
  llvm::orc::SymbolMap hooks;

  explicit Session(std::span<const HookAddress> addresses) {
    initialise_llvm();
    target = host();
    llvm::orc::JITTargetMachineBuilder builder{llvm::Triple(llvm::sys::getProcessTriple())};
    builder.setCPU(target.cpu);
    builder.addFeatures({});
    builder.getFeatures() = llvm::SubtargetFeatures(target.features);
    builder.setRelocationModel(llvm::Reloc::PIC_);
    builder.setCodeModel(llvm::CodeModel::Small);
    builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
    builder.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
    builder.getOptions().EmitStackSizeSection = true;
    auto made = builder.createTargetMachine();
    if (!made) {
      failure = llvm::toString(made.takeError());
      return;
    }
    machine = std::move(*made);
    auto created = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create();
    if (!created) {
      failure = llvm::toString(created.takeError());
      return;
    }
    jit = std::move(*created);
    for (const HookAddress& h : addresses)
      hooks[jit->mangleAndIntern(h.name)] = {llvm::orc::ExecutorAddr::fromPtr(h.address),
                                             llvm::JITSymbolFlags::Exported};
  }

  std::unique_ptr<llvm::MemoryBuffer> emit(llvm::Module& module) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream out(bytes);
    llvm::legacy::PassManager passes;
    llvm::MCContext* context = nullptr;
    if (machine->addPassesToEmitMC(passes, context, out)) return nullptr;
    passes.run(module);
    return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), "kernel", false);
  }

  Result<CompiledKernel> compile(KernelSource source);
  llvm::Error link(std::unique_ptr<llvm::MemoryBuffer> object, const std::string& name, CompiledKernel& out);
};

llvm::Error KernelCompiler::Session::link(std::unique_ptr<llvm::MemoryBuffer> object, const std::string& name,
                                          CompiledKernel& out) {
  auto library = jit->createJITDylib(name);
  if (!library) return library.takeError();
  if (auto error = library->define(llvm::orc::absoluteSymbols(hooks))) return error;
  if (auto error = jit->addObjectFile(*library, std::move(object))) return error;
  auto symbol = jit->lookup(*library, name);
  if (!symbol) return symbol.takeError();
  out.run = symbol->toPtr<void(exec::WarpContext*)>();
  return llvm::Error::success();
}

Result<CompiledKernel> KernelCompiler::Session::compile(KernelSource source) {
  const auto begin = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex);
  if (!failure.empty()) return make_error("code generation: " + failure);
  if (source.function->body.size() > kMostInstructionsInTwoClones) source.full_mask_clone = false;
  source.options.avx512 = target.avx512;
  const analysis::DominatorTree dominators = analysis::dominators(*source.graph);
  const analysis::DominatorTree post = analysis::post_dominators(*source.graph);
  const analysis::Liveness live = analysis::liveness(*source.graph);
  const LaneAnalysis lanes = analyse_lanes(source, dominators, post, live);

  const std::string name = "kernel" + std::to_string(next++);
  llvm::LLVMContext context;
  llvm::Module module(name, context);
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple().str());
  llvm::IRBuilder<> ir(context);
  EmitContext e{.ir = ir, .module = module};
  e.options = source.options;
  e.layout = {source.graph->blocks.size(), source.accesses->accesses.size()};
  KernelWriter(source, lanes, live, e).write_kernel(name);
  if (source.dump_after == "codegen") module.print(llvm::errs(), nullptr);
  std::string text;
  llvm::raw_string_ostream stream(text);
  WL_CHECK(!llvm::verifyModule(module, &stream), "kernel {}: {}", source.function->name, text);
  optimise(module, *machine);
  if (source.dump_after == "optimise") module.print(llvm::errs(), nullptr);

  CompiledKernel out;
  out.layout = e.layout;
  out.constants = e.constants;
  auto object = emit(module);
  if (object == nullptr) return make_error("code generation: this machine's code cannot be written");
  out.frame_bytes = frame_of(object->getMemBufferRef());
  if (auto error = link(std::move(object), name, out)) return llvm_error(std::move(error));
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

KernelCompiler::KernelCompiler(std::span<const HookAddress> hooks) : session_(std::make_unique<Session>(hooks)) {}
KernelCompiler::~KernelCompiler() = default;
Result<CompiledKernel> KernelCompiler::compile(KernelSource source) { return session_->compile(std::move(source)); }

}  // namespace warplens::codegen
