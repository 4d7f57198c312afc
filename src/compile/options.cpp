// SPDX-License-Identifier: Apache-2.0
// See options.h. The table says for each option how its value is attached and where it goes.
#include "compile/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <span>
#include <string_view>

#include "base/nearest.h"
#include "compile/process.h"

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
  kFlushDenormals,
  kPreciseDivision,
  kPreciseRoot,
  kDefaultStream,
  kLevel,
  kLanguage,
  kDependencies,
  kDependenciesOnly,
  kStage,
  kDeviceObject,
  kRelocatable,
  kShared,
  kOutputDirectory,
  kForwardUnknown,
  kVerbose,
  kDryRun,
  kDrop,
};

struct OptionRow {
  std::string_view name;
  Value value;
  Role role;
  Stage stage = Stage::kLink;  // of kStage
};

constexpr auto kRows = std::to_array<OptionRow>({
    {"-I", Value::kNext, Role::kPreprocessor},
    {"--include-path", Value::kNextOrEqual, Role::kPreprocessor},
    {"-D", Value::kNext, Role::kPreprocessor},
    {"--define-macro", Value::kNextOrEqual, Role::kPreprocessor},
    {"-U", Value::kNext, Role::kPreprocessor},
    {"--undefine-macro", Value::kNextOrEqual, Role::kPreprocessor},
    {"-isystem", Value::kNextOrEqual, Role::kPreprocessor},
    {"--system-include", Value::kNextOrEqual, Role::kPreprocessor},
    {"-include", Value::kNextOrEqual, Role::kPreprocessor},
    {"--pre-include", Value::kNextOrEqual, Role::kPreprocessor},
    {"-l", Value::kNext, Role::kLinker},
    {"--library", Value::kNextOrEqual, Role::kLinker},
    {"-L", Value::kNext, Role::kLinker},
    {"--library-path", Value::kNextOrEqual, Role::kLinker},
    {"-Xlinker", Value::kNextOrEqual, Role::kLinkerVerbatim},
    {"--linker-options", Value::kNextOrEqual, Role::kLinkerVerbatim},
    {"-Xcompiler", Value::kNextOrEqual, Role::kHost},
    {"--compiler-options", Value::kNextOrEqual, Role::kHost},
    {"-Xc", Value::kNext, Role::kBoth},
    {"-std", Value::kNextOrEqual, Role::kStandard},
    {"--std", Value::kNextOrEqual, Role::kStandard},
    {"-arch", Value::kNextOrEqual, Role::kTarget},
    {"--arch", Value::kNextOrEqual, Role::kTarget},
    {"--gpu-architecture", Value::kNextOrEqual, Role::kTarget},
    {"--cuda-gpu-arch", Value::kNextOrEqual, Role::kTarget},
    {"-gencode", Value::kNextOrEqual, Role::kTarget},
    {"--generate-code", Value::kNextOrEqual, Role::kTarget},
    {"-maxrregcount", Value::kNextOrEqual, Role::kRegisters},
    {"--maxrregcount", Value::kNextOrEqual, Role::kRegisters},
    {"-o", Value::kNext, Role::kOutput},
    {"--output-file", Value::kNextOrEqual, Role::kOutput},
    {"-odir", Value::kNextOrEqual, Role::kOutputDirectory},
    {"--output-directory", Value::kNextOrEqual, Role::kOutputDirectory},
    {"-g", Value::kNone, Role::kDebug},
    {"--debug", Value::kNone, Role::kDebug},
    {"-G", Value::kNone, Role::kDeviceDebug},
    {"--device-debug", Value::kNone, Role::kDeviceDebug},
    {"-use_fast_math", Value::kNone, Role::kFastMath},
    {"--use_fast_math", Value::kNone, Role::kFastMath},
    {"-fmad", Value::kNextOrEqual, Role::kContract},
    {"--fmad", Value::kNextOrEqual, Role::kContract},
    {"-ftz", Value::kNextOrEqual, Role::kFlushDenormals},
    {"--ftz", Value::kNextOrEqual, Role::kFlushDenormals},
    {"-prec-div", Value::kNextOrEqual, Role::kPreciseDivision},
    {"--prec-div", Value::kNextOrEqual, Role::kPreciseDivision},
    {"-prec-sqrt", Value::kNextOrEqual, Role::kPreciseRoot},
    {"--prec-sqrt", Value::kNextOrEqual, Role::kPreciseRoot},
    {"-default-stream", Value::kNextOrEqual, Role::kDefaultStream},
    {"--default-stream", Value::kNextOrEqual, Role::kDefaultStream},
    {"--optimize", Value::kNextOrEqual, Role::kLevel},
    {"-x", Value::kNext, Role::kLanguage},
    {"--x", Value::kNextOrEqual, Role::kLanguage},
    {"-c", Value::kNone, Role::kStage, Stage::kObject},
    {"--compile", Value::kNone, Role::kStage, Stage::kObject},
    {"-E", Value::kNone, Role::kStage, Stage::kPreprocess},
    {"--preprocess", Value::kNone, Role::kStage, Stage::kPreprocess},
    {"-ptx", Value::kNone, Role::kStage, Stage::kPtx},
    {"--ptx", Value::kNone, Role::kStage, Stage::kPtx},
    {"-fatbin", Value::kNone, Role::kStage, Stage::kContainer},
    {"--fatbin", Value::kNone, Role::kStage, Stage::kContainer},
    {"-dlink", Value::kNone, Role::kStage, Stage::kDeviceLink},
    {"--device-link", Value::kNone, Role::kStage, Stage::kDeviceLink},
    {"-link", Value::kNone, Role::kStage, Stage::kLink},
    {"--link", Value::kNone, Role::kStage, Stage::kLink},
    {"-lib", Value::kNone, Role::kStage, Stage::kArchive},
    {"--lib", Value::kNone, Role::kStage, Stage::kArchive},
    {"-dc", Value::kNone, Role::kDeviceObject},
    {"--device-c", Value::kNone, Role::kDeviceObject},
    {"-dw", Value::kNone, Role::kStage, Stage::kObject},
    {"--device-w", Value::kNone, Role::kStage, Stage::kObject},
    {"-rdc", Value::kNextOrEqual, Role::kRelocatable},
    {"--relocatable-device-code", Value::kNextOrEqual, Role::kRelocatable},
    {"-shared", Value::kNone, Role::kShared},
    {"--shared", Value::kNone, Role::kShared},
    {"-M", Value::kNone, Role::kDependenciesOnly},
    {"--generate-dependencies", Value::kNone, Role::kDependenciesOnly},
    {"-MM", Value::kNone, Role::kDependenciesOnly},
    {"--generate-nonsystem-dependencies", Value::kNone, Role::kDependenciesOnly},
    {"-MD", Value::kNone, Role::kDependencies},
    {"--generate-dependencies-with-compile", Value::kNone, Role::kDependencies},
    {"-MMD", Value::kNone, Role::kDependencies},
    {"--generate-nonsystem-dependencies-with-compile", Value::kNone, Role::kDependencies},
    {"-MP", Value::kNone, Role::kDependencies},
    {"--generate-dependency-targets", Value::kNone, Role::kDependencies},
    {"-MF", Value::kNextOrEqual, Role::kDependencies},
    {"--dependency-output", Value::kNextOrEqual, Role::kDependencies},
    {"-MT", Value::kNextOrEqual, Role::kDependencies},
    {"--dependency-target-name", Value::kNextOrEqual, Role::kDependencies},
    {"-MQ", Value::kNextOrEqual, Role::kDependencies},
    {"-forward-unknown-to-host-compiler", Value::kNone, Role::kForwardUnknown},
    {"--forward-unknown-to-host-compiler", Value::kNone, Role::kForwardUnknown},
    {"-forward-unknown-opts", Value::kNone, Role::kForwardUnknown},
    {"--forward-unknown-opts", Value::kNone, Role::kForwardUnknown},
    {"-v", Value::kNone, Role::kVerbose},
    {"--verbose", Value::kNone, Role::kVerbose},
    {"-dryrun", Value::kNone, Role::kDryRun},
    {"--dryrun", Value::kNone, Role::kDryRun},
    {"-dry-run", Value::kNone, Role::kDryRun},
    {"--dry-run", Value::kNone, Role::kDryRun},
});

// Accepted for build files written for nvcc and dropped: always so here, or about machine code that is not made, or
// about tools that are not used. Each is known with one dash and with two.
constexpr auto kDropped = std::to_array<std::string_view>({
    "lineinfo",
    "generate-line-info",
    "expt-relaxed-constexpr",
    "expt-extended-lambda",
    "extended-lambda",
    "m64",
    "restrict",
    "keep",
    "save-temps",
    "src-in-ptx",
    "source-in-ptx",
    "res-usage",
    "resource-usage",
    "dlto",
    "lto",
    "gen-opt-lto",
    "dlink-time-opt",
    "ewp",
    "extensible-whole-program",
    "noprof",
    "no-align-double",
    "allow-unsupported-compiler",
    "no-device-link",
    "nodlink",
    "no-host-device-initializer-list",
    "no-host-device-move-forward",
    "err-no",
    "display-error-number",
    "no-display-error-number",
    "brief-diagnostics",
    "compress-all",
    "extra-device-vectorization",
    "forward-slash-prefix-opts",
    "no-compress",
    "time-report",
    "forward-unknown-to-host-linker",
    "objdir-as-tempdir",
    "disable-warnings-device",
    "Wno-deprecated-gpu-targets",
    "Wno-deprecated-declarations-device",
    "Wreorder",
    "Wext-lambda-captures-this",
    "Wdefault-stream-launch",
    "Wmissing-launch-bounds",
    "Wcross-execution-space-call",
});
constexpr auto kDroppedWithValue = std::to_array<std::string_view>({
    "code",
    "gpu-code",
    "cudart",
    "cudadevrt",
    "ccbin",
    "compiler-bindir",
    "Xptxas",
    "ptxas-options",
    "Xnvlink",
    "nvlink-options",
    "Xcudafe",
    "cudafe-options",
    "Xarchive",
    "archive-options",
    "Xfatbin",
    "fatbin-options",
    "Xopencc",
    "threads",
    "t",
    "split-compile",
    "split-compile-extended",
    "diag-suppress",
    "diag-error",
    "diag-warn",
    "keep-dir",
    "dopt",
    "m",
    "machine",
    "time",
    "target-directory",
    "target-dir",
    "dependency-drive-prefix",
    "libdevice-directory",
    "ldir",
    "host-linker-script",
    "hls",
    "compress-mode",
    "static-global-template-stub",
    "entries",
    "e",
    "device-entity-has-hidden-visibility",
    "maxnreg",
    "ftemplate-backtrace-limit-device",
    "jump-table-density",
});

constexpr OptionRow kDropRow{"", Value::kNone, Role::kDrop};
constexpr OptionRow kDropRowWithValue{"", Value::kNextOrEqual, Role::kDrop};

struct Match {
  const OptionRow* row = nullptr;
  std::string value;      // attached value
  bool attached = false;  // whether there was one
};

Match match_dropped(const std::string& a) {
  std::string_view name = a;
  name.remove_prefix(std::min<size_t>(name.find_first_not_of('-'), 2));
  const bool has_value = name.find('=') != std::string_view::npos;
  if (!has_value && std::find(kDropped.begin(), kDropped.end(), name) != kDropped.end()) return {&kDropRow, "", false};
  const std::string_view stem = name.substr(0, name.find('='));
  if (std::find(kDroppedWithValue.begin(), kDroppedWithValue.end(), stem) != kDroppedWithValue.end())
    return {&kDropRowWithValue, "", has_value};
  return {};
}

// The row that fits: exact, name=value, or (for single letters) namevalue.
Match match_option(const std::string& a) {
  for (const OptionRow& row : kRows)
    if (a == row.name) return {&row, "", false};
  for (const OptionRow& row : kRows) {
    const size_t n = row.name.size();
    if (a.size() <= n || a.compare(0, n, row.name) != 0) continue;
    if (row.value == Value::kNextOrEqual && a[n] == '=') return {&row, a.substr(n + 1), true};
  }
  if (Match dropped = match_dropped(a); dropped.row != nullptr) return dropped;
  for (const OptionRow& row : kRows) {
    const size_t n = row.name.size();
    if (a.size() <= n || a.compare(0, n, row.name) != 0) continue;
    const bool path = row.name == "-I" || row.name == "-L";
    if (row.value == Value::kNext && n == 2 && row.role != Role::kOutput)
      return {&row, a.substr(path && a[n] == '=' ? n + 1 : n), true};
  }
  return {};
}

// The short spelling, which clang knows.
std::string short_spelling(std::string_view name) {
  constexpr auto kLong = std::to_array<std::array<std::string_view, 2>>({
      {"--include-path", "-I"},
      {"--define-macro", "-D"},
      {"--undefine-macro", "-U"},
      {"--system-include", "-isystem"},
      {"--pre-include", "-include"},
      {"--library", "-l"},
      {"--library-path", "-L"},
      {"--generate-dependencies", "-M"},
      {"--generate-nonsystem-dependencies", "-MM"},
      {"--generate-dependencies-with-compile", "-MD"},
      {"--generate-nonsystem-dependencies-with-compile", "-MMD"},
      {"--generate-dependency-targets", "-MP"},
      {"--dependency-output", "-MF"},
      {"--dependency-target-name", "-MT"},
  });
  for (const auto& [full, brief] : kLong)
    if (name == full) return std::string(brief);
  return std::string(name);
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

Status set_flag(std::string_view option, const std::string& value, bool meaning_of_true, bool& to) {
  const bool yes = value == "true" || value == "1", no = value == "false" || value == "0";
  if (!yes && !no) return make_error(std::string(option) + " is true or false, not '" + value + "'");
  to = yes == meaning_of_true;
  return Done{};
}

// What the whole command line says about itself, beyond the options.
struct Parse {
  CompileOptions options;
  UnknownOptions unknown;
  bool forward_unknown = false;
  std::string language;
};

// Our runtime takes the place of these, and is linked always.
bool runtime_library(std::string_view name) {
  return name == "cudart" || name == "cudart_static" || name == "cudadevrt" || name == "cuda" || name == "nvToolsExt";
}

void add_linker(CompileOptions& o, const std::string& option) {
  o.linker.push_back(option);
  o.link_line.push_back(option);
}

Status apply_stage(const OptionRow& row, Parse& p) {
  CompileOptions& o = p.options;
  // -dlink -shared and -rdc=true -c come in any order; of several stages the one that stops later wins, as -dlink
  // together with -c in files written by generators.
  if (row.stage == Stage::kLink && o.stage != Stage::kLink) return Done{};
  o.stage = row.stage;
  return Done{};
}

Status apply(const OptionRow& row, const std::string& value, Parse& p) {
  CompileOptions& o = p.options;
  switch (row.role) {
    case Role::kPreprocessor:
      o.preprocessor.push_back(short_spelling(row.name));
      o.preprocessor.push_back(value);
      return Done{};
    case Role::kLinker:
      if (short_spelling(row.name) != "-l" || !runtime_library(value)) add_linker(o, short_spelling(row.name) + value);
      return Done{};
    case Role::kLinkerVerbatim: {
      std::vector<std::string> words;
      split_commas(value, words);
      for (const std::string& word : words) {
        add_linker(o, "-Xlinker");
        add_linker(o, word);
      }
      return Done{};
    }
    case Role::kHost: split_commas(value, o.host_only); return Done{};
    case Role::kBoth: o.both.push_back(value); return Done{};
    case Role::kStandard: o.language_standard = value; return Done{};
    case Role::kTarget: return set_target(value, o);
    case Role::kRegisters: return set_registers(value, o);
    case Role::kOutput: o.output = value; return Done{};
    case Role::kOutputDirectory: o.output_directory = value; return Done{};
    case Role::kDebug: o.debug = true; return Done{};
    case Role::kDeviceDebug: o.debug = o.device_debug = true; return Done{};
    case Role::kFastMath:
      o.fast_math = o.flush_denormals = o.approximate_division = o.approximate_root = true;
      return Done{};
    case Role::kContract:
      o.both.push_back(value == "false" ? "-ffp-contract=off" : "-ffp-contract=fast");
      return Done{};
    case Role::kFlushDenormals: return set_flag(row.name, value, true, o.flush_denormals);
    case Role::kPreciseDivision: return set_flag(row.name, value, false, o.approximate_division);
    case Role::kPreciseRoot: return set_flag(row.name, value, false, o.approximate_root);
    case Role::kDefaultStream:
      if (value == "per-thread")
        o.preprocessor.insert(o.preprocessor.end(), {"-D", "CUDA_API_PER_THREAD_DEFAULT_STREAM=1"});
      if (value == "per-thread" || value == "legacy" || value == "null") return Done{};
      return make_error("the default stream is legacy or per-thread, not '" + value + "'");
    case Role::kLevel: o.optimization = "-O" + value; return Done{};
    case Role::kLanguage:
      p.language = value;
      if (value == "cu" || value == "c" || value == "c++" || value == "none") return Done{};
      return make_error("-x is cu, c or c++, not '" + value + "'");
    case Role::kDependencies:
      o.dependencies.push_back(short_spelling(row.name));
      if (row.value != Value::kNone) o.dependencies.push_back(value);
      return Done{};
    case Role::kDependenciesOnly:
      o.stage = Stage::kDependencies;
      o.dependencies.push_back(short_spelling(row.name));
      return Done{};
    case Role::kStage: return apply_stage(row, p);
    case Role::kDeviceObject:
      o.stage = Stage::kObject;
      o.relocatable = true;
      return Done{};
    case Role::kRelocatable: return set_flag(row.name, value, true, o.relocatable);
    case Role::kShared: o.shared = true; return Done{};
    case Role::kForwardUnknown: p.forward_unknown = true; return Done{};
    case Role::kVerbose: o.verbose = true; return Done{};
    case Role::kDryRun: o.dry_run = o.verbose = true; return Done{};
    case Role::kDrop: return Done{};
  }
  return Done{};
}

bool starts_with(const std::string& a, std::string_view prefix) { return a.compare(0, prefix.size(), prefix) == 0; }

Status unknown_option(const std::string& a, Parse& p) {
  if (p.unknown == UnknownOptions::kSkip) return Done{};
  if (p.forward_unknown) {
    p.options.host_only.push_back(a);
    return Done{};
  }
  if (a == "-cubin" || a == "--cubin")
    return make_error("no machine code is made here ('" + a + "')", "-fatbin and -ptx make files that can be loaded");
  std::vector<std::string_view> names;
  for (const OptionRow& row : kRows) names.push_back(row.name);
  std::vector<std::string> dropped;
  for (const auto& list :
       {std::span<const std::string_view>(kDropped), std::span<const std::string_view>(kDroppedWithValue)})
    for (const std::string_view name : list) dropped.push_back((starts_with(a, "--") ? "--" : "-") + std::string(name));
  names.insert(names.end(), dropped.begin(), dropped.end());
  const std::string like = nearest(std::string_view(a).substr(0, a.find('=')), names);
  return make_error("unknown compiler option '" + a + "'",
                    (like.empty() ? "" : "did you mean " + like + "? ") + "write -Xc " + a +
                        " to hand it to the compiler as it is, or --ignore-unknown to leave out what is not known");
}

// Options without a row: levels, warnings and families passed on by their first letters.
Status apply_family(const std::string& a, Parse& p) {
  CompileOptions& o = p.options;
  if (starts_with(a, "-O") && a.size() <= 6) {
    o.optimization = a == "-O" ? "-O1" : a;
  } else if (starts_with(a, "-Wl,") || a == "-static-libstdc++" || a == "-static-libgcc" || a == "-rdynamic") {
    add_linker(o, a);
  } else if (a == "-fopenmp" || a == "-pthread" || a == "-pg" || a == "-p") {
    o.host_only.push_back(a);
  } else if (starts_with(a, "-f") || starts_with(a, "-W") || starts_with(a, "-m") || starts_with(a, "-g") ||
             a == "-w" || a == "-pedantic") {
    o.both.push_back(a);
  } else if (a == "--disable-warnings") {
    o.both.push_back("-w");
  } else {
    return unknown_option(a, p);
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

bool is_cuda_input(const CompileOptions& o, const std::string& path) {
  return is_cuda_path(path) || std::find(o.cuda_inputs.begin(), o.cuda_inputs.end(), path) != o.cuda_inputs.end();
}
bool is_source_input(const CompileOptions& o, const std::string& path) {
  return is_source_path(path) || is_cuda_input(o, path);
}

namespace {

// nvcc's -Werror takes kinds of its own as a value, clang's and gcc's takes none.
bool warning_kind(const std::string& a) {
  constexpr auto kKinds = std::to_array<std::string_view>({"all-warnings", "cross-execution-space-call", "reorder",
                                                           "deprecated-declarations", "default-stream-launch",
                                                           "ext-lambda-captures-this", "missing-launch-bounds"});
  const std::string_view first = std::string_view(a).substr(0, a.find(','));
  return std::find(kKinds.begin(), kKinds.end(), first) != kKinds.end();
}

// Words of an option file: blanks separate, quotes and backslashes keep them.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (quote == 0 && isspace(static_cast<unsigned char>(c))) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
      continue;
    }
    in_word = true;
    if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = 0;
    else if (c == '\\' && quote != '\'' && i + 1 < text.size())
      word += text[++i];
    else
      word += c;
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

constexpr int kDeepestOptionFile = 16;

Result<std::vector<std::string>> expand(const std::vector<std::string>& arguments, int depth) {
  std::vector<std::string> out;
  for (size_t i = 0; i < arguments.size(); i++) {
    const std::string& a = arguments[i];
    std::string file;
    if ((a == "-optf" || a == "--options-file") && i + 1 < arguments.size())
      file = arguments[++i];
    else if (starts_with(a, "-optf=") || starts_with(a, "--options-file="))
      file = a.substr(a.find('=') + 1);
    else if (a.size() > 1 && a[0] == '@')
      file = a.substr(1);
    if (file.empty()) {
      out.push_back(a);
      continue;
    }
    if (depth == kDeepestOptionFile) return make_error("option files name each other without end: '" + file + "'");
    auto text = read_file(file);
    if (!text) return text.error();
    auto words = expand(words_of(*text), depth + 1);
    if (!words) return words;
    out.insert(out.end(), words->begin(), words->end());
  }
  return out;
}

void add_input(const std::string& a, Parse& p) {
  const std::string_view file = std::string_view(a).substr(a.rfind('/') + 1);
  if (file.substr(0, 9) == "libcudart" || file.substr(0, 12) == "libcudadevrt") return;
  p.options.sources.push_back(a);
  p.options.link_line.push_back(a);
  if (p.language == "cu" && !is_cuda_path(a)) p.options.cuda_inputs.push_back(a);
}

}  // namespace

Result<std::vector<std::string>> expand_option_files(const std::vector<std::string>& arguments) {
  return expand(arguments, 0);
}

Result<CompileOptions> parse_compile_options(const std::vector<std::string>& arguments, UnknownOptions unknown) {
  Parse p;
  p.unknown = unknown;
  for (const std::string& a : arguments)
    p.forward_unknown = p.forward_unknown || a.ends_with("forward-unknown-to-host-compiler");
  Diagnostics faults;
  const auto note = [&faults](const Status& s) {
    if (!s) faults.insert(faults.end(), s.error().begin(), s.error().end());
  };
  for (size_t i = 0; i < arguments.size(); i++) {
    const std::string& a = arguments[i];
    if (a.empty() || a[0] != '-' || a == "-") {
      add_input(a, p);
      continue;
    }
    if ((a == "-Werror" || a == "--Werror") && i + 1 < arguments.size() && warning_kind(arguments[i + 1])) {
      i++;
      continue;
    }
    if (starts_with(a, "-Werror=") && warning_kind(a.substr(8))) continue;
    Match m = match_option(a);
    if (m.row == nullptr) {
      note(apply_family(a, p));
      continue;
    }
    if (m.row->value != Value::kNone && !m.attached) {
      if (i + 1 == arguments.size()) {
        faults.push_back(make_error("option '" + a + "' needs a value"));
        break;
      }
      m.value = arguments[++i];
    }
    note(apply(*m.row, m.value, p));
  }
  if (!faults.empty()) return faults;
  return std::move(p.options);
}

}  // namespace warplens
