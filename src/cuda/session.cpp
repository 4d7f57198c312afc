// SPDX-License-Identifier: Apache-2.0
// Reading the session file and choosing launches.
#include "cuda/session.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace warplens::cuda {
namespace {

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string readable = status == 0 && text ? text : name;
  std::free(text);
  return readable;
}

class Reader {
 public:
  Reader(const nlohmann::json& root, const std::string& file) : root_(root), file_(file) {}
  void read(const char* key, std::string& to) {
    if (const auto* v = find(key, "a string", &nlohmann::json::is_string)) to = v->get<std::string>();
  }
  void read(const char* key, bool& to) {
    if (const auto* v = find(key, "true or false", &nlohmann::json::is_boolean)) to = v->get<bool>();
  }
  template <typename T>
  void read_number(const char* key, T& to) {
    if (const auto* v = find(key, "a number from 0", &nlohmann::json::is_number_unsigned))
      to = static_cast<T>(v->get<uint64_t>());
  }
  void fault(const std::string& message) { errors.push_back(make_error_at(file_, {}, message)); }
  Diagnostics errors;

 private:
  const nlohmann::json* find(const char* key, const char* what, bool (nlohmann::json::*is)() const noexcept) {
    const auto it = root_.find(key);
    if (it == root_.end() || it->is_null()) return nullptr;
    if (((*it).*is)()) return &*it;
    fault(fmt::format("'{}' must be {}", key, what));
    return nullptr;
  }
  const nlohmann::json& root_;
  const std::string& file_;
};

}  // namespace

Result<SessionOptions> parse_session(const std::string& text, const std::string& file_name) {
  const nlohmann::json root = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return make_error_at(file_name, {}, "the session file is not a JSON object");
  SessionOptions o;
  std::string executor = "jit";
  Reader r(root, file_name);
  r.read("record", o.record);
  r.read("count", o.count);
  r.read("kernel_regex", o.kernel_regex);
  r.read_number("launch_skip", o.launch_skip);
  r.read_number("launch_count", o.launch_count);
  r.read("executor", executor);
  r.read_number("workers", o.workers);
  r.read("gpu", o.gpu);
  r.read("trace", o.trace);
  o.interpreter = executor == "interpreter";
  if (!o.interpreter && executor != "jit") r.fault("'executor' must be \"jit\" or \"interpreter\"");
  try {  // std::regex has no other way to refuse
    if (!o.kernel_regex.empty()) std::regex(o.kernel_regex);
  } catch (const std::regex_error& error) {
    r.fault(fmt::format("'kernel_regex' is not a regular expression: {}", error.what()));
  }
  if (!r.errors.empty()) return std::move(r.errors);
  return o;
}

Session::Session(SessionOptions options) : options_(std::move(options)) {
  if (!options_.kernel_regex.empty()) kernel_regex_.emplace(options_.kernel_regex);
}

Result<std::unique_ptr<Session>> Session::from_environment() {
  const char* path = std::getenv("WARPLENS_SESSION");
  if (!path || !*path) {
    SessionOptions none;
    none.count = false;
    return std::make_unique<Session>(none);
  }
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) return make_error(fmt::format("cannot read the session file {}", path));
  auto options = parse_session(text.str(), path);
  if (!options) return options.error();
  auto session = std::make_unique<Session>(std::move(*options));
  if (!session->options_.record.empty()) {
    auto records = report::RecordWriter::open(session->options_.record);
    if (!records) return records.error();
    session->records_ = std::move(*records);
  }
  return session;
}

bool Session::select(const std::string& mangled_name) {
  if (kernel_regex_ && !std::regex_search(mangled_name, *kernel_regex_) &&
      !std::regex_search(demangled(mangled_name), *kernel_regex_))
    return false;
  const std::lock_guard lock(mutex_);
  const uint64_t index = seen_++;
  if (index < options_.launch_skip) return false;
  return !options_.launch_count || index - options_.launch_skip < *options_.launch_count;
}

}  // namespace warplens::cuda
