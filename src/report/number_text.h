// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: 1,234,567; 4.43 GB; 87 %; 16.5.
#pragma once
#include <cstdint>
#include <string>

namespace warplens::report {

/// "8,396,800"
std::string grouped(uint64_t number);
/// At most `digits` digits grouped, else three figures and a unit: "138 M", "1.07 G".
std::string counted(uint64_t number, unsigned digits = 9);
/// "512 B", "65.5 kB", "4.43 GB" (decimal units).
std::string bytes_text(uint64_t bytes);
/// "16.5", "1.0", "1,024"; for ratios such as sectors per request.
std::string ratio_text(double ratio);
/// "87 %", "<1 %", "0 %", "100 %" only when it is all of it.
std::string percent_text(double share);
/// "0.42 %", "3.1 %", "12 %"; "0 %" only for nothing at all: for errors of estimates.
std::string error_text(double share);
/// "15.86 ms", "55.7 us", as scripts/measured writes measured times.
std::string duration_text(double us);
/// A measured figure in its unit: "552 GB/s", "8.67 TFLOP/s" (from a thousand of G on in T), "14.6 ns/load".
std::string figure_text(double figure, const std::string& unit);
/// "1 launch", "3 launches"; plural by adding "s" or "es".
std::string plural(uint64_t number, const std::string& noun);

}  // namespace warplens::report
