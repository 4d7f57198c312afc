// SPDX-License-Identifier: Apache-2.0
#include "report/launch_occupancy.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/number_text.h"

namespace warplens::report {

std::string record_text(const LaunchOccupancy& o) {
  const gpu::Occupancy& g = o.of;
  return fmt::format(",\"occupancy\":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}]", o.registers,
                     o.estimated ? 1 : 0, g.blocks_per_sm, g.warps_per_sm, g.share, g.by_warps, g.by_blocks,
                     g.by_registers, g.by_shared, g.by_barriers, g.registers_per_block, g.shared_per_block,
                     g.carveout_kib, g.by_most_shared, g.carveout_estimated ? 1 : 0, o.waves.value_or(0));
}

LaunchOccupancy read_occupancy(const nlohmann::json& from) {
  const auto number = [&](size_t i) { return from.at(i).get<uint32_t>(); };
  LaunchOccupancy o;
  o.registers = number(0);
  o.estimated = number(1) != 0;
  o.of = {.blocks_per_sm = number(2),
          .warps_per_sm = number(3),
          .share = from.at(4).get<double>(),
          .by_warps = number(5),
          .by_blocks = number(6),
          .by_registers = number(7),
          .by_shared = number(8),
          .by_barriers = number(9),
          .registers_per_block = number(10),
          .shared_per_block = from.at(11).get<uint64_t>(),
          .carveout_kib = number(12),
          .by_most_shared = number(13),
          .carveout_estimated = number(14) != 0};
  o.waves = from.at(15).get<double>();
  return o;
}

std::string sentence(const LaunchOccupancy& o, const events::Dim3& block) {
  const std::string waves = !o.waves          ? std::string()
                            : *o.waves < 0.01 ? "; less than 0.01 waves"
                                              : fmt::format("; {:.2f} waves", *o.waves);
  return fmt::format("Occupancy {}: {} of {} an SM, limited by {}{}. {} a thread{}.", percent_text(o.of.share),
                     plural(o.of.blocks_per_sm, "block"), plural(block.count(), "thread"), gpu::limiters(o.of), waves,
                     plural(o.registers, "register"), o.estimated ? " (estimate)" : "");
}

nlohmann::ordered_json occupancy_json(const LaunchOccupancy& o) {
  using json = nlohmann::ordered_json;
  const auto limit = [](uint32_t blocks) { return blocks == gpu::kNoLimit ? json(nullptr) : json(blocks); };
  json j = {{"theoretical", o.of.share},
            {"blocks_per_sm", o.of.blocks_per_sm},
            {"warps_per_sm", o.of.warps_per_sm},
            {"limited_by", gpu::limiters(o.of)},
            {"block_limits",
             {{"warps", limit(o.of.by_warps)},
              {"blocks", limit(o.of.by_blocks)},
              {"registers", limit(o.of.by_registers)},
              {"shared_memory", limit(o.of.by_shared)},
              {"barriers", limit(o.of.by_barriers)}}},
            {"registers_per_thread", o.registers},
            {"registers_exactness", o.estimated ? "estimate" : "exact"},
            {"registers_per_block", o.of.registers_per_block},
            {"shared_bytes_per_block", o.of.shared_per_block},
            {"carveout_kib", o.of.carveout_kib},
            {"carveout_exactness", o.of.carveout_estimated ? "estimate" : "exact"}};
  if (o.waves) j["waves"] = *o.waves;
  return j;
}

}  // namespace warplens::report
