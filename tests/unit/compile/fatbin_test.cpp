// SPDX-License-Identifier: Apache-2.0
// Fat binaries built by hand from the documented layout (docs/fatbin.md), with the compressors of the reference
// libraries; each kind of damage is one test.
#include "compile/fatbin.h"

#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>

namespace warplens {
namespace {

const std::string kPtx = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";

enum class Packing { kPlain, kLz4, kZstd };

template <typename T>
void put(std::string& s, size_t at, T v) {
  std::memcpy(s.data() + at, &v, sizeof v);
}

std::string entry(const std::string& text, Packing packing, uint32_t target = 90, uint16_t kind = 1) {
  std::string payload = text + '\0';
  uint64_t flags = 0x11;
  uint32_t compressed = 0;
  if (packing == Packing::kLz4) {
    std::string out(LZ4_compressBound(static_cast<int>(text.size())), '\0');
    out.resize(
        LZ4_compress_default(text.data(), out.data(), static_cast<int>(text.size()), static_cast<int>(out.size())));
    payload = out, flags |= 0x2000;
  } else if (packing == Packing::kZstd) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
    payload = out, flags |= 0x8000;
  }
  if (packing != Packing::kPlain) compressed = static_cast<uint32_t>(payload.size());
  payload.resize((payload.size() + 7) / 8 * 8, '\0');
  std::string header(0x50, '\0');
  put<uint16_t>(header, 0, kind);
  put<uint16_t>(header, 2, 0x0101);
  put<uint32_t>(header, 4, 0x50);
  put<uint64_t>(header, 8, payload.size());
  put<uint32_t>(header, 16, compressed);
  put<uint16_t>(header, 26, 9);
  put<uint32_t>(header, 28, target);
  put<uint64_t>(header, 40, flags);
  put<uint64_t>(header, 56, packing == Packing::kPlain ? 0 : text.size());
  return header + payload;
}

std::string fat(const std::string& entries) {
  std::string header(16, '\0');
  put<uint32_t>(header, 0, 0xba55ed50);
  put<uint16_t>(header, 4, 1);
  put<uint16_t>(header, 6, 16);
  put<uint64_t>(header, 8, entries.size());
  return header + entries;
}

std::span<const std::byte> bytes(const std::string& s) { return std::as_bytes(std::span(s)); }

TEST(Fatbin, reads_plain_lz4_and_zstd_text) {
  for (const Packing p : {Packing::kPlain, Packing::kLz4, Packing::kZstd}) {
    const std::string image = fat(entry(kPtx, p));
    auto binary = read_fat_binary(bytes(image));
    ASSERT_TRUE(binary);
    ASSERT_EQ(binary->ptx.size(), 1u);
    EXPECT_EQ(binary->ptx[0].text, kPtx);
    EXPECT_EQ(binary->ptx[0].target, 90u);
    EXPECT_EQ(binary->ptx[0].ptx_version, 90u);
  }
}

TEST(Fatbin, tells_machine_code_from_ptx) {
  const std::string image =
      fat(entry("\x7f"
                "ELF",
                Packing::kPlain, 86, 2));
  auto binary = read_fat_binary(bytes(image));
  ASSERT_TRUE(binary);
  EXPECT_TRUE(binary->ptx.empty());
  EXPECT_EQ(binary->machine_code, std::vector<uint32_t>{86});
}

TEST(Fatbin, reads_several_images_in_a_section) {
  const std::string image = fat(entry(kPtx, Packing::kZstd, 80) + entry(kPtx, Packing::kPlain, 90)) +
                            std::string(8, '\0') + fat(entry(kPtx, Packing::kLz4, 75)) +
                            make_container("second", "b.cu");
  auto binary = read_fat_binary(bytes(image));
  ASSERT_TRUE(binary);
  ASSERT_EQ(binary->ptx.size(), 4u);
  EXPECT_EQ(binary->ptx[2].target, 75u);
  EXPECT_EQ(binary->ptx[3].text, "second");
}

TEST(Fatbin, container_holds_text_and_name) {
  const std::string image = make_container(kPtx, "dir/a.cu");
  EXPECT_EQ(image.substr(0, 8), std::string("WLPTX\0\1\0", 8));
  EXPECT_EQ(image.size(), 24 + kPtx.size() + 8);
  auto binary = read_fat_binary(bytes(image));
  ASSERT_TRUE(binary);
  EXPECT_EQ(binary->ptx[0].text, kPtx);
  EXPECT_EQ(binary->ptx[0].name, "dir/a.cu");
}

TEST(Fatbin, wrapper_leads_to_the_mapped_image) {
  const std::string image = make_container(kPtx, "a.cu"), nvidia = fat(entry(kPtx, Packing::kZstd));
  for (const std::string& data : {image, nvidia}) {
    EXPECT_EQ(mapped_image(data.data()).size(), data.size());
    const FatBinaryWrapper wrapper{kWrapperMagic, 1, data.data(), nullptr};
    auto binary = read_wrapper(&wrapper);
    ASSERT_TRUE(binary);
    EXPECT_EQ(binary->ptx[0].text, kPtx);
  }
  const FatBinaryWrapper wrong{0x12345678, 1, image.data(), nullptr};
  EXPECT_FALSE(read_wrapper(&wrong));
  EXPECT_FALSE(read_wrapper(nullptr));
}

TEST(Fatbin, chooses_the_newest_target_that_fits) {
  const auto chosen = [](std::vector<uint32_t> targets) {
    FatBinary b;
    for (const uint32_t t : targets) b.ptx.push_back({"", "", t, 0});
    const PtxImage* image = choose_image(b, 90);
    return image ? image->target : 0;
  };
  EXPECT_EQ(chosen({}), 0u);
  EXPECT_EQ(chosen({70, 90, 80}), 90u);
  EXPECT_EQ(chosen({120, 100}), 100u);
  EXPECT_EQ(chosen({120, 80}), 80u);
}

TEST(Fatbin, every_truncation_is_refused_or_harmless) {
  for (const Packing p : {Packing::kPlain, Packing::kLz4, Packing::kZstd}) {
    const std::string image = fat(entry(kPtx, p));
    for (size_t n = 0; n < image.size(); n++) {
      const std::string cut = image.substr(0, n);
      EXPECT_FALSE(read_fat_binary(bytes(cut))) << n;
    }
  }
  const std::string container = make_container(kPtx, "a.cu");
  for (size_t n = 0; n < container.size(); n++) {
    const std::string cut = container.substr(0, n);
    EXPECT_FALSE(read_fat_binary(bytes(cut))) << n;
  }
}

TEST(Fatbin, hostile_sizes_are_refused) {
  for (const Packing p : {Packing::kLz4, Packing::kZstd}) {
    std::string image = fat(entry(kPtx, p));
    put<uint64_t>(image, 16 + 56, uint64_t{1} << 62);
    EXPECT_FALSE(read_fat_binary(bytes(image)));
    put<uint64_t>(image, 16 + 56, uint64_t{1} << 29);  // below the limit, beyond what so few bytes can hold
    EXPECT_FALSE(read_fat_binary(bytes(image)));
  }
  std::string image = fat(entry(kPtx, Packing::kPlain));
  put<uint64_t>(image, 16 + 8, ~uint64_t{0});
  EXPECT_FALSE(read_fat_binary(bytes(image)));
  put<uint32_t>(image, 16 + 4, 0);
  EXPECT_FALSE(read_fat_binary(bytes(image)));
  std::string container = make_container("text", "name");
  put<uint64_t>(container, 8, ~uint64_t{0} - 2);
  EXPECT_FALSE(read_fat_binary(bytes(container)));
}

}  // namespace
}  // namespace warplens
