// SPDX-License-Identifier: Apache-2.0
// Matrix instructions in both executors. Which element a lane holds is written down here from the manual's formulas,
// shape by shape; products are made by three plain loops. Elements are small integers, so that every sum is exact.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "support/ptx_launcher.h"

namespace warplens::ops_test {
namespace {

using test::Params;
using test::PtxLauncher;

struct Place {
  int row, column;
};

/// Element i of lane's fragment: what the manual says of one shape's A, B and C.
struct Layout {
  const char* shape;
  const char* a_type;
  const char* c_type;
  int m, n, k;
  int bits;  ///< of an element of A and B
  int a_count, b_count, c_count;
  Place (*a)(int g, int t, int i);
  Place (*b)(int g, int t, int i);
  Place (*c)(int g, int t, int i);
};

Place c_of_m16(int g, int t, int i) { return {i < 2 ? g : g + 8, t * 2 + (i & 1)}; }
Place c_of_m8(int g, int t, int i) { return {g, t * 2 + (i & 1)}; }
Place b_k8_16bit(int g, int t, int i) { return {t * 2 + i, g}; }
Place b_k16_16bit(int g, int t, int i) { return {t * 2 + (i & 1) + (i < 2 ? 0 : 8), g}; }
Place a_k8_16bit(int g, int t, int i) { return {i < 2 ? g : g + 8, t * 2 + (i & 1)}; }
Place a_k16_16bit(int g, int t, int i) {
  const bool upper = i < 2 || (i >= 4 && i < 6);
  return {upper ? g : g + 8, t * 2 + (i & 1) + (i < 4 ? 0 : 8)};
}

const Layout kLayouts[] = {
    {"m16n8k8", "f16", "f32", 16, 8, 8, 16, 4, 2, 4, a_k8_16bit, b_k8_16bit, c_of_m16},
    {"m16n8k8", "f16", "f16", 16, 8, 8, 16, 4, 2, 4, a_k8_16bit, b_k8_16bit, c_of_m16},
    {"m16n8k16", "f16", "f32", 16, 8, 16, 16, 8, 4, 4, a_k16_16bit, b_k16_16bit, c_of_m16},
    {"m16n8k16", "f16", "f16", 16, 8, 16, 16, 8, 4, 4, a_k16_16bit, b_k16_16bit, c_of_m16},
    {"m16n8k8", "bf16", "f32", 16, 8, 8, 16, 4, 2, 4, a_k8_16bit, b_k8_16bit, c_of_m16},
    {"m16n8k16", "bf16", "f32", 16, 8, 16, 16, 8, 4, 4, a_k16_16bit, b_k16_16bit, c_of_m16},
    {"m16n8k4", "tf32", "f32", 16, 8, 4, 32, 2, 1, 4, [](int g, int t, int i) { return Place{i == 0 ? g : g + 8, t}; },
     [](int g, int t, int) { return Place{t, g}; }, c_of_m16},
    {"m16n8k8", "tf32", "f32", 16, 8, 8, 32, 4, 2, 4,
     [](int g, int t, int i) { return Place{i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4}; },
     [](int g, int t, int i) { return Place{i == 0 ? t : t + 4, g}; }, c_of_m16},
    {"m8n8k16", "s8", "s32", 8, 8, 16, 8, 4, 4, 2, [](int g, int t, int i) { return Place{g, t * 4 + i}; },
     [](int g, int t, int i) { return Place{t * 4 + i, g}; }, c_of_m8},
    {"m16n8k16", "u8", "s32", 16, 8, 16, 8, 8, 4, 4,
     [](int g, int t, int i) { return Place{i < 4 ? g : g + 8, t * 4 + (i & 3)}; },
     [](int g, int t, int i) { return Place{t * 4 + i, g}; }, c_of_m16},
    {"m16n8k32", "s8", "s32", 16, 8, 32, 8, 16, 8, 4,
     [](int g, int t, int i) {
       return Place{i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i < 8 ? 0 : 16)};
     },
     [](int g, int t, int i) { return Place{t * 4 + (i & 3) + (i < 4 ? 0 : 16), g}; }, c_of_m16},
    {"m16n8k32", "e4m3", "f32", 16, 8, 32, 8, 16, 8, 4,
     [](int g, int t, int i) {
       return Place{i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i < 8 ? 0 : 16)};
     },
     [](int g, int t, int i) { return Place{t * 4 + (i & 3) + (i < 4 ? 0 : 16), g}; }, c_of_m16},
    {"m8n8k32", "u4", "s32", 8, 8, 32, 4, 8, 8, 2, [](int g, int t, int i) { return Place{g, t * 8 + i}; },
     [](int g, int t, int i) { return Place{t * 8 + i, g}; }, c_of_m8},
    {"m16n8k64", "s4", "s32", 16, 8, 64, 4, 32, 16, 4,
     [](int g, int t, int i) {
       return Place{i < 8 || (i >= 16 && i < 24) ? g : g + 8, t * 8 + (i & 7) + (i < 16 ? 0 : 32)};
     },
     [](int g, int t, int i) { return Place{t * 8 + (i & 7) + (i < 8 ? 0 : 32), g}; }, c_of_m16},
    {"m8n8k4", "f64", "f64", 8, 8, 4, 64, 1, 1, 2, [](int g, int t, int) { return Place{g, t}; },
     [](int g, int t, int) { return Place{t, g}; }, c_of_m8},
    {"m16n8k8", "f64", "f64", 16, 8, 8, 64, 4, 2, 4,
     [](int g, int t, int i) { return Place{i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4}; },
     [](int g, int t, int i) { return Place{i == 0 ? t : t + 4, g}; }, c_of_m16},
};

/// Bits of a small integer in each type: exact in all of them.
uint64_t bits_of(const std::string& type, int v) {
  const auto as_f32 = [](float f) {
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    return bits;
  };
  const uint32_t single = as_f32(static_cast<float>(v));
  const uint64_t sign = v < 0 ? 1 : 0;
  if (type == "f64") {
    const auto d = static_cast<double>(v);
    uint64_t bits;
    std::memcpy(&bits, &d, 8);
    return bits;
  }
  if (type == "f32" || type == "tf32") return single;
  if (type == "bf16") return single >> 16;
  const auto exponent = static_cast<int>(single >> 23 & 255) - 127;
  if (type == "f16")
    return v == 0 ? 0 : sign << 15 | static_cast<uint64_t>(exponent + 15) << 10 | (single >> 13 & 1023);
  if (type == "e4m3") return v == 0 ? 0 : sign << 7 | static_cast<uint64_t>(exponent + 7) << 3 | (single >> 20 & 7);
  return static_cast<uint64_t>(static_cast<int64_t>(v));
}
uint64_t low(uint64_t v, int bits) { return bits == 64 ? v : v & ((uint64_t{1} << bits) - 1); }

class Matrices : public testing::TestWithParam<const char*> {
 protected:
  Matrices() : executor_(std::string(GetParam()) == "jit" ? exec::make_jit({}) : exec::make_interpreter()) {}
  int small(bool negative) { return static_cast<int>(random_() % 8) - (negative ? 4 : 0); }

  /// Runs mma on fragments that are laid out here; expects the fragment of the product.
  void mma(const Layout& l) {
    const std::string at = l.a_type, ct = l.c_type;
    const bool negative = at[0] != 'u';
    std::vector<int> a(static_cast<size_t>(l.m * l.k)), b(static_cast<size_t>(l.k * l.n)),
        c(static_cast<size_t>(l.m * l.n));
    for (auto* v : {&a, &b, &c})
      for (int& x : *v) x = small(negative);
    const int c_bits = ct == "f16"   ? 16
                       : ct == "f64" ? 64
                                     : 32,
              c_unit = ct == "f64" ? 8 : 4, unit = l.bits == 64 ? 8 : 4;
    const int a_regs = l.a_count * l.bits / (unit * 8), b_regs = l.b_count * l.bits / (unit * 8),
              c_regs = l.c_count * c_bits / (c_unit * 8);
    std::vector<uint64_t> in(32 * 16);
    for (int lane = 0; lane < 32; ++lane) {
      const int g = lane >> 2, t = lane & 3;
      const auto put = [&](int first, int i, int bits, const std::string& type, int value) {
        const int per = bits == 64 ? 1 : 32 / bits;
        in[static_cast<size_t>(lane * 16 + first + i / per)] |= low(bits_of(type, value), bits)
                                                                << (i % per * bits % 64);
      };
      for (int i = 0; i < l.a_count; ++i) {
        const Place p = l.a(g, t, i);
        put(0, i, l.bits, at, a[static_cast<size_t>(p.row * l.k + p.column)]);
      }
      for (int i = 0; i < l.b_count; ++i) {
        const Place p = l.b(g, t, i);
        put(4, i, l.bits, at, b[static_cast<size_t>(p.row * l.n + p.column)]);
      }
      for (int i = 0; i < l.c_count; ++i) {
        const Place p = l.c(g, t, i);
        put(8, i, c_bits, ct, c[static_cast<size_t>(p.row * l.n + p.column)]);
      }
    }
    PtxLauncher launcher(mma_kernel(l, a_regs, b_regs, c_regs));
    auto* device_in = launcher.array(in);
    auto* out = launcher.zeros<uint64_t>(32 * 8);
    const auto outcome = launcher.launch("k", {.block = {32, 1, 1}}, Params().add(device_in).add(out), executor_.get());
    ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < l.c_count; ++i) {
        const Place p = l.c(lane >> 2, lane & 3, i);
        int sum = c[static_cast<size_t>(p.row * l.n + p.column)];
        for (int k = 0; k < l.k; ++k)
          sum += a[static_cast<size_t>(p.row * l.k + k)] * b[static_cast<size_t>(k * l.n + p.column)];
        const int per = c_bits == 64 ? 1 : 32 / c_bits;
        const uint64_t got = out[lane * 8 + i / per] >> (i % per * c_bits % 64);
        ASSERT_EQ(low(got, c_bits), low(bits_of(ct, sum), c_bits))
            << l.shape << " " << at << " lane " << lane << " element " << i;
      }
  }

  static std::string mma_kernel(const Layout& l, int a_regs, int b_regs, int c_regs) {
    const std::string wide = l.bits == 64 ? "b64" : "b32", c_type = std::string(l.c_type);
    const std::string c_wide = c_type == "f64" ? "b64" : "b32";
    std::string text = test::kPtxHead +
                       ".visible .entry k(.param .u64 pin, .param .u64 pout) {\n.reg .b64 in, out; .reg "
                       ".b32 t; .reg ." +
                       wide + " a<4>, b<4>; .reg ." + c_wide +
                       " c<4>, d<4>;\nld.param.u64 in, [pin]; ld.param.u64 out, [pout]; mov.u32 t, %tid.x;\n"
                       "mad.wide.u32 in, t, 128, in; mad.wide.u32 out, t, 64, out;\n";
    const auto list = [](const char* name, int n) {
      std::string s = "{";
      for (int i = 0; i < n; ++i) s += fmt::format("{}{}{}", i == 0 ? "" : ", ", name, i);
      return s + "}";
    };
    for (int i = 0; i < a_regs; ++i) text += fmt::format("ld.global.{} a{}, [in+{}];\n", wide, i, i * 8);
    for (int i = 0; i < b_regs; ++i) text += fmt::format("ld.global.{} b{}, [in+{}];\n", wide, i, 32 + i * 8);
    for (int i = 0; i < c_regs; ++i) text += fmt::format("ld.global.{} c{}, [in+{}];\n", c_wide, i, 64 + i * 8);
    text += fmt::format("mma.sync.aligned.{}.row.col.{}.{}.{}.{} {}, {}, {}, {};\n", l.shape, l.c_type, l.a_type,
                        l.a_type, l.c_type, list("d", c_regs), list("a", a_regs), list("b", b_regs), list("c", c_regs));
    for (int i = 0; i < c_regs; ++i) text += fmt::format("st.global.{} [out+{}], d{};\n", c_wide, i * 8, i);
    return text + "ret;\n}\n";
  }

  std::unique_ptr<exec::Executor> executor_;
  std::mt19937 random_{5};
};

TEST_P(Matrices, mma_is_the_product_of_the_fragments_of_the_manual) {
  for (const Layout& l : kLayouts) {
    mma(l);
    if (HasFatalFailure()) return;
  }
}

/// wmma: a whole tile from memory to memory, whatever the fragments are.
struct Tile {
  const char *shape, *a_type, *c_type;
  int m, n, k, a_regs, b_regs, c_regs;
};
constexpr Tile kTiles[] = {
    {"m16n16k16", "f16", "f32", 16, 16, 16, 8, 8, 8},  {"m16n16k16", "f16", "f16", 16, 16, 16, 8, 8, 4},
    {"m8n32k16", "f16", "f32", 8, 32, 16, 8, 8, 8},    {"m32n8k16", "f16", "f32", 32, 8, 16, 8, 8, 8},
    {"m16n16k16", "bf16", "f32", 16, 16, 16, 4, 4, 8}, {"m8n32k16", "bf16", "f32", 8, 32, 16, 2, 8, 8},
    {"m16n16k8", "tf32", "f32", 16, 16, 8, 4, 4, 8},   {"m16n16k16", "s8", "s32", 16, 16, 16, 2, 2, 8},
    {"m32n8k16", "u8", "s32", 32, 8, 16, 4, 1, 8},     {"m8n8k4", "f64", "f64", 8, 8, 4, 1, 1, 2},
};

std::string wmma_kernel(const Tile& t, const char* a_layout, const char* b_layout, const char* c_layout) {
  const bool f64 = std::string(t.a_type) == "f64";
  const auto list = [](const char* name, int n) {
    std::string s = "{";
    for (int i = 0; i < n; ++i) s += fmt::format("{}{}{}", i == 0 ? "" : ", ", name, i);
    return s + "}";
  };
  const char *wide = f64 ? "f64" : "b32", *c_wide = f64 ? "f64" : std::string(t.c_type) == "f32" ? "f32" : "b32";
  std::string text =
      test::kPtxHead + fmt::format(
                           ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd, .param "
                           ".u32 la, .param .u32 lb, .param .u32 lc) {{\n.reg .b64 a, b, c, d; .reg .b32 sa, sb, "
                           "sc; .reg .{} x<8>, y<8>; .reg .{} z<8>, w<8>;\n",
                           wide, c_wide);
  text +=
      "ld.param.u64 a, [pa]; ld.param.u64 b, [pb]; ld.param.u64 c, [pc]; ld.param.u64 d, [pd];\n"
      "ld.param.u32 sa, [la]; ld.param.u32 sb, [lb]; ld.param.u32 sc, [lc];\n";
  const std::string head = "wmma.load.";
  text += fmt::format("wmma.load.a.sync.aligned.{}.{}.global.{} {}, [a], sa;\n", a_layout, t.shape, t.a_type,
                      list("x", t.a_regs));
  text +=
      fmt::format("wmma.load.b.sync.aligned.{}.{}.{} {}, [b], sb;\n", b_layout, t.shape, t.a_type, list("y", t.b_regs));
  text += fmt::format("wmma.load.c.sync.aligned.{}.{}.global.{} {}, [c], sc;\n", c_layout, t.shape, t.c_type,
                      list("z", t.c_regs));
  const bool short_form = std::string(t.a_type) == "f16";
  const std::string types = short_form ? fmt::format("{}.{}", t.c_type, t.c_type)
                                       : fmt::format("{}.{}.{}.{}", t.c_type, t.a_type, t.a_type, t.c_type);
  text +=
      fmt::format("wmma.mma.sync.aligned.{}.{}.{}.{}{} {}, {}, {}, {};\n", a_layout, b_layout, t.shape, types,
                  f64 ? ".rn" : "", list("w", t.c_regs), list("x", t.a_regs), list("y", t.b_regs), list("z", t.c_regs));
  text += fmt::format("wmma.store.d.sync.aligned.{}.{}.global.{} [d], {}, sc;\nret;\n}}\n", c_layout, t.shape, t.c_type,
                      list("w", t.c_regs));
  return text;
}

TEST_P(Matrices, wmma_multiplies_tiles_in_memory) {
  for (const Tile& t : kTiles)
    for (int layouts = 0; layouts < 8; ++layouts) {
      const char *al = layouts & 1 ? "col" : "row", *bl = layouts & 2 ? "col" : "row",
                 *cl = layouts & 4 ? "col" : "row";
      const std::string at = t.a_type, ct = t.c_type;
      const auto bytes = [](const std::string& type) {
        return type == "f64" ? 8 : type.ends_with("16") ? 2 : type.ends_with("8") ? 1 : 4;
      };
      // 16 elements more than needed between lines.
      const int la = (layouts & 1 ? t.m : t.k) + 16, lb = (layouts & 2 ? t.k : t.n) + 16,
                lc = (layouts & 4 ? t.m : t.n) + 16;
      const auto value = [&](int salt, int r, int c) { return (r * 5 + c * 3 + salt) % 7 - (at[0] == 'u' ? 0 : 3); };
      const auto fill = [&](const std::string& type, int rows, int columns, int line, bool by_column, int salt) {
        std::vector<uint8_t> out(static_cast<size_t>((by_column ? columns : rows) * line * bytes(type)));
        for (int r = 0; r < rows; ++r)
          for (int c = 0; c < columns; ++c) {
            const uint64_t bits = bits_of(type, value(salt, r, c));
            std::memcpy(out.data() + (by_column ? c * line + r : r * line + c) * bytes(type), &bits,
                        static_cast<size_t>(bytes(type)));
          }
        return out;
      };
      PtxLauncher launcher(wmma_kernel(t, al, bl, cl));
      auto *a = launcher.array(fill(at, t.m, t.k, la, layouts & 1, 0)),
           *b = launcher.array(fill(at, t.k, t.n, lb, layouts & 2, 1)),
           *c = launcher.array(fill(ct, t.m, t.n, lc, layouts & 4, 2));
      auto* d = launcher.zeros<uint8_t>(static_cast<size_t>((layouts & 4 ? t.n : t.m) * lc * bytes(ct)));
      const auto outcome = launcher.launch(
          "k", {.block = {32, 1, 1}}, Params().add(a).add(b).add(c).add(d).add(la).add(lb).add(lc), executor_.get());
      ASSERT_TRUE(outcome.complete()) << t.shape << at << ": " << outcome.findings[0].message;
      for (int r = 0; r < t.m; ++r)
        for (int col = 0; col < t.n; ++col) {
          int sum = value(2, r, col);
          for (int k = 0; k < t.k; ++k) sum += value(0, r, k) * value(1, k, col);
          uint64_t got = 0;
          std::memcpy(&got, d + (layouts & 4 ? col * lc + r : r * lc + col) * bytes(ct),
                      static_cast<size_t>(bytes(ct)));
          ASSERT_EQ(got, low(bits_of(ct, sum), bytes(ct) * 8))
              << t.shape << " " << at << " " << al << bl << cl << " " << r << "," << col;
        }
    }
}

/// Matrix i's element (row, column) is i * 64 + row * 8 + column; lane l must get row l / 4, columns 2 * (l % 4) and
/// the next, or the transposed element.
TEST_P(Matrices, ldmatrix_and_stmatrix_move_rows_of_eight) {
  for (const int count : {1, 2, 4})
    for (const bool transposed : {false, true}) {
      std::string regs = "{";
      for (int i = 0; i < count; ++i) regs += fmt::format("{}r{}", i == 0 ? "" : ", ", i);
      regs += "}";
      const char* trans = transposed ? ".trans" : "";
      std::string text = test::kPtxHead + fmt::format(R"(
.visible .entry k(.param .u64 pout, .param .u64 pback) {{
  .reg .b32 t, at, v, r<4>, end; .reg .b16 h; .reg .b64 out, back; .reg .pred p;
  .shared .align 16 .b8 tile[512]; .shared .align 16 .b8 copy[512];
  ld.param.u64 out, [pout]; ld.param.u64 back, [pback]; mov.u32 t, %tid.x;
  mov.u32 v, t; mov.u32 end, 256;
fill:
  shl.b32 at, v, 1; mov.u32 r0, tile; add.u32 at, at, r0; cvt.u16.u32 h, v; st.shared.b16 [at], h;
  add.u32 v, v, 32; setp.lt.u32 p, v, end; @p bra fill;
  bar.sync 0;
  mov.u32 at, tile; mad.lo.u32 at, t, 16, at;
  ldmatrix.sync.aligned.m8n8.x{0}{1}.shared.b16 {2}, [at];
  mov.u32 at, copy; mad.lo.u32 at, t, 16, at;
  stmatrix.sync.aligned.m8n8.x{0}{1}.shared.b16 [at], {2};
  mad.wide.u32 out, t, 16, out;
)",
                                                      count, trans, regs);
      for (int i = 0; i < count; ++i) text += fmt::format("  st.global.b32 [out+{}], r{};\n", i * 4, i);
      text += R"(  bar.sync 0;
  mov.u32 at, copy; mad.lo.u32 at, t, 16, at; mad.wide.u32 back, t, 16, back;
  ld.shared.v4.b32 {r0, r1, r2, r3}, [at]; st.global.v4.b32 [back], {r0, r1, r2, r3};
  ret;
})";
      PtxLauncher launcher(text);
      auto *out = launcher.zeros<uint16_t>(32 * 8), *back = launcher.zeros<uint16_t>(32 * 8);
      const auto outcome = launcher.launch("k", {.block = {32, 1, 1}}, Params().add(out).add(back), executor_.get());
      ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
      for (int i = 0; i < count; ++i)
        for (int lane = 0; lane < 32; ++lane)
          for (int e = 0; e < 2; ++e) {
            const int row = lane / 4, column = lane % 4 * 2 + e;
            ASSERT_EQ(out[lane * 8 + i * 2 + e], i * 64 + (transposed ? column * 8 + row : row * 8 + column));
          }
      for (int i = 0; i < count * 64; ++i) ASSERT_EQ(back[i], i) << "stored as they were";
      const auto& sites = launcher.kernel("k")->info.sites;
      for (size_t s = 0; s < sites.size(); ++s)
        if (sites[s].bytes == 16 && sites[s].space == events::Space::kShared &&
            sites[s].access == events::Access::kLoad &&
            outcome.counts.sites[s].lanes == static_cast<uint64_t>(count) * 8) {
          EXPECT_EQ(outcome.counts.sites[s].wavefronts, static_cast<uint64_t>(count)) << "a pass for each matrix";
        }
    }
}

TEST_P(Matrices, movmatrix_transposes) {
  PtxLauncher launcher(test::kPtxHead + R"(
.visible .entry k(.param .u64 pout) {
  .reg .b32 t, a, d, x; .reg .b64 out;
  ld.param.u64 out, [pout]; mov.u32 t, %tid.x;
  shl.b32 a, t, 1; add.u32 x, a, 1; shl.b32 x, x, 16; or.b32 a, a, x;
  movmatrix.sync.aligned.m8n8.trans.b16 d, a;
  mad.wide.u32 out, t, 4, out; st.global.b32 [out], d; ret;
})");
  auto* out = launcher.zeros<uint16_t>(64);
  ASSERT_TRUE(launcher.launch("k", {.block = {32, 1, 1}}, Params().add(out), executor_.get()).complete());
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column) EXPECT_EQ(out[row * 8 + column], column * 8 + row);
}

INSTANTIATE_TEST_SUITE_P(Executor, Matrices, testing::Values("interpreter", "jit"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace warplens::ops_test
