// SPDX-License-Identifier: Apache-2.0
// See device_link.h. Objects and archives come from the user: all lengths are checked.
#include "compile/device_link.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <string_view>

#include "compile/elf_file.h"
#include "compile/process.h"

namespace warplens {
namespace {

constexpr char kMagic[8] = {'W', 'L', 'L', 'L', 'V', 'M', '\1', '\0'};
constexpr size_t kHeaderBytes = 24;
constexpr std::string_view kRegister = "__cudaRegisterLinkedBinary";
constexpr std::string_view kLinkMark = "warplens_device_link";
constexpr std::string_view kArchiveMagic = "!<arch>\n";
constexpr size_t kMemberHeaderBytes = 60;

using Bytes = std::span<const std::byte>;

std::string_view text_of(Bytes b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

uint64_t number_at(std::string_view text, size_t at) {
  uint64_t v = 0;
  std::memcpy(&v, text.data() + at, sizeof v);
  return v;
}

Status read_containers(std::string_view section, const std::string& file, RelocatableDevice& into) {
  const std::string_view magic(kMagic, sizeof kMagic);
  for (size_t at = section.find(magic); at != std::string_view::npos; at = section.find(magic, at)) {
    const std::string_view rest = section.substr(at);
    if (rest.size() < kHeaderBytes) return make_error("'" + file + "': device code is cut off");
    const uint64_t text = number_at(rest, 8), name = number_at(rest, 16);
    const uint64_t left = rest.size() - kHeaderBytes;
    if (text > left || name > left - text) return make_error("'" + file + "': device code is cut off");
    into.parts.push_back(
        {std::string(rest.substr(kHeaderBytes, text)), std::string(rest.substr(kHeaderBytes + text, name))});
    at += kHeaderBytes + text + name;
  }
  return Done{};
}

// Names of symbols, one after another with NULs between: enough to see for which modules start-up code asks.
void read_module_ids(std::string_view names, RelocatableDevice& into) {
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find('\0'));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    if (name == kLinkMark) into.linked = true;
    if (!name.starts_with(kRegister)) continue;
    std::string id(name.substr(kRegister.size()));
    if (std::find(into.module_ids.begin(), into.module_ids.end(), id) == into.module_ids.end())
      into.module_ids.push_back(std::move(id));
  }
}

Status read_object(Bytes bytes, const std::string& file, RelocatableDevice& into) {
  if (!ElfFile::has_magic(bytes)) return Done{};
  const auto elf = ElfFile::parse(bytes);
  if (!elf) return make_error("'" + file + "': " + elf.error()[0].message);
  if (!elf->is_object_file()) return Done{};
  read_module_ids(text_of(elf->section(".strtab")), into);
  return read_containers(text_of(elf->section("__nv_relfatbin")), file, into);
}

Status read_archive(Bytes bytes, const std::string& file, RelocatableDevice& into) {
  const std::string_view text = text_of(bytes);
  for (size_t at = kArchiveMagic.size(); at + kMemberHeaderBytes <= text.size();) {
    const std::string_view digits = text.substr(at + 48, 10);
    size_t size = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), size).ec != std::errc() ||
        size > text.size() - at - kMemberHeaderBytes)
      return make_error("'" + file + "' is a damaged archive");
    if (auto done = read_object(bytes.subspan(at + kMemberHeaderBytes, size), file, into); !done) return done;
    at += kMemberHeaderBytes + size + size % 2;
  }
  return Done{};
}

}  // namespace

std::string make_relocatable_container(const std::string& ir, const std::string& name) {
  std::string out(kMagic, sizeof kMagic);
  for (const uint64_t size : {uint64_t{ir.size()}, uint64_t{name.size()}})
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
  return out + ir + name;
}

Result<RelocatableDevice> read_relocatable(const std::vector<std::string>& files) {
  RelocatableDevice device;
  for (const std::string& file : files) {
    const auto contents = read_file(file);
    if (!contents) return contents.error();
    const Bytes bytes = std::as_bytes(std::span(*contents));
    const Status done =
        contents->starts_with(kArchiveMagic) ? read_archive(bytes, file, device) : read_object(bytes, file, device);
    if (!done) return done.error();
  }
  return device;
}

std::string link_stub(const std::vector<std::string>& module_ids, const std::string& container) {
  std::string c = R"(#include <stdlib.h>
typedef void (*Globals)(void**);
struct Wrapper { unsigned magic, version; const void* data; const void* unused; };
__asm__(".section .nv_fatbin,\"a\"\n.balign 16\nwarplens_linked_code:\n.incbin \"CONTAINER\"\n.previous\n");
extern const char warplens_linked_code[] __attribute__((visibility("hidden")));
static struct Wrapper wrapper __attribute__((section(".nvFatBinSegment"), used)) =
    {0x466243b1, 1, warplens_linked_code, 0};
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
char warplens_device_link __attribute__((visibility("hidden")));
static void** handle;
static void unregister(void) { __cudaUnregisterFatBinary(handle); }
static void add(Globals globals) {
  if (!handle) {
    handle = __cudaRegisterFatBinary(&wrapper);
    atexit(unregister);
  }
  globals(handle);
  __cudaRegisterFatBinaryEnd(handle);
}
)";
  c.replace(c.find("CONTAINER"), 9, container);
  for (const std::string& id : module_ids) {
    c += "void " + std::string(kRegister) + id + "(Globals globals, void* a, void* b, void* d) { add(globals); }\n";
  }
  return c;
}

std::string join_static_names(const std::string& ir) {
  std::map<std::string, std::string> unique;  // plain name to unique name, both with their "@"
  for (const std::string_view mark : {"__static__", "__intern__"}) {
    for (size_t at = ir.find("\n@"); at != std::string::npos; at = ir.find("\n@", at + 1)) {
      const std::string_view line = std::string_view(ir).substr(at + 1, ir.find('\n', at + 1) - at - 1);
      const std::string_view name = line.substr(0, line.find(' '));
      if (const size_t suffix = name.find(mark); suffix != std::string_view::npos)
        unique[std::string(name.substr(0, suffix))] = name;
    }
  }
  std::erase_if(unique,
                [&ir](const auto& names) { return ir.find("\n" + names.first + " = external ") == std::string::npos; });
  if (unique.empty()) return ir;
  std::string out;
  for (size_t at = 0; at < ir.size();) {
    const size_t end = std::min(ir.find('\n', at), ir.size() - 1) + 1;
    const std::string_view line = std::string_view(ir).substr(at, end - at);
    at = end;
    const auto declared = unique.find(std::string(line.substr(0, line.find(' '))));
    if (declared != unique.end() && line.substr(declared->first.size()).starts_with(" = external ")) continue;
    for (size_t from = 0; from < line.size();) {
      const size_t symbol = std::min(line.find('@', from), line.size());
      size_t after = std::min(symbol + 1, line.size());
      while (after < line.size() && (isalnum(static_cast<unsigned char>(line[after])) || strchr("_.$", line[after])))
        after++;
      const auto name = unique.find(std::string(line.substr(symbol, after - symbol)));
      out += line.substr(from, symbol - from);
      out += name == unique.end() ? line.substr(symbol, after - symbol) : std::string_view(name->second);
      from = after;
    }
  }
  return out;
}

std::string find_archive(const std::string& name, const std::vector<std::string>& linker_options) {
  for (const std::string& option : linker_options) {
    if (!option.starts_with("-L")) continue;
    std::string path = option.substr(2) + "/lib" + name + ".a";
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return "";
}

}  // namespace warplens
