// SPDX-License-Identifier: Apache-2.0
#include "codegen/object_loader.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include <atomic>
#include <mutex>
#include <string>

namespace warplens::codegen {

namespace orc = llvm::orc;

struct ObjectLoader::Session {
  std::unique_ptr<orc::ExecutionSession> session;
  std::unique_ptr<orc::ObjectLinkingLayer> layer;
  orc::JITDylib* process = nullptr;  ///< hooks and the C library
  std::string failure;
  std::atomic<uint64_t> next{0};
  std::mutex mutex;
  std::string reported;  ///< what the session said on the way to a failed look-up

  explicit Session(std::span<const HookAddress> hooks) {
    if (auto error = start(hooks)) failure = llvm::toString(std::move(error));
  }
  ~Session() {
    if (session) llvm::consumeError(session->endSession());
  }

  llvm::Error start(std::span<const HookAddress> hooks) {
    auto control = orc::SelfExecutorProcessControl::Create(nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
    if (!control) return control.takeError();
    session = std::make_unique<orc::ExecutionSession>(std::move(*control));
    session->setErrorReporter([this](llvm::Error error) {
      const std::lock_guard lock(mutex);
      reported = llvm::toString(std::move(error));
    });
    layer = std::make_unique<orc::ObjectLinkingLayer>(*session);
    process = &session->createBareJITDylib("process");
    orc::SymbolMap symbols;
    for (const HookAddress& h : hooks)
      symbols[session->intern(h.name)] = {orc::ExecutorAddr::fromPtr(h.address), llvm::JITSymbolFlags::Exported};
    if (auto error = process->define(orc::absoluteSymbols(std::move(symbols)))) return error;
    auto rest = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0');
    if (!rest) return rest.takeError();
    process->addGenerator(std::move(*rest));
    return llvm::Error::success();
  }

  llvm::Expected<void*> load(std::unique_ptr<llvm::MemoryBuffer> object, const char* symbol) {
    orc::JITDylib& library = session->createBareJITDylib("kernel" + std::to_string(next++));
    library.addToLinkOrder(*process);
    auto found = [&]() -> llvm::Expected<orc::ExecutorSymbolDef> {
      if (auto error = layer->add(library, std::move(object))) return error;
      return session->lookup({&library}, symbol);
    }();
    if (found) return found->getAddress().toPtr<void*>();
    llvm::consumeError(session->removeJITDylib(library));
    return found.takeError();
  }
};

ObjectLoader::ObjectLoader(std::span<const HookAddress> hooks) : session_(std::make_unique<Session>(hooks)) {}
ObjectLoader::~ObjectLoader() = default;

Result<void*> ObjectLoader::load(std::span<const uint8_t> object, const char* symbol) {
  if (!session_->failure.empty()) return make_error("code generation: " + session_->failure);
  const llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
  // Not copied: nothing looks at it once the symbol is found.
  auto at = session_->load(llvm::MemoryBuffer::getMemBuffer(bytes, "kernel", false), symbol);
  if (at) return *at;
  std::string why = llvm::toString(at.takeError());
  const std::lock_guard lock(session_->mutex);
  if (!session_->reported.empty()) why += ": " + session_->reported;
  return make_error("code generation: " + why);
}

}  // namespace warplens::codegen
