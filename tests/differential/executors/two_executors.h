// SPDX-License-Identifier: Apache-2.0
// Runs one launch with the interpreter and with generated code, from equal memory, and expects equal everything:
// memory, counts by site and block, findings, and the text of all events.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "memory/counter_listener.h"
#include "memory/trace_listener.h"
#include "support/ptx_launcher.h"

namespace warplens::test {

struct Observed {
  exec::LaunchOutcome outcome;
  std::vector<std::vector<uint8_t>> memory;
  std::string trace;
};

class TwoExecutors {
 public:
  explicit TwoExecutors(const std::string& ptx) : launcher_(ptx) {}
  PtxLauncher& launcher() { return launcher_; }

  /// An array of device memory that each run begins with; its address.
  uint64_t array(std::vector<uint8_t> content) {
    const auto at = reinterpret_cast<uint64_t>(launcher_.zeros<uint8_t>(content.size()));
    arrays_.emplace_back(at, std::move(content));
    return at;
  }

  Observed run(const std::string& kernel, const PtxLauncher::Options& options, const Params& params,
               exec::Executor& executor, bool events) {
    for (const auto& [at, content] : arrays_) std::memcpy(reinterpret_cast<void*>(at), content.data(), content.size());
    memory::TraceListener trace;
    PtxLauncher::Options o = options;
    if (events) o.listeners.push_back(&trace);
    Observed out;
    out.outcome = launcher_.launch(kernel, o, params, &executor);
    for (const auto& [at, content] : arrays_) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(at);
      out.memory.emplace_back(bytes, bytes + content.size());
    }
    if (events) out.trace = trace.text();
    return out;
  }

  void compare(const std::string& kernel, const PtxLauncher::Options& options, const Params& params,
               exec::Executor& interpreter, exec::Executor& jit, bool events) {
    const Observed want = run(kernel, options, params, interpreter, events);
    const Observed got = run(kernel, options, params, jit, events);
    ASSERT_EQ(got.outcome.findings.size(), want.outcome.findings.size())
        << (got.outcome.complete() ? "" : got.outcome.findings[0].message)
        << (want.outcome.complete() ? "" : want.outcome.findings[0].message);
    if (!want.outcome.complete()) {
      EXPECT_EQ(got.outcome.findings[0].message, want.outcome.findings[0].message);
      EXPECT_EQ(got.outcome.findings[0].lane, want.outcome.findings[0].lane);
      EXPECT_EQ(got.outcome.findings[0].pc, want.outcome.findings[0].pc);
      return;
    }
    for (size_t i = 0; i < want.memory.size(); ++i) expect_equal_words(got.memory[i], want.memory[i], i);
    expect_equal_counts(got.outcome.counts, want.outcome.counts);
    if (!events) return;
    EXPECT_TRUE(got.trace == want.trace) << first_difference(got.trace, want.trace);
  }

  static std::string first_difference(const std::string& got, const std::string& want) {
    size_t i = 0;
    while (i < got.size() && i < want.size() && got[i] == want[i]) ++i;
    const size_t line = got.rfind('\n', i) == std::string::npos ? 0 : got.rfind('\n', i) + 1;
    return "generated code:\n" + got.substr(line, 600) + "\ninterpreter:\n" +
           want.substr(std::min(line, want.size()), 600);
  }

 private:
  static void expect_equal_words(const std::vector<uint8_t>& got, const std::vector<uint8_t>& want, size_t array) {
    size_t wrong = 0;
    for (size_t i = 0; i + 4 <= want.size(); i += 4) {
      uint32_t a = 0, b = 0;
      std::memcpy(&a, got.data() + i, 4);
      std::memcpy(&b, want.data() + i, 4);
      if (a != b && wrong++ < 5)
        ADD_FAILURE() << "array " << array << " word " << i / 4 << ": generated " << std::hex << a << ", interpreter "
                      << b;
    }
    EXPECT_EQ(wrong, 0u) << "array " << array;
  }

  static void expect_equal_counts(const events::LaunchCounts& got, const events::LaunchCounts& want) {
    ASSERT_EQ(got.sites.size(), want.sites.size());
    ASSERT_EQ(got.blocks.size(), want.blocks.size());
    for (size_t i = 0; i < want.blocks.size(); ++i) {
      EXPECT_EQ(got.blocks[i].warps, want.blocks[i].warps) << "block " << i;
      EXPECT_EQ(got.blocks[i].lanes, want.blocks[i].lanes) << "block " << i;
    }
    for (size_t i = 0; i < want.sites.size(); ++i) {
      const auto &g = got.sites[i], &w = want.sites[i];
      EXPECT_TRUE(g == w) << "site " << i << " requests " << g.requests << "/" << w.requests << " lanes " << g.lanes
                          << "/" << w.lanes << " sectors " << g.sectors << "/" << w.sectors << " lines " << g.lines
                          << "/" << w.lines << " ideal " << g.ideal_sectors << "/" << w.ideal_sectors << " wavefronts "
                          << g.wavefronts << "/" << w.wavefronts << " ideal " << g.ideal_wavefronts << "/"
                          << w.ideal_wavefronts;
    }
  }

  PtxLauncher launcher_;
  std::vector<std::pair<uint64_t, std::vector<uint8_t>>> arrays_;
};

}  // namespace warplens::test
