// SPDX-License-Identifier: Apache-2.0
// Where code was inlined. PTX can say it (.loc ... inlined_at), LLVM 19's PTX writer does not: it drops everything but
// the innermost place. So the device half is made in two steps, and between them the text of LLVM's intermediate
// representation is edited: every place in inlined code gets a line number of our own that stands for its whole
// chain of calls, and in the PTX that comes out these numbers turn into full .loc directives. Nothing about the code
// itself changes. The same stop serves __cluster_dims__, for which clang 19 has no attribute.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace warplens {

/// One inlined place: frames from the innermost to the function that all was inlined into.
struct InlinedPlace {
  struct Frame {
    std::string file;      ///< path
    std::string function;  ///< the function that the place is in
    uint32_t line = 0, column = 0;
  };
  std::vector<Frame> frames;
};

struct MarkedIr {
  std::string text;
  std::vector<InlinedPlace> places;  ///< place i has the line kFirstMark + i in `text`
};
constexpr uint32_t kFirstMark = 1u << 24;

/// Replaces the places of inlined code in LLVM text by marks.
MarkedIr mark_inlined_places(const std::string& ir);

/// Turns marks in PTX into chains of .loc with function_name and inlined_at, as nvcc writes them.
std::string restore_inlined_places(const std::string& ptx, const std::vector<InlinedPlace>& places);

/// A cluster shape that a kernel fixes with __cluster_dims__.
struct ClusterDims {
  std::string kernel;
  uint32_t x = 1, y = 1, z = 1;
};

/// Takes the annotations that __cluster_dims__ leaves out of LLVM text (they would only leave a stray declaration of
/// the kernel in the PTX).
std::vector<ClusterDims> take_cluster_dims(std::string& ir);

/// Adds the directives for them to the kernels' entries.
std::string add_cluster_dims(const std::string& ptx, const std::vector<ClusterDims>& dims);

}  // namespace warplens
