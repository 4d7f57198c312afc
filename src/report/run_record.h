// SPDX-License-Identifier: Apache-2.0
// What is known of one run: its kernels, its launches with their counts, what went wrong, and notices. The library
// inside the program appends it to a file as it goes, one JSON object a line, so that a crash loses nothing that was
// written; the tool that started the program reads the file back and makes the report from it. Lines:
//
//   {"t":"process","p":71,"program":"./app","gpu":"..."}      once a process
//   {"t":"kernel","p":71,"k":0,"name":"_Z4axpy...", ...}      before the kernel's first launch
//   {"t":"begin","p":71,"id":3,"k":0, ...}                    a launch starts; without "launch" it never ended
//   {"t":"launch","p":71,"id":3,"k":0,"sites":[[...],...]}    it ended; counts equal to an earlier one: "same":<id>;
//                                                             "sample":{...} when not all blocks were counted
//   {"t":"notice","p":71,"kind":"unsupported_api","text":"cudaFoo is not supported"}
//
// docs/session-file.md describes how the tool tells the library where the file is.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "events/events.h"
#include "events/sample.h"
#include "report/launch_occupancy.h"
#include "report/ptx_identity.h"

namespace warplens::report {

/// A kernel, and the PTX text of the lines that access memory (for reports without source lines).
struct KernelRecord {
  events::KernelInfo info;
  std::map<uint32_t, std::string> ptx_text;  ///< by PTX line
  PtxIdentity ptx;                           ///< empty in records of older libraries
};

/// `ptx`: text of the kernel's module; only lines of memory accesses are kept.
KernelRecord kernel_record(const events::KernelInfo& info, std::string_view ptx);

/// What makes launches of one kernel comparable.
struct LaunchShape {
  events::Dim3 grid, block, cluster;
  uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

struct LaunchRecord {
  uint64_t id = 0;
  uint32_t process = 0;  ///< process id of the program (a program may fork)
  size_t kernel = 0;     ///< index into RunRecord::kernels
  LaunchShape shape;
  uint64_t param_bytes = 0;
  double seconds = 0;       ///< on this computer; says nothing about a GPU's speed
  std::string code;         ///< "compiled" or "cache": where its code came from; empty: there from an earlier launch
  double code_seconds = 0;  ///< that compiling or loading it took
  bool complete = false;    ///< ran to its end
  std::optional<LaunchOccupancy> occupancy;            ///< absent in records of other tools
  std::shared_ptr<const events::LaunchCounts> counts;  ///< null: not counted
  std::shared_ptr<const events::LaunchSample> sample;  ///< null: every block was counted
  std::vector<events::Finding> findings;
};

/// Something that the report should mention once, e.g. a runtime function that we lack.
struct Notice {
  std::string kind;  ///< "unsupported_api", "limit", ...
  std::string text;  ///< one sentence
  friend bool operator==(const Notice&, const Notice&) = default;
};

/// How the program ended, as the tool saw it.
struct RunEnd {
  int exit_code = 0;
  int signal = 0;  ///< not 0: ended by this signal
  bool timed_out = false, interrupted = false;
};

struct RunRecord {
  std::string program;               ///< what the user named
  std::vector<std::string> command;  ///< program and its arguments
  std::string gpu;                   ///< name of the GPU whose limits were used
  std::vector<KernelRecord> kernels;
  std::vector<LaunchRecord> launches;  ///< in the order in which they ended; unfinished ones last
  std::vector<Notice> notices;
  RunEnd end;
  unsigned damaged_lines = 0;  ///< lines that could not be read (a write was cut short)
};

/// What the library knows when a launch begins or ends.
struct LaunchEvent {
  const events::KernelInfo* kernel = nullptr;
  std::string_view ptx;  ///< text of the kernel's module; only lines of memory accesses are kept
  uint64_t id = 0;
  LaunchShape shape;
  uint64_t param_bytes = 0;
  double seconds = 0;
  std::string_view code;  ///< as LaunchRecord::code
  double code_seconds = 0;
  const events::LaunchCounts* counts = nullptr;  ///< null: not counted
  const events::LaunchSample* sample = nullptr;  ///< null: every block was counted
  std::span<const events::Finding> findings;
  bool complete = true;
  std::optional<LaunchOccupancy> occupancy;
};

/// The library's side: appends lines, each with one write(2). All functions may be called from any thread.
class RecordWriter {
 public:
  /// Opens `path` for appending (made when missing).
  static Result<std::unique_ptr<RecordWriter>> open(const std::string& path);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  void begin_process(std::string_view program, std::string_view gpu);
  void begin_launch(const LaunchEvent& event);
  void end_launch(const LaunchEvent& event);
  void notice(std::string_view kind, std::string_view text);
  /// False once a write failed (disk full): later lines are dropped, the program goes on.
  bool ok() const;

 private:
  struct Last {
    uint64_t id = 0;
    LaunchShape shape;
    events::LaunchCounts counts;
    std::optional<events::LaunchSample> sample;
  };
  struct Known {
    uint32_t index = 0;
    std::vector<Last> last;  ///< latest counts by shape, so that equal ones are written once
  };

  explicit RecordWriter(int fd) : fd_(fd) {}
  void append(std::string line);
  /// After a fork the child describes itself and its kernels again. Holds mutex_.
  void follow_fork();
  Known& known(const LaunchEvent& event);

  int fd_;
  mutable std::mutex mutex_;
  bool ok_ = true;
  int process_ = 0;
  std::string program_, gpu_;
  std::map<const events::KernelInfo*, Known> kernels_;
};

/// The tool's side. A missing file is an empty record (the program never called the runtime); a line that was cut short
/// is counted, not an error.
Result<RunRecord> read_record(const std::string& path);
/// The same from text.
RunRecord parse_record(std::string_view text);

}  // namespace warplens::report
