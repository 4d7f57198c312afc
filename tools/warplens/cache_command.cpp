// SPDX-License-Identifier: Apache-2.0
#include "warplens/cache_command.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/file_cache.h"
#include "warplens/exit_codes.h"
#include "warplens/help.h"
#include "warplens/run_command.h"

namespace warplens::cli {

int cache_command(const std::vector<std::string>& arguments) {
  const bool clear = arguments.size() == 1 && arguments[0] == "clear";
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::fputs(cache_help().c_str(), stdout);
    return 0;
  }
  if (!arguments.empty() && !clear) {
    print({make_error(fmt::format("warplens cache does not know '{}'", arguments[0]),
                      "warplens cache shows the folder, warplens cache clear empties it")});
    return kMisuse;
  }
  const CacheLocation location = cache_location();
  if (!location.why_not.empty()) fmt::print(stderr, "warplens: {}\n", location.why_not);
  if (location.folder.empty()) {
    fmt::print("no cache\n");
    return 0;
  }
  const FileCache cache(location.folder, location.bytes);
  if (clear) {
    const uint64_t removed = cache.clear();
    const uint64_t left = cache.usage().entries;
    fmt::print("removed {} entries from {}\n", removed, location.folder);
    if (left == 0) return 0;
    print({make_error(fmt::format("{} entries could not be removed", left))});
    return kCannotWrite;
  }
  const FileCache::Usage usage = cache.usage();
  fmt::print("folder   {}\nentries  {}\nbytes    {}\nbound    {}\n", location.folder, usage.entries, usage.bytes,
             location.bytes);
  return 0;
}

}  // namespace warplens::cli
