// SPDX-License-Identifier: Apache-2.0
// Launches and their results.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "api/objects.h"
#include "report/finding_view.h"
#include "report/json_view.h"
#include "report/run_report.h"
#include "session/bind.h"

namespace warplens::api {

warplens_counters counters_of(const report::Traffic& t) {
  return {sizeof(warplens_counters),
          t.requests,
          t.lanes,
          t.bytes_asked,
          t.sectors,
          t.ideal_sectors,
          t.lines,
          t.wavefronts,
          t.ideal_wavefronts,
          t.repeated_sectors,
          t.estimate ? uint64_t{1} : 0};
}

warplens_errors errors_of(const report::TrafficErrors& e) {
  return {sizeof(warplens_errors), e.requests, e.lanes,      e.bytes_asked,      e.sectors,
          e.ideal_sectors,         e.lines,    e.wavefronts, e.ideal_wavefronts, e.repeated_sectors};
}

namespace {

/// Sets the launch's flag when the time is up.
class Deadline {
 public:
  explicit Deadline(double seconds) {
    if (!(seconds > 0)) return;
    thread_.emplace([this, seconds] {
      std::unique_lock lock(mutex_);
      const auto time = std::chrono::duration<double>(std::min(seconds, 1e9));
      if (!wake_.wait_for(lock, time, [this] { return done_; })) flag_ = exec::kStopTimeout;
    });
  }
  ~Deadline() {
    if (!thread_) return;
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_all();
    thread_->join();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  const std::atomic<uint32_t>& flag() const { return flag_; }

 private:
  std::atomic<uint32_t> flag_{0};
  bool done_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<std::thread> thread_;
};

/// The parameter block, or what is wrong with the arguments.
Result<std::vector<uint8_t>> pack(const warplens_entry& entry, const warplens_argument* arguments, size_t count) {
  const ptx::Function& function = *entry.function;
  const std::string& file = entry.module->ptx().file_name;
  if (count != function.params.size())
    return make_error_at(
        file, function.pos,
        fmt::format("{} has {} parameters, and {} arguments are given", function.name, function.params.size(), count));
  Diagnostics faults;
  std::vector<uint8_t> block(function.param_bytes);
  for (size_t i = 0; i < count; ++i) {
    const ptx::Param& p = function.params[i];
    if (arguments[i].data != nullptr && arguments[i].bytes == p.bytes)
      std::memcpy(block.data() + p.offset, arguments[i].data, p.bytes);
    else
      faults.push_back(
          make_error_at(file, session::position_of(entry.module->ptx(), function, i),
                        fmt::format("parameter {} of {} has {} bytes (.{}), and argument {} has {}", i + 1,
                                    function.name, p.bytes, ptx::name_of(p.type), i + 1, arguments[i].bytes)));
  }
  if (!faults.empty()) return faults;
  return block;
}

std::unique_ptr<warplens_launch_result> result_of(const session::Session& session) {
  auto result = std::make_unique<warplens_launch_result>();
  const report::RunRecord& all = session.record();
  report::RunRecord& one = result->record;
  one.gpu = all.gpu;
  one.launches = {all.launches.back()};
  one.kernels = {all.kernels[one.launches[0].kernel]};
  one.launches[0].kernel = 0;
  const events::KernelInfo& kernel = one.kernels[0].info;
  one.program = kernel.ptx_file;
  if (const auto& counts = one.launches[0].counts) {
    const events::LaunchSample* sample = one.launches[0].sample.get();
    result->totals = report::totals_of(kernel, *counts, sample);
    result->lines = report::line_table(one.kernels[0], *counts, sample);
  }
  if (one.launches[0].occupancy) result->limited_by = gpu::limiters(one.launches[0].occupancy->of);
  for (const events::Finding& f : one.launches[0].findings) {
    result->finding_kinds.push_back(report::word(f.kind));
    result->finding_messages.push_back(report::message_text(f, &kernel));
    one.end.timed_out |= f.kind == events::FindingKind::kTimeout;
  }
  report::TextOptions text;
  text.folding = report::Folding::kNone;
  result->text = report::run_text(one, text);
  result->json = report::json_text(one, report::Folding::kNone);
  return result;
}

events::Dim3 dim(const uint32_t (&d)[3]) { return {d[0], d[1], d[2]}; }

warplens_status launch(warplens_session* session, const warplens_entry* entry, const warplens_launch_shape* wanted,
                       const warplens_argument* arguments, size_t count, warplens_launch_result** to) {
  if (session == nullptr || entry == nullptr || to == nullptr || (arguments == nullptr && count != 0))
    return fail(WARPLENS_INVALID, std::string("session, entry, result or arguments is null"));
  *to = nullptr;
  if (entry->session != session) return fail(WARPLENS_INVALID, std::string("the entry belongs to another session"));
  warplens_launch_shape shape{};
  if (!take(wanted, shape)) return fail(WARPLENS_INVALID, std::string("shape: struct_bytes is not set"));
  const std::string_view source = entry->module->ptx().text;
  if (!entry->function->unsupported.empty()) return fail(WARPLENS_INPUT, entry->function->unsupported, source);
  auto block = pack(*entry, arguments, count);
  if (!block) return fail(WARPLENS_INPUT, block.error(), source);
  session::Launch request;
  request.module = entry->module;
  request.entry = entry->function;
  request.grid = dim(shape.grid);
  request.block = dim(shape.block);
  request.cluster = dim(shape.cluster);
  if (request.cluster == events::Dim3{0, 0, 0}) {
    const auto& demanded = entry->function->reqcluster;
    request.cluster = {std::max(demanded[0], 1u), std::max(demanded[1], 1u), std::max(demanded[2], 1u)};
  }
  request.dynamic_shared_bytes = shape.shared_bytes;
  request.parameters = std::move(*block);
  request.count = shape.uncounted == 0;
  if (shape.sample != 0) request.sample = {shape.sample, shape.sample_seed};
  const Deadline deadline(shape.timeout_seconds);
  request.interrupt = &deadline.flag();
  session->session->forget_launches();
  const auto launched = session->session->launch(request);
  if (!launched) return fail(WARPLENS_INPUT, launched.error(), source);
  *to = result_of(*session->session).release();
  return WARPLENS_OK;
}

}  // namespace
}  // namespace warplens::api

using namespace warplens;
using api::fail;
using api::guarded;

warplens_status warplens_launch(warplens_session* session, const warplens_entry* entry,
                                const warplens_launch_shape* shape, const warplens_argument* arguments,
                                size_t argument_count, warplens_launch_result** result) {
  return guarded([&] { return api::launch(session, entry, shape, arguments, argument_count, result); });
}

void warplens_result_destroy(warplens_launch_result* result) { delete result; }

int warplens_result_complete(const warplens_launch_result* result) {
  return result != nullptr && result->record.launches[0].complete ? 1 : 0;
}
const char* warplens_result_text(const warplens_launch_result* result) {
  return result == nullptr ? "" : result->text.c_str();
}
const char* warplens_result_json(const warplens_launch_result* result) {
  return result == nullptr ? "" : result->json.c_str();
}

warplens_status warplens_result_totals(const warplens_launch_result* result, int memory, int access,
                                       warplens_counters* counters) {
  return guarded([&] {
    const bool known = memory >= 0 && memory < report::kMemories && access >= 0 && access < report::kKinds;
    if (result == nullptr || !known)
      return fail(WARPLENS_INVALID, std::string("result is null, or memory or access is unknown"));
    const auto& traffic = result->totals.at(static_cast<report::Memory>(memory), static_cast<report::Kind>(access));
    return api::give(api::counters_of(traffic), counters);
  });
}

warplens_status warplens_result_sample(const warplens_launch_result* result, warplens_sample* sample) {
  return guarded([&] {
    if (result == nullptr) return fail(WARPLENS_INVALID, std::string("result is null"));
    const report::LaunchRecord& launch = result->record.launches[0];
    warplens_sample out{};
    if (const events::LaunchSample* s = launch.sample.get())
      out = {0, s->choice.share, s->choice.seed, s->counted_blocks, s->blocks, s->scaled ? 1 : 0};
    else if (launch.counts != nullptr)
      out = {0, 1, 0, launch.shape.grid.count(), launch.shape.grid.count(), 0};
    else
      out.blocks = launch.shape.grid.count();
    return api::give(out, sample);
  });
}

warplens_status warplens_result_errors(const warplens_launch_result* result, int memory, int access,
                                       warplens_errors* errors) {
  return guarded([&] {
    const bool known = memory >= 0 && memory < report::kMemories && access >= 0 && access < report::kKinds;
    if (result == nullptr || !known)
      return fail(WARPLENS_INVALID, std::string("result is null, or memory or access is unknown"));
    const auto& traffic = result->totals.at(static_cast<report::Memory>(memory), static_cast<report::Kind>(access));
    return api::give(api::errors_of(traffic.errors), errors);
  });
}

warplens_status warplens_result_line_errors(const warplens_launch_result* result, size_t index, warplens_errors* global,
                                            warplens_errors* shared) {
  return guarded([&] {
    if (index >= warplens_result_line_count(result))
      return fail(WARPLENS_INVALID, fmt::format("there is no line {} in the result", index));
    const report::LineRow& row = result->lines.rows[index];
    const warplens_status given = api::give(api::errors_of(row.global.errors), global);
    return given != WARPLENS_OK ? given : api::give(api::errors_of(row.shared.errors), shared);
  });
}

uint64_t warplens_result_instructions(const warplens_launch_result* result) {
  return result == nullptr ? 0 : result->totals.instructions;
}

warplens_status warplens_result_executed(const warplens_launch_result* result, warplens_executed* executed) {
  return guarded([&] {
    if (result == nullptr) return fail(WARPLENS_INVALID, std::string("result is null"));
    const report::Totals& t = result->totals;
    return api::give(warplens_executed{0, t.instructions, t.lanes, t.instructions_error, t.lanes_error}, executed);
  });
}

warplens_status warplens_result_occupancy(const warplens_launch_result* result, warplens_occupancy* occupancy) {
  return guarded([&] {
    if (result == nullptr || !result->record.launches[0].occupancy)
      return fail(WARPLENS_INVALID, std::string("result is null"));
    const report::LaunchOccupancy& o = *result->record.launches[0].occupancy;
    const gpu::Occupancy& g = o.of;
    return api::give(warplens_occupancy{0, g.share, g.blocks_per_sm, g.warps_per_sm, result->limited_by.c_str(),
                                        g.by_warps, g.by_blocks, g.by_registers, g.by_shared, g.by_barriers,
                                        o.registers, o.estimated ? 1u : 0u, g.registers_per_block, g.shared_per_block,
                                        g.carveout_kib, g.carveout_estimated ? 1u : 0u, o.waves.value_or(0)},
                     occupancy);
  });
}

size_t warplens_result_line_count(const warplens_launch_result* result) {
  return result == nullptr ? 0 : result->lines.rows.size();
}

warplens_status warplens_result_line(const warplens_launch_result* result, size_t index, warplens_line* line) {
  return guarded([&] {
    if (index >= warplens_result_line_count(result))
      return fail(WARPLENS_INVALID, fmt::format("there is no line {} in the result", index));
    const report::LineRow& row = result->lines.rows[index];
    return api::give({sizeof(warplens_line), row.file.c_str(), row.line, row.text.c_str(), row.instructions, row.lanes,
                      api::counters_of(row.global), api::counters_of(row.shared)},
                     line);
  });
}

size_t warplens_result_finding_count(const warplens_launch_result* result) {
  return result == nullptr ? 0 : result->record.launches[0].findings.size();
}

warplens_status warplens_result_finding(const warplens_launch_result* result, size_t index, warplens_finding* finding) {
  return guarded([&] {
    if (index >= warplens_result_finding_count(result))
      return fail(WARPLENS_INVALID, fmt::format("there is no finding {} in the result", index));
    const events::Finding& f = result->record.launches[0].findings[index];
    const auto &b = f.block_index, &t = f.thread_index;
    return api::give({sizeof(warplens_finding),
                      result->finding_kinds[index].c_str(),
                      result->finding_messages[index].c_str(),
                      f.file.c_str(),
                      f.place.line,
                      f.place.column,
                      {b.x, b.y, b.z},
                      {t.x, t.y, t.z},
                      f.address},
                     finding);
  });
}
