// SPDX-License-Identifier: Apache-2.0
#include "warplens/commands.h"

#include "warplens/cache_command.h"
#include "warplens/cc_command.h"
#include "warplens/demo_command.h"
#include "warplens/diff_command.h"
#include "warplens/env_command.h"
#include "warplens/explain_command.h"
#include "warplens/gallery_command.h"
#include "warplens/gpus_command.h"
#include "warplens/help.h"
#include "warplens/measure_command.h"
#include "warplens/metrics_command.h"
#include "warplens/occupancy_command.h"
#include "warplens/run_command.h"

namespace warplens::cli {
namespace {

constexpr Command kCommands[] = {
    {"run", "run a CUDA source, a program or a PTX kernel, then report", run_command, run_help},
    {"cc", "build as nvcc does; the result runs on the CPU",
     [](const std::vector<std::string>& arguments) { return cc_command(arguments); }, cc_help},
    {"demo", "two matrix products and why one is slow", demo_command, demo_help},
    {"gallery", "ladders of kernels: verified, counted, beside what a GPU measured", gallery_command, gallery_help},
    {"measure", "time and count the gallery on this machine's GPU", measure_command, measure_help},
    {"diff", "what got better or worse between two reports", diff_command, diff_help},
    {"explain", "what a warning means, and what to do about it", explain_command, explain_help},
    {"occupancy", "blocks an SM holds, and what limits them", occupancy_command, occupancy_help},
    {"gpus", "the GPUs that --gpu names", gpus_command, gpus_help},
    {"metrics", "what --csv counts under the profilers' names", metrics_command, metrics_help},
    {"cache", "show, or empty, the folder of compiled kernels", cache_command, cache_help},
    {"env", "what a launcher must set to run programs without 'warplens run'", env_command, env_help},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  for (const Command& command : kCommands)
    if (command.name == name) return &command;
  return nullptr;
}

}  // namespace warplens::cli
