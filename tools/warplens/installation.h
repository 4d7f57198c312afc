// SPDX-License-Identifier: Apache-2.0
// Where the parts of Warplens lie, relative to the running executable, so that a build tree and an installed copy both
// work wherever they are moved:
//
//   <prefix>/bin/warplens
//   <prefix>/lib/warplens/libcudart.so.13, libcudart.so.12
//   <prefix>/lib/warplens/toolkit                 (bin/nvcc, include, lib64: what build files expect of a CUDA toolkit)
//   <prefix>/share/warplens/cuda, examples        (in a build tree: those of the source tree)
#pragma once
#include <string>

#include "base/result.h"

namespace warplens::cli {

struct Installation {
  std::string library_folder;   ///< holds libcudart.so.13
  std::string runtime_library;  ///< the library itself
  std::string toolkit;
  std::string cuda_headers;
  std::string examples;
};

/// Fails, naming what is missing, when the runtime library or the headers are not there.
Result<Installation> find_installation();

}  // namespace warplens::cli
