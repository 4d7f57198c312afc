// SPDX-License-Identifier: Apache-2.0
// The objects behind the handles of include/warplens/warplens.h, and the frame around its functions: no exception
// leaves one, and what went wrong is kept for warplens_error().
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "report/line_table.h"
#include "session/session.h"
#include "warplens/warplens.h"

struct warplens_entry {
  warplens_session* session = nullptr;
  warplens::session::Module* module = nullptr;
  const warplens::ptx::Function* function = nullptr;
  std::string demangled;
};

struct warplens_module {
  warplens::session::Module* module = nullptr;
  std::vector<warplens_entry> entries;
};

struct warplens_session {
  std::unique_ptr<warplens::session::Session> session;
  std::deque<warplens_module> modules;
};

struct warplens_launch_result {
  warplens::report::RunRecord record;  ///< of this launch alone
  warplens::report::Totals totals;
  warplens::report::LineTable lines;
  std::string text, json, limited_by;
  std::vector<std::string> finding_kinds, finding_messages;
};

namespace warplens::api {

/// Keeps the text for warplens_error() and gives `status` back.
warplens_status fail(warplens_status status, std::string text);
/// Diagnostics, with lines of `source` under their places.
warplens_status fail(warplens_status status, const Diagnostics& errors, std::string_view source = {});

/// Runs the body of a function; an exception becomes a status.
template <typename F>
warplens_status guarded(F&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(WARPLENS_OUT_OF_MEMORY, std::string("this computer has no memory left"));
  } catch (const std::exception& e) {
    return fail(WARPLENS_INTERNAL, std::string("internal error: ") + e.what());
  }
}

/// Copies to a caller's structure of an equal or an earlier version; its size stays as the caller gave it.
template <typename T>
warplens_status give(T value, T* to) {
  const size_t bytes = to == nullptr ? 0 : to->struct_bytes;
  if (bytes < sizeof(size_t) || bytes > (size_t{1} << 16))
    return fail(WARPLENS_INVALID, std::string("struct_bytes is not set; it is the structure's sizeof"));
  value.struct_bytes = bytes;
  std::memcpy(static_cast<void*>(to), &value, std::min(bytes, sizeof value));
  return WARPLENS_OK;
}

/// The caller's structure, with zeros for what its version lacks.
template <typename T>
bool take(const T* from, T& to) {
  if (from == nullptr || from->struct_bytes < sizeof(size_t)) return false;
  std::memset(static_cast<void*>(&to), 0, sizeof to);
  std::memcpy(static_cast<void*>(&to), from, std::min(from->struct_bytes, sizeof to));
  return true;
}

/// The counters as the C structure has them.
warplens_counters counters_of(const report::Traffic& traffic);
warplens_errors errors_of(const report::TrafficErrors& errors);

}  // namespace warplens::api
