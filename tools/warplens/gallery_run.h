// SPDX-License-Identifier: Apache-2.0
// Runs one rung of the gallery in the engine, as `warplens run RUNG.cu count` would: it verifies itself at small and
// odd sizes, uncounted, then runs once between cudaProfilerStart and cudaProfilerStop, counted (gallery/harness.h). A
// rung that has several forms prints a line "name,size" for each; they launch the same kernels, so that counted
// launches are shared out among them evenly, in order.
#pragma once
#include <string>
#include <vector>

#include "report/fold.h"
#include "report/run_record.h"
#include "warplens/gallery_catalogue.h"
#include "warplens/installation.h"

namespace warplens::cli {

struct RungForm {
  std::string name;  ///< "histogram/04_cluster2"; of a rung with one form the rung's
  uint64_t size = 0;
  report::RunRecord record;                  ///< its counted launches
  std::vector<report::FoldedLaunch> groups;  ///< of them, by kernel and shape
};

struct RungResult {
  Rung rung;
  int exit_code = 0;  ///< 0: verified; 1: wrong; else as `warplens run` gives them
  std::vector<RungForm> forms;
  std::string not_counted;  ///< why there are no forms: "exit code 2"; else empty
};

/// Verified, and counted.
inline bool succeeded(const RungResult& result) { return result.exit_code == 0 && result.not_counted.empty(); }

/// Options of `run` besides those that a rung always takes: "--gpu", "l4", ... Needs a SignalGuard.
RungResult run_rung(const Rung& rung, const Installation& installation, const std::vector<std::string>& options);

}  // namespace warplens::cli
