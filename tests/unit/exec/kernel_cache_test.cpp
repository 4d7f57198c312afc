// SPDX-License-Identifier: Apache-2.0
// Compiled kernels on disk: another executor, with variables at other addresses, runs the same code with the same
// results and counts; what changes the code is compiled anew, what does not is found.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <thread>

#include "support/ptx_launcher.h"

namespace warplens::exec {
namespace {

namespace fs = std::filesystem;
using test::kPtxHead;
using test::Params;
using test::PtxLauncher;

/// Everything that could carry an address of the first process into the code: variables of all spaces, also behind a
/// pointer, a reference function, printf, hooks with descriptors (an atomic, a gather), constants of counting.
std::string kernel_text(const std::string& name, const std::string& factor, const std::string& first) {
  return kPtxHead + R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 4 .u32 sum;
.const .align 4 .b32 table[32] = {)" +
         first + R"(, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
.global .align 1 .b8 format[4] = {104, 105, 10, 0};
.visible .entry )" +
         name + R"((.param .u64 out) {
  .reg .b32 t, i, v, w; .reg .b64 o, p, q, f; .reg .pred is_zero;
  .shared .align 4 .b32 box[64];
  .param .b64 a0; .param .b64 a1; .param .b32 result;
  ld.param.u64 o, [out]; mov.u32 t, %tid.x; mov.u32 v, %tid.y; mov.u32 w, %ntid.x; mad.lo.u32 t, v, w, t;
  mad.wide.u32 o, t, 4, o;
  fns.b32 i, 0xffffffff, t, 1;
  mov.u64 p, table; and.b32 v, i, 15; mad.wide.u32 p, v, 4, p; ld.const.u32 v, [p];
  mul.lo.u32 v, v, )" +
         factor + R"(;
  xor.b32 w, t, 5; mul.wide.u32 q, w, 4; cvt.u32.u64 w, q; mov.u32 i, box; add.u32 w, w, i;
  st.shared.u32 [w], v; bar.sync 0; ld.shared.u32 w, [w];
  atom.global.add.u32 i, [sum], w;
  setp.eq.u32 is_zero, t, 0; @!is_zero bra skip;
  mov.u64 f, format; mov.u64 q, 0;
  st.param.b64 [a0], f; st.param.b64 [a1], q;
  call (result), vprintf, (a0, a1);
skip:
  bar.sync 0;
  ld.global.u32 i, [sum];
  add.u32 w, w, i; st.global.u32 [o], w; ret;
})";
}

/// Hand-computed: lane t stores table[t & 15] * factor, and all add the block's sum of those.
std::vector<uint32_t> expected(uint32_t factor, uint32_t first) {
  uint32_t sum = 0;
  std::vector<uint32_t> values;
  for (uint32_t t = 0; t < 32; ++t) {
    const uint32_t entry = (t & 15) == 0 ? first : t & 15;
    values.push_back(entry * factor);
    sum += values.back();
  }
  for (uint32_t& v : values) v += sum;
  return values;
}

class KernelCache : public testing::Test {
 protected:
  KernelCache() {
    std::string name = (fs::temp_directory_path() / "kernel-cache-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~KernelCache() override { fs::remove_all(folder_); }

  std::unique_ptr<Executor> executor() const {
    JitOptions options;
    options.cache = std::make_shared<FileCache>(folder_ + "/warplens", uint64_t{1} << 30);
    return make_jit(options);
  }

  struct Run {
    CodeSource source = CodeSource::kReady;
    events::LaunchCounts counts;
  };
  /// A process of its own, as far as the code can tell: another arena, another executor.
  Run run(const std::string& text, const std::string& name, uint32_t factor, uint32_t first,
          events::Dim3 block = {32, 1, 1}) {
    arenas_.push_back(std::make_unique<PtxLauncher>(text));  // kept: the next one has other addresses
    PtxLauncher& gpu = *arenas_.back();
    auto* out = gpu.zeros<uint32_t>(32);
    std::string printed;
    const auto jit = executor();
    const auto outcome = gpu.launch(name, {.block = block, .printed = &printed}, Params().add(out), jit.get());
    EXPECT_TRUE(outcome.complete()) << (outcome.complete() ? "" : outcome.findings[0].message);
    EXPECT_EQ(printed, "hi\n");
    EXPECT_EQ(std::vector<uint32_t>(out, out + 32), expected(factor, first));
    return {outcome.preparation.source, outcome.counts};
  }

  std::string folder_;
  std::vector<std::unique_ptr<PtxLauncher>> arenas_;
};

TEST_F(KernelCache, a_second_process_finds_the_code_and_counts_the_same) {
  const std::string text = kernel_text("k", "3", "7");
  const Run cold = run(text, "k", 3, 7), warm = run(text, "k", 3, 7), again = run(text, "k", 3, 7);
  EXPECT_EQ(cold.source, CodeSource::kCompiled);
  EXPECT_EQ(warm.source, CodeSource::kCache);
  EXPECT_EQ(again.source, CodeSource::kCache);
  EXPECT_EQ(warm.counts.sites, cold.counts.sites);
  EXPECT_EQ(warm.counts.blocks.size(), cold.counts.blocks.size());
  for (size_t b = 0; b < cold.counts.blocks.size(); ++b) {
    EXPECT_EQ(warm.counts.blocks[b].warps, cold.counts.blocks[b].warps);
    EXPECT_EQ(warm.counts.blocks[b].lanes, cold.counts.blocks[b].lanes);
  }
}

TEST_F(KernelCache, names_lines_and_initial_values_do_not_matter_but_code_does) {
  run(kernel_text("k", "3", "7"), "k", 3, 7);
  EXPECT_EQ(run(kernel_text("renamed", "3", "7"), "renamed", 3, 7).source, CodeSource::kCache);
  EXPECT_EQ(run("\n// a remark\n" + kernel_text("k", "3", "7"), "k", 3, 7).source, CodeSource::kCache);
  EXPECT_EQ(run(kernel_text("k", "3", "9"), "k", 3, 9).source, CodeSource::kCache);
  EXPECT_EQ(run(kernel_text("k", "5", "7"), "k", 5, 7).source, CodeSource::kCompiled);
  EXPECT_EQ(run(kernel_text("k", "3", "7"), "k", 3, 7, {16, 2, 1}).source, CodeSource::kCompiled)
      << "other lane classes";
}

TEST_F(KernelCache, events_and_uncounted_launches_have_code_of_their_own) {
  const std::string text = kernel_text("k", "3", "7");
  run(text, "k", 3, 7);
  PtxLauncher gpu(text);
  auto* out = gpu.zeros<uint32_t>(32);
  std::string printed;
  memory::TraceListener trace;
  const auto jit = executor();
  const auto outcome =
      gpu.launch("k", {.block = {32, 1, 1}, .listeners = {&trace}, .printed = &printed}, Params().add(out), jit.get());
  EXPECT_EQ(outcome.preparation.source, CodeSource::kCompiled);
  LaunchRequest request;
  request.kernel = gpu.kernel("k");
  request.block = {32, 1, 1};
  request.params = Params().add(out).bytes();
  request.count = false;
  request.workers = 1;
  request.print = [](std::string_view) {};
  EXPECT_EQ(run_launch(request, gpu.arena(), *jit).preparation.source, CodeSource::kCompiled);
}

TEST_F(KernelCache, a_whole_entry_with_senseless_bytes_is_replaced) {
  const std::string text = kernel_text("k", "3", "7");
  run(text, "k", 3, 7);
  std::vector<FileCache::Key> keys;  // of the kernel's parts
  for (const auto& entry : fs::directory_iterator(folder_ + "/warplens")) {
    const std::string name = entry.path().filename().string();
    FileCache::Key& key = keys.emplace_back();
    for (size_t i = 0; i < key.size(); ++i)
      key[i] = static_cast<uint8_t>(std::stoul(name.substr(2 * i, 2), nullptr, 16));
  }
  FileCache cache(folder_ + "/warplens", uint64_t{1} << 30);
  const auto good = cache.find(keys[0]);
  ASSERT_TRUE(good);
  std::vector<std::vector<uint8_t>> senseless = {
      {}, {1, 2, 3}, std::vector<uint8_t>(40), std::vector<uint8_t>(400, 255)};
  senseless.push_back(*good);  // an object file that is none
  for (size_t i = good->size() / 2; i < good->size(); ++i) senseless.back()[i] = 0;
  for (const auto& bytes : senseless) {
    for (const FileCache::Key& key : keys) cache.store(key, bytes);
    EXPECT_EQ(run(text, "k", 3, 7).source, CodeSource::kCompiled);
    EXPECT_EQ(run(text, "k", 3, 7).source, CodeSource::kCache);
  }
}

TEST_F(KernelCache, threads_that_want_one_kernel_compile_it_once) {
  const std::string text = kernel_text("k", "3", "7");
  const auto jit = executor();
  PtxLauncher gpu(text);
  const LoadedKernel* kernel = gpu.kernel("k");
  std::atomic<int> compiled{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    auto* out = gpu.zeros<uint32_t>(32);
    threads.emplace_back([&, out] {
      LaunchRequest request;
      request.kernel = kernel;
      request.block = {32, 1, 1};
      request.params = Params().add(out).bytes();
      request.workers = 1;
      request.print = [](std::string_view) {};
      compiled += run_launch(request, gpu.arena(), *jit).preparation.source == CodeSource::kCompiled;
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(compiled, 1);
}

TEST_F(KernelCache, code_made_ahead_is_used_and_reported_once) {
  const std::string text = kernel_text("k", "3", "7");
  const auto jit = executor();
  PtxLauncher gpu(text);
  LaunchRequest request;
  request.kernel = gpu.kernel("k");
  request.block = {32, 1, 1};
  request.params = Params().add(gpu.zeros<uint32_t>(32)).bytes();
  request.workers = 1;
  request.print = [](std::string_view) {};
  jit->prepare_ahead(request);
  EXPECT_EQ(run_launch(request, gpu.arena(), *jit).preparation.source, CodeSource::kCompiled);
  EXPECT_EQ(run_launch(request, gpu.arena(), *jit).preparation.source, CodeSource::kReady);
  jit->prepare_ahead(request);
  jit->finish_ahead();
}

}  // namespace
}  // namespace warplens::exec
