// SPDX-License-Identifier: Apache-2.0
// The kernels of include/warplens/kernels.cuh against double precision on the CPU: small, odd and empty sizes,
// misaligned pointers, padded rows whose padding must stay as it was, and every documented error. Runs in the engine
// and on a GPU.
//
//   warplens run -O2 -std=c++17 -Iinclude gallery/kernels/verify.cu [PART...]
//   PART: sgemm, sgemm_big, transpose, sum, histogram, attention, status
#include <array>
#include <cstring>
#include <functional>
#include <warplens/kernels.cuh>

#include "../harness.h"

namespace {

using namespace warplens::kernels;
using gallery::Buffer;
using gallery::must;
using gallery::random_floats;

int failures = 0;

void fail(const std::string& what, const std::string& why) {
  std::printf("WRONG %s: %s\n", what.c_str(), why.c_str());
  ++failures;
}

void expect_error(const std::string& what, cudaError_t got, cudaError_t want) {
  if (got != want) fail(what, std::string(cudaGetErrorName(got)) + " instead of " + cudaGetErrorName(want));
}

constexpr int kMost = 0x7fffffff;

/// A pointer that is not aligned to its type, for calls that must refuse it.
template <class T>
T* misaligned(T* p) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(p) + 2);
}

/// Ends a launch; false when it failed.
bool finished(const std::string& what, cudaError_t launched) {
  cudaError_t status = launched;
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) fail(what, cudaGetErrorName(status));
  return status == cudaSuccess;
}

/// Device memory that begins `shift` floats after a 16-byte boundary, with guard words before and after.
struct Shifted {
  static constexpr int kGuards = 4;
  Shifted(const std::vector<float>& host, int shift) : shift(shift + kGuards), buffer(padded(host, shift + kGuards)) {}
  static std::vector<float> padded(const std::vector<float>& host, int shift) {
    std::vector<float> all(shift, 7.0f);
    all.insert(all.end(), host.begin(), host.end());
    all.insert(all.end(), kGuards, 7.0f);
    return all;
  }
  float* get() const { return buffer.get() + shift; }
  /// What is there now; `what` fails when a guard is not what it was.
  std::vector<float> host(const std::string& what) const {
    const std::vector<float> all = buffer.host();
    const auto guard = [](float x) { return x == 7.0f; };
    if (!std::all_of(all.begin(), all.begin() + shift, guard)) fail(what, "wrote before the result");
    if (!std::all_of(all.end() - kGuards, all.end(), guard)) fail(what, "wrote beyond the result");
    return {all.begin() + shift, all.end() - kGuards};
  }
  int shift;
  Buffer<float> buffer;
};

// ---- sgemm
// -----------------------------------------------------------------------------------------------------------

struct Product {
  int m, n, k, pad, shift;  // rows are `pad` floats longer than needed; pointers `shift` floats off 16 bytes
  float alpha, beta;
};

using Launch = std::function<cudaError_t(const sgemm_detail::Problem&)>;

void check_product(const char* name, const Product& s, bool k_major, const Launch& launch) {
  const std::string what = std::string(name) + " " + std::to_string(s.m) + "x" + std::to_string(s.n) + "x" +
                           std::to_string(s.k) + " pad " + std::to_string(s.pad) + " shift " + std::to_string(s.shift);
  const int lda = (k_major ? s.m : s.k) + s.pad, ldb = s.n + s.pad, ldc = s.n + s.pad;
  const std::vector<float> a = random_floats(size_t(k_major ? s.k : s.m) * lda, 1),
                           b = random_floats(size_t(s.k) * ldb, 2);
  std::vector<float> c = random_floats(size_t(s.m) * ldc, 3);
  if (s.beta == 0) {  // must not be read; the padding stays comparable
    for (size_t at = 0; at < c.size(); ++at)
      if (int(at % ldc) < s.n) c[at] = NAN;
  }
  const Shifted da(a, s.shift), db(b, s.shift), dc(c, s.shift);
  if (!finished(what, launch({s.m, s.n, s.k, s.alpha, da.get(), lda, db.get(), ldb, s.beta, dc.get(), ldc}))) return;
  const std::vector<float> got = dc.host(what);
  double worst = 0;
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j < ldc; ++j) {
      const size_t at = size_t(i) * ldc + j;
      double want = c[at], allowed = 0;
      if (j < s.n) {
        double sum = 0;
        for (int l = 0; l < s.k; ++l)
          sum += double(k_major ? a[size_t(l) * lda + i] : a[size_t(i) * lda + l]) * b[size_t(l) * ldb + j];
        want = s.alpha * sum + (s.beta != 0 ? s.beta * double(c[at]) : 0), allowed = 1e-6 * (s.k + 4);
      }
      const double error = std::fabs(got[at] - want);
      if (!(error <= allowed)) return fail(what, "element " + std::to_string(i) + ", " + std::to_string(j));
      worst = std::max(worst, error);
    }
  }
}

void check_products(bool big) {
  using namespace sgemm_detail;
  struct Entry {
    const char* name;
    bool k_major, big;
    Launch launch;
  };
  const Entry entries[] = {
      {"sgemm", false, false,
       [](const Problem& p) { return sgemm(p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc); }},
      {"sgemm_at_b", true, false,
       [](const Problem& p) { return sgemm_at_b(p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc); }},
      {"sgemm big tiles", false, true, [](const Problem& p) { return launch_fitting<BigTurned>(p, nullptr); }},
      {"sgemm_at_b big tiles", true, true, [](const Problem& p) { return launch_fitting<BigKMajor>(p, nullptr); }}};
  for (const Entry& e : entries) {
    if (e.big != big) continue;
    if (big) {  // whole tiles, 16-byte rows, words
      for (const Product& s : {Product{256, 256, 48, 0, 0, 1, 0},
                               {129, 260, 36, 4, 0, 0.5f, -2},
                               {65, 63, 17, 2, 3, -1, 1},
                               {2400, 260, 9, 0, 0, 1, 0}})  // the last group of rows of tiles is not full
        check_product(e.name, s, e.k_major, e.launch);
      continue;
    }
    for (const Product& s : {Product{64, 192, 48, 0, 0, 1, 0},
                             {128, 64, 32, 4, 0, 0.5f, -2},
                             {1, 1, 1, 0, 0, 2, 0},
                             {100, 68, 40, 0, 0, 1, 0.5f},
                             {130, 36, 5, 0, 1, 1, 0},
                             {65, 63, 17, 2, 3, -1, 1},
                             {3, 200, 64, 0, 0, 1, 0},
                             {200, 2, 9, 1, 0, 1, 0},
                             {33, 20, 0, 0, 0, 1, 0.5f},
                             {600, 130, 5, 0, 0, 1, 0.5f}})  // 10 rows of tiles: a group of 8, one of 2
      check_product(e.name, s, e.k_major, e.launch);
  }
}

void check_sgemm() {
  check_products(false);
  float x[2] = {};
  float *const p = x, *const off = misaligned(x);  // never used
  expect_error("sgemm of nothing", sgemm(0, 5, 5, 1, nullptr, 5, nullptr, 5, 0, nullptr, 5), cudaSuccess);
  expect_error("sgemm, negative size", sgemm(4, -1, 4, 1, p, 4, p, 4, 0, p, 4), cudaErrorInvalidValue);
  expect_error("sgemm, negative k", sgemm(4, 4, -4, 1, p, 4, p, 4, 0, p, 4), cudaErrorInvalidValue);
  expect_error("sgemm, null a", sgemm(4, 4, 4, 1, nullptr, 4, p, 4, 0, p, 4), cudaErrorInvalidValue);
  expect_error("sgemm, null b", sgemm(4, 4, 4, 1, p, 4, nullptr, 4, 0, p, 4), cudaErrorInvalidValue);
  expect_error("sgemm, null c", sgemm(4, 4, 0, 1, p, 4, p, 4, 0, nullptr, 4), cudaErrorInvalidValue);
  expect_error("sgemm, misaligned a", sgemm(4, 4, 4, 1, off, 4, p, 4, 0, p, 4), cudaErrorInvalidValue);
  expect_error("sgemm, misaligned b", sgemm(4, 4, 4, 1, p, 4, off, 4, 0, p, 4), cudaErrorInvalidValue);
  expect_error("sgemm, misaligned c", sgemm(4, 4, 4, 1, p, 4, p, 4, 0, off, 4), cudaErrorInvalidValue);
  expect_error("sgemm, ldb too small", sgemm(4, 4, 4, 1, p, 4, p, 3, 0, p, 4), cudaErrorInvalidValue);
  expect_error("sgemm, too many tiles", sgemm(kMost, kMost, 1, 1, p, 1, p, kMost, 0, p, kMost),
               cudaErrorInvalidConfiguration);
  expect_error("sgemm, lda too small", sgemm(4, 4, 8, 1, p, 7, p, 4, 0, p, 4), cudaErrorInvalidValue);
  expect_error("sgemm_at_b, lda too small", sgemm_at_b(8, 4, 4, 1, p, 7, p, 4, 0, p, 4), cudaErrorInvalidValue);
  expect_error("sgemm, ldc too small", sgemm(4, 4, 4, 1, p, 4, p, 4, 0, p, 3), cudaErrorInvalidValue);
}

// ---- transpose
// -------------------------------------------------------------------------------------------------------

void check_transpose() {
  struct Case {
    int rows, cols, pad, shift;
  };
  for (const Case& s : {Case{64, 64, 0, 0},
                        {128, 192, 4, 0},
                        {100, 36, 0, 0},
                        {4, 200, 8, 0},
                        {33, 65, 0, 0},
                        {1, 1, 0, 0},
                        {64, 64, 0, 1},
                        {128, 64, 3, 0},
                        {7, 130, 1, 2},
                        {200, 3, 0, 0}}) {
    const std::string what = "transpose " + std::to_string(s.rows) + "x" + std::to_string(s.cols) + " pad " +
                             std::to_string(s.pad) + " shift " + std::to_string(s.shift);
    const int ldi = s.cols + s.pad, ldo = s.rows + s.pad;
    const std::vector<float> in = random_floats(size_t(s.rows) * ldi, 1),
                             before = random_floats(size_t(s.cols) * ldo, 2);
    const Shifted din(in, s.shift), dout(before, s.shift);
    if (!finished(what, transpose(s.rows, s.cols, din.get(), ldi, dout.get(), ldo))) continue;
    const std::vector<float> got = dout.host(what);
    bool right = true;
    for (int c = 0; c < s.cols; ++c)
      for (int r = 0; r < ldo; ++r)
        right &= got[size_t(c) * ldo + r] == (r < s.rows ? in[size_t(r) * ldi + c] : before[size_t(c) * ldo + r]);
    if (!right) fail(what, "elements differ");
  }
  float x[2] = {};
  float* const off = misaligned(x);
  expect_error("transpose of nothing", transpose(0, 9, nullptr, 9, nullptr, 0), cudaSuccess);
  expect_error("transpose, negative rows", transpose(-1, 9, x, 9, x, 9), cudaErrorInvalidValue);
  expect_error("transpose, negative columns", transpose(9, -1, x, 9, x, 9), cudaErrorInvalidValue);
  expect_error("transpose, null in", transpose(1, 9, nullptr, 9, x, 9), cudaErrorInvalidValue);
  expect_error("transpose, null out", transpose(1, 9, x, 9, nullptr, 9), cudaErrorInvalidValue);
  expect_error("transpose, misaligned in", transpose(1, 9, off, 9, x, 9), cudaErrorInvalidValue);
  expect_error("transpose, misaligned out", transpose(1, 9, x, 9, off, 9), cudaErrorInvalidValue);
  expect_error("transpose, ldi too small", transpose(5, 9, x, 8, x, 5), cudaErrorInvalidValue);
  expect_error("transpose, ldo too small", transpose(5, 9, x, 9, x, 4), cudaErrorInvalidValue);
  expect_error("transpose, too many tiles", transpose(kMost, kMost, x, kMost, x, kMost), cudaErrorInvalidConfiguration);
}

// ---- sum
// -------------------------------------------------------------------------------------------------------------

void check_sum() {
  Buffer<unsigned char> workspace(kSumWorkspaceBytes);
  must(cudaMemset(workspace.get(), 0, kSumWorkspaceBytes), "cudaMemset");
  Buffer<float> out(1);
  for (const int shift : {0, 1, 3}) {
    for (const int n : {0, 1, 2, 3, 5, 31, 1000, 8192, 8195, 100003}) {
      const std::string what = "sum of " + std::to_string(n) + " shift " + std::to_string(shift);
      const std::vector<float> x = random_floats(n, 1);
      const Shifted dx(x, shift);
      double want = 0, first = 0;
      for (const float v : x) want += v;
      for (int again = 0; again < 2; ++again) {  // the workspace is as it was
        must(cudaMemset(out.get(), 0xff, sizeof(float)), "cudaMemset");
        if (!finished(what, sum(dx.get(), n, out.get(), workspace.get(), kSumWorkspaceBytes))) break;
        const double got = out.host()[0];
        if (!(std::fabs(got - want) <= 1e-4)) fail(what, std::to_string(got) + " instead of " + std::to_string(want));
        if (again == 1 && got != first) fail(what, "not the same bits at the second run");
        first = got;
      }
    }
  }
  float x[2] = {}, w[kSumWorkspaceBytes / 4 + 1] = {};
  float* const off = misaligned(x);
  expect_error("sum, negative n", sum(x, -1, x, w, kSumWorkspaceBytes), cudaErrorInvalidValue);
  expect_error("sum, no workspace", sum(x, 1, x, nullptr, kSumWorkspaceBytes), cudaErrorInvalidValue);
  expect_error("sum, workspace too small", sum(x, 1, x, w, kSumWorkspaceBytes - 1), cudaErrorInvalidValue);
  expect_error("sum, null x", sum(nullptr, 1, x, w, kSumWorkspaceBytes), cudaErrorInvalidValue);
  expect_error("sum, null out", sum(x, 1, nullptr, w, kSumWorkspaceBytes), cudaErrorInvalidValue);
  expect_error("sum, misaligned x", sum(off, 1, x, w, kSumWorkspaceBytes), cudaErrorInvalidValue);
  expect_error("sum, misaligned out", sum(x, 1, off, w, kSumWorkspaceBytes), cudaErrorInvalidValue);
  expect_error("sum, misaligned workspace", sum(x, 1, x, misaligned(w), kSumWorkspaceBytes), cudaErrorInvalidValue);
}

// ---- histogram
// -------------------------------------------------------------------------------------------------------

/// The fast ways of computing a bin, on the CPU, against 128-bit arithmetic at the borders of bins and at random.
void check_bins() {
  using namespace histogram_detail;
  unsigned state = 1;
  struct Case {
    int lower, upper, bins;
  };
  for (const Case& s : {Case{0, 65536, 256},
                        {0, 65536, 8192},
                        {0, 65536, 65536},
                        {0, 65536, 65535},
                        {0, 65536, 1},
                        {0, 1000, 7},
                        {-5, 70000, 999},
                        {0, 10, 100},
                        {0, 3, 2},
                        {INT32_MIN, INT32_MAX, 1000},
                        {INT32_MIN, INT32_MAX, 1000003},
                        {0, INT32_MAX, INT32_MAX},
                        {-7, 100000, 200001}}) {
    const EvenBins e = make_even_bins(s.lower, s.upper, s.bins);
    const auto check = [&](unsigned x) {
      if (x >= e.range) return;
      const unsigned want = static_cast<unsigned>(static_cast<unsigned __int128>(x) * e.bins / e.range);
      const unsigned correct = bin_of<Way::Correct>(e, x);
      const unsigned got = e.way == Way::Unit       ? bin_of<Way::Unit>(e, x)
                           : e.way == Way::Multiply ? bin_of<Way::Multiply>(e, x)
                                                    : correct;
      if (got != want || correct != want)
        fail("bin of " + std::to_string(x), std::to_string(s.bins) + " bins of " + std::to_string(e.range));
    };
    for (unsigned i = 0; i < 3000; ++i) {
      check((state = state * 1664525u + 1013904223u) % e.range);
      const unsigned border = static_cast<unsigned>(static_cast<unsigned __int128>(i) * e.range / e.bins);
      check(border - 1), check(border), check(border + 1), check(e.range - 1 - i);
    }
  }
}

/// One block that counts so many equal values that packed counters reach 2^15 many times, both of a word.
void check_emptying() {
  using namespace histogram_detail;
  constexpr int kBins = 60001, kValues = 300007;
  const EvenBins e = make_even_bins(0, kBins, kBins);
  const auto kernel = packed_histogram<Way::Unit, Outside::Dropped>;
  if (!finished("emptying", launch_detail::allow_shared(kernel, (kBins + 1) / 2 * 4))) return;
  for (const bool two : {false, true}) {  // all in one bin; in its word's two bins by turns
    std::vector<int> in(kValues, 12344);
    for (int i = 0; two && i < kValues; i += 2) in[i] = 12345;
    const Buffer<int> din(in), counts(std::vector<int>(kBins, 0));
    const std::string what = two ? "emptying, two bins of a word" : "emptying, one bin";
    if (!finished(what, launch_detail::launch(kernel, 1, kThreads, (kBins + 1) / 2 * 4, nullptr, din.get(),
                                              int64_t{kValues}, 0, e, counts.get())))
      continue;
    std::vector<int> want(kBins);
    for (const int v : in) ++want[v];
    if (counts.host() != want) fail(what, "counts differ");
  }
}

void check_histogram() {
  check_bins();
  check_emptying();
  struct Case {
    int n, lower, upper, bins, shift;
    bool same;
    int shift_counts = 0;  // words after a 16-byte boundary
  };
  for (const Case& s : {Case{20000, 0, 65536, 256, 0, false},
                        {5000, 0, 65536, 8192, 0, true},
                        {3001, 1000, 50000, 100, 1, false},
                        {9, -5, 100000, 3, 2, false},
                        {0, 0, 4, 4, 0, false},
                        {20000, 0, 65536, 60000, 0, false},
                        {20000, 0, 65536, 60001, 0, false},
                        {20000, -30000, 101072, 60001, 0, false, 1},
                        {20000, 0, 65536, 60000, 2, false, 1},
                        {3000, 0, 65536, 1000, 0, false, 3},
                        {70000, 0, 65536, 65536, 3, true},
                        {3000, 0, 65536, 131072, 0, false}}) {
    std::vector<int> in(s.shift + s.n + 4, 1);
    unsigned state = 7;
    for (int i = 0; i < s.n; ++i)
      in[s.shift + i] =
          s.same ? 12345 : static_cast<int>((state = state * 1664525u + 1013904223u) >> 8 & 0x1ffff) - 30000;
    const Buffer<int> din(in), counts(size_t(s.bins) + s.shift_counts + 1);  // filled with -1
    for (const Outside outside : {Outside::Dropped, Outside::Clamped}) {
      const std::string what = "histogram of " + std::to_string(s.n) + " in " + std::to_string(s.bins) +
                               " bins, shift " + std::to_string(s.shift) + ", counts " + std::to_string(s.shift_counts);
      if (!finished(what, histogram(din.get() + s.shift, s.n, s.lower, s.upper, s.bins, counts.get() + s.shift_counts,
                                    outside)))
        continue;
      std::vector<int> want(s.bins);
      for (int i = 0; i < s.n; ++i) {
        int v = in[s.shift + i];
        if (outside == Outside::Dropped && (v < s.lower || v >= s.upper)) continue;
        v = std::min(std::max(v, s.lower), s.upper - 1);
        ++want[static_cast<size_t>((static_cast<long long>(v) - s.lower) * s.bins / (s.upper - s.lower))];
      }
      const std::vector<int> got = counts.host();
      if (!std::equal(want.begin(), want.end(), got.begin() + s.shift_counts)) fail(what, "counts differ");
      for (int i = 0; i < s.shift_counts; ++i)
        if (got[i] != -1) fail(what, "wrote before the counts");
      if (got.back() != -1) fail(what, "wrote beyond the counts");
    }
  }
  int x[2] = {};
  int* const off = misaligned(x);
  expect_error("histogram without bins", histogram(x, 1, 0, 4, 0, x), cudaErrorInvalidValue);
  expect_error("histogram of an empty range", histogram(x, 1, 4, 4, 2, x), cudaErrorInvalidValue);
  expect_error("histogram of a range upside down", histogram(x, 1, 5, 4, 2, x), cudaErrorInvalidValue);
  expect_error("histogram, negative n", histogram(x, -1, 0, 4, 2, x), cudaErrorInvalidValue);
  expect_error("histogram, null in", histogram(nullptr, 1, 0, 4, 2, x), cudaErrorInvalidValue);
  expect_error("histogram, null counts", histogram(x, 1, 0, 4, 2, nullptr), cudaErrorInvalidValue);
  expect_error("histogram, misaligned in", histogram(off, 1, 0, 4, 2, x), cudaErrorInvalidValue);
  expect_error("histogram, misaligned counts", histogram(x, 1, 0, 4, 2, off), cudaErrorInvalidValue);
}

// ---- attention
// -------------------------------------------------------------------------------------------------------

void check_attention() {
  struct Case {
    int heads, queries, keys, d, shift;
    float scale;
  };
  for (const Case& s : {Case{1, 128, 128, 64, 0, 0.125f},
                        {2, 70, 100, 64, 0, 2.0f},
                        {1, 33, 65, 64, 1, 1.0f},
                        {1, 40, 64, 128, 0, 0.09f},
                        {2, 5, 33, 128, 0, 1.5f},
                        {1, 3, 1, 128, 2, 1.0f}}) {
    const std::string what = "attention " + std::to_string(s.heads) + " heads, " + std::to_string(s.queries) +
                             " queries, " + std::to_string(s.keys) + " keys, d " + std::to_string(s.d) + " shift " +
                             std::to_string(s.shift);
    const size_t nq = size_t(s.heads) * s.queries * s.d, nk = size_t(s.heads) * s.keys * s.d;
    const std::vector<float> q = random_floats(nq, 1), k = random_floats(nk, 2), v = random_floats(nk, 3);
    const Shifted dq(q, s.shift), dk(k, s.shift), dv(v, s.shift), o(std::vector<float>(nq, NAN), s.shift);
    if (!finished(what, attention(s.heads, s.queries, s.keys, s.d, s.scale, dq.get(), dk.get(), dv.get(), o.get())))
      continue;
    const std::vector<float> got = o.host(what);
    double worst = 0;  // not-a-number does not show here, but is not right
    bool right = true;
    for (int h = 0; h < s.heads; ++h)
      for (int i = 0; i < s.queries; ++i) {
        const float* const row = q.data() + (size_t(h) * s.queries + i) * s.d;
        std::vector<double> weight(s.keys), want(s.d);
        double total = 0;
        for (int t = 0; t < s.keys; ++t) {
          const float* const key = k.data() + (size_t(h) * s.keys + t) * s.d;
          double dot = 0;
          for (int e = 0; e < s.d; ++e) dot += double(row[e]) * key[e];
          total += weight[t] = std::exp(dot * double(s.scale));
        }
        for (int t = 0; t < s.keys; ++t)
          for (int e = 0; e < s.d; ++e) want[e] += weight[t] / total * v[(size_t(h) * s.keys + t) * s.d + e];
        for (int e = 0; e < s.d; ++e) {
          const double error = std::fabs(got[(size_t(h) * s.queries + i) * s.d + e] - want[e]);
          right &= error <= 1e-5;
          worst = std::max(worst, error);
        }
      }
    if (!right) fail(what, "largest error that is a number " + std::to_string(worst));
  }
  float x[2] = {};
  float* const off = misaligned(x);
  expect_error("attention of nothing", attention(0, 4, 4, 64, 1, nullptr, nullptr, nullptr, nullptr), cudaSuccess);
  expect_error("attention, no queries", attention(4, 0, 0, 64, 1, nullptr, nullptr, nullptr, nullptr), cudaSuccess);
  for (const auto& [heads, queries, keys] : {std::array{-1, 4, 4}, {1, -4, 4}, {1, 4, -4}})
    expect_error("attention, negative size", attention(heads, queries, keys, 64, 1, x, x, x, x), cudaErrorInvalidValue);
  expect_error("attention, d 96", attention(1, 4, 4, 96, 1, x, x, x, x), cudaErrorInvalidValue);
  expect_error("attention without keys", attention(1, 4, 0, 64, 1, x, x, x, x), cudaErrorInvalidValue);
  for (const float scale : {0.0f, -1.0f, NAN, INFINITY})
    expect_error("attention, scale", attention(1, 4, 4, 64, scale, x, x, x, x), cudaErrorInvalidValue);
  for (int i = 0; i < 4; ++i) {
    for (float* const bad : {static_cast<float*>(nullptr), off}) {
      float* p[4] = {x, x, x, x};
      p[i] = bad;
      expect_error("attention, pointer", attention(1, 4, 4, 64, 1, p[0], p[1], p[2], p[3]), cudaErrorInvalidValue);
    }
  }
  expect_error("attention, too many blocks", attention(kMost, kMost, 4, 64, 1, x, x, x, x),
               cudaErrorInvalidConfiguration);
}

// ---- status
// ----------------------------------------------------------------------------------------------------------

/// What a function returns is the status of its own calls: neither an earlier error, nor one that stays behind.
void check_status() {
  Buffer<float> x(64 * 64), y(64 * 64);
  Buffer<unsigned char> workspace(kSumWorkspaceBytes);
  must(cudaMemset(workspace.get(), 0, kSumWorkspaceBytes), "cudaMemset");
  float *const a = x.get(), *const b = y.get();
  int *const in = reinterpret_cast<int*>(a), *const counts = reinterpret_cast<int*>(b);
  const auto after_an_error = [](const char* name, const std::function<cudaError_t()>& call) {
    expect_error("an earlier call", cudaSetDevice(1 << 20), cudaErrorInvalidDevice);
    expect_error(std::string(name) + " after an error", call(), cudaSuccess);
  };
  after_an_error("transpose", [&] { return transpose(64, 64, a, 64, b, 64); });
  expect_error("the error before transpose", cudaGetLastError(), cudaErrorInvalidDevice);
  after_an_error("sum", [&] { return sum(a, 64, b, workspace.get(), kSumWorkspaceBytes); });
  expect_error("the error before sum", cudaGetLastError(), cudaErrorInvalidDevice);
  // These call cudaFuncSetAttribute, which itself forgets earlier errors (CUDA 13.0 on an H200, 2026-11-30).
  after_an_error("sgemm", [&] { return sgemm(64, 64, 16, 1, a, 64, a, 64, 0, b, 64); });
  after_an_error("histogram", [&] { return histogram(in, 64, 0, 4, 4, counts); });
  after_an_error("attention", [&] { return attention(1, 8, 8, 64, 1, a, a, a, b); });
  static_cast<void>(cudaGetLastError());
  const cudaError_t failed =
      launch_detail::launch(histogram_detail::global_histogram<histogram_detail::Way::Unit, Outside::Dropped>, 1, 4096,
                            0, nullptr, in, int64_t{64}, 0, histogram_detail::make_even_bins(0, 4, 4), counts);
  if (failed == cudaSuccess) fail("a block of 4096 threads", "no error");
  expect_error("a returned error is not left behind", cudaGetLastError(), cudaSuccess);
  must(cudaDeviceSynchronize(), "status");
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*check)();
  } parts[] = {{"sgemm", check_sgemm},         {"sgemm_big", [] { check_products(true); }},
               {"transpose", check_transpose}, {"sum", check_sum},
               {"histogram", check_histogram}, {"attention", check_attention},
               {"status", check_status}};
  for (const auto& part : parts) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted |= std::strcmp(argv[i], part.name) == 0;
    if (!wanted) continue;
    const int before = failures;
    part.check();
    std::printf("%s: %s\n", part.name, failures == before ? "right" : "WRONG");
  }
  return failures == 0 ? 0 : 1;
}
