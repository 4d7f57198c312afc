// SPDX-License-Identifier: Apache-2.0
// See options.h. The table says for each option how its value is attached and where it goes.
#include "compile/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace warplens {
namespace {

enum class Value {
  kNone,         // -g
  kNext,         // -I dir, or -Idir
  kNextOrEqual,  // --std c++17, or --std=c++17
};
enum class Role {
  kPreprocessor,
  kLinker,
  kLinkerVerbatim,
  kHost,
  kBoth,
  kStandard,
  kTarget,
  kRegisters,
  kOutput,
  kDebug,
  kDeviceDebug,
  kFastMath,
  kContract,
  kCompileOnly,
  kVerbose,
  kDrop,
};

struct OptionRow {
  std::string_view name;
  Value value;
  Role role;
};

constexpr auto kRows = std::to_array<OptionRow>({
    {"-I", Value::kNext, Role::kPreprocessor},
    {"-D", Value::kNext, Role::kPreprocessor},
    {"-U", Value::kNext, Role::kPreprocessor},
    {"-isystem", Value::kNext, Role::kPreprocessor},
    {"-include", Value::kNext, Role::kPreprocessor},
    {"-l", Value::kNext, Role::kLinker},
    {"-L", Value::kNext, Role::kLinker},
    {"-Xlinker", Value::kNext, Role::kLinkerVerbatim},
    {"-Xcompiler", Value::kNextOrEqual, Role::kHost},
    {"--compiler-options", Value::kNextOrEqual, Role::kHost},
    {"-Xc", Value::kNext, Role::kBoth},
    {"-std", Value::kNextOrEqual, Role::kStandard},
    {"--std", Value::kNextOrEqual, Role::kStandard},
    {"-arch", Value::kNextOrEqual, Role::kTarget},
    {"--gpu-architecture", Value::kNextOrEqual, Role::kTarget},
    {"--cuda-gpu-arch", Value::kNextOrEqual, Role::kTarget},
    {"-gencode", Value::kNextOrEqual, Role::kTarget},
    {"--generate-code", Value::kNextOrEqual, Role::kTarget},
    {"-code", Value::kNextOrEqual, Role::kDrop},
    {"--gpu-code", Value::kNextOrEqual, Role::kDrop},
    {"-maxrregcount", Value::kNextOrEqual, Role::kRegisters},
    {"--maxrregcount", Value::kNextOrEqual, Role::kRegisters},
    {"-o", Value::kNext, Role::kOutput},
    {"--output-file", Value::kNextOrEqual, Role::kOutput},
    {"-g", Value::kNone, Role::kDebug},
    {"--debug", Value::kNone, Role::kDebug},
    {"-G", Value::kNone, Role::kDeviceDebug},
    {"--device-debug", Value::kNone, Role::kDeviceDebug},
    {"-use_fast_math", Value::kNone, Role::kFastMath},
    {"--use_fast_math", Value::kNone, Role::kFastMath},
    {"-fmad", Value::kNextOrEqual, Role::kContract},
    {"--fmad", Value::kNextOrEqual, Role::kContract},
    {"-c", Value::kNone, Role::kCompileOnly},
    {"--compile", Value::kNone, Role::kCompileOnly},
    {"-v", Value::kNone, Role::kVerbose},
    {"--verbose", Value::kNone, Role::kVerbose},
    // Accepted for build files written for nvcc: always so here, or about machine code that is not made.
    {"-lineinfo", Value::kNone, Role::kDrop},
    {"--generate-line-info", Value::kNone, Role::kDrop},
    {"--expt-relaxed-constexpr", Value::kNone, Role::kDrop},
    {"-expt-relaxed-constexpr", Value::kNone, Role::kDrop},
    {"--expt-extended-lambda", Value::kNone, Role::kDrop},
    {"-expt-extended-lambda", Value::kNone, Role::kDrop},
    {"--extended-lambda", Value::kNone, Role::kDrop},
    {"-extended-lambda", Value::kNone, Role::kDrop},
    {"-m64", Value::kNone, Role::kDrop},
    {"--restrict", Value::kNone, Role::kDrop},
    {"-restrict", Value::kNone, Role::kDrop},
    {"-cudart", Value::kNextOrEqual, Role::kDrop},
    {"--cudart", Value::kNextOrEqual, Role::kDrop},
    {"-ccbin", Value::kNextOrEqual, Role::kDrop},
    {"--compiler-bindir", Value::kNextOrEqual, Role::kDrop},
    {"-Xptxas", Value::kNextOrEqual, Role::kDrop},
    {"--ptxas-options", Value::kNextOrEqual, Role::kDrop},
    {"--threads", Value::kNextOrEqual, Role::kDrop},
    {"-diag-suppress", Value::kNextOrEqual, Role::kDrop},
    {"--diag-suppress", Value::kNextOrEqual, Role::kDrop},
    {"-Wno-deprecated-gpu-targets", Value::kNone, Role::kDrop},
});

struct Match {
  const OptionRow* row = nullptr;
  std::string value;      // attached value
  bool attached = false;  // whether there was one
};

// The longest row that fits: exact, name=value, or (for single letters and the like) namevalue.
Match match_option(const std::string& a) {
  for (const OptionRow& row : kRows)
    if (a == row.name) return {&row, "", false};
  for (const OptionRow& row : kRows) {
    const size_t n = row.name.size();
    if (a.size() <= n || a.compare(0, n, row.name) != 0) continue;
    if (row.value == Value::kNextOrEqual && a[n] == '=') return {&row, a.substr(n + 1), true};
    const bool letter = n == 2 && row.role != Role::kOutput;
    if (row.value == Value::kNext && letter) return {&row, a.substr(n), true};
  }
  return {};
}

void split_commas(const std::string& text, std::vector<std::string>& into) {
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    if (end > at) into.push_back(text.substr(at, end - at));
    at = end + 1;
  }
}

// "sm_80", "compute_90", "arch=compute_90,code=sm_90", "native": the number after the first underscore. Below 70 the
// warp functions with a mask have no instructions, above 90 clang 19 has no target: both are moved into the range.
Status set_target(const std::string& value, CompileOptions& o) {
  if (value == "native" || value == "all" || value == "all-major") return Done{};
  const size_t at = value.find('_');
  int number = 0;
  if (at == std::string::npos ||
      std::from_chars(value.data() + at + 1, value.data() + value.size(), number).ec != std::errc())
    return make_error("not a GPU architecture: '" + value + "'", "write it as sm_90 or compute_90");
  o.target = std::clamp(number, 70, 90);
  return Done{};
}

Status set_registers(const std::string& value, CompileOptions& o) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < 0 || number > 255)
    return make_error("not a number of registers from 0 to 255: '" + value + "'");
  o.max_registers = number;
  return Done{};
}

Status apply(const OptionRow& row, const std::string& value, CompileOptions& o) {
  switch (row.role) {
    case Role::kPreprocessor:
      o.preprocessor.push_back(std::string(row.name));
      o.preprocessor.push_back(value);
      return Done{};
    case Role::kLinker: o.linker.push_back(std::string(row.name) + value); return Done{};
    case Role::kLinkerVerbatim:
      o.linker.push_back("-Xlinker");
      o.linker.push_back(value);
      return Done{};
    case Role::kHost: split_commas(value, o.host_only); return Done{};
    case Role::kBoth: o.both.push_back(value); return Done{};
    case Role::kStandard: o.language_standard = value; return Done{};
    case Role::kTarget: return set_target(value, o);
    case Role::kRegisters: return set_registers(value, o);
    case Role::kOutput: o.output = value; return Done{};
    case Role::kDebug: o.debug = true; return Done{};
    case Role::kDeviceDebug: o.debug = o.device_debug = true; return Done{};
    case Role::kFastMath: o.fast_math = true; return Done{};
    case Role::kContract:
      o.both.push_back(value == "false" ? "-ffp-contract=off" : "-ffp-contract=fast");
      return Done{};
    case Role::kCompileOnly: o.compile_only = true; return Done{};
    case Role::kVerbose: o.verbose = true; return Done{};
    case Role::kDrop: return Done{};
  }
  return Done{};
}

bool starts_with(const std::string& a, std::string_view prefix) { return a.compare(0, prefix.size(), prefix) == 0; }

bool relocatable_device_code(const std::string& a) {
  return a == "-rdc=true" || a == "--relocatable-device-code=true" || a == "-dc" || a == "--device-c";
}

// Options without a row: levels, warnings and families passed on by their first letters.
Status apply_family(const std::string& a, CompileOptions& o) {
  if (relocatable_device_code(a))
    return make_error("device code of several sources cannot be linked together ('" + a + "')",
                      "include the device functions in the source that uses them");
  if (starts_with(a, "-rdc") || starts_with(a, "--relocatable-device-code")) return Done{};
  if (starts_with(a, "-O") && a.size() <= 6) {
    o.optimization = a;
  } else if (starts_with(a, "-Wl,") || a == "-pthread" || a == "-static-libstdc++" || a == "-rdynamic") {
    o.linker.push_back(a);
  } else if (starts_with(a, "-f") || starts_with(a, "-W") || starts_with(a, "-m") || starts_with(a, "-g") ||
             a == "-w" || a == "-pedantic") {
    o.both.push_back(a);
  } else {
    return make_error("unknown compiler option '" + a + "'", "write -Xc " + a + " to hand it to the compiler as it is");
  }
  return Done{};
}

bool has_extension(const std::string& path, std::initializer_list<std::string_view> extensions) {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return false;
  const std::string_view ext = std::string_view(path).substr(dot);
  return std::find(extensions.begin(), extensions.end(), ext) != extensions.end();
}

}  // namespace

bool option_takes_value(const std::string& option) {
  const Match m = match_option(option);
  return m.row != nullptr && m.row->value != Value::kNone && !m.attached;
}

bool is_cuda_path(const std::string& path) { return has_extension(path, {".cu"}); }
bool is_source_path(const std::string& path) { return has_extension(path, {".cu", ".cpp", ".cc", ".cxx", ".C", ".c"}); }

Result<CompileOptions> parse_compile_options(const std::vector<std::string>& arguments) {
  CompileOptions o;
  Diagnostics faults;
  const auto note = [&faults](const Status& s) {
    if (!s) faults.insert(faults.end(), s.error().begin(), s.error().end());
  };
  for (size_t i = 0; i < arguments.size(); i++) {
    const std::string& a = arguments[i];
    if (a.empty() || a[0] != '-') {
      o.sources.push_back(a);
      continue;
    }
    Match m = match_option(a);
    if (m.row == nullptr) {
      note(apply_family(a, o));
      continue;
    }
    if (m.row->value != Value::kNone && !m.attached) {
      if (i + 1 == arguments.size()) {
        faults.push_back(make_error("option '" + a + "' needs a value"));
        break;
      }
      m.value = arguments[++i];
    }
    note(apply(*m.row, m.value, o));
  }
  if (!faults.empty()) return faults;
  return o;
}

}  // namespace warplens
