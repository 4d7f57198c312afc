// SPDX-License-Identifier: Apache-2.0
// Stands for a CUDA program in tests of the tool: does what its arguments say, in order, and records what our runtime
// library would record.
//   print        arguments from here on, one a line, then ends
//   record       a finished launch of the naive product, n = 64
//   begin        a launch that begins and does not end
//   damage       half a line in the record, as a full disk leaves it
//   notice       a notice
//   session      prints what the session file asks for
//   hang         waits for ever;  stubborn: and ignores SIGINT
//   exit N, signal N
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "example_runs.h"
#include "report/run_record.h"
#include "report/session_file.h"

namespace {

using namespace warplens::report;

const RunRecord& product() {
  static const RunRecord kRun = example::matmul(example::Product::kNaive, 64, "");
  return kRun;
}

LaunchEvent launch(uint64_t id, bool count) {
  LaunchEvent e;
  const LaunchRecord& l = product().launches[0];
  e.kernel = &product().kernels[0].info;
  e.id = id;
  e.shape = l.shape;
  e.param_bytes = l.param_bytes;
  e.seconds = l.seconds;
  e.counts = count ? l.counts.get() : nullptr;
  return e;
}

SessionFile session() {
  const char* path = std::getenv(kSessionVariable);
  if (path == nullptr) std::exit(90);
  return read_session_file(path).value();
}

[[noreturn]] void hang() {
  for (;;) ::pause();
}

}  // namespace

int main(int argc, char** argv) {
  const SessionFile s = session();
  auto writer = RecordWriter::open(s.record).value();
  writer->begin_process(argv[0], "Test GPU");
  uint64_t id = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "print") {
      while (++i < argc) std::puts(argv[i]);
    } else if (word == "record") {
      writer->begin_launch(launch(id, s.count));
      writer->end_launch(launch(id++, s.count));
    } else if (word == "begin") {
      writer->begin_launch(launch(id++, false));
    } else if (word == "damage") {
      std::ofstream(s.record, std::ios::app) << "{\"t\":\"launch\",\"p\":1";
    } else if (word == "notice") {
      writer->notice("unsupported_api", "cudaGraphLaunch is not supported");
    } else if (word == "session") {
      std::printf("%s %s %u %llu\n", s.executor.c_str(), s.kernel_regex.c_str(), s.workers,
                  static_cast<unsigned long long>(s.launch_skip));
    } else if (word == "stubborn") {
      ::signal(SIGINT, SIG_IGN);
    } else if (word == "said") {
      std::puts("so far");
      std::fflush(stdout);
    } else if (word == "hang") {
      hang();
    } else if (word == "exit" && i + 1 < argc) {
      return std::atoi(argv[++i]);
    } else if (word == "signal" && i + 1 < argc) {
      ::raise(std::atoi(argv[++i]));
    } else {
      return 91;
    }
  }
  return 0;
}
