// SPDX-License-Identifier: Apache-2.0
// How a process ends: code that cannot run ends it with exit code 2 and a message that says what is lacking where; a
// signal during a kernel ends the launch, its record is kept, and the process dies by that signal. Each case runs in a
// process of its own.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "compile/fatbin.h"
#include "cuda/runtime_api.h"
#include "report/run_record.h"

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
}

namespace {

constexpr const char* kPtx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry spin(.param .u64 flag)
{
  .reg .pred %p;
  .reg .b32 %r<2>;
  .reg .b64 %d;
  ld.param.u64 %d, [flag];
  st.volatile.global.u32 [%d], 1;
again:
  ld.volatile.global.u32 %r0, [%d];
  setp.ne.u32 %p, %r0, 99;
  @%p bra again;
  ret;
}
.visible .entry strange()
{
  .reg .b32 %r<2>;
  frobnicate.u32 %r0, %r1;
  mov.u32 %r0, 1;
  transmogrify.b32 %r1, %r0;
  ret;
}
.visible .entry plain() { ret; }
)";

void begin_session(const std::string& extra) {
  const std::string path = testing::TempDir() + "ending_test." + std::to_string(getpid());
  std::ofstream(path) << R"({"executor": "interpreter")" << extra << "}";
  setenv("WARPLENS_SESSION", path.c_str(), 1);
}

void add_kernel(const void* data, char& host, const char* name) {
  auto* wrapper = new warplens::FatBinaryWrapper{warplens::kWrapperMagic, 1, data, nullptr};
  __cudaRegisterFunction(__cudaRegisterFatBinary(wrapper), &host, &host, name, -1, nullptr, nullptr, nullptr, nullptr,
                         nullptr);
}

const char* container(const std::string& ptx) {
  static std::string text;  // registered memory stays
  text = warplens::make_container(ptx, "hand.ptx");
  return text.data();
}

char kernel;

cudaError_t launch(void** arguments) { return cudaLaunchKernel(&kernel, 1, 32, arguments, 0, nullptr); }

class Ending : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void launch_kernel_named(const char* name) {
  begin_session("");
  add_kernel(container(kPtx), kernel, name);
  launch(nullptr);
  cudaDeviceSynchronize();
  _exit(0);
}

TEST_F(Ending, unknown_opcodes_are_all_named_with_their_lines) {
  EXPECT_EXIT(launch_kernel_named("strange"), testing::ExitedWithCode(2),
              "hand.ptx:20:.*frobnicate(.|\n)*hand.ptx:22:.*transmogrify");
}

TEST_F(Ending, other_kernels_of_that_module_run) {
  EXPECT_EXIT(launch_kernel_named("plain"), testing::ExitedWithCode(0), "");
}

TEST_F(Ending, missing_kernel_ends_with_advice) {
  EXPECT_EXIT(launch_kernel_named("absent"), testing::ExitedWithCode(2), "no kernel absent");
}

void launch_broken_ptx() {
  begin_session("");
  add_kernel(container(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k( { ret; }\n"), kernel, "k");
  launch(nullptr);
  _exit(0);
}

TEST_F(Ending, syntax_error_has_its_place) {
  EXPECT_EXIT(launch_broken_ptx(), testing::ExitedWithCode(2), "hand.ptx:4:[0-9]+: error");
}

void launch_machine_code() {
  begin_session("");
  // A fat binary with one entry of machine code for sm_90 and no payload to speak of (docs/fatbin.md).
  static unsigned char bytes[16 + 64 + 8] = {};
  const auto put = [](size_t at, auto value) { std::memcpy(bytes + at, &value, sizeof value); };
  put(0, uint32_t{0xba55ed50}), put(4, uint16_t{1}), put(6, uint16_t{16}), put(8, uint64_t{64 + 8});
  put(16, uint16_t{2}), put(20, uint32_t{64}), put(24, uint64_t{8}), put(16 + 28, uint32_t{90});
  add_kernel(bytes, kernel, "k");
  launch(nullptr);
  _exit(0);
}

TEST_F(Ending, machine_code_without_ptx_says_how_to_rebuild) {
  EXPECT_EXIT(launch_machine_code(), testing::ExitedWithCode(2), "machine code only \\(sm_90\\)(.|\n)*compute_90");
}

void be_interrupted(const std::string& record, int signal) {
  begin_session(", \"record\": \"" + record + "\"");
  add_kernel(container(kPtx), kernel, "spin");
  void* flag = nullptr;
  cudaMallocHost(&flag, 4);
  auto* started = static_cast<volatile int*>(flag);
  *started = 0;
  void* arguments[] = {&flag};
  launch(arguments);
  while (*started == 0) std::this_thread::yield();
  kill(getpid(), signal);
  cudaDeviceSynchronize();
  for (;;) pause();
}

class EndingBySignal : public Ending, public testing::WithParamInterface<int> {};

TEST_P(EndingBySignal, keeps_the_record_of_the_kernel_that_ran) {
  const std::string record = testing::TempDir() + "ending_record." + std::to_string(GetParam());
  std::remove(record.c_str());
  EXPECT_EXIT(be_interrupted(record, GetParam()), testing::KilledBySignal(GetParam()), "");
  const auto run = warplens::report::read_record(record);
  ASSERT_TRUE(run.has_value());
  ASSERT_EQ(run->launches.size(), 1u);
  EXPECT_FALSE(run->launches[0].complete);
  ASSERT_EQ(run->launches[0].findings.size(), 1u);
  EXPECT_EQ(run->launches[0].findings[0].kind, warplens::events::FindingKind::kInterrupted);
}

INSTANTIATE_TEST_SUITE_P(Signals, EndingBySignal, testing::Values(SIGINT, SIGTERM));

void with_own_handler() {
  begin_session("");
  signal(SIGINT, [](int) { _exit(7); });
  add_kernel(container(kPtx), kernel, "plain");
  launch(nullptr);
  cudaDeviceSynchronize();
  kill(getpid(), SIGINT);
  for (;;) pause();
}

TEST_F(Ending, handler_of_the_program_is_called) { EXPECT_EXIT(with_own_handler(), testing::ExitedWithCode(7), ""); }

void idle_signal() {
  begin_session("");
  add_kernel(container(kPtx), kernel, "plain");
  launch(nullptr);
  cudaDeviceSynchronize();
  kill(getpid(), SIGINT);
  for (;;) pause();
}

TEST_F(Ending, without_a_kernel_the_signal_does_what_it_always_did) {
  EXPECT_EXIT(idle_signal(), testing::KilledBySignal(SIGINT), "");
}

}  // namespace
