// SPDX-License-Identifier: Apache-2.0
// The parts of separate compilation that can be looked at without a link; tests/cli/cc_test.cpp links and runs.
#include "compile/device_link.h"

#include <gtest/gtest.h>

#include "compile/clang_driver.h"
#include "compile/fatbin.h"
#include "compile/process.h"

namespace warplens {
namespace {

TEST(DeviceLink, container_is_not_taken_for_ptx) {
  const std::string container = make_relocatable_container("; text", "a.cu");
  EXPECT_FALSE(read_fat_binary(std::as_bytes(std::span(container))));
}

TEST(DeviceLink, static_variable_gets_its_unique_name_everywhere) {
  const std::string ir =
      "; a module\n@x = external global i32, align 4\n@x__static__12ab = global i32 5\n@xy = external global i32\n"
      "  %1 = load i32, ptr @x, align 4\n  store i32 %1, ptr @xy\n";
  EXPECT_EQ(join_static_names(ir),
            "; a module\n@x__static__12ab = global i32 5\n@xy = external global i32\n"
            "  %1 = load i32, ptr @x__static__12ab, align 4\n  store i32 %1, ptr @xy\n");
  const std::string unaffected = "; a module\n@y__static__1 = global i32 5\n  %1 = load i32, ptr @y__static__1\n";
  EXPECT_EQ(join_static_names(unaffected), unaffected);
}

TEST(DeviceLink, stub_defines_what_each_object_asks_for) {
  const std::string c = link_stub({"__nv_1", "__nv_2"}, "/f");
  EXPECT_NE(c.find("void __cudaRegisterLinkedBinary__nv_1("), std::string::npos);
  EXPECT_NE(c.find("void __cudaRegisterLinkedBinary__nv_2("), std::string::npos);
  EXPECT_NE(c.find(".incbin \\\"/f"), std::string::npos) << c;
}

class DeviceLinkFiles : public testing::Test {
 protected:
  void SetUp() override {
    auto directory = TemporaryDirectory::create();
    ASSERT_TRUE(directory);
    directory_ = std::make_unique<TemporaryDirectory>(std::move(*directory));
  }
  std::string path(const std::string& name) const { return directory_->path() + "/" + name; }
  std::unique_ptr<TemporaryDirectory> directory_;
};

TEST_F(DeviceLinkFiles, damaged_files_are_refused_and_others_passed_over) {
  ASSERT_TRUE(write_file(path("text.o"), "no object"));
  ASSERT_TRUE(write_file(path("cut.a"), "!<arch>\n" + std::string(48, ' ') + "9999999999`\n"));
  const auto passed = read_relocatable({path("text.o")});
  ASSERT_TRUE(passed);
  EXPECT_TRUE(passed->parts.empty());
  EXPECT_FALSE(read_relocatable({path("cut.a")}));
  EXPECT_FALSE(read_relocatable({path("none.o")}));
}

TEST_F(DeviceLinkFiles, object_and_archive_give_the_same_part) {
  if (find_on_path("clang++-19").empty()) GTEST_SKIP() << "clang++-19 is not installed";
  ASSERT_TRUE(write_file(path("a.cu"), "__device__ int f(int x) { return x + 1; }\n"));
  CompileRequest r;
  r.options = *parse_compile_options({"-dc", path("a.cu"), "-o", path("a.o")});
  r.toolchain.cuda_headers = WARPLENS_TEST_DATA "/../../include/cuda";
  const auto outcome = compile_with_clang(r);
  ASSERT_TRUE(outcome && outcome->ok);
  ASSERT_TRUE(run_process({"ar", "rcs", path("liba.a"), path("a.o")})->ok());
  EXPECT_EQ(find_archive("a", {"-L" + directory_->path()}), path("liba.a"));
  for (const char* name : {"a.o", "liba.a"}) {
    const auto device = read_relocatable({path(name)});
    ASSERT_TRUE(device);
    ASSERT_EQ(device->parts.size(), 1u);
    EXPECT_NE(device->parts[0].ir.find("@_Z1fi("), std::string::npos);
    EXPECT_EQ(device->parts[0].name, path("a.cu"));
    EXPECT_EQ(device->module_ids.size(), 1u);
    EXPECT_FALSE(device->linked);
  }
}

}  // namespace
}  // namespace warplens
