// SPDX-License-Identifier: Apache-2.0
// Says in one plain sentence what the counts of an access mean. The sentence describes the counts (averages over all
// requests), not the addresses themselves, which the report does not see.
#pragma once
#include <string>

#include "report/line_table.h"

namespace warplens::report {

/// "read A", "write C", "atomic" with an "~" when the counts are estimates.
std::string access_label(const AccessRow& access);
/// "each thread of a warp reads from a sector of its own, so 32 bytes are moved for every 4 used"; no capital, no full
/// stop.
std::string explain(const AccessRow& access);

}  // namespace warplens::report
