// SPDX-License-Identifier: Apache-2.0
// FNV-1a, 64 bits: names texts in fingerprints, caches and reports. Each step is one-to-one, so that no change of a
// single byte goes unnoticed; nothing may depend on it being hard to forge.
#pragma once
#include <cstdint>
#include <string_view>

namespace warplens {

constexpr uint64_t kTextHashSeed = 0xcbf29ce484222325;

constexpr uint64_t text_hash(unsigned char byte, uint64_t seed) { return (seed ^ byte) * 0x100000001b3; }

constexpr uint64_t text_hash(std::string_view text, uint64_t seed = kTextHashSeed) {
  for (const char c : text) seed = text_hash(static_cast<unsigned char>(c), seed);
  return seed;
}

}  // namespace warplens
