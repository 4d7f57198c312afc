// SPDX-License-Identifier: Apache-2.0
#include "exec/jit_prepared.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/bits.h"
#include "base/check.h"
#include "exec/access_check.h"
#include "exec/jit_hooks.h"
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

JitPrepared::JitPrepared(CompiledKernel compiled, size_t counter_words, Plans plans)
    : compiled_(std::move(compiled)), words_(counter_words), plans_(std::move(plans)) {
  const size_t with_whole = plans_.whole.make != nullptr ? 2 * words_ : words_;
  whole_.counters_at = words_;
  cautious_.counters_at = with_whole;
  all_words_ = plans_.cautious.make != nullptr ? 2 * with_whole : with_whole;
}

void JitPrepared::run(WarpContext& warp, uint64_t* counters) const {
  for (const Later* later : {&cautious_, &whole_})
    if (const JitPrepared* code = later->now.load(std::memory_order_acquire))
      return code->run(warp, counters + later->counters_at);
  warp.code = this;
  warp.counters = counters;
  const bool here = plans_.make_masked == nullptr || warp.entry_mask == kFullMask;
  const RunWarp run = here ? compiled_.run : masked(warp);
  run(&warp, nullptr);
}

void JitPrepared::run_parted(WarpContext& warp, void* handover) const {
  if (many_parted()) ask_for(whole_, plans_.whole, warp);
  const RunWarp run = masked(warp);
  run(&warp, handover);
}

/// Made when the first warp asks.
RunWarp JitPrepared::masked(WarpContext& warp) const {
  const LoadedKernel& kernel = *warp.launch->request->kernel;
  // LLVM needs a real stack; a warp's own is small.
  std::call_once(masked_once_, [&] {
    std::thread([&] {
      if (const auto made = make_masked(kernel)) masked_ = made->run;
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
std::optional<CompiledKernel> JitPrepared::make_masked(const LoadedKernel& kernel) const {
  Result<CompiledKernel> made = plans_.make_masked(kernel);
  // It runs on top of the full-mask part's frame.
  if (!made || made->frame_bytes > plans_.masked_frame_bytes) return std::nullopt;
  check_constants(*made);
  add_made_later(*made);
  return std::move(*made);
}

/// Both parts count in the same words, and collecting knows the full-mask part only.
void JitPrepared::check_constants(const CompiledKernel& masked) const {
  const auto stands_for_runs = [](const ConstantCost& c) { return c.per == ConstantCost::Per::kRun; };
  const auto counted = [](const CompiledKernel& in, const ConstantCost& c) {
    return std::ranges::any_of(in.constants, [&](const ConstantCost& o) {
      return o.site == c.site && o.block == c.block && o.per == c.per && o.cost == c.cost;
    });
  };
  for (const ConstantCost& c : masked.constants)
    WL_CHECK(counted(compiled_, c), "site {}: counted in one part of the code only", c.site);
  for (const ConstantCost& c : compiled_.constants)
    WL_CHECK(!stands_for_runs(c) || counted(masked, c), "site {}: counted in one part of the code only", c.site);
}

/// A warp has left the full-mask part.
bool JitPrepared::many_parted() const {
  const uint64_t n = parted_.fetch_add(1, std::memory_order_relaxed) + 1;
  return n % plans_.whole.many_warps == 0 && n * kWarpsForEachParted >= warps_.load(std::memory_order_relaxed);
}

void JitPrepared::note_deoptimised(WarpContext& warp) const {
  const uint64_t n = left_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (plans_.cautious.make != nullptr && n % plans_.cautious.many_warps == 0) ask_for(cautious_, plans_.cautious, warp);
}

void JitPrepared::ask_for(Later& later, const Successor& how, const WarpContext& warp) const {
  if (!later.state.ask()) return;
  const LoadedKernel* kernel = warp.launch->request->kernel;
  plans_.later([this, &later, &how, kernel, kept = warp.launch->prepared] { make(later, how, *kernel); });
}

/// Unless stop_making() came first.
void JitPrepared::make(Later& later, const Successor& how, const LoadedKernel& kernel) const {
  if (!later.state.begin()) return;
  if (auto made = how.make(kernel)) {
    later.code = std::move(*made);
    WL_CHECK(later.code->words_ == words_, "one kernel, two layouts of counters");
    later.code->expect_warps(warps_.load(std::memory_order_relaxed));
    add_made_later(later.code->compiled());
    later.ready.store(true, std::memory_order_release);
    if (later.code->frame_bytes() <= frame_bytes()) later.now.store(later.code.get(), std::memory_order_release);
  }
  later.state.end();
}

void JitPrepared::stop_making() const {
  for (Later* later : {&whole_, &cautious_}) {
    later->state.stop();
    if (const auto code = later->made()) code->stop_making();
  }
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
  for (const Later* later : {&whole_, &cautious_}) {
    const auto code = later->made();
    const auto more = code != nullptr ? code->take_made_later() : std::nullopt;
    if (more && made) made->seconds += more->seconds;
    if (!made) made = more;
  }
  return made;
}

events::LaunchCounts JitPrepared::counts(const LoadedKernel& kernel, std::span<const uint64_t> words) const {
  const codegen::CounterLayout& layout = compiled_.layout;
  // Generated code counts runs with a full mask apart; they are runs like the others.
  std::vector<uint64_t> own(words.begin(), words.begin() + static_cast<ptrdiff_t>(layout.words()));
  for (size_t b = 0; b < layout.blocks; ++b) {
    const uint64_t full = own[layout.block_word(b, 2)] + own[layout.block_word(b, 3)];
    own[layout.block_word(b, 0)] += full;
    own[layout.block_word(b, 1)] += 32 * full;
  }
  events::LaunchCounts counts = codegen::counts_from_words(layout, own, compiled_.constants);
  add_interpreter_counts(kernel, words.data() + deoptimised_counter_offset(layout), counts);
  for (const Later* later : {&whole_, &cautious_}) {
    const auto code = later->made();
    if (code == nullptr) continue;
    const events::LaunchCounts more = code->counts(kernel, words.subspan(later->counters_at));
    for (size_t i = 0; i < counts.sites.size(); ++i) counts.sites[i] += more.sites[i];
    for (size_t i = 0; i < counts.blocks.size(); ++i) counts.blocks[i] += more.blocks[i];
  }
  return counts;
}

}  // namespace warplens::exec
