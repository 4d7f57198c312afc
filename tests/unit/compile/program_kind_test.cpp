// SPDX-License-Identifier: Apache-2.0
// Programs are made with the system's compiler: device code is a section, the runtime a library of that name.
#include "compile/program_kind.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "compile/fatbin.h"
#include "compile/process.h"

namespace warplens {
namespace {

class ProgramKindTest : public testing::Test {
 protected:
  void SetUp() override {
    auto directory = TemporaryDirectory::create();
    ASSERT_TRUE(directory);
    directory_ = std::make_unique<TemporaryDirectory>(std::move(*directory));
  }
  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = directory_->path() + "/" + name;
    EXPECT_TRUE(write_file(path, text));
    return path;
  }
  /// A program with `section` as its .nv_fatbin and a library named `library` needed, either empty for none.
  std::string program(const std::string& section, const std::string& library) const {
    std::string source = "int main(void) { return 0; }\nint use(void);\n";
    if (!section.empty()) {
      source += "__attribute__((section(\".nv_fatbin\"))) const unsigned char image[] = {";
      for (const unsigned char c : section) source += std::to_string(c) + ",";
      source += "};\n";
    }
    std::vector<std::string> link{"cc", file("p.c", source), "-o", directory_->path() + "/program"};
    if (!library.empty()) {
      const std::string lib = directory_->path() + "/" + library;
      auto made = run_process({"cc", "-shared", "-fPIC", "-o", lib, file("l.c", "int use(void) { return 1; }\n"),
                               "-Wl,-soname," + library});
      EXPECT_TRUE(made && made->ok());
      link.insert(link.end(), {"-Wl,--no-as-needed", lib});
    }
    auto made = run_process(link);
    EXPECT_TRUE(made && made->ok()) << made->errors;
    return directory_->path() + "/program";
  }
  static std::string message(const std::string& path) {
    const auto p = identify_program(path);
    return p ? "" : p.error()[0].message + " | " + p.error()[0].hint;
  }
  std::unique_ptr<TemporaryDirectory> directory_;
};

std::string machine_code_only() {
  std::string s(16 + 64, '\0');
  const uint32_t magic = 0xba55ed50, header = 64, target = 86;
  const uint64_t body = 64;
  s.replace(0, 4, reinterpret_cast<const char*>(&magic), 4);
  s[4] = 1, s[6] = 16;
  s.replace(8, 8, reinterpret_cast<const char*>(&body), 8);
  s[16] = 2;
  s.replace(20, 4, reinterpret_cast<const char*>(&header), 4);
  s.replace(16 + 28, 4, reinterpret_cast<const char*>(&target), 4);
  return s;
}

TEST_F(ProgramKindTest, sources_by_name_and_ptx_by_text) {
  EXPECT_EQ(identify_program(file("a.cu", "x"))->kind, ProgramKind::kCudaSource);
  EXPECT_EQ(identify_program(file("a.cpp", "x"))->kind, ProgramKind::kHostSource);
  EXPECT_EQ(identify_program(file("k.txt", "// made by hand\n/* two\n lines */ .version 8.0\n"))->kind,
            ProgramKind::kPtx);
}

TEST_F(ProgramKindTest, wrong_inputs_are_named) {
  EXPECT_NE(message(directory_->path() + "/none").find("there is no file"), std::string::npos);
  EXPECT_NE(message(directory_->path()).find("is a directory"), std::string::npos);
  EXPECT_NE(message(file("empty.cu", "")).find("is empty"), std::string::npos);
  EXPECT_NE(message(file("notes.txt", "hello")).find("neither CUDA source"), std::string::npos);
  EXPECT_NE(message(file("k.fatbin", make_container("x", "y"))).find("fat binary without a program"),
            std::string::npos);
  const std::string cut = file("cut", std::string("\x7f"
                                                  "ELF\2\1\1",
                                                  7));
  EXPECT_NE(message(cut).find("cannot be run"), std::string::npos);
}

TEST_F(ProgramKindTest, program_with_the_shared_runtime_and_ptx_runs) {
  const auto p = identify_program(program(make_container(".version 8.0\n", "a.cu"), "libcudart.so.13"));
  // write_file leaves no execute permission on sources, the linker gives it to programs
  ASSERT_TRUE(p) << p.error()[0].message;
  EXPECT_EQ(p->kind, ProgramKind::kExecutable);
  EXPECT_EQ(p->ptx_targets.size(), 1u);
}

TEST_F(ProgramKindTest, static_runtime_says_how_to_rebuild) {
  const std::string m = message(program(make_container(".version 8.0\n", "a.cu"), ""));
  EXPECT_NE(m.find("linked in statically"), std::string::npos) << m;
  EXPECT_NE(m.find("-cudart shared"), std::string::npos) << m;
}

TEST_F(ProgramKindTest, machine_code_alone_says_how_to_rebuild) {
  const std::string m = message(program(machine_code_only(), "libcudart.so.12"));
  EXPECT_NE(m.find("only machine code (sm_86)"), std::string::npos) << m;
  EXPECT_NE(m.find("compute_90"), std::string::npos) << m;
}

TEST_F(ProgramKindTest, program_without_cuda_is_left_open) {
  EXPECT_EQ(identify_program(program("", ""))->kind, ProgramKind::kOther);
  EXPECT_EQ(identify_program(program("", "libcuda.so.1"))->kind, ProgramKind::kExecutable);
}

}  // namespace
}  // namespace warplens
