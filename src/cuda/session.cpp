// SPDX-License-Identifier: Apache-2.0
// Opening a session and choosing launches.
#include "cuda/session.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>

namespace warplens::cuda {
namespace {

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string readable = status == 0 && text ? text : name;
  std::free(text);
  return readable;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(report::SessionFile options) {
  std::unique_ptr<Session> session(new Session(std::move(options)));
  const report::SessionFile& o = session->options_;
  try {  // std::regex has no other way to refuse
    if (!o.kernel_regex.empty()) session->kernel_regex_.emplace(o.kernel_regex);
  } catch (const std::regex_error& error) {
    return make_error(fmt::format("'{}' is not a regular expression: {}", o.kernel_regex, error.what()));
  }
  if (!o.record.empty()) {
    auto records = report::RecordWriter::open(o.record);
    if (!records) return records.error();
    session->records_ = std::move(*records);
  }
  return session;
}

Result<std::unique_ptr<Session>> Session::from_environment() {
  const char* path = std::getenv(report::kSessionVariable);
  if (!path || !*path) {
    report::SessionFile none;
    none.count = false;
    return open(std::move(none));
  }
  auto options = report::read_session_file(path);
  if (!options) return options.error();
  return open(std::move(*options));
}

bool Session::select(const std::string& mangled_name) {
  if (kernel_regex_ && !std::regex_search(mangled_name, *kernel_regex_) &&
      !std::regex_search(demangled(mangled_name), *kernel_regex_))
    return false;
  const std::lock_guard lock(mutex_);
  const uint64_t index = matched_++;
  return index >= options_.launch_skip && index - options_.launch_skip < options_.launch_count;
}

}  // namespace warplens::cuda
