// SPDX-License-Identifier: Apache-2.0
#include "warplens/gallery_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "gpu/catalogue.h"
#include "report/output_file.h"
#include "warplens/child.h"
#include "warplens/exit_codes.h"
#include "warplens/gallery_view.h"
#include "warplens/gpu_option.h"
#include "warplens/nearest.h"
#include "warplens/run_command.h"

namespace warplens::cli {
namespace {

struct GalleryOptions {
  std::string topic;  ///< empty: list them
  std::vector<std::string> rungs;
  std::string json, csv;
  std::string from;                      ///< another gallery's folder
  std::string gpu;                       ///< of --gpu; empty: the default
  std::vector<std::string> run_options;  ///< handed to each run
};

Result<GalleryOptions> parse(const std::vector<std::string>& arguments) {
  static constexpr std::string_view kOptions[] = {"--json", "--csv", "--gpu", "--compiler", "--from", "--help"};
  GalleryOptions o;
  Diagnostics faults;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if (a.size() < 2 || a[0] != '-') {
      (o.topic.empty() ? o.topic : o.rungs.emplace_back()) = a;
      continue;
    }
    const size_t equals = a.find('=');
    const std::string name = a.substr(0, equals);
    if (std::ranges::find(kOptions, name) == std::end(kOptions)) {
      const std::string like = nearest(name, kOptions);
      faults.push_back(
          make_error(fmt::format("unknown option '{}'", name),
                     like.empty() ? "warplens help gallery lists the options" : "did you mean " + like + "?"));
      continue;
    }
    const std::string value = equals != std::string::npos ? a.substr(equals + 1)
                              : i + 1 < arguments.size()  ? arguments[++i]
                                                          : "";
    if (value.empty()) faults.push_back(make_error(name + " needs a value"));
    if (name == "--json") o.json = value;
    if (name == "--csv") o.csv = value;
    if (name == "--from") o.from = value;
    if (name == "--gpu") {
      GpuChoice choice;
      if (const Status good = choose_gpu(choice, value); !good)
        faults.insert(faults.end(), good.error().begin(), good.error().end());
      o.gpu = value;
    }
    if (name == "--compiler" && value != "clang" && value != "nvcc")
      faults.push_back(make_error(fmt::format("--compiler is clang or nvcc, not '{}'", value)));
    if (name == "--gpu" || name == "--compiler") o.run_options.insert(o.run_options.end(), {name, value});
  }
  if (o.json == "-" && o.csv == "-")
    faults.push_back(make_error("only one of --json and --csv can be standard output", "give a file to the other"));
  if (o.topic.empty() && (!o.json.empty() || !o.csv.empty()))
    faults.push_back(make_error("--json and --csv take a topic", "warplens gallery TOPIC --json FILE"));
  if (!faults.empty()) return faults;
  return o;
}

/// The folder of a GPU's results: its short name; of one that has none, what was typed.
std::string results_name(const std::string& typed) {
  if (typed.empty()) return std::string(gpu::default_gpu_id());
  const auto wanted = gpu::find_gpu(typed);
  for (const gpu::KnownGpu& known : gpu::known_gpus())
    if (wanted && known.gpu->name == wanted->name) return known.id;
  return typed;
}

const Topic* find_topic(const std::vector<Topic>& topics, const std::string& name) {
  const auto it = std::ranges::find(topics, name, &Topic::name);
  return it == topics.end() ? nullptr : &*it;
}

Diagnostic unknown_topic(const std::vector<Topic>& topics, const std::string& name) {
  std::string list;
  std::vector<std::string_view> names;
  for (const Topic& t : topics) {
    list += (list.empty() ? "" : ", ") + t.name;
    names.push_back(t.name);
  }
  const std::string like = nearest(name, names);
  return make_error(fmt::format("the gallery has no topic '{}'", name),
                    (like.empty() ? "" : "did you mean " + like + "? ") + "It has " + list);
}

std::vector<RungResult> run_all(const std::vector<Rung>& rungs, const Installation& installation,
                                const GalleryOptions& options) {
  std::vector<RungResult> results;
  const bool shown = isatty(STDERR_FILENO) != 0;
  for (const Rung& rung : rungs) {
    // What a rung says overwrites this line, and so does the next.
    if (shown) fmt::print(stderr, "\033[K{} of {}: {}\r", results.size() + 1, rungs.size(), rung.full_name());
    results.push_back(run_rung(rung, installation, options.run_options));
    if (SignalGuard::pending() != 0) break;
  }
  if (shown) fmt::print(stderr, "\033[K");
  return results;
}

bool write_files(const GalleryOptions& options, const Topic& topic, const std::vector<RungResult>& results,
                 const MeasuredGallery& measured) {
  bool written = true;
  for (const auto& [path, text] : {std::pair{options.json, gallery_json(topic, results, measured)},
                                   {options.csv, gallery_csv(results, measured)}}) {
    if (path.empty()) continue;
    const Status status = report::write_output(path, text);
    if (!status) print(status.error());
    written &= status.has_value();
  }
  return written;
}

int show_topic(const GalleryOptions& options, const Topic& topic, const Installation& installation,
               const MeasuredGallery& measured) {
  const auto rungs = chosen_rungs(topic, options.rungs);
  if (!rungs) {
    print(rungs.error());
    return kMisuse;
  }
  const SignalGuard guard;
  const std::vector<RungResult> results = run_all(*rungs, installation, options);
  const int signal = SignalGuard::pending();
  // Files of whole ladders only: half of one would be compared with others.
  bool written = signal != 0 || write_files(options, topic, results, measured);
  if (options.json != "-" && options.csv != "-")
    written &= report::write_all(STDOUT_FILENO, gallery_text(topic, results, measured, report::style_of(STDOUT_FILENO)),
                                 "standard output")
                   .has_value();
  if (signal != 0) {
    print({make_error(fmt::format("interrupted at rung {} of {}", results.size(), rungs->size()),
                      options.json.empty() && options.csv.empty() ? "" : "no file was written")});
    return kSignalBase + signal;
  }
  if (!written) return kCannotWrite;
  return std::ranges::all_of(results, succeeded) ? 0 : kBroken;
}

}  // namespace

int gallery_command(const std::vector<std::string>& arguments) {
  if (std::ranges::any_of(arguments, [](const std::string& a) { return a == "--help" || a == "-h"; })) {
    std::fputs(gallery_help().c_str(), stdout);
    return 0;
  }
  const auto options = parse(arguments);
  if (!options) {
    print(options.error());
    return kMisuse;
  }
  auto installation = find_installation();
  if (installation && !options->from.empty()) {
    installation->gallery = options->from;
    installation->results = options->from + "/results";
  }
  if (!installation || installation->gallery.empty()) {
    print(installation ? Diagnostics{make_error("this copy of warplens is incomplete: its gallery is missing",
                                                "build or install it again")}
                       : installation.error());
    return kMisuse;
  }
  const auto topics = read_gallery(installation->gallery);
  const auto measured = read_measured_gallery(installation->results, results_name(options->gpu));
  if (!topics || !measured) {
    print(topics ? measured.error() : topics.error());
    return kMisuse;
  }
  if (options->topic.empty()) {
    const std::string text = gallery_list_text(*topics, *measured, report::style_of(STDOUT_FILENO));
    return report::write_all(STDOUT_FILENO, text, "standard output") ? 0 : kCannotWrite;
  }
  const Topic* topic = find_topic(*topics, options->topic);
  if (topic != nullptr) return show_topic(*options, *topic, *installation, *measured);
  print({unknown_topic(*topics, options->topic)});
  return kMisuse;
}

std::string gallery_help() {
  return R"(usage: warplens gallery
       warplens gallery [options] TOPIC [RUNG...]

Without a topic: what the gallery has. With one: compiles and runs its rungs (05_tiled_32, or 05; default: all), each of
which verifies its results, then shows for each kernel what one launch asks of memory (as 'warplens run' counts it),
beside the time that a real GPU took for the rung at full size, where it was measured.

  --json FILE            everything, numbers by the names of 'warplens metrics' (- is standard output)
  --csv FILE             the same as a table
  --gpu NAME             the GPU whose limits apply, and whose measurements are shown: h200 (default), a100, l4 ...
  --from FOLDER          a gallery of your own: FOLDER/topics.txt, FOLDER/TOPIC/01_idea.cu, FOLDER/results
  --compiler clang|nvcc  clang with our own CUDA headers (default), or the nvcc you have

The sources: gallery/ of the source tree, share/warplens/gallery of an installation. To measure: warplens help measure.

exit code: 0; 1 a rung is wrong, did not run or was not counted, 2 wrong use or no such topic or rung, 3 a result could not be written,
128 + n ended by signal n.
)";
}

}  // namespace warplens::cli
