// SPDX-License-Identifier: Apache-2.0
// What one core can do at this moment: clocks change while benchmarks run, so every figure is also shown as a share of
// a loop of independent fused multiply-adds that was timed right beside it.
#pragma once

namespace warplens::bench {

/// Lane operations (one f32 fused multiply-add each) a second of this core, in vectors as wide as the machine has.
/// Takes about two milliseconds.
double fma_lanes_per_second();

}  // namespace warplens::bench
