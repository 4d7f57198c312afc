// SPDX-License-Identifier: Apache-2.0
// The one line about a function that we lack: on stderr, or in the record when a tool collects it for its report.
#include <fmt/format.h>

#include "cuda/entry.h"
#include "cuda/lacking.h"

namespace warplens::cuda {

int not_supported(const char* function, std::atomic<bool>& said) {
  if (!said.exchange(true)) {
    const std::string text = fmt::format("{} is not supported: it returns cudaErrorNotSupported", function);
    say(text);
    if (auto* records = Device::instance().session().records()) records->notice("unsupported_api", text);
  }
  return remember(cudaErrorNotSupported);
}

}  // namespace warplens::cuda
