// SPDX-License-Identifier: Apache-2.0
// The little that we ask of an executable: its sections and the shared libraries that it needs. ELF64, little-endian,
// bounds-checked throughout; the file comes from the user.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warplens {

class ElfFile {
 public:
  /// `bytes` must outlive this object.
  static Result<ElfFile> parse(std::span<const std::byte> bytes);
  static bool has_magic(std::span<const std::byte> bytes);

  /// Contents of the first section of that name; empty when there is none.
  std::span<const std::byte> section(std::string_view name) const;
  /// DT_NEEDED names.
  std::vector<std::string> needed() const;
  /// Whether the dynamic symbol table has an undefined or defined symbol of that name.
  bool has_dynamic_symbol(std::string_view name) const;
  bool is_x86_64() const { return machine_ == 62; }
  bool is_object_file() const { return type_ == 1; }

 private:
  struct Section {
    std::string_view name;
    std::span<const std::byte> bytes;
    uint32_t link = 0;
  };
  const Section* find(std::string_view name) const;
  std::string_view string_at(const Section& table, uint64_t at) const;

  std::vector<Section> sections_;
  uint16_t machine_ = 0, type_ = 0;
};

}  // namespace warplens
