// SPDX-License-Identifier: Apache-2.0
#include "warplens/bare_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <thread>

#include "compile/process.h"
#include "gpu/catalogue.h"
#include "memory/trace_listener.h"
#include "report/kernel_name.h"
#include "report/launch_selection.h"
#include "report/output_file.h"
#include "report/progress_line.h"
#include "session/bind.h"
#include "session/entry_name.h"
#include "session/npy.h"
#include "warplens/child.h"
#include "warplens/deliver.h"
#include "warplens/device_code.h"
#include "warplens/exit_codes.h"
#include "warplens/run_command.h"

namespace warplens::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kGrace = 5s;  // as for programs (child.h)

/// Ends the launch when a signal came or the time is up. What does not stop then (a kernel that is still being
/// compiled) ends with the process.
class Watch {
 public:
  explicit Watch(std::optional<double> seconds) : thread_([this, seconds] { watch(seconds); }) {}
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  const std::atomic<uint32_t>& flag() const { return flag_; }

 private:
  void watch(std::optional<double> seconds) {
    const auto begin = Clock::now();
    std::optional<Clock::time_point> stopped;
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, 10ms, [this] { return done_; })) {
      const auto now = Clock::now();
      if (!stopped && SignalGuard::pending() != 0) {
        flag_ = exec::kStopInterrupt;
        stopped = now;
      } else if (!stopped && seconds && std::chrono::duration<double>(now - begin).count() >= *seconds) {
        flag_ = exec::kStopTimeout;
        stopped = now;
      } else if (stopped && now - *stopped > kGrace) {
        std::fputs("warplens: the kernel did not stop in time; nothing is reported\n", stderr);
        _exit(flag_ == exec::kStopTimeout ? kTimedOut : kSignalBase + SignalGuard::pending());
      }
    }
  }

  std::atomic<uint32_t> flag_{0};
  bool done_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;  // last: it uses the others
};

void print_with_source(const Diagnostics& diagnostics, const std::string& source) {
  for (const Diagnostic& d : diagnostics) std::fputs(("warplens: " + render(d, source)).c_str(), stderr);
}

/// An array in device memory that --out or --expect names.
struct ArrayResult {
  const ArrayFile* file;
  size_t argument;  ///< from 0
  session::Array expected;
};

/// The arguments that files of --out or --expect mean, in order.
Result<std::vector<ArrayResult>> choose(const std::vector<ArrayFile>& files,
                                        const std::vector<session::Argument>& arguments, const char* option) {
  std::vector<ArrayResult> chosen;
  Diagnostics faults;
  size_t next = 0;
  for (const ArrayFile& file : files) {
    size_t at = file.argument;
    if (at == 0) {
      while (next < arguments.size() && !arguments[next].output) ++next;
      at = ++next;
    }
    if (at <= arguments.size() && arguments[at - 1].kind == session::Argument::Kind::kArray)
      chosen.push_back({&file, at - 1, {}});
    else if (file.argument == 0)
      faults.push_back(make_error(fmt::format("{} {}: there is no out: argument left for it", option, file.text),
                                  fmt::format("--arg out:..., or {} NUMBER:{} for another array", option, file.path)));
    else
      faults.push_back(make_error(fmt::format("{} {}: argument {} is no array", option, file.text, at)));
  }
  if (!faults.empty()) return faults;
  return chosen;
}

class BareRun {
 public:
  BareRun(const RunOptions& options, const std::string& path) : options_(options), bare_(options.bare), path_(path) {}

  int run() {
    Status ready = load();
    if (ready) ready = choose_entry();
    if (ready) ready = read_arguments();
    if (ready) ready = place_arguments();
    if (!ready) {
      print_with_source(ready.error(), text_);
      return kMisuse;
    }
    return launch();
  }

 private:
  Status load() {
    auto text = read_file(path_);
    if (!text) return text.error();
    text_ = *text;
    session::SessionOptions session;
    session.gpu = options_.session.gpu;
    session.executor = options_.session.executor;
    session.level = options_.session.level;
    session.counting = options_.session.counting;
    session.workers = options_.session.workers;
    session.cache = options_.session.cache;
    add_registers(session);
    auto made = session::Session::create(session);
    if (!made) return made.error();
    session_ = std::move(*made);
    auto module = session_->load(std::move(*text), path_);
    if (!module) return module.error();
    module_ = *module;
    return Done{};
  }

  void add_registers(session::SessionOptions& session) const {
    const gpu::Gpu gpu = *gpu::find_gpu(session.gpu);
    const int target = gpu.compute_capability[0] * 10 + gpu.compute_capability[1];
    const std::vector<PtxImage> code = {{text_, path_, 0, 0}};
    session.registers = registers_of(assembled_for(code, target));
    if (options_.resource_usage) std::fputs(resource_usage_text(code, target, session.gpu).c_str(), stderr);
  }

  Status choose_entry() {
    const auto entry = session::find_entry(*module_, bare_.entry);
    if (!entry) return entry.error();
    launch_.module = module_;
    launch_.entry = *entry;
    if (!launch_.entry->unsupported.empty()) return launch_.entry->unsupported;
    const auto demanded = [](const std::array<uint32_t, 3>& d) -> std::optional<events::Dim3> {
      if (d[0] == 0) return std::nullopt;
      return events::Dim3{d[0], std::max(d[1], 1u), std::max(d[2], 1u)};
    };
    const auto block = bare_.block ? bare_.block : demanded(launch_.entry->reqntid);
    const auto cluster = bare_.cluster ? bare_.cluster : demanded(launch_.entry->reqcluster);
    if (!bare_.grid || !block) {
      const char* missing = bare_.grid ? "--block" : block ? "--grid" : "--grid and --block";
      return make_error_at(path_, launch_.entry->pos,
                           fmt::format("to launch {}, say {}", report::demangled(launch_.entry->name), missing),
                           "--grid BLOCKS --block THREADS, each X or X,Y or X,Y,Z, and one --arg for each parameter");
    }
    launch_.grid = *bare_.grid;
    launch_.block = *block;
    launch_.cluster = cluster.value_or(events::Dim3{});
    launch_.dynamic_shared_bytes = bare_.shared_bytes;
    return Done{};
  }

  Status read_arguments() {
    auto arguments = session::parse_arguments(bare_.arguments);
    if (!arguments) return arguments.error();
    arguments_ = std::move(*arguments);
    auto outputs = choose(bare_.outputs, arguments_, "--out");
    auto expected = choose(bare_.expected, arguments_, "--expect");
    Diagnostics faults;
    if (!outputs) faults = outputs.error();
    if (!expected) faults.insert(faults.end(), expected.error().begin(), expected.error().end());
    if (!faults.empty()) return faults;
    outputs_ = std::move(*outputs);
    expected_ = std::move(*expected);
    for (ArrayResult& e : expected_) {
      auto array = session::read_npy(e.file->path);
      if (!array) return array.error();
      e.expected = std::move(*array);
      const session::Array& given = arguments_[e.argument].array;
      if (Status good = session::check_comparable(given.type, given.shape, e.expected, e.file->path); !good)
        return good;
    }
    return Done{};
  }

  Status place_arguments() {
    if (Status good = session_->check(launch_); !good) return good;
    auto bound = session::bind_arguments(*session_, *module_, *launch_.entry, arguments_);
    if (!bound) return bound.error();
    launch_.parameters = std::move(bound->parameters);
    addresses_ = std::move(bound->addresses);
    return Done{};
  }

  int launch() {
    memory::TraceListener trace(session_->arena().space().global_begin());
    report::LaunchSelection selection(options_.session);
    const bool selected = selection.select(launch_.entry->name);
    launch_.count = selected && options_.session.count;
    launch_.sample = options_.session.sample;
    if (selected && !options_.session.trace.empty()) launch_.listeners.push_back(&trace);
    std::fflush(nullptr);
    {
      const Watch watch(options_.timeout_seconds);
      launch_.interrupt = &watch.flag();
      std::optional<report::ProgressWatcher> shown;
      exec::LaunchProgress progress;
      if (!options_.quiet && isatty(STDERR_FILENO) != 0) {
        launch_.progress = &progress;
        shown.emplace(STDERR_FILENO);
        shown->begin({launch_.entry->name, launch_.grid.count(), (launch_.block.count() + 31) / 32,
                      [&progress] { return progress.done(); }, [&progress] { return progress.seconds(); }});
      }
      const auto launched = session_->launch(launch_);
      if (shown) shown->end();
      if (!launched) {
        print_with_source(launched.error(), text_);
        return kMisuse;
      }
    }
    std::fflush(stdout);
    Status traced = Done{};
    if (!launch_.listeners.empty()) traced = report::write_output(options_.session.trace, trace.text());
    if (!traced) print(traced.error());
    const int code = report();
    return traced ? code : kCannotWrite;
  }

  /// The report, then the results.
  int report() {
    RunOutcome outcome{0, true, session_->record()};
    report::RunRecord& record = outcome.record;
    record.program = std::filesystem::path(path_).filename().string();
    record.command = {path_};
    const report::LaunchRecord& launched = record.launches.back();
    if (!launched.complete) {
      outcome.exit_code = 1;
      const events::FindingKind kind = launched.findings.front().kind;
      record.end.timed_out = kind == events::FindingKind::kTimeout;
      record.end.interrupted = kind == events::FindingKind::kInterrupted;
      if (record.end.timed_out) outcome.exit_code = kTimedOut;
      if (record.end.interrupted) outcome.exit_code = kSignalBase + SignalGuard::pending();
    } else if (!compare()) {
      outcome.exit_code = 1;
    }
    record.end.exit_code = outcome.exit_code;
    const int code = deliver(options_, outcome);
    if (code == kCannotWrite) return code;
    if (!launched.complete) {
      if (!outputs_.empty() || !expected_.empty())
        print({make_error("the kernel did not run to its end: its results are neither written nor compared")});
      return code;
    }
    for (const std::string& text : comparisons_) fmt::print(stderr, "warplens: {}\n", text);
    return write_outputs() ? code : kCannotWrite;
  }

  session::Array read_back(size_t argument) {
    session::Array array = arguments_[argument].array;
    const Status copied = session_->copy_out(array.bytes.data(), addresses_[argument], array.bytes.size());
    WL_CHECK(copied.has_value());
    return array;
  }

  bool compare() {
    bool equal = true;
    for (const ArrayResult& e : expected_) {
      const auto comparison = session::compare(read_back(e.argument), e.expected, bare_.tolerance);
      equal &= comparison.equal();
      if (!comparison.equal() || !options_.quiet) comparisons_.push_back(session::describe(comparison, e.file->path));
    }
    return equal;
  }

  bool write_outputs() {
    bool written = true;
    for (const ArrayResult& o : outputs_) {
      const Status status = report::write_output(o.file->path, session::npy_text(read_back(o.argument)));
      if (!status) print(status.error());
      written &= status.has_value();
    }
    return written;
  }

  const RunOptions& options_;
  const BareOptions& bare_;
  const std::string path_;
  std::string text_;
  std::unique_ptr<session::Session> session_;
  session::Module* module_ = nullptr;
  session::Launch launch_;
  std::vector<session::Argument> arguments_;
  std::vector<uint64_t> addresses_;
  std::vector<ArrayResult> outputs_, expected_;
  std::vector<std::string> comparisons_;
};

}  // namespace

int run_bare(const RunOptions& options, const std::string& path) { return BareRun(options, path).run(); }

}  // namespace warplens::cli
