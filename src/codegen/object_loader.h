// SPDX-License-Identifier: Apache-2.0
// Places object files of kernels into this process: LLVM's JITLink in a session without a compiler, so that code from
// the cache needs nothing of LLVM's code generator. Each object is a dynamic library of its own; it finds the hooks by
// name, and the C library's functions.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace warplens::codegen {

/// A function of exec that generated code calls by name (runtime_hooks.def).
struct HookAddress {
  const char* name;
  void* address;
};

class ObjectLoader {
 public:
  explicit ObjectLoader(std::span<const HookAddress> hooks);
  ~ObjectLoader();
  ObjectLoader(const ObjectLoader&) = delete;
  ObjectLoader& operator=(const ObjectLoader&) = delete;
  /// Address of `symbol` in the object. The code lives as long as the loader. Thread safe. Fails for what is no object
  /// file of this machine, lacks the symbol, or needs a function that there is not.
  Result<void*> load(std::span<const uint8_t> object, const char* symbol);

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

}  // namespace warplens::codegen
