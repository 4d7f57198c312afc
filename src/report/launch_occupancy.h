// SPDX-License-Identifier: Apache-2.0
// The occupancy of a launch as records and reports have it:
//
//   Occupancy 75 %: 6 blocks of 256 threads an SM, limited by shared memory; 1.26 waves. 19 registers a thread
//   (estimate).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "events/events.h"
#include "gpu/occupancy.h"

namespace warplens::report {

struct LaunchOccupancy {
  gpu::Occupancy of;       ///< blocks, warps, and each limit
  uint32_t registers = 0;  ///< per thread
  bool estimated = true;   ///< the number of registers is (docs/occupancy.md)
  /// gpu::waves of the launch's grid; nothing: there is no grid, only a question.
  std::optional<double> waves = std::nullopt;
};

/// One member of a line of the record, with its comma: ,"occupancy":[...].
std::string record_text(const LaunchOccupancy& occupancy);
/// Its value read back. Throws like nlohmann::json's accessors.
LaunchOccupancy read_occupancy(const nlohmann::json& from);
/// The sentences above, without a newline.
std::string sentence(const LaunchOccupancy& occupancy, const events::Dim3& block);
/// The report's object, as text (docs/report-schema.md).
nlohmann::ordered_json occupancy_json(const LaunchOccupancy& occupancy);

}  // namespace warplens::report
