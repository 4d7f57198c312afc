// SPDX-License-Identifier: Apache-2.0
#include "report/explain.h"

#include <fmt/format.h>

#include "report/number_text.h"

namespace warplens::report {
namespace {

std::string explain_shared(const Traffic& t) {
  if (t.excess_wavefronts() == 0) return "no bank conflicts";
  return fmt::format("bank conflicts: a warp's access takes {} passes where {} would do",
                     ratio_text(t.wavefronts_per_request()), ratio_text(t.ideal_wavefronts_per_request()));
}

std::string explain_constant(const Traffic& t) {
  if (t.excess_wavefronts() == 0) return "all threads of a warp read one constant, which serves them all";
  return fmt::format("constant memory serves one address at a time: a warp's load takes {} passes where {} would do",
                     ratio_text(t.wavefronts_per_request()), ratio_text(t.ideal_wavefronts_per_request()));
}

std::string explain_sectors(const AccessRow& access) {
  const Traffic& t = access.traffic;
  const double sectors = t.sectors_per_request(), ideal = t.ideal_sectors_per_request();
  const double lanes = Traffic::ratio(t.lanes, t.requests), asked = Traffic::ratio(t.bytes_asked, t.requests);
  const char* verb = access.kind == Kind::kRead ? "reads from" : access.kind == Kind::kWrite ? "writes to" : "updates";
  if (t.excess_sectors() == 0) {
    if (sectors <= 1.0 && lanes > 1.5 && asked > kSectorBytes)
      return fmt::format("all threads of a warp {} the same sector, which serves them all",
                         access.kind == Kind::kRead ? "read" : "use");
    return "the threads of a warp use neighbouring addresses, so no sector is wasted";
  }
  if (t.repeated_sectors != 0)
    return fmt::format("threads of a warp update one place, one after another: {} sectors where {} would do",
                       ratio_text(sectors), ratio_text(ideal));
  if (sectors >= 0.95 * lanes && lanes > 1.5 && access.bytes < kSectorBytes)
    return fmt::format("each thread of a warp {} a sector of its own, so {} bytes are moved for every {} used", verb,
                       kSectorBytes, access.bytes);
  if (sectors - ideal <= 1.05 && ideal >= 1.5)
    return fmt::format("a warp's addresses do not begin at a sector boundary: {} sectors where {} would do",
                       ratio_text(sectors), ratio_text(ideal));
  return fmt::format("a warp's addresses are spread over {} sectors; side by side they would fit {}",
                     ratio_text(sectors), ratio_text(ideal));
}

}  // namespace

std::string access_label(const AccessRow& access) {
  std::string label = word(access.kind);
  if (!access.parameter.empty()) label += " " + access.parameter;
  if (access.traffic.estimate) label += " ~";
  return label;
}

std::string explain(const AccessRow& access) {
  if (access.memory == Memory::kShared) return explain_shared(access.traffic);
  if (access.memory == Memory::kConstant) return explain_constant(access.traffic);
  return explain_sectors(access);
}

}  // namespace warplens::report
