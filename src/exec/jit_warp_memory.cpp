// SPDX-License-Identifier: Apache-2.0
// The hook for instructions that take memory for the whole warp (matrices, asynchronous copies, mbarrier): generated
// code passes operands as the interpreter holds them.
#include "codegen/access_cost.h"
#include "exec/executor.h"
#include "exec/jit_memory_hooks.h"
#include "exec/jit_prepared.h"
#include "exec/program.h"
#include "exec/warp_memory.h"

namespace warplens::exec {
namespace {

/// Into the words of generated code.
class FastCounter final : public RequestCounter {
 public:
  FastCounter(uint64_t* counters, const codegen::CounterLayout& layout) : counters_(counters), layout_(layout) {}
  void count(const events::WarpAccess& r, const events::AccessSite& site) override {
    codegen::add_words(counters_ + layout_.site_word(r.site, 0), codegen::counts_of(r, site));
  }

 private:
  uint64_t* counters_;
  const codegen::CounterLayout& layout_;
};

}  // namespace
}  // namespace warplens::exec

using namespace warplens;        // NOLINT: the hook is a C function
using namespace warplens::exec;  // NOLINT

void wl_warp_memory(void* warp, uint32_t pc, uint32_t mask, void* inputs, void* outputs, void* addresses) {
  auto& w = *static_cast<WarpContext*>(warp);
  const Operation& op = w.launch->request->kernel->program->operations[pc];
  FastCounter counter(w.counters, w.code->compiled().layout);
  run_warp_memory(w,
                  {pc,
                   mask,
                   {static_cast<const ptx::LaneBits*>(inputs), op.sources},
                   {static_cast<ptx::LaneBits*>(outputs), op.destinations},
                   {static_cast<const ptx::LaneBits*>(addresses), op.addresses.size()}},
                  w.launch->request->count ? &counter : nullptr);
}
