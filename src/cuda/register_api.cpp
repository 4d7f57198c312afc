// SPDX-License-Identifier: Apache-2.0
// The functions that compilers' start-up code calls, one after another for each object file, before main: what a fat
// binary holds and which host addresses stand for its kernels and variables. Argument lists were read off host code
// that nvcc 13.0 and clang 19 made from a program of ours (docs/registration.md). Nothing is parsed here.
#include "cuda/entry.h"

using namespace warplens::cuda;

namespace {

Binary* binary_of(void** handle) { return reinterpret_cast<Binary*>(handle); }

/// Launches that nobody waited for still run, so that what a program did does not depend on how fast it ended.
void finish_at_exit() {
  Device* device = Device::existing();
  if (!device || Queues::on_engine_thread()) return;
  device->queues().drain_all();
  device->executor().finish_ahead();  // the compiler must not run while its static objects are destroyed
}

}  // namespace

WARPLENS_EXPORT void** __cudaRegisterFatBinary(void* wrapper) {
  Binary* binary = Registry::instance().add_binary(static_cast<const warplens::FatBinaryWrapper*>(wrapper));
  return reinterpret_cast<void**>(binary);
}

WARPLENS_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

WARPLENS_EXPORT void __cudaUnregisterFatBinary(void**) { finish_at_exit(); }

WARPLENS_EXPORT void __cudaRegisterFunction(void** handle, const char* host, char* /*device*/, const char* name,
                                            int /*thread_limit*/, void* /*thread*/, void* /*block*/,
                                            void* /*block_dim*/, void* /*grid_dim*/, int* /*warp_size*/) {
  Registry::instance().add_function(binary_of(handle), host, name);
}

WARPLENS_EXPORT void __cudaRegisterVar(void** handle, char* host, char* /*device*/, const char* name, int /*external*/,
                                       size_t bytes, int /*constant*/, int /*global*/) {
  Registry::instance().add_variable(binary_of(handle), host, name, bytes);
}

WARPLENS_EXPORT void __cudaRegisterManagedVar(void** handle, void** host_pointer, char* /*device*/, const char* name,
                                              int /*external*/, size_t bytes, int /*constant*/, int /*global*/) {
  Registry::instance().add_managed(binary_of(handle), host_pointer, name);
  // The program names the variable by the address of the pointer, too.
  Registry::instance().add_variable(binary_of(handle), host_pointer, name, bytes);
}

/// Called before the program touches a managed variable.
WARPLENS_EXPORT char __cudaInitModule(void**) {
  if (!Registry::instance().has_unplaced_managed()) return 1;
  Device& device = Device::instance();
  const auto placed = Registry::instance().place_managed(device.arena(), device.target());
  if (!placed) give_up(placed.error());
  return 1;
}

__attribute__((destructor)) static void at_exit() { finish_at_exit(); }
