// SPDX-License-Identifier: Apache-2.0
// `warplens gallery`: what the gallery has; `warplens gallery TOPIC [RUNG...]`: each rung run, verified and counted,
// beside what a GPU measured (docs/gallery.md). A rung that fails does not stop the others.
#pragma once
#include <string>
#include <vector>

namespace warplens::cli {

int gallery_command(const std::vector<std::string>& arguments);
std::string gallery_help();

}  // namespace warplens::cli
