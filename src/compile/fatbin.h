// SPDX-License-Identifier: Apache-2.0
// PTX out of what compilers embed in programs: NVIDIA's fat binary (plain, LZ4 or zstd) and our own container, which
// stands where a fat binary would stand in objects made by clang. Machine code is recognised, never read.
// Layouts and where they are known from: docs/fatbin.md, docs/embedding.md. All input is untrusted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace warplens {

struct PtxImage {
  std::string text;          ///< PTX, without a trailing NUL
  std::string name;          ///< source file, when the container says so
  uint32_t target = 0;       ///< 90 for sm_90; 0 when the container does not say
  uint32_t ptx_version = 0;  ///< 10 * major + minor, 0 when the container does not say
};

struct FatBinary {
  std::vector<PtxImage> ptx;
  std::vector<uint32_t> machine_code;  ///< targets for which there is machine code only
};

/// What a pointer handed to __cudaRegisterFatBinary points at (cuda/): a struct of this shape.
struct FatBinaryWrapper {
  uint32_t magic;  ///< kWrapperMagic
  uint32_t version;
  const void* data;
  const void* unused;
};
constexpr uint32_t kWrapperMagic = 0x466243b1;

/// Reads one fat binary or one container of ours, or several in a row with padding between them (an ELF section).
Result<FatBinary> read_fat_binary(std::span<const std::byte> bytes);

/// The extent of the image that starts at `start`, from its header; empty when it has neither magic. Only for
/// memory that the program's loader mapped: the header is trusted to that degree.
std::span<const std::byte> mapped_image(const void* start);

/// Reads what a wrapper points at, or an error that says what is wrong with it.
Result<FatBinary> read_wrapper(const FatBinaryWrapper* wrapper);

/// The image to run when there are several: the newest target that is not above `target`, else the lowest target.
const PtxImage* choose_image(const FatBinary& binary, uint32_t target);

/// Our container around one PTX text.
std::string make_container(const std::string& ptx, const std::string& name);

}  // namespace warplens
