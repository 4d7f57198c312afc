// SPDX-License-Identifier: Apache-2.0
#include "engine_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "ops/instruction_set.h"
#include "ptx/parser.h"

namespace warplens::bench {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  WL_CHECK(in.good(), "cannot read {}", path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void fill(float* p, size_t n, uint32_t seed) {
  for (size_t i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    p[i] = static_cast<float>(seed >> 8) * (1.0f / 16777216.0f) - 0.5f;
  }
}

template <typename T>
void put(std::vector<uint8_t>& params, size_t offset, T value) {
  if (params.size() < offset + sizeof value) params.resize(offset + sizeof value);
  std::memcpy(params.data() + offset, &value, sizeof value);
}

}  // namespace

MatmulKernel::MatmulKernel(const std::string& entry, int n, events::Dim3 grid, events::Dim3 block)
    : n_(n), grid_(grid), block_(block) {
  const std::string path = std::string(WARPLENS_SOURCE_DIR) + "/truth/ptx/ladder.ptx";
  auto parsed = ptx::parse(read_text(path), path, ops::instruction_set());
  WL_CHECK(parsed.has_value(), "{}", parsed.has_value() ? "" : render(parsed.error()[0]));
  auto module = std::make_shared<const ptx::Module>(std::move(*parsed));
  auto arena = memory::Arena::create(uint64_t{8} << 30);
  WL_CHECK(arena.has_value());
  arena_ = std::move(*arena);
  auto loaded = exec::load_module(module, *arena_);
  WL_CHECK(loaded.has_value());
  module_ = std::move(*loaded);
  const ptx::Function* function = module->find_function(entry);
  WL_CHECK(function != nullptr, "no kernel {}", entry);
  auto kernel = exec::load_kernel(module_, *function);
  WL_CHECK(kernel.has_value(), "{}", kernel.has_value() ? "" : render(kernel.error()[0]));
  kernel_ = std::move(*kernel);
  const size_t bytes = size_t(n) * n * sizeof(float);
  a_ = arena_->allocate(bytes).value();
  b_ = arena_->allocate(bytes).value();
  c_ = arena_->allocate(bytes).value();
  fill(reinterpret_cast<float*>(a_), size_t(n) * n, 1);
  fill(reinterpret_cast<float*>(b_), size_t(n) * n, 2);
}

MatmulKernel::~MatmulKernel() = default;

exec::LaunchOutcome MatmulKernel::launch(exec::Executor& executor, bool count, unsigned workers) {
  exec::LaunchRequest request;
  request.kernel = kernel_.get();
  request.grid = grid_;
  request.block = block_;
  request.count = count;
  request.workers = workers;
  const auto& p = kernel_->function->params;
  request.params.resize(kernel_->function->param_bytes);
  const uint64_t arrays[3] = {a_, b_, c_};
  unsigned next_array = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i].bytes == 8)
      put(request.params, p[i].offset, arrays[next_array++]);
    else if (p[i].type == ptx::Type::kF32)
      put(request.params, p[i].offset, next_array == 0 ? 1.0f : 0.0f);
    else
      put(request.params, p[i].offset, n_);
  }
  return exec::run_launch(request, *arena_, executor);
}

double MatmulKernel::thread_instructions(const exec::LaunchOutcome& counted) const {
  double total = 0;
  for (size_t b = 0; b < counted.counts.blocks.size(); ++b)
    total += double(counted.counts.blocks[b].lanes) * kernel_->info.blocks[b].second;
  return total;
}

double MatmulKernel::worst_error() const {
  const auto *a = reinterpret_cast<const float*>(a_), *b = reinterpret_cast<const float*>(b_),
             *c = reinterpret_cast<const float*>(c_);
  double worst = 0;
  uint32_t seed = 7;
  for (int sample = 0; sample < 50; ++sample) {
    seed = seed * 1664525u + 1013904223u;
    const int row = (seed >> 16) % n_, column = (seed >> 4) % n_;
    double sum = 0, size = 0;
    for (int k = 0; k < n_; ++k) {
      const double term = double(a[size_t(row) * n_ + k]) * b[size_t(k) * n_ + column];
      sum += term;
      size += std::fabs(term);
    }
    worst = std::max(worst, std::fabs(c[size_t(row) * n_ + column] - sum) / size);
  }
  return worst;
}

}  // namespace warplens::bench
