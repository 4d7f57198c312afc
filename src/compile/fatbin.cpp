// SPDX-License-Identifier: Apache-2.0
// See fatbin.h. Every length read from the input is checked against what is left before it is used, and expanded
// sizes are bounded, so a hostile file costs an error message and not memory.
#include "compile/fatbin.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace warplens {
namespace {

constexpr uint32_t kFatMagic = 0xba55ed50;
constexpr uint16_t kKindPtx = 1;
constexpr uint16_t kKindMachineCode = 2;
constexpr uint64_t kFlagLz4 = 0x2000;
constexpr uint64_t kFlagZstd = 0x8000;
constexpr size_t kFatHeaderBytes = 16;
constexpr size_t kEntryHeaderBytes = 64;  // the fields that are read; entries say how long their header is
// The largest text that is expanded: the largest PTX seen in the wild is some tens of megabytes.
constexpr uint64_t kLargestText = uint64_t{1} << 30;

constexpr char kContainerMagic[8] = {'W', 'L', 'P', 'T', 'X', '\0', '\1', '\0'};
constexpr size_t kContainerHeaderBytes = 24;

using Bytes = std::span<const std::byte>;

template <typename T>
T load(Bytes b, size_t at) {
  WL_CHECK(at + sizeof(T) <= b.size());
  T v;
  std::memcpy(&v, b.data() + at, sizeof(T));
  return v;
}

bool is_container(Bytes b) {
  return b.size() >= sizeof kContainerMagic && std::memcmp(b.data(), kContainerMagic, sizeof kContainerMagic) == 0;
}
bool is_fat(Bytes b) { return b.size() >= 4 && load<uint32_t>(b, 0) == kFatMagic; }

Diagnostic damaged(const std::string& what) {
  return make_error("damaged fat binary: " + what, "rebuild the program; the embedded device code cannot be read");
}

// PTX is stored with NULs behind it and, by some versions of the tool, with newlines before it.
std::string trimmed(std::string text) {
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

Result<std::string> expand_zstd(Bytes payload, uint64_t size) {
  std::string text(size, '\0');
  const size_t n = ZSTD_decompress(text.data(), text.size(), payload.data(), payload.size());
  if (ZSTD_isError(n)) return damaged(std::string("zstd: ") + ZSTD_getErrorName(n));
  text.resize(n);
  return text;
}

Result<std::string> expand_lz4(Bytes payload, uint64_t size) {
  std::string text(size, '\0');
  const int n = LZ4_decompress_safe(reinterpret_cast<const char*>(payload.data()), text.data(),
                                    static_cast<int>(payload.size()), static_cast<int>(text.size()));
  if (n < 0) return damaged("the LZ4 data do not expand");
  text.resize(static_cast<size_t>(n));
  return text;
}

struct Entry {
  uint16_t kind = 0;
  uint32_t header_bytes = 0;
  uint64_t payload_bytes = 0;     // padded
  uint32_t compressed_bytes = 0;  // exact; 0 when not compressed
  uint32_t ptx_version = 0;
  uint32_t target = 0;
  uint64_t flags = 0;
  uint64_t expanded_bytes = 0;
};

Entry read_entry_header(Bytes b) {
  Entry e;
  e.kind = load<uint16_t>(b, 0);
  e.header_bytes = load<uint32_t>(b, 4);
  e.payload_bytes = load<uint64_t>(b, 8);
  e.compressed_bytes = load<uint32_t>(b, 16);
  e.ptx_version = load<uint16_t>(b, 26) * 10u + load<uint16_t>(b, 24);
  e.target = load<uint32_t>(b, 28);
  e.flags = load<uint64_t>(b, 40);
  e.expanded_bytes = load<uint64_t>(b, 56);
  return e;
}

Result<std::string> entry_text(const Entry& e, Bytes payload) {
  const bool compressed = (e.flags & (kFlagLz4 | kFlagZstd)) != 0;
  if (!compressed) return trimmed({reinterpret_cast<const char*>(payload.data()), payload.size()});
  if (e.compressed_bytes > payload.size()) return damaged("the compressed text is longer than its entry");
  if (e.expanded_bytes > kLargestText)
    return damaged(fmt::format("an entry claims to hold {} bytes of PTX", e.expanded_bytes));
  // LZ4 expands a byte to at most 255; a zstd block of at least 3 bytes holds at most 128 KiB. Larger claims would
  // only waste memory.
  const uint64_t stored = e.compressed_bytes ? e.compressed_bytes : payload.size();
  const uint64_t most = (e.flags & kFlagZstd) ? (stored / 3 + 1) << 17 : 255 * stored + 64;
  if (e.expanded_bytes > most) return damaged("an entry claims to expand beyond what its compression can do");
  const Bytes exact = e.compressed_bytes ? payload.first(e.compressed_bytes) : payload;
  auto text = (e.flags & kFlagZstd) ? expand_zstd(exact, e.expanded_bytes) : expand_lz4(exact, e.expanded_bytes);
  if (!text) return text;
  return trimmed(std::move(*text));
}

Status read_fat_entries(Bytes body, FatBinary& into) {
  while (body.size() >= kEntryHeaderBytes) {
    const Entry e = read_entry_header(body);
    if (e.header_bytes < kEntryHeaderBytes || e.header_bytes > body.size() ||
        e.payload_bytes > body.size() - e.header_bytes)
      return damaged(
          fmt::format("an entry of {} + {} bytes in {} bytes", e.header_bytes, e.payload_bytes, body.size()));
    const Bytes payload = body.subspan(e.header_bytes, e.payload_bytes);
    if (e.kind == kKindPtx) {
      auto text = entry_text(e, payload);
      if (!text) return text.error();
      into.ptx.push_back({std::move(*text), "", e.target, e.ptx_version});
    } else if (e.kind == kKindMachineCode) {
      into.machine_code.push_back(e.target);
    }  // other kinds (link-time intermediate code) are of no use here
    body = body.subspan(e.header_bytes + e.payload_bytes);
  }
  return Done{};
}

/// Reads one image at the front of b; the number of bytes that it takes.
Result<size_t> read_fat(Bytes b, FatBinary& into) {
  if (b.size() < kFatHeaderBytes) return damaged("cut off inside its header");
  const uint16_t header = load<uint16_t>(b, 6);
  const uint64_t body = load<uint64_t>(b, 8);
  if (header < kFatHeaderBytes || header > b.size() || body > b.size() - header)
    return damaged(fmt::format("it claims {} bytes, {} are there", body, b.size()));
  const Status done = read_fat_entries(b.subspan(header, body), into);
  if (!done) return done.error();
  return size_t{header} + body;
}

Result<size_t> read_container(Bytes b, FatBinary& into) {
  if (b.size() < kContainerHeaderBytes) return damaged("a container cut off inside its header");
  const uint64_t text = load<uint64_t>(b, 8), name = load<uint64_t>(b, 16);
  const uint64_t left = b.size() - kContainerHeaderBytes;
  if (text > left || name > left - text) return damaged("a container that is longer than its section");
  const char* at = reinterpret_cast<const char*>(b.data()) + kContainerHeaderBytes;
  into.ptx.push_back({std::string(at, text), std::string(at + text, name), 0, 0});
  return kContainerHeaderBytes + text + name;
}

}  // namespace

Result<FatBinary> read_fat_binary(Bytes bytes) {
  FatBinary binary;
  bool found = false;
  while (!bytes.empty()) {
    size_t used = 1;  // padding
    if (is_fat(bytes) || is_container(bytes)) {
      const auto size = is_fat(bytes) ? read_fat(bytes, binary) : read_container(bytes, binary);
      if (!size) return size.error();
      used = *size;
      found = true;
    }
    bytes = bytes.subspan(used);
  }
  if (!found) return make_error("no fat binary: neither NVIDIA's nor our magic number is there");
  return binary;
}

Bytes mapped_image(const void* start) {
  const auto* p = static_cast<const std::byte*>(start);
  if (is_fat({p, 4})) return {p, load<uint16_t>({p, kFatHeaderBytes}, 6) + load<uint64_t>({p, kFatHeaderBytes}, 8)};
  if (is_container({p, sizeof kContainerMagic})) {
    const Bytes header{p, kContainerHeaderBytes};
    return {p, kContainerHeaderBytes + load<uint64_t>(header, 8) + load<uint64_t>(header, 16)};
  }
  return {};
}

Result<FatBinary> read_wrapper(const FatBinaryWrapper* wrapper) {
  if (wrapper == nullptr || wrapper->magic != kWrapperMagic || wrapper->data == nullptr)
    return make_error("the program registers device code in a form that is not known");
  const Bytes image = mapped_image(wrapper->data);
  if (image.empty()) return make_error("the program registers device code that is not a fat binary");
  return read_fat_binary(image);
}

const PtxImage* choose_image(const FatBinary& binary, uint32_t target) {
  const PtxImage* best = nullptr;
  for (const PtxImage& image : binary.ptx) {
    if (best == nullptr) {
      best = &image;
      continue;
    }
    const bool fits = image.target <= target, best_fits = best->target <= target;
    if (fits != best_fits ? fits : (fits ? image.target > best->target : image.target < best->target)) best = &image;
  }
  return best;
}

std::string make_container(const std::string& ptx, const std::string& name) {
  std::string out(kContainerMagic, sizeof kContainerMagic);
  for (const uint64_t size : {uint64_t{ptx.size()}, uint64_t{name.size()}})
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
  return out + ptx + name;
}

}  // namespace warplens
