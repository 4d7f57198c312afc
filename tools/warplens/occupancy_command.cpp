// SPDX-License-Identifier: Apache-2.0
//   NVIDIA H200: 256 threads, 64 registers a thread, 48 KiB shared memory a block
//     4 blocks, 32 of 64 warps an SM: occupancy 50 %, limited by registers and shared memory
//     blocks that each alone would allow: warps 8, blocks 32, registers 4, shared memory 4 (in 196 KiB), barriers 64
//     threads a block:        32: 31 %   64: 50 %  ...
//     registers a thread:     1: 50 %   73: 38 %  ...
#include "warplens/occupancy_command.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "compile/process.h"
#include "gpu/catalogue.h"
#include "gpu/occupancy_curves.h"
#include "report/kernel_name.h"
#include "report/launch_occupancy.h"
#include "report/number_text.h"
#include "report/output_file.h"
#include "report/text_style.h"
#include "session/entry_name.h"
#include "session/session.h"
#include "warplens/device_code.h"
#include "warplens/exit_codes.h"
#include "warplens/occupancy_options.h"
#include "warplens/run_command.h"

namespace warplens::cli {
namespace {

/// One answer: of plain numbers (no name), or of a kernel.
struct Question {
  std::string name;
  gpu::OccupancyInput input;
  bool registers_known = true;
  bool estimated = false;  ///< the registers
};

/// With registers that nobody gave, none limits: not even the fewest that a launch takes.
gpu::Gpu gpu_for(gpu::Gpu gpu, const Question& q) {
  if (!q.registers_known) gpu.least_registers_per_thread.reset();
  return gpu;
}

std::string registers_words(const Question& q) {
  if (!q.registers_known) return "registers not given (--regs)";
  return fmt::format("{} a thread{}", report::plural(q.input.registers, "register"), q.estimated ? " (estimate)" : "");
}

std::string bytes_words(uint64_t bytes) {
  if (bytes == 0) return "no";
  return bytes % 1024 == 0 ? fmt::format("{} KiB", bytes / 1024) : report::plural(bytes, "byte");
}

std::string head_text(const gpu::Gpu& gpu, const Question& q) {
  const std::string name = q.name.empty() ? std::string() : report::demangled(q.name) + " on ";
  return fmt::format("{}{}: {}, {}, {} shared memory a block", name, gpu.name,
                     report::plural(q.input.threads, "thread"), registers_words(q), bytes_words(q.input.shared_bytes));
}

std::string limits_text(const gpu::Occupancy& o) {
  std::string text = "blocks that each alone would allow: ";
  const char* comma = "";
  for (const auto& [name, limit] : {std::pair{"warps", o.by_warps},
                                    {"blocks", o.by_blocks},
                                    {"registers", o.by_registers},
                                    {"shared memory", o.by_shared},
                                    {"barriers", o.by_barriers}}) {
    if (limit == gpu::kNoLimit) continue;
    text += fmt::format("{}{} {}", comma, name, limit);
    if (std::string_view(name) == "shared memory")
      text += fmt::format(" (in {} KiB{})", o.carveout_kib, o.carveout_estimated ? ", estimate" : "");
    comma = ", ";
  }
  return text;
}

std::string curve_text(const char* title, const gpu::Curve& curve, const report::TextStyle& style) {
  std::string text = title;
  for (const gpu::CurvePoint& p : curve) text += fmt::format(" {}:{:.0f}%", p.value, 100 * p.share);
  return report::wrapped(text, style.width, 4);
}

std::string answer_text(const gpu::Gpu& whole, const Question& q, bool curves, const report::TextStyle& style) {
  const gpu::Gpu gpu = gpu_for(whole, q);
  const gpu::Occupancy o = gpu::occupancy(gpu, q.input);
  std::string text = report::wrapped(head_text(gpu, q), style.width, 0);
  text += report::wrapped(
      fmt::format("{}, {} of {} warps an SM: occupancy {}, limited by {}", report::plural(o.blocks_per_sm, "block"),
                  o.warps_per_sm, gpu.threads_per_sm / gpu.warp_size, report::percent_text(o.share), gpu::limiters(o)),
      style.width, 2);
  text += report::wrapped(limits_text(o), style.width, 2);
  if (!curves) return text;
  text += report::wrapped("occupancy from this value of one input on, the others held:", style.width, 2);
  text += curve_text("threads a block", gpu::over_block_size(gpu, q.input), style);
  text += curve_text("registers a thread", gpu::over_registers(whole, q.input), style);
  text += curve_text("bytes of shared memory a block", gpu::over_shared(gpu, q.input), style);
  return text;
}

nlohmann::ordered_json curve_json(const gpu::Curve& curve) {
  auto list = nlohmann::ordered_json::array();
  for (const gpu::CurvePoint& p : curve)
    list.push_back({{"from", p.value}, {"blocks_per_sm", p.blocks_per_sm}, {"theoretical", p.share}});
  return list;
}

nlohmann::ordered_json occupancy_json(const gpu::Gpu& gpu, const Question& q) {
  auto j = report::occupancy_json({gpu::occupancy(gpu, q.input), q.input.registers, q.estimated});
  if (q.registers_known) return j;
  for (const char* name : {"registers_per_thread", "registers_exactness", "registers_per_block"}) j.erase(name);
  j["block_limits"].erase("registers");
  return j;
}

std::string json_of(const gpu::Gpu& whole, const std::vector<Question>& questions, bool curves) {
  nlohmann::ordered_json all = {{"gpu", whole.name}, {"kernels", nlohmann::ordered_json::array()}};
  for (const Question& q : questions) {
    const gpu::Gpu gpu = gpu_for(whole, q);
    nlohmann::ordered_json j = {{"name", q.name},
                                {"threads_per_block", q.input.threads},
                                {"shared_bytes", q.input.shared_bytes},
                                {"barriers", q.input.barriers}};
    j["occupancy"] = occupancy_json(gpu, q);
    if (curves)
      j["curves"] = {{"threads_per_block", curve_json(gpu::over_block_size(gpu, q.input))},
                     {"registers_per_thread", curve_json(gpu::over_registers(whole, q.input))},
                     {"shared_bytes", curve_json(gpu::over_shared(gpu, q.input))}};
    all["kernels"].push_back(std::move(j));
  }
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// The block that the kernel itself demands or is bounded by.
uint32_t own_threads(const ptx::Function& entry) {
  const auto& bound = entry.reqntid[0] != 0 ? entry.reqntid : entry.maxntid;
  return bound[0] * std::max(bound[1], 1u) * std::max(bound[2], 1u);
}

Result<Question> question_of(const OccupancyOptions& o, session::Session& session, session::Module& module,
                             const ptx::Function& entry) {
  const auto needs = session.needs(module, entry);
  if (!needs) return needs.error();
  Question q;
  q.name = entry.name;
  q.input.threads = o.threads.value_or(own_threads(entry));
  if (q.input.threads == 0)
    return make_error(fmt::format("how many threads has a block of {}?", report::demangled(entry.name)),
                      "--block THREADS");
  q.input.registers = o.registers.value_or(needs->use.registers);
  q.estimated = !o.registers && needs->use.estimated;
  q.input.shared_bytes = needs->static_shared_bytes + o.shared_bytes.value_or(0);
  q.input.barriers = o.barriers.value_or(needs->use.barriers);
  q.input.carveout_kib = o.carveout_kib;
  return q;
}

/// `all`: the kernels of every image of the file.
Diagnostic no_such_kernel(const OccupancyOptions& o, std::vector<const ptx::Function*> all) {
  if (all.empty())
    return make_error(fmt::format("{} has no kernels", o.file), "a __global__ template counts once it is instantiated");
  std::ranges::sort(all, {}, &ptx::Function::name);
  const auto same = std::ranges::unique(all, {}, &ptx::Function::name);
  all.erase(same.begin(), same.end());
  std::string list = session::entry_list(all);
  list.pop_back();
  return make_error(fmt::format("'{}' is none of the kernels of {}, or more than one:\n{}", o.entry, o.file, list),
                    "--entry NAME takes the name on the left or the one on the right");
}

Result<std::vector<Question>> questions_of_file(const OccupancyOptions& o, const gpu::Gpu& gpu) {
  const int target = gpu.compute_capability[0] * 10 + gpu.compute_capability[1];
  auto code = device_code_of(o.file, o.gpu.target);
  if (!code) return code.error();
  if (code->empty())
    return make_error(fmt::format("{} has no PTX", o.file),
                      "name the CUDA source or its PTX, or build the program with PTX in it: nvcc -gencode "
                      "arch=compute_90,code=compute_90");
  session::SessionOptions options;
  options.gpu = o.gpu.wanted;
  options.registers = registers_of(assembled_for(*code, target));
  auto session = session::Session::create(options);
  if (!session) return session.error();
  std::vector<Question> questions;
  std::vector<const ptx::Function*> all;
  for (PtxImage& image : *code) {
    auto module = (*session)->load(std::move(image.text), image.name.empty() ? o.file : image.name);
    if (!module) return module.error();
    std::vector<const ptx::Function*> entries = (*module)->entries();
    all.insert(all.end(), entries.begin(), entries.end());
    if (!o.entry.empty()) {
      auto entry = session::find_entry(**module, o.entry);
      if (!entry && code->size() == 1) return entry.error();
      if (!entry) continue;
      entries = {*entry};
    }
    for (const ptx::Function* entry : entries) {
      auto question = question_of(o, **session, **module, *entry);
      if (!question) return question.error();
      questions.push_back(std::move(*question));
    }
  }
  if (questions.empty()) return no_such_kernel(o, std::move(all));
  return questions;
}

Question plain_question(const OccupancyOptions& o) {
  Question q;
  q.input.threads = *o.threads;
  q.input.registers = o.registers.value_or(0);
  q.registers_known = o.registers.has_value();
  q.input.shared_bytes = o.shared_bytes.value_or(0);
  q.input.carveout_kib = o.carveout_kib;
  q.input.barriers = o.barriers.value_or(1);
  return q;
}

Status check_carveout(const gpu::Gpu& gpu, std::optional<uint32_t> wanted) {
  if (!wanted || *wanted <= gpu.shared_carveouts_kib.back()) return Done{};
  return make_error(fmt::format("--carveout {}: an SM of {} can set aside {} KiB", *wanted, gpu.name,
                                fmt::join(gpu.shared_carveouts_kib, ", ")),
                    "a size between these is rounded up");
}

}  // namespace

int occupancy_command(const std::vector<std::string>& arguments) {
  const auto options = parse_occupancy_options(arguments);
  if (!options) {
    print(options.error());
    return kMisuse;
  }
  if (options->help) {
    std::fputs(occupancy_help().c_str(), stdout);
    return 0;
  }
  const gpu::Gpu gpu = *gpu::find_gpu(options->gpu.wanted);
  if (const Status possible = check_carveout(gpu, options->carveout_kib); !possible) {
    print(possible.error());
    return kMisuse;
  }
  Result<std::vector<Question>> questions = std::vector<Question>{};
  if (options->file.empty())
    questions->push_back(plain_question(*options));
  else
    questions = questions_of_file(*options, gpu);
  if (!questions) {
    print(questions.error());
    return kMisuse;
  }
  if (options->json != "-") {
    const report::TextStyle style = report::style_of(STDOUT_FILENO);
    std::string text;
    for (const Question& q : *questions)
      text += (text.empty() ? "" : "\n") + answer_text(gpu, q, options->curves && questions->size() == 1, style);
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) return kCannotWrite;
  }
  if (options->json.empty()) return 0;
  const Status written = report::write_output(options->json, json_of(gpu, *questions, options->curves));
  if (!written) print(written.error());
  return written ? 0 : kCannotWrite;
}

std::string occupancy_help() {
  return R"(usage: warplens occupancy [options] [FILE]

How many blocks an SM holds at once, what limits it, and what other block sizes, registers and shared memory would
give. Either for numbers, or for the kernels of FILE: PTX, a CUDA source, or a program with PTX in it.

  --block THREADS        threads a block (256, or 16,16); with FILE the kernel's own bound is taken if it has one
  --regs N               registers a thread; with FILE: instead of the kernel's (from 'ptxas -v' where there is a
                         CUDA toolkit, else an estimate, marked as such)
  --smem BYTES           shared memory a block (48K); with FILE: dynamic, on top of the kernel's static
  --carveout KIB         shared memory that the driver sets aside in the SM (default: what it chooses by
                         itself; known for the H200, elsewhere an estimate)
  --barriers N           hardware barriers a block uses (default 1; they count from compute capability 9.0)
  --entry NAME           one kernel of FILE
  --gpu NAME, --gpu-file FILE    the GPU (warplens gpus)
  --json FILE            all of it for other programs (- is standard output)
  --no-curves            just the answer

  warplens occupancy --block 256 --regs 64 --smem 48K
  warplens occupancy --gpu l4 --block 256 app.cu
)";
}

}  // namespace warplens::cli
