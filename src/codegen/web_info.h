// SPDX-License-Identifier: Apache-2.0
// What the lane-class analysis knows of a web, and what code generation keeps of it.
#pragma once
#include "codegen/lane_class.h"

namespace warplens::codegen {

struct WebInfo {
  LaneClass cls;
  bool lazy_nan = false;  ///< every definition is arithmetic: NaN bits are settled by readers (lane_builder.h)
  /// A definition under a partial mask must keep the other lanes' old values, because they may still be read.
  bool blend = false;
};

}  // namespace warplens::codegen
