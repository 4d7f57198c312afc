// SPDX-License-Identifier: Apache-2.0
// Where the parts of Warplens lie, relative to the running executable, so that a build tree and an installed copy both
// work wherever they are moved:
//
//   <prefix>/bin/warplens
//   <prefix>/lib/warplens/libcudart.so.13, libcudart.so.12
//   <prefix>/lib/warplens/toolkit                 (bin/nvcc, include, lib64: what build files expect of a CUDA toolkit)
//   <prefix>/include/warplens                     (the kernel library; in a build tree, as the next, the source tree's)
//   <prefix>/share/warplens/cuda, examples, gallery, results, scripts
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
  std::string gallery, results;  ///< may be empty: not there
  std::string kernel_headers;    ///< holds warplens/kernels.cuh
  std::string measure_script;    ///< may be empty
};

/// Fails, naming what is missing, when the runtime library or the headers are not there.
Result<Installation> find_installation();

}  // namespace warplens::cli
