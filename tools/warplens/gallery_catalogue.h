// SPDX-License-Identifier: Apache-2.0
// What the gallery has: topics, and the rungs of each in order. Read from its sources, where each thing is written
// once:
//
//   gallery/topics.txt             "matmul: C = alpha A B + beta C", a line a topic, in order
//   gallery/matmul/05_tiled_32.cu  a rung; its head comment has "Idea: ... Change: ..."
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace warplens::cli {

struct Rung {
  std::string topic, name;  ///< "matmul", "05_tiled_32"
  std::string path;         ///< of the source
  std::string idea;         ///< a sentence or two
  std::string full_name() const { return topic + "/" + name; }
};

struct Topic {
  std::string name, summary;
  std::vector<Rung> rungs;
};

/// `folder`: that of topics.txt. Fails when it, or a rung, cannot be read.
Result<std::vector<Topic>> read_gallery(const std::string& folder);
/// What a head comment gives as the idea; empty: nothing.
std::string idea_of(const std::string& source);
/// The rungs of `topic` that `names` mean ("05_tiled_32", "05_tiled_32.cu" or "05"), all for none. A name of no rung is
/// an error that lists them.
Result<std::vector<Rung>> chosen_rungs(const Topic& topic, const std::vector<std::string>& names);

}  // namespace warplens::cli
