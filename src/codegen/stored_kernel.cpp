// SPDX-License-Identifier: Apache-2.0
// 64-bit words, then the object:
//   blocks, sites, frame bytes, number of constants, bytes of the object
//   for each constant: site, block, per, the eight counts
#include "codegen/stored_kernel.h"

#include <cstring>

namespace warplens::codegen {
namespace {

constexpr size_t kHeaderWords = 5, kConstantWords = 3 + kWordsPerSite;

void append(std::vector<uint8_t>& to, const uint64_t* words, size_t count) {
  const auto* at = reinterpret_cast<const uint8_t*>(words);
  to.insert(to.end(), at, at + count * sizeof *words);
}

}  // namespace

std::vector<uint8_t> encode(const StoredKernel& kernel) {
  std::vector<uint8_t> out;
  out.reserve((kHeaderWords + kConstantWords * kernel.constants.size()) * sizeof(uint64_t) + kernel.object.size());
  const uint64_t header[kHeaderWords] = {kernel.layout.blocks, kernel.layout.sites, kernel.frame_bytes,
                                         kernel.constants.size(), kernel.object.size()};
  append(out, header, kHeaderWords);
  for (const ConstantCost& c : kernel.constants) {
    const uint64_t words[kConstantWords] = {c.site,
                                            c.block,
                                            static_cast<uint64_t>(c.per),
                                            c.cost.requests,
                                            c.cost.lanes,
                                            c.cost.sectors,
                                            c.cost.lines,
                                            c.cost.ideal_sectors,
                                            c.cost.wavefronts,
                                            c.cost.ideal_wavefronts,
                                            c.cost.repeated_sectors,
                                            c.cost.empty_wavefronts};
    append(out, words, kConstantWords);
  }
  out.insert(out.end(), kernel.object.begin(), kernel.object.end());
  return out;
}

std::optional<StoredKernel> decode(std::span<const uint8_t> bytes) {
  uint64_t header[kHeaderWords];
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(header, bytes.data(), sizeof header);
  bytes = bytes.subspan(sizeof header);
  const uint64_t constants = header[3], object = header[4];
  constexpr size_t kConstantBytes = kConstantWords * sizeof(uint64_t);
  if (constants > bytes.size() / kConstantBytes || object != bytes.size() - constants * kConstantBytes)
    return std::nullopt;
  StoredKernel kernel;
  kernel.layout = {header[0], header[1]};
  kernel.frame_bytes = header[2];
  for (uint64_t i = 0; i < constants; ++i) {
    uint64_t w[kConstantWords];
    std::memcpy(w, bytes.data() + i * kConstantBytes, sizeof w);
    if (w[0] >= kernel.layout.sites || w[1] >= kernel.layout.blocks ||
        w[2] > static_cast<uint64_t>(ConstantCost::Per::kRun))
      return std::nullopt;
    kernel.constants.push_back({static_cast<uint32_t>(w[0]),
                                static_cast<uint32_t>(w[1]),
                                {w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11]},
                                static_cast<ConstantCost::Per>(w[2])});
  }
  bytes = bytes.subspan(constants * kConstantBytes);
  kernel.object.assign(bytes.begin(), bytes.end());
  return kernel;
}

}  // namespace warplens::codegen
