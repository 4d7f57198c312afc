// SPDX-License-Identifier: Apache-2.0
#include "exec/device_calls.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/check.h"
#include "exec/access_check.h"
#include "exec/device_printf.h"
#include "exec/executor.h"
#include "exec/lane_memory.h"
#include "ops/builtin_functions.h"

namespace warplens::exec {
namespace {

using Arguments = std::span<const uint64_t>;
using Results = std::span<uint64_t>;

/// Texts of different workers must not mix.
void print(WarpContext& warp, const std::string& text) {
  if (warp.launch->request->print) {
    warp.launch->request->print(text);
  } else {
    // The program's own output: it goes where the program's printf goes.
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
}

void call_vprintf(WarpContext& warp, const DeviceFunction&, uint32_t, unsigned lane, Arguments in, Results out) {
  const LaneMemory memory(warp, lane);
  const uint64_t buffer = in[1];
  PrintSource source;
  source.argument = [&](uint64_t offset, void* to, uint64_t bytes) {
    return memory.read_generic(buffer + offset, to, bytes);
  };
  source.text = [&](uint64_t address) { return memory.read_text(address); };
  int conversions = 0;
  print(warp, format_device_text(memory.read_text(in[0]), source, conversions));
  if (!out.empty()) out[0] = static_cast<uint32_t>(conversions);
}

/// Prints what CUDA prints of a failed assertion's place and condition, and records the finding.
void report_assertion(WarpContext& warp, uint32_t pc, unsigned lane, Arguments in) {
  const LaneMemory memory(warp, lane);
  events::Finding f = finding_at(warp, events::FindingKind::kAssert, pc, lane);
  f.message = fmt::format("assertion `{}` failed in {} at {}:{}", memory.read_text(in[0]), memory.read_text(in[3]),
                          memory.read_text(in[1]), static_cast<uint32_t>(in[2]));
  warp.launch->fail(std::move(f));
}

void call_assertfail(WarpContext& warp, const DeviceFunction&, uint32_t pc, unsigned lane, Arguments in, Results) {
  report_assertion(warp, pc, lane, in);
  abandon_warp(warp);
}

void call_malloc(WarpContext& warp, const DeviceFunction&, uint32_t, unsigned, Arguments in, Results out) {
  out[0] = warp.launch->arena->allocate(in[0], "device malloc").value_or(0);
}

void call_free(WarpContext& warp, const DeviceFunction&, uint32_t, unsigned, Arguments in, Results) {
  if (in[0] != 0) warp.launch->arena->free(in[0]);
}

/// The memory that a built-in function reaches through its pointers.
class CallMemory : public ops::BuiltinMemory {
 public:
  CallMemory(WarpContext& warp, uint32_t pc, unsigned lane) : warp_(warp), pc_(pc), lane_(lane), memory_(warp, lane) {}
  uint64_t load(uint64_t address, unsigned bytes) override {
    uint64_t bits = 0;
    if (!memory_.read_generic(address, &bits, bytes)) fail("reads", address, bytes);
    return bits;
  }
  void store(uint64_t address, uint64_t bits, unsigned bytes) override {
    if (!memory_.write_generic(address, &bits, bytes)) fail("writes", address, bytes);
  }

 private:
  void record(std::string_view verb, uint64_t address, unsigned bytes) {
    const bool null = address < 4096;
    events::Finding f =
        finding_at(warp_, null ? events::FindingKind::kNullPointer : events::FindingKind::kOutOfBounds, pc_, lane_);
    f.address = address;
    f.bytes = bytes;
    f.message = fmt::format("{} {} bytes through {} pointer that it passed to a function", verb, bytes,
                            null ? "a null" : "an invalid");
    warp_.launch->fail(std::move(f));
  }
  void fail(std::string_view verb, uint64_t address, unsigned bytes) {
    record(verb, address, bytes);
    abandon_warp(warp_);
  }

  WarpContext& warp_;
  uint32_t pc_;
  unsigned lane_;
  LaneMemory memory_;
};

void call_builtin(WarpContext& warp, const DeviceFunction& self, uint32_t pc, unsigned lane, Arguments in,
                  Results out) {
  const auto* builtin = static_cast<const ops::Builtin*>(self.data);
  CallMemory memory(warp, pc, lane);
  builtin->function(in.first(builtin->arguments), out.first(builtin->results), memory);
}

struct SystemFunction {
  std::string_view name;
  size_t arguments, results;
  DeviceFunction function;
};
constexpr SystemFunction kSystemFunctions[] = {
    {"vprintf", 2, 1, {call_vprintf}},
    {"__assertfail", 5, 0, {call_assertfail}},
    {"malloc", 1, 1, {call_malloc}},
    {"free", 1, 0, {call_free}},
};

/// The callee; null when the call is indirect.
const ptx::Function* callee_of(const ptx::Module& module, const ptx::Instr& call) {
  for (const ptx::Operand& o : call.operands)
    if (o.tag == ptx::OperandTag::kFunction) return &module.functions[o.symbol.index];
  return nullptr;
}

}  // namespace

std::optional<DeviceFunction> find_device_function(const ptx::Module& module, const ptx::Instr& call) {
  const ptx::Function* callee = callee_of(module, call);
  const size_t arguments = call.args.size() - call.returns;
  if (callee == nullptr || !callee->is_declaration) return std::nullopt;
  if (arguments > kMostCallParameters || call.returns > kMostCallParameters) return std::nullopt;
  for (const SystemFunction& f : kSystemFunctions)
    if (f.name == callee->name && call.returns >= f.results && arguments >= f.arguments) return f.function;
  const ops::Builtin* builtin = ops::find_builtin(callee->name);
  if (builtin != nullptr && call.returns >= builtin->results && arguments >= builtin->arguments)
    return DeviceFunction{call_builtin, builtin};
  return std::nullopt;
}

std::string why_call_cannot_run(const ptx::Module& module, const ptx::Instr& call) {
  if (find_device_function(module, call)) return {};
  const ptx::Function* callee = callee_of(module, call);
  if (callee == nullptr) return "calls through function pointers are not supported yet";
  return fmt::format("no function '{}' with {} arguments is known", callee->name, call.args.size() - call.returns);
}

}  // namespace warplens::exec
