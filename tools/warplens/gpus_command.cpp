// SPDX-License-Identifier: Apache-2.0
//   name       GPU                      capability  SMs  threads/SM  shared/SM  ...
//   h200 *     NVIDIA H200              9.0         132        2048    228 KiB
#include "warplens/gpus_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "gpu/catalogue.h"
#include "report/text_table.h"
#include "warplens/exit_codes.h"
#include "warplens/run_command.h"

namespace warplens::cli {
namespace {

report::TextTable table_of(const std::vector<gpu::KnownGpu>& gpus) {
  report::TextTable table({{"name"},
                           {"capability"},
                           {"SMs"},
                           {"threads/SM", 90},
                           {"blocks/SM", 80},
                           {"shared/SM", 85},
                           {"L2", 50},
                           {"memory", 60},
                           {"peak", 70},
                           {"GPU"}},
                          12);
  for (const auto& [id, g] : gpus)
    table.add({{id == gpu::default_gpu_id() ? id + " *" : id},
               {fmt::format("{}.{}", g->compute_capability[0], g->compute_capability[1])},
               {fmt::format("{}", g->sms)},
               {fmt::format("{}", g->threads_per_sm)},
               {fmt::format("{}", g->blocks_per_sm)},
               {fmt::format("{} KiB", g->shared_per_sm / 1024)},
               {fmt::format("{} MiB", g->l2_bytes >> 20)},
               {fmt::format("{} GiB", g->memory_bytes >> 30)},
               {fmt::format("{} GB/s", g->dram_bytes_per_second / 1000000000)},
               {g->name}});
  return table;
}

}  // namespace

int gpus_command(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::fputs(gpus_help().c_str(), stdout);
    return 0;
  }
  if (!arguments.empty()) {
    print({make_error("'gpus' takes no arguments", "warplens gpus")});
    return kMisuse;
  }
  std::fputs(table_of(gpu::known_gpus()).render(report::style_of(STDOUT_FILENO), 0).c_str(), stdout);
  std::fputs("* the default; --gpu NAME takes another, --gpu-file FILE one of yours (docs/gpus.md)\n", stdout);
  return 0;
}

std::string gpus_help() {
  return R"(usage: warplens gpus

Lists the GPUs that programs can be run on: limits, occupancy and the answers of cudaGetDeviceProperties are theirs.
  warplens run --gpu l4 app.cu            one of them
  warplens run --gpu-file mine.toml app.cu   one that you describe (docs/gpus.md)
)";
}

}  // namespace warplens::cli
