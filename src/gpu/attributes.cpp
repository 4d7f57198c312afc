// SPDX-License-Identifier: Apache-2.0
// Answers to cudaDeviceGetAttribute for GPUs whose file has no list of them. Numbers of attributes are the interface's
// (cudaDeviceAttr). What limits and sizes answer comes from the file's entries; what remains is answered when every GPU
// of compute capability 7.0 and later answers alike: properties of CUDA's programming model, and the extents of
// textures and surfaces (programming guide, technical specifications, documented). Everything else stays unknown.
#include <algorithm>
#include <iterator>

#include "gpu/gpu.h"

namespace warplens::gpu {
namespace {

struct Answer {
  int number, value;
};
// clang-format off
constexpr Answer kAlike[] = {
    {10, 32},  // warp size
    {11, 2147483647}, {14, 512}, {30, 512}, {51, 32},  // pitch of copies; alignment of textures, surfaces, pitches
    {15, 1}, {31, 1}, {78, 1},  // copies beside kernels, kernels side by side, stream priorities
    {17, 0}, {18, 0}, {20, 0},  // no time limit for kernels, not integrated, default compute mode
    {19, 1}, {41, 1}, {83, 1},  // mapped host memory, unified addressing, managed memory
    {21, 131072}, {22, 131072}, {23, 65536}, {24, 16384}, {25, 16384}, {26, 16384},  // textures: 1D, 2D, 3D
    {27, 32768}, {28, 32768}, {29, 2048}, {42, 32768}, {43, 2048}, {45, 32768}, {46, 32768},  // layered, gathers
    {52, 32768}, {53, 32768}, {54, 2046},  // cube maps
    {55, 32768}, {56, 131072}, {57, 65536}, {58, 16384}, {59, 16384}, {60, 16384},  // surfaces: 1D, 2D, 3D
    {61, 32768}, {62, 2048}, {63, 32768}, {64, 32768}, {65, 2048}, {66, 32768}, {67, 32768}, {68, 2046},  // layered, cubes
    {79, 1}, {80, 1},  // global and local memory are cached in L1
    {84, 0}, {85, 0},  // one GPU on its board
    {90, 1}, {95, 1}, {115, 1},  // compute preemption, cooperative launch, memory pools
};
// clang-format on

std::optional<int> from_entries(const Gpu& g, int number) {
  const auto whole = [](auto value) { return static_cast<int>(value); };
  switch (number) {
    case 1: return whole(g.threads_per_block);
    case 2:
    case 3:
    case 4: return whole(g.block_dim[static_cast<size_t>(number - 2)]);
    case 5:
    case 6:
    case 7: return whole(g.grid_dim[static_cast<size_t>(number - 5)]);
    case 8: return whole(g.shared_per_block);
    case 9: return g.constant_bytes;
    case 12: return whole(g.registers_per_block);
    case 13: return g.sm_clock_khz;
    case 16: return g.sms;
    case 36: return g.memory_clock_khz;
    case 37: return g.memory_bus_bits;
    case 38: return g.l2_bytes;
    case 39: return whole(g.threads_per_sm);
    case 40: return g.async_engines;
    case 75: return g.compute_capability[0];
    case 76: return g.compute_capability[1];
    case 81: return whole(g.shared_per_sm);
    case 82: return whole(g.registers_per_sm);
    case 87: return g.fp32 && g.fp64 ? std::optional<int>(whole(*g.fp32 / *g.fp64)) : std::nullopt;
    case 97: return whole(g.shared_per_block_optin);
    case 106: return whole(g.blocks_per_sm);
    case 108: return g.l2_persisting_bytes;
    case 111: return whole(g.shared_reserved_per_block);
    case 120: return g.cluster_blocks > 1 ? 1 : 0;
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<int> Gpu::known_attribute(int number) const {
  if (number >= 1 && number <= static_cast<int>(attributes.size())) return attributes[static_cast<size_t>(number - 1)];
  if (const auto own = from_entries(*this, number)) return own;
  const auto* found = std::ranges::find(kAlike, number, &Answer::number);
  return found == std::end(kAlike) ? std::nullopt : std::optional<int>(found->value);
}

}  // namespace warplens::gpu
