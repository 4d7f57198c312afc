// SPDX-License-Identifier: Apache-2.0
// The names begin with __cuda, as everything does that leaves this library.
#include "cuda/ranges.h"

#include <cstdint>
#include <map>
#include <mutex>

#include "cuda/runtime_api.h"

namespace warplens::cuda {
namespace {

thread_local std::vector<std::string> t_pushed;

struct Started {
  std::mutex mutex;
  std::map<uint64_t, std::string> ranges;  ///< by id
  uint64_t next = 1;
};
Started& started() {
  static Started* const all = new Started;  // destructors of programs end ranges, too
  return *all;
}

}  // namespace

std::vector<std::string> open_ranges() {
  std::vector<std::string> names = t_pushed;
  const std::lock_guard lock(started().mutex);
  for (const auto& [id, name] : started().ranges) names.push_back(name);
  return names;
}

}  // namespace warplens::cuda

using namespace warplens::cuda;

/// Gives the number of ranges below the new one.
WARPLENS_EXPORT int __cudaWarplensRangePush(const char* name) {
  t_pushed.emplace_back(name ? name : "");
  return static_cast<int>(t_pushed.size()) - 1;
}

/// Gives the number of ranges that stay open; -1: none was.
WARPLENS_EXPORT int __cudaWarplensRangePop(void) {
  if (t_pushed.empty()) return -1;
  t_pushed.pop_back();
  return static_cast<int>(t_pushed.size());
}

WARPLENS_EXPORT uint64_t __cudaWarplensRangeStart(const char* name) {
  const std::lock_guard lock(started().mutex);
  started().ranges.emplace(started().next, name ? name : "");
  return started().next++;
}

WARPLENS_EXPORT void __cudaWarplensRangeEnd(uint64_t id) {
  const std::lock_guard lock(started().mutex);
  started().ranges.erase(id);
}
