// SPDX-License-Identifier: Apache-2.0
// The line that a terminal shows while a long launch runs, and that is gone when it ends:
//
//   warplens: sgemm_naive: code is being made, 12 s
//   warplens: sgemm_naive: 12,288 of 65,536 blocks (18 %), 3.20 M warps/s, 34 s left
//
// ProgressLine decides what to write when; ProgressWatcher looks at a launch from a thread of its own.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace warplens::report {

/// What is known of a launch that is being shown.
struct ProgressSource {
  std::string kernel;  ///< mangled or plain name
  uint64_t blocks = 0, warps_per_block = 0;
  std::function<uint64_t()> done;   ///< blocks that have ended
  std::function<double()> seconds;  ///< since the first began; below 0: none has
};

/// The line's text, at most `width` columns.
std::string progress_text(const ProgressSource& source, uint64_t done, double seconds, unsigned width);

/// The same before the first block, `seconds` after the launch was asked for.
std::string preparing_text(const ProgressSource& source, double seconds, unsigned width);

/// Of a clock that only goes forward.
double steady_seconds();

class ProgressLine {
 public:
  /// A launch is shown once it has taken so long.
  static constexpr double kShownAfterSeconds = 1.5;

  /// `write` puts text on the terminal; `now`: a clock in seconds.
  ProgressLine(std::function<void(std::string_view)> write, unsigned width,
               std::function<double()> now = steady_seconds)
      : write_(std::move(write)), now_(std::move(now)), width_(width) {}
  void begin(ProgressSource source) {
    source_ = std::move(source);
    begun_ = now_();
  }
  /// Looks at the launch; some times a second.
  void step();
  /// The launch has ended: clears the line if there is one.
  void end();

 private:
  std::function<void(std::string_view)> write_;
  std::function<double()> now_;
  unsigned width_;
  double begun_ = 0;  ///< by now_
  std::optional<ProgressSource> source_;
  bool shown_ = false;
};

/// Shows launches on file descriptor `fd`, one at a time. The thread that looks is made at the first launch, sleeps
/// most of the time, and is the only cost that short launches have.
class ProgressWatcher {
 public:
  explicit ProgressWatcher(int fd);
  ~ProgressWatcher();
  ProgressWatcher(const ProgressWatcher&) = delete;
  ProgressWatcher& operator=(const ProgressWatcher&) = delete;
  void begin(ProgressSource source);
  void end();

 private:
  void watch();

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  ProgressLine line_;
  std::thread thread_;
};

}  // namespace warplens::report
