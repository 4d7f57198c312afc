// SPDX-License-Identifier: Apache-2.0
// GitHub's workflow commands, which a job prints and GitHub shows beside the lines of a pull request:
//
//   ::error file=app.cu,line=12,col=9,title=warplens excessive-sectors::scale: 28,672 excessive sectors, ...
#pragma once
#include <string>

#include "gate/verdict.h"

namespace warplens::gate {

std::string annotations_text(const Verdict& verdict);

}  // namespace warplens::gate
