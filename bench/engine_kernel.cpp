// SPDX-License-Identifier: Apache-2.0
#include "engine_kernel.h"

#include <cstring>

#include "base/text_file.h"
#include "ops/instruction_set.h"
#include "ptx/parser.h"

namespace warplens::bench {
std::string source_path(const std::string& name) { return std::string(WARPLENS_SOURCE_DIR) + "/" + name; }

EngineModule::EngineModule(const std::string& path) {
  const auto text = read_file(path, "PTX");
  WL_CHECK(text.has_value(), "cannot read {}", path);
  auto parsed = ptx::parse(*text, path, ops::instruction_set());
  WL_CHECK(parsed.has_value(), "{}", parsed.has_value() ? "" : render(parsed.error()[0]));
  auto arena = memory::Arena::create(uint64_t{8} << 30);
  WL_CHECK(arena.has_value());
  arena_ = std::move(*arena);
  auto loaded = exec::load_module(std::make_shared<const ptx::Module>(std::move(*parsed)), *arena_);
  WL_CHECK(loaded.has_value());
  loaded_ = std::move(*loaded);
}

EngineKernel::EngineKernel(EngineModule& module, const std::string& entry, events::Dim3 grid, events::Dim3 block)
    : arena_(&module.arena()), grid_(grid), block_(block) {
  const ptx::Function* function = module.loaded().module->find_function(entry);
  WL_CHECK(function != nullptr, "no kernel {}", entry);
  auto kernel = exec::load_kernel(module.loaded(), *function);
  WL_CHECK(kernel.has_value(), "{}", kernel.has_value() ? "" : render(kernel.error()[0]));
  kernel_ = std::move(*kernel);
  params_.resize(kernel_->function->param_bytes);
}

void EngineKernel::add_argument(const void* value, size_t bytes) {
  const auto& params = kernel_->function->params;
  WL_CHECK(next_ < params.size() && params[next_].bytes == bytes, "argument {} does not fit", next_);
  std::memcpy(params_.data() + params[next_++].offset, value, bytes);
}

exec::LaunchOutcome EngineKernel::launch(exec::Executor& executor, bool count, unsigned workers, events::Dim3 grid,
                                         double sample) {
  WL_CHECK(next_ == kernel_->function->params.size(), "{} arguments of {}", next_, kernel_->function->params.size());
  exec::LaunchRequest request;
  request.kernel = kernel_.get();
  request.grid = grid.count() == 0 ? grid_ : grid;
  request.block = block_;
  request.count = count;
  request.workers = workers;
  request.sample.share = sample;
  request.params = params_;
  auto outcome = exec::run_launch(request, *arena_, executor);
  WL_CHECK(outcome.complete(), "{}", outcome.complete() ? "" : outcome.findings[0].message);
  return outcome;
}

double EngineKernel::thread_instructions(const exec::LaunchOutcome& counted) const {
  double total = 0;
  for (size_t b = 0; b < counted.counts.blocks.size(); ++b)
    total += double(counted.counts.blocks[b].lanes) * kernel_->info.blocks[b].second;
  return total;
}

}  // namespace warplens::bench
