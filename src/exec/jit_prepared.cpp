// SPDX-License-Identifier: Apache-2.0
#include "exec/jit_prepared.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/bits.h"
#include "base/check.h"
#include "exec/access_check.h"
#include "exec/warp_context.h"

namespace warplens::exec {

using codegen::CodePart;
using codegen::CompiledKernel;
using codegen::ConstantCost;
using codegen::RunWarp;

namespace {

/// The one function is worth its making when at least one warp in this many leaves the full-mask part.
constexpr uint64_t kWarpsForEachParted = 16;

}  // namespace

RunWarp JitPrepared::begin(WarpContext& warp) const {
  if (!in_parts()) return compiled_.run;
  if (const RunWarp whole = whole_run_.load(std::memory_order_acquire)) return whole;
  return warp.entry_mask == kFullMask ? compiled_.run : masked(warp);
}

void JitPrepared::run_parted(WarpContext& warp, void* handover) const {
  const LoadedKernel* kernel = warp.launch->request->kernel;
  if (whole_is_due()) others_.later([this, kernel, kept = warp.launch->prepared] { make_whole(*kernel); });
  const RunWarp run = masked(warp);
  run(&warp, handover);
}

/// Made when the first warp asks.
RunWarp JitPrepared::masked(WarpContext& warp) const {
  const LoadedKernel& kernel = *warp.launch->request->kernel;
  // LLVM needs a real stack; a warp's own is small.
  std::call_once(masked_once_, [&] {
    std::thread([&] {
      if (const auto made = make_part(kernel, CodePart::kMasked)) masked_ = made->run;
    }).join();
  });
  if (masked_ != nullptr) return masked_;
  events::Finding f;
  f.kind = events::FindingKind::kUnsupported;
  f.kernel = kernel.info.name;
  f.message =
      "needs code for warps whose threads go different ways, which cannot be compiled; --executor interpreter runs it";
  fail_warp(warp, std::move(f));
}

/// Null when it cannot be made, or not be run on the stacks that there are.
std::optional<CompiledKernel> JitPrepared::make_part(const LoadedKernel& kernel, CodePart part) const {
  Result<CompiledKernel> made = others_.make(kernel, part);
  // The masked part runs on top of the full-mask part's frame.
  const uint64_t room = part == CodePart::kMasked ? others_.frame_bytes : frame_bytes();
  if (!made || made->frame_bytes > room) return std::nullopt;
  check_constants(*made, part);
  const std::lock_guard lock(mutex_);
  if (!made_later_) made_later_ = Preparation{made->from_cache ? CodeSource::kCache : CodeSource::kCompiled, 0, {}};
  made_later_->seconds += made->seconds;
  return std::move(*made);
}

/// Collecting knows the full-mask part only: what another one leaves to it must be the same.
void JitPrepared::check_constants(const CompiledKernel& other, CodePart part) const {
  const auto counted = [](const CompiledKernel& in, const ConstantCost& c) {
    return std::ranges::any_of(in.constants, [&](const ConstantCost& o) {
      return o.site == c.site && o.block == c.block && o.per == c.per && o.cost == c.cost;
    });
  };
  for (const ConstantCost& c : other.constants)
    WL_CHECK(counted(compiled_, c), "site {}: counted in one part of the code only", c.site);
  for (const ConstantCost& c : compiled_.constants)
    if (c.per == ConstantCost::Per::kRun || part == CodePart::kBoth)
      WL_CHECK(counted(other, c), "site {}: counted in one part of the code only", c.site);
}

/// A warp has left the full-mask part. True, once: enough have.
bool JitPrepared::whole_is_due() const {
  const uint64_t n = parted_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (n % others_.many_warps != 0 || n * kWarpsForEachParted < warps_.load(std::memory_order_relaxed)) return false;
  Whole none = Whole::kNone;
  return whole_.compare_exchange_strong(none, Whole::kAsked);
}

/// Unless stop_making() came first.
void JitPrepared::make_whole(const LoadedKernel& kernel) const {
  Whole asked = Whole::kAsked;
  if (!whole_.compare_exchange_strong(asked, Whole::kBeingMade)) return;
  if (const auto made = make_part(kernel, CodePart::kBoth)) whole_run_.store(made->run, std::memory_order_release);
  whole_ = Whole::kDone;
  whole_.notify_all();
}

void JitPrepared::stop_making() const {
  Whole now = Whole::kAsked;
  if (whole_.compare_exchange_strong(now, Whole::kNone)) return;
  if (now == Whole::kBeingMade) whole_.wait(Whole::kBeingMade);
}

std::optional<Preparation> JitPrepared::take_made_later() const {
  const std::lock_guard lock(mutex_);
  return std::exchange(made_later_, std::nullopt);
}

}  // namespace warplens::exec
