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

void MadeBeside::end() {
  state_ = State::kDone;
  state_.notify_all();
}

void MadeBeside::stop() {
  State now = State::kAsked;
  if (state_.compare_exchange_strong(now, State::kNone)) return;
  if (now == State::kBeingMade) state_.wait(State::kBeingMade);
}

void JitPrepared::run(WarpContext& warp) const {
  const JitPrepared* cautious = cautious_now_.load(std::memory_order_acquire);
  warp.code = cautious != nullptr ? cautious : this;
  warp.counters = warp.worker_counters + (cautious != nullptr ? cautious_.counter_words : 0);
  const RunWarp run = warp.code->begin(warp);
  run(&warp, nullptr);
}

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
  add_made_later(*made);
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
  return whole_.ask();
}

/// Unless stop_making() came first.
void JitPrepared::make_whole(const LoadedKernel& kernel) const {
  if (!whole_.begin()) return;
  if (const auto made = make_part(kernel, CodePart::kBoth)) whole_run_.store(made->run, std::memory_order_release);
  whole_.end();
}

void JitPrepared::deoptimise(WarpContext& warp) const {
  const uint64_t n = left_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (cautious_.make == nullptr || n % cautious_.many_warps != 0 || !cautious_made_.ask()) return;
  const LoadedKernel* kernel = warp.launch->request->kernel;
  cautious_.later([this, kernel, kept = warp.launch->prepared] { make_cautious(*kernel); });
}

/// Unless stop_making() came first.
void JitPrepared::make_cautious(const LoadedKernel& kernel) const {
  if (!cautious_made_.begin()) return;
  if (auto made = cautious_.make(kernel)) {
    cautious_code_ = std::move(*made);
    cautious_code_->expect_warps(warps_.load(std::memory_order_relaxed));
    const CompiledKernel& code = cautious_code_->compiled();
    WL_CHECK(code.layout.words() == compiled_.layout.words(), "one kernel, two layouts of counters");
    add_made_later(code);
    // First: who collects has to see it when some warp has.
    cautious_ready_.store(true, std::memory_order_release);
    if (cautious_code_->frame_bytes() <= frame_bytes())
      cautious_now_.store(cautious_code_.get(), std::memory_order_release);
  }
  cautious_made_.end();
}

const std::shared_ptr<JitPrepared>& JitPrepared::cautious() const {
  static const std::shared_ptr<JitPrepared> none;
  return cautious_ready_.load(std::memory_order_acquire) ? cautious_code_ : none;
}

void JitPrepared::stop_making() const {
  whole_.stop();
  cautious_made_.stop();
  if (cautious() != nullptr) cautious()->stop_making();
}

void JitPrepared::add_made_later(const CompiledKernel& made) const {
  const std::lock_guard lock(mutex_);
  if (!made_later_) made_later_ = Preparation{made.from_cache ? CodeSource::kCache : CodeSource::kCompiled, 0, {}};
  made_later_->seconds += made.seconds;
}

std::optional<Preparation> JitPrepared::take_made_later() const {
  std::optional<Preparation> made;
  {
    const std::lock_guard lock(mutex_);
    made = std::exchange(made_later_, std::nullopt);
  }
  if (cautious() == nullptr) return made;
  const std::optional<Preparation> more = cautious()->take_made_later();
  if (!made || !more) return made ? made : more;
  made->seconds += more->seconds;
  return made;
}

}  // namespace warplens::exec
