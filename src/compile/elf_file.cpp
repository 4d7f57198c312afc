// SPDX-License-Identifier: Apache-2.0
// See elf_file.h. Structures are the system's <elf.h>.
#include "compile/elf_file.h"

#include <elf.h>

#include <cstring>
#include <optional>

namespace warplens {
namespace {

template <typename T>
std::optional<T> load(std::span<const std::byte> bytes, uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T v;
  std::memcpy(&v, bytes.data() + at, sizeof v);
  return v;
}

std::string_view text_at(std::span<const std::byte> table, uint64_t at) {
  if (at >= table.size()) return {};
  const char* start = reinterpret_cast<const char*>(table.data()) + at;
  return {start, strnlen(start, table.size() - at)};
}

}  // namespace

bool ElfFile::has_magic(std::span<const std::byte> bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

Result<ElfFile> ElfFile::parse(std::span<const std::byte> bytes) {
  const auto header = load<Elf64_Ehdr>(bytes, 0);
  if (!has_magic(bytes) || !header || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB)
    return make_error("not a 64-bit little-endian ELF file");
  ElfFile file;
  file.machine_ = header->e_machine;
  file.type_ = header->e_type;
  std::vector<Elf64_Shdr> headers;
  for (uint64_t i = 0; i < header->e_shnum; i++) {
    const auto section = load<Elf64_Shdr>(bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return make_error("the ELF file is cut off: its section table is not all there");
    headers.push_back(*section);
  }
  const auto contents = [&bytes](const Elf64_Shdr& s) -> std::span<const std::byte> {
    if (s.sh_type == SHT_NOBITS || s.sh_offset > bytes.size() || s.sh_size > bytes.size() - s.sh_offset) return {};
    return bytes.subspan(s.sh_offset, s.sh_size);
  };
  if (header->e_shstrndx >= headers.size()) return file;  // stripped of its section table
  const auto names = contents(headers[header->e_shstrndx]);
  for (const Elf64_Shdr& s : headers) file.sections_.push_back({text_at(names, s.sh_name), contents(s), s.sh_link});
  return file;
}

const ElfFile::Section* ElfFile::find(std::string_view name) const {
  for (const Section& s : sections_)
    if (s.name == name) return &s;
  return nullptr;
}

std::span<const std::byte> ElfFile::section(std::string_view name) const {
  const Section* s = find(name);
  return s ? s->bytes : std::span<const std::byte>{};
}

std::string_view ElfFile::string_at(const Section& table, uint64_t at) const {
  return table.link < sections_.size() ? text_at(sections_[table.link].bytes, at) : std::string_view{};
}

std::vector<std::string> ElfFile::needed() const {
  std::vector<std::string> names;
  const Section* dynamic = find(".dynamic");
  if (dynamic == nullptr) return names;
  for (uint64_t at = 0; auto entry = load<Elf64_Dyn>(dynamic->bytes, at); at += sizeof(Elf64_Dyn)) {
    if (entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_NEEDED) names.emplace_back(string_at(*dynamic, entry->d_un.d_val));
  }
  return names;
}

bool ElfFile::has_dynamic_symbol(std::string_view name) const {
  const Section* symbols = find(".dynsym");
  if (symbols == nullptr) return false;
  for (uint64_t at = 0; auto symbol = load<Elf64_Sym>(symbols->bytes, at); at += sizeof(Elf64_Sym))
    if (string_at(*symbols, symbol->st_name) == name) return true;
  return false;
}

}  // namespace warplens
