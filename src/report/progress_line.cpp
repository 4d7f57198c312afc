// SPDX-License-Identifier: Apache-2.0
#include "report/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "report/kernel_name.h"
#include "report/number_text.h"
#include "report/output_file.h"
#include "report/text_style.h"

namespace warplens::report {
namespace {

/// "3.20 M", "870", "0.16"
std::string rate_text(double rate) {
  if (rate < 10) return fmt::format("{:.2g}", rate);
  return counted(static_cast<uint64_t>(std::min(rate, 1e18)), 4);
}

/// "34 s", "5 min", "3 h"
std::string time_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", std::ceil(seconds));
  if (seconds < 100 * 60) return fmt::format("{:.0f} min", std::ceil(seconds / 60));
  return fmt::format("{:.0f} h", std::min(std::ceil(seconds / 3600), 1e6));
}

/// "warplens: KERNEL" and what is said of it.
std::string line_of(const ProgressSource& source, const std::string& rest, unsigned width) {
  const std::string head = "warplens: ";
  const size_t taken = columns(head) + columns(rest), room = taken < width ? width - taken : 0;
  std::string name = short_name(source.kernel);
  if (columns(name) > room) name = room >= 8 ? fitted(name, room) : "launch";
  return fitted(head + name + rest, width);
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string preparing_text(const ProgressSource& source, double seconds, unsigned width) {
  return line_of(source, fmt::format(": code is being made, {}", time_text(std::floor(seconds))), width);
}

std::string progress_text(const ProgressSource& source, uint64_t done, double seconds, unsigned width) {
  done = std::min(done, source.blocks);
  const double all = static_cast<double>(source.blocks), ended = static_cast<double>(done);
  std::string rest = fmt::format(": {} of {} blocks ({:.0f} %)", counted(done, 6), counted(source.blocks, 6),
                                 std::floor(100 * ended / std::max(all, 1.0)));
  if (done != 0 && seconds > 0)
    rest +=
        fmt::format(", {} warps/s, {} left", rate_text(ended * static_cast<double>(source.warps_per_block) / seconds),
                    time_text((all - ended) / ended * seconds));
  return line_of(source, rest, width);
}

void ProgressLine::step() {
  if (!source_) return;
  const double seconds = source_->seconds(), waited = now_() - begun_;
  if ((seconds < 0 ? waited : seconds) < kShownAfterSeconds) return;
  // One column is left free: some terminals go on to the next line at the last.
  const std::string text = seconds < 0 ? preparing_text(*source_, waited, width_ - 1)
                                       : progress_text(*source_, source_->done(), seconds, width_ - 1);
  write_("\r" + text + "\x1b[K");
  shown_ = true;
}

void ProgressLine::end() {
  source_.reset();
  if (shown_) write_("\r\x1b[K");
  shown_ = false;
}

ProgressWatcher::ProgressWatcher(int fd)
    : line_([fd](std::string_view text) { (void)write_all(fd, text, "the terminal"); }, style_of(fd).width) {}

ProgressWatcher::~ProgressWatcher() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void ProgressWatcher::begin(ProgressSource source) {
  const std::lock_guard lock(mutex_);
  line_.begin(std::move(source));
  if (!thread_.joinable()) thread_ = std::thread([this] { watch(); });
}

void ProgressWatcher::end() {
  const std::lock_guard lock(mutex_);
  line_.end();
}

void ProgressWatcher::watch() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::milliseconds(200), [this] { return stop_; })) line_.step();
}

}  // namespace warplens::report
