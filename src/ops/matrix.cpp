// SPDX-License-Identifier: Apache-2.0
// Chapter: matrix instructions ("Warp-Level Matrix Instructions", "Asynchronous Warpgroup-Level Matrix Instructions"):
// wmma, mma, ldmatrix, stmatrix, movmatrix, wgmma. Fragments (fragment.h) are lists of 32-bit registers (64-bit for
// f64) whatever their element type.
//
// The manual leaves the order and the precision of the sums inside one instruction open. Here products and sums of f16,
// bf16, tf32 and fp8 are made in double precision (products are exact there) and rounded once; f64 is added in order of
// k, each step rounded.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/chapters.h"
#include "ops/float_format.h"
#include "ops/fragment.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

using ptx::AccessShape;
using ptx::LaneBits;
using ptx::MemoryArgs;
using ptx::Space;

constexpr unsigned kMostRows = 32, kMostColumns = 256;  // of any shape's A, B or C

// --- elements
double small_float(const FloatFormat& f, uint64_t bits) { return as_f64(pack(kF64, unpack(f, bits), Rounding::kZero)); }
double half_float(uint64_t bits) {
  const uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
  if (exponent == 0) return std::copysign(std::ldexp(static_cast<double>(mantissa), -24), bits & 0x8000 ? -1.0 : 1.0);
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  return static_cast<double>(as_f32(sign | (exponent == 31 ? 255u : exponent + 112) << 23 | mantissa << 13));
}
/// Of type `type`, from its bits.
double element_value(std::string_view type, uint64_t bits) {
  if (type == "f16") return half_float(bits);
  if (type == "bf16") return static_cast<double>(as_f32(bits << 16));
  if (type == "tf32") return static_cast<double>(as_f32(bits & 0xffffe000));
  if (type == "f32") return static_cast<double>(as_f32(bits));
  if (type == "f64") return as_f64(bits);
  if (type == "e4m3") return small_float(kE4M3, bits);
  if (type == "e5m2") return small_float(kE5M2, bits);
  if (type == "s32") return static_cast<double>(static_cast<int32_t>(bits));
  if (type == "s8") return static_cast<double>(as_signed(bits, 8));
  if (type == "s4") return static_cast<double>(as_signed(bits, 4));
  return static_cast<double>(bits);
}
uint64_t rounded(std::string_view type, double v) {
  if (type == "f64") return std::isnan(v) ? kF64.canonical_nan : bits_of_f64(v);
  if (type == "f16") return pack(kF16, unpack(kF64, bits_of_f64(v)), Rounding::kNearestEven);
  return std::isnan(v) ? kF32.canonical_nan : bits_of_f32(static_cast<float>(v));
}

/// The matrix that 32 lanes hold; registers[r][lane].
struct Matrix {
  double at[kMostRows][kMostColumns];
};
/// All lanes must take part; what a lane that does not would hold counts as zero.
void gather(Matrix& m, const Fragment& f, std::string_view type, std::span<const LaneBits> registers, uint32_t active) {
  const uint64_t mask = low_bits(f.bits());
  for (unsigned r = 0; r < f.registers(); ++r)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned e = 0; e < f.pack(); ++e) {
        const Place p = f.at(r, lane, e);
        m.at[p.row][p.column] =
            element_value(type, active >> lane & 1 ? registers[r][lane] >> (e * f.bits()) & mask : 0);
      }
}

// --- products
struct Types {
  std::string_view a, b, c, d;
};
/// What wmma.mma without types of A and B leaves out is f16.
Types types_of(const Instr& in) {
  const std::string_view a = in.word("atype"), b = in.word("btype");
  return {a.empty() ? "f16" : a, b.empty() ? "f16" : b, in.word("ctype"), in.word("dtype")};
}
bool is_integer_type(std::string_view t) { return t == "s32"; }

double dot_f64(const double* a, const double* b, double c, unsigned k) {
  for (unsigned i = 0; i < k; ++i) c = std::fma(a[i], b[i], c);
  return c;
}
double dot(const double* a, const double* b, double c, unsigned k) {
  double sum = 0;
  for (unsigned i = 0; i < k; ++i) sum += a[i] * b[i];
  return c + sum;
}
/// Products of bits: how many positions agree (and) or differ (xor).
double dot_bits(const Instr& in, const double* a, const double* b, double c, unsigned k) {
  const bool differ = in.has("xor");
  for (unsigned i = 0; i < k; ++i) c += differ ? a[i] != b[i] : a[i] != 0 && b[i] != 0;
  return c;
}
uint64_t integer_result(const Instr& in, double sum) {
  if (in.has("satfinite")) sum = std::clamp(sum, -2147483648.0, 2147483647.0);
  return static_cast<uint64_t>(static_cast<int64_t>(sum)) & 0xffffffff;
}

void ref_mma(const WarpArgs& args) {
  const Instr& in = args.instr;
  const Shape shape = shape_named(in.word("shape"));
  const Types types = types_of(in);
  const Fragment fa = Fragment::of_a(shape, types.a), fb = Fragment::of_b(shape, types.b),
                 fc = Fragment::of_c(shape, types.c), fd = Fragment::of_c(shape, types.d);
  const auto registers = [&](size_t operand) { return std::max<size_t>(1, in.operands[operand].count); };
  static thread_local Matrix a, b, c;  // too large for a warp's stack; used and done with in one call
  size_t first = 0;
  gather(a, fa, types.a, args.in.subspan(first), args.active);
  gather(b, fb, types.b, args.in.subspan(first += registers(1)), args.active);
  gather(c, fc, types.c, args.in.subspan(first += registers(2)), args.active);
  for (unsigned r = 0; r < fd.registers(); ++r)
    for (unsigned lane = 0; lane < 32; ++lane) {
      uint64_t bits = 0;
      for (unsigned e = 0; e < fd.pack(); ++e) {
        const Place p = fd.at(r, lane, e);
        const double *x = a.at[p.row], *y = b.at[p.column], start = c.at[p.row][p.column];
        uint64_t value = 0;
        if (types.a == "b1")
          value = integer_result(in, dot_bits(in, x, y, start, shape.k));
        else if (is_integer_type(types.d))
          value = integer_result(in, dot(x, y, start, shape.k));
        else
          value = rounded(types.d, types.a == "f64" ? dot_f64(x, y, start, shape.k) : dot(x, y, start, shape.k));
        bits |= value << (e * fd.bits());
      }
      args.out[r][lane] = bits;
    }
}

// --- 8 x 8 matrices of 16-bit elements
/// Lane l has row l / 4 of a matrix, columns 2 * (l % 4) and the next.
void ref_movmatrix(const WarpArgs& args) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    uint64_t bits = 0;
    for (unsigned e = 0; e < 2; ++e) {
      const unsigned row = lane % 4 * 2 + e, column = lane / 4;  // of the source
      const unsigned from = row * 4 + column / 2;
      if (args.active >> from & 1) bits |= (args.in[0][from] >> (column % 2 * 16) & 0xffff) << (e * 16);
    }
    args.out[0][lane] = bits;
  }
}

unsigned matrices_of(const Instr& in) { return static_cast<unsigned>(in.word("num")[1] - '0'); }
uint32_t row_lanes(const MemoryArgs& args) {
  return args.active & static_cast<uint32_t>(low_bits(8 * matrices_of(args.instr)));
}
unsigned ldmatrix_accesses(const Instr& in, std::array<AccessShape, 3>& shapes) {
  const Space space = in.space() == Space::kGeneric ? Space::kGeneric : Space::kShared;
  shapes[0] = {space, in.def->form.mnemonic == "ldmatrix" ? Role::kLoad : Role::kStore, 16,
               AccessShape::Way::kMatrixRows};
  return 1;
}
/// Row r of matrix i is at the address of lane 8 * i + r.
void ref_ldmatrix(const MemoryArgs& args) {
  uint16_t rows[32][8] = {};
  args.memory.load(0, row_lanes(args), args.addresses[0], rows);
  const bool transposed = args.instr.has("trans");
  for (unsigned i = 0; i < matrices_of(args.instr); ++i)
    for (unsigned lane = 0; lane < 32; ++lane) {
      uint64_t bits = 0;
      for (unsigned e = 0; e < 2; ++e) {
        const unsigned row = lane / 4, column = lane % 4 * 2 + e;
        bits |= uint64_t{transposed ? rows[8 * i + column][row] : rows[8 * i + row][column]} << (e * 16);
      }
      args.out[i][lane] = bits;
    }
}
void ref_stmatrix(const MemoryArgs& args) {
  uint16_t rows[32][8] = {};
  const bool transposed = args.instr.has("trans");
  for (unsigned i = 0; i < matrices_of(args.instr); ++i)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned e = 0; e < 2; ++e) {
        const unsigned row = lane / 4, column = lane % 4 * 2 + e;
        const auto value = static_cast<uint16_t>(args.active >> lane & 1 ? args.in[i][lane] >> (e * 16) : 0);
        (transposed ? rows[8 * i + column][row] : rows[8 * i + row][column]) = value;
      }
  args.memory.store(0, row_lanes(args), args.addresses[0], rows);
}

// --- wmma's loads and stores
struct MatrixAccess {
  Fragment fragment;
  bool contiguous;     ///< what a lane needs at once lies side by side in memory
  unsigned bytes;      ///< of one request of a lane
  unsigned per_line;   ///< elements along which a line of memory runs, when no stride is given
  bool along_columns;  ///< memory runs along the fragment's columns (k of A and B, n of C)
};
MatrixAccess matrix_access(const Instr& in) {
  const Shape shape = shape_named(in.word("shape"));
  const std::string_view frag = in.word("frag").empty() ? "c" : in.word("frag"), type = in.word("type");
  const Fragment f = frag == "a"   ? Fragment::of_a(shape, type)
                     : frag == "b" ? Fragment::of_b(shape, type)
                                   : Fragment::of_c(shape, type);
  // B is held transposed: column-major runs along k.
  const bool along = (in.word("layout") == "row") != (frag == "b");
  const unsigned pair = frag == "c" ? 2 : f.pack();
  const unsigned bits = along ? pair * f.bits() : f.bits();
  return {f, along, std::max(1u, bits / 8), along ? f.columns() : f.rows(), along};
}
unsigned wmma_accesses(const Instr& in, std::array<AccessShape, 3>& shapes) {
  const Space space = in.space();
  shapes[0] = {space, in.has("load") ? Role::kLoad : Role::kStore, static_cast<uint8_t>(matrix_access(in).bytes)};
  return 1;
}
/// Calls f(first register, element, addresses) for each request that moves the matrix once.
template <typename F>
void for_each_request(const MemoryArgs& args, const MatrixAccess& m, size_t stride_operand, F&& f) {
  const Fragment& fragment = m.fragment;
  const bool accumulator = args.instr.word("frag").empty() || args.instr.word("frag") == "c";
  const unsigned registers_at_once = m.contiguous && accumulator && fragment.pack() == 1 ? 2 : 1;
  const unsigned elements = m.contiguous ? 1 : fragment.pack();
  for (unsigned r = 0; r < fragment.registers(); r += registers_at_once)
    for (unsigned e = 0; e < elements; ++e) {
      LaneBits address{};
      for (unsigned lane = 0; lane < 32; ++lane) {
        const uint64_t stride = is_present(args.instr, static_cast<int>(stride_operand))
                                    ? args.in[args.in.size() - 1][lane] & 0xffffffff
                                    : m.per_line;
        const Place p = fragment.at(r, lane, e);
        const uint64_t element = m.along_columns ? p.row * stride + p.column : p.column * stride + p.row;
        address[lane] = args.addresses[0][lane] + element * fragment.bits() / 8;
      }
      f(r, e, address);
    }
}
void ref_wmma_load(const MemoryArgs& args) {
  const MatrixAccess m = matrix_access(args.instr);
  const unsigned width = m.bytes;
  for (LaneBits& r : args.out) r.fill(0);
  for_each_request(args, m, 2, [&](unsigned r, unsigned e, const LaneBits& address) {
    uint8_t values[32 * 16] = {};
    args.memory.load(0, args.active, address, values);
    const unsigned register_bytes = m.fragment.bits() == 64 ? 8 : 4;
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned at = 0, k = 0; at < width; at += register_bytes, ++k) {
        uint64_t bits = 0;
        std::memcpy(&bits, values + lane * width + at, std::min(width, register_bytes));
        args.out[r + k][lane] |= bits << (e * m.fragment.bits());
      }
  });
  for (size_t r = m.fragment.registers(); r < args.out.size(); ++r) args.out[r] = args.out[r % m.fragment.registers()];
}
void ref_wmma_store(const MemoryArgs& args) {
  const MatrixAccess m = matrix_access(args.instr);
  const unsigned width = m.bytes;
  for_each_request(args, m, 2, [&](unsigned r, unsigned e, const LaneBits& address) {
    uint8_t values[32 * 16] = {};
    const unsigned register_bytes = m.fragment.bits() == 64 ? 8 : 4;
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned at = 0, k = 0; at < width; at += register_bytes, ++k) {
        const uint64_t bits = args.in[r + k][lane] >> (e * m.fragment.bits());
        std::memcpy(values + lane * width + at, &bits, std::min(width, register_bytes));
      }
    args.memory.store(0, args.active, address, values);
  });
}

#define WL_SECTION "Warp-Level Matrix Instructions: "
#define WL_MMA(name, major, minor, sm_version, form_text)                                        \
  {                                                                                              \
    .form = form_text, .spec = {WL_SECTION name, major, minor, sm_version}, .role = Role::kWarp, \
    .pipe = Pipe::kTensor, .reference = {                                                        \
      .warp = ref_mma                                                                            \
    }                                                                                            \
  }
#define WL_MATRIX_MEMORY(name, major, minor, sm_version, form_text, ref, shapes) \
  {.form = form_text,                                                            \
   .spec = {WL_SECTION name, major, minor, sm_version},                          \
   .role = Role::kWarpMemory,                                                    \
   .pipe = Pipe::kLsu,                                                           \
   .reference = {.memory = ref},                                                 \
   .accesses = shapes}
#define WL_NOT_YET(name, major, minor, sm_version, form_text, reason) \
  {.form = form_text,                                                 \
   .spec = {WL_SECTION name, major, minor, sm_version},               \
   .role = Role::kWarp,                                               \
   .pipe = Pipe::kTensor,                                             \
   .unsupported = reason}
#define WL_WGMMA(name, form_text)                                                 \
  {.form = form_text,                                                             \
   .spec = {"Asynchronous Warpgroup-Level Matrix Instructions: " name, 8, 0, 90}, \
   .role = Role::kWarp,                                                           \
   .pipe = Pipe::kTensor,                                                         \
   .unsupported = "warpgroup matrix instructions are not run yet"}
#define WL_LAYOUT ".layout = {.row, .col}"
#define WL_WMMA_SHAPE ".shape = {.m16n16k16, .m8n32k16, .m32n8k16, .m16n16k8, .m8n8k4, .m8n8k32, .m8n8k128}"
#define WL_SPACE ".space = {.global, .shared, .shared::cta}"
/// .m64n8k16 to .m64n256k16, in steps of 8.
#define WL_EIGHT_COLUMNS(k) \
  ".m64n8" k ", .m64n16" k ", .m64n24" k ", .m64n32" k ", .m64n40" k ", .m64n48" k ", .m64n56" k ", .m64n64" k ", "
#define WL_COLUMNS(k)                                                                                               \
  WL_EIGHT_COLUMNS(k)                                                                                               \
  ".m64n72" k ", .m64n80" k ", .m64n88" k ", .m64n96" k ", .m64n104" k ", .m64n112" k ", .m64n120" k ", .m64n128" k \
  ", .m64n136" k ", .m64n144" k ", .m64n152" k ", .m64n160" k ", .m64n168" k ", .m64n176" k ", .m64n184" k          \
  ", .m64n192" k ", .m64n200" k ", .m64n208" k ", .m64n216" k ", .m64n224" k ", .m64n232" k ", .m64n240" k          \
  ", .m64n248" k ", .m64n256" k
constexpr OpDef kRows[] = {
    WL_MATRIX_MEMORY(
        "wmma.load", 6, 0, 70,
        "wmma.load.frag.sync.aligned.layout.shape{.space}.type r:vec:b32, [a], stride:u32?; .frag = {.a, .b, .c}; "
        ".type = {.f16, .bf16, .tf32, .f32, .s32, .u8, .s8, .u4, .s4, .b1}; " WL_LAYOUT "; " WL_WMMA_SHAPE
        "; " WL_SPACE,
        ref_wmma_load, wmma_accesses),
    WL_MATRIX_MEMORY("wmma.load", 7, 0, 80,
                     "wmma.load.frag.sync.aligned.layout.shape{.space}.type r:vec, [a], stride:u32?; .frag = {.a, .b, "
                     ".c}; .type = {.f64}; .shape = {.m8n8k4}; " WL_LAYOUT "; " WL_SPACE,
                     ref_wmma_load, wmma_accesses),
    WL_MATRIX_MEMORY("wmma.store", 6, 0, 70,
                     "wmma.store.d.sync.aligned.layout.shape{.space}.type [a], b:vec:b32, stride:u32?; .type = {.f16, "
                     ".f32, .s32}; " WL_LAYOUT "; " WL_WMMA_SHAPE "; " WL_SPACE,
                     ref_wmma_store, wmma_accesses),
    WL_MATRIX_MEMORY("wmma.store", 7, 0, 80,
                     "wmma.store.d.sync.aligned.layout.shape{.space}.type [a], b:vec, stride:u32?; .type = {.f64}; "
                     ".shape = {.m8n8k4}; " WL_LAYOUT "; " WL_SPACE,
                     ref_wmma_store, wmma_accesses),
    WL_MMA("wmma.mma", 6, 0, 70,
           "wmma.mma.sync.aligned.layout.blayout.shape.dtype.ctype{.satfinite} d:any, a:any, b:any, c:any; .layout = "
           ".blayout = {.row, .col}; .dtype = .ctype = {.f16, .f32}; .shape = {.m16n16k16, .m8n32k16, .m32n8k16}"),
    WL_MMA("wmma.mma", 6, 3, 72,
           "wmma.mma.sync.aligned.layout.blayout.shape.dtype.atype.btype.ctype{.tail} d:any, a:any, b:any, c:any; "
           ".layout = .blayout = {.row, .col}; .dtype = .ctype = {.f32, .s32, .f64}; .atype = .btype = {.bf16, .tf32, "
           ".u8, .s8, .u4, .s4, .f64}; .tail = {.satfinite, .rn}; " WL_WMMA_SHAPE),
    WL_MMA(
        "wmma.mma", 6, 3, 75,
        "wmma.mma.op.popc.sync.aligned.layout.blayout.shape.dtype.atype.btype.ctype d:any, a:any, b:any, c:any; .op = "
        "{.xor, .and}; .layout = .blayout = {.row, .col}; .dtype = .ctype = {.s32}; .atype = .btype = "
        "{.b1}; .shape = {.m8n8k128}"),
    WL_NOT_YET("wmma.mma", 7, 0, 80,
               "wmma.mma.sync.aligned.layout.blayout.shape.dtype.atype.btype.ctype.rnd d:any, a:any, b:any, c:any; "
               ".layout = .blayout = {.row, .col}; .dtype = .ctype = .atype = .btype = {.f64}; .rnd = {.rz, .rm, .rp}; "
               ".shape = {.m8n8k4}",
               "products of matrices with directed rounding are not run"),
    WL_NOT_YET("mma", 6, 4, 70,
               "mma.sync.aligned.shape.layout.blayout.dtype.atype.btype.ctype d:any, a:any, b:any, c:any; .layout = "
               ".blayout = {.row, .col}; .dtype = .ctype = {.f16, .f32}; .atype = .btype = {.f16}; .shape = {.m8n8k4}",
               "this shape (Volta's, four products by quarter warps) is not run"),
    WL_MMA(
        "mma", 6, 5, 75,
        "mma.sync.aligned.shape.layout.blayout.dtype.atype.btype.ctype d:any, a:any, b:any, c:any; .layout = {.row}; "
        ".blayout = {.col}; .dtype = .ctype = {.f16, .f32}; .atype = .btype = {.f16}; .shape = {.m16n8k8, "
        ".m16n8k16}"),
    WL_MMA(
        "mma", 7, 0, 80,
        "mma.sync.aligned.shape.layout.blayout.dtype.atype.btype.ctype d:any, a:any, b:any, c:any; .layout = {.row}; "
        ".blayout = {.col}; .dtype = .ctype = {.f32}; .atype = .btype = {.bf16}; .shape = {.m16n8k8, .m16n8k16}"),
    WL_MMA(
        "mma", 7, 0, 80,
        "mma.sync.aligned.shape.layout.blayout.dtype.atype.btype.ctype d:any, a:any, b:any, c:any; .layout = {.row}; "
        ".blayout = {.col}; .dtype = .ctype = {.f32}; .atype = .btype = {.tf32}; .shape = {.m16n8k4, .m16n8k8}"),
    WL_MMA(
        "mma", 8, 4, 89,
        "mma.sync.aligned.shape.layout.blayout.dtype.atype.btype.ctype d:any, a:any, b:any, c:any; .layout = {.row}; "
        ".blayout = {.col}; .dtype = .ctype = {.f16, .f32}; .atype = .btype = {.e4m3, .e5m2}; .shape = {.m16n8k16, "
        ".m16n8k32}"),
    WL_MMA("mma", 6, 5, 75,
           "mma.sync.aligned.shape.layout.blayout{.satfinite}.dtype.atype.btype.ctype d:any, a:any, b:any, c:any; "
           ".layout = {.row}; .blayout = {.col}; .dtype = .ctype = {.s32}; .atype = .btype = {.u8, .s8}; .shape = "
           "{.m8n8k16, .m16n8k16, .m16n8k32}"),
    WL_MMA("mma", 6, 5, 75,
           "mma.sync.aligned.shape.layout.blayout{.satfinite}.dtype.atype.btype.ctype d:any, a:any, b:any, c:any; "
           ".layout = {.row}; .blayout = {.col}; .dtype = .ctype = {.s32}; .atype = .btype = {.u4, .s4}; .shape = "
           "{.m8n8k32, .m16n8k32, .m16n8k64}"),
    WL_MMA(
        "mma", 7, 0, 75,
        "mma.sync.aligned.shape.layout.blayout.dtype.atype.btype.ctype.op.popc d:any, a:any, b:any, c:any; .layout = "
        "{.row}; .blayout = {.col}; .dtype = .ctype = {.s32}; .atype = .btype = {.b1}; .op = {.xor, .and}; .shape = "
        "{.m8n8k128, .m16n8k128, .m16n8k256}"),
    WL_MMA("mma", 7, 0, 80,
           "mma.sync.aligned.shape.layout.blayout.dtype.atype.btype.ctype{.rn} d:any, a:any, b:any, c:any; .layout = "
           "{.row}; .blayout = {.col}; .dtype = .ctype = .atype = .btype = {.f64}; .shape = {.m8n8k4, .m16n8k4, "
           ".m16n8k8, .m16n8k16}"),
    WL_MATRIX_MEMORY("ldmatrix", 6, 5, 75,
                     "ldmatrix.sync.aligned.shape.num{.trans}{.space}.type r:vec:b32, [a]; .shape = {.m8n8}; .num = "
                     "{.x1, .x2, .x4}; .space = {.shared, .shared::cta}; .type = {.b16}",
                     ref_ldmatrix, ldmatrix_accesses),
    WL_MATRIX_MEMORY("ldmatrix", 6, 5, 75,
                     "ldmatrix.sync.aligned.num{.trans}.shape{.space}.type r:vec:b32, [a]; .shape = {.m8n8}; .num = "
                     "{.x1, .x2, .x4}; .space = {.shared, .shared::cta}; .type = {.b16}",
                     ref_ldmatrix, ldmatrix_accesses),
    WL_NOT_YET(
        "ldmatrix", 8, 6, 100,
        "ldmatrix.sync.aligned.shape.num{.trans}{.space}.type r:vec:b32, [a]; .shape = {.m16n16, .m8n16}; .num = "
        "{.x1, .x2, .x4}; .space = {.shared, .shared::cta}; .type = {.b8}",
        "matrices of 8-bit elements (sm_100) are not run"),
    WL_MATRIX_MEMORY("stmatrix", 7, 8, 90,
                     "stmatrix.sync.aligned.shape.num{.trans}{.space}.type [a], b:vec:b32; .shape = {.m8n8}; .num = "
                     "{.x1, .x2, .x4}; .space = {.shared, .shared::cta}; .type = {.b16}",
                     ref_stmatrix, ldmatrix_accesses),
    WL_NOT_YET("stmatrix", 8, 6, 100,
               "stmatrix.sync.aligned.shape.num{.trans}{.space}.type [a], b:vec:b32; .shape = {.m16n8}; .num = {.x1, "
               ".x2, .x4}; .space = {.shared, .shared::cta}; .type = {.b8}",
               "matrices of 8-bit elements (sm_100) are not run"),
    {.form = "movmatrix.sync.aligned.m8n8.trans.type d:b32, a:b32; .type = {.b16}",
     .spec = {WL_SECTION "movmatrix", 7, 8, 75},
     .role = Role::kWarp,
     .pipe = Pipe::kAlu,
     .reference = {.warp = ref_movmatrix}},
    WL_WGMMA("wgmma.mma_async",
             "wgmma.mma_async.sync.aligned.shape.dtype.atype.btype d:any, a:any, b:any, p:any?, x:any?, y:any?, "
             "u:any?, v:any?; "
             ".dtype = {.f16, .f32}; .atype = .btype = {.f16, .bf16}; .shape = {" WL_COLUMNS("k16") "}"),
    WL_WGMMA("wgmma.mma_async",
             "wgmma.mma_async.sync.aligned.shape.dtype.atype.btype d:any, a:any, b:any, p:any?, x:any?, y:any?, "
             "u:any?, v:any?; "
             ".dtype = {.f32}; .atype = .btype = {.tf32}; .shape = {" WL_COLUMNS("k8") "}"),
    WL_WGMMA(
        "wgmma.mma_async",
        "wgmma.mma_async.sync.aligned.shape{.satfinite}.dtype.atype.btype d:any, a:any, b:any, p:any?, x:any?, y:any?; "
        ".dtype = {.f16, .f32, .s32}; .atype = .btype = {.e4m3, .e5m2, .u8, .s8}; .shape = {" WL_COLUMNS("k32") "}"),
    WL_WGMMA("wgmma.fence", "wgmma.fence.sync.aligned"),
    WL_WGMMA("wgmma.commit_group", "wgmma.commit_group.sync.aligned"),
    WL_WGMMA("wgmma.wait_group", "wgmma.wait_group.sync.aligned n:imm:b32"),
};

}  // namespace

Chapter matrix_chapter() { return kRows; }

}  // namespace warplens::ops
