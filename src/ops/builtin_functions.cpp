// SPDX-License-Identifier: Apache-2.0
// The table of device functions; builtin_functions.h says what they are. An entry's C++ function has ordinary
// parameters; call<> turns raw bits into them. Where a name exists for double and, with an f, for float, one entry of
// WL_BOTH makes both.
#include "ops/builtin_functions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "ops/float_format.h"

namespace warplens::ops {
namespace {

/// A pointer argument.
template <typename T>
struct Pointer {
  uint64_t address;
  BuiltinMemory* memory;
  void store(T v) const {
    if constexpr (sizeof(T) == 4)
      memory->store(address, std::bit_cast<uint32_t>(v), 4);
    else
      memory->store(address, std::bit_cast<uint64_t>(v), 8);
  }
  T load(int index) const {
    const uint64_t bits = memory->load(address + static_cast<uint64_t>(index) * sizeof(T), sizeof(T));
    if constexpr (sizeof(T) == 4)
      return std::bit_cast<T>(static_cast<uint32_t>(bits));
    else
      return std::bit_cast<T>(bits);
  }
};

template <typename T>
struct Convert {
  static T from(uint64_t bits, BuiltinMemory&) {
    if constexpr (std::is_same_v<T, float>)
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    else if constexpr (std::is_same_v<T, double>)
      return std::bit_cast<double>(bits);
    else
      return static_cast<T>(bits);
  }
  static uint64_t to(T v) {
    if constexpr (std::is_same_v<T, float>)
      return std::bit_cast<uint32_t>(v);
    else if constexpr (std::is_same_v<T, double>)
      return std::bit_cast<uint64_t>(v);
    else
      return static_cast<std::make_unsigned_t<T>>(v);
  }
};
template <typename T>
struct Convert<Pointer<T>> {
  static Pointer<T> from(uint64_t bits, BuiltinMemory& memory) { return {bits, &memory}; }
};

template <typename R, typename... A>
struct Signature {
  static constexpr size_t kArguments = sizeof...(A), kResults = std::is_void_v<R> ? 0 : 1;
  template <typename F, size_t... I>
  static void call(F f, std::span<const uint64_t> in, std::span<uint64_t> out, BuiltinMemory& m,
                   std::index_sequence<I...>) {
    if constexpr (std::is_void_v<R>)
      f(Convert<A>::from(in[I], m)...);
    else
      out[0] = Convert<R>::to(f(Convert<A>::from(in[I], m)...));
  }
};
template <typename F>
struct SignatureOf;
template <typename C, typename R, typename... A>
struct SignatureOf<R (C::*)(A...) const> : Signature<R, A...> {};

/// An entry from a lambda without captures.
template <auto kFunction>
constexpr Builtin entry(std::string_view name) {
  using S = SignatureOf<decltype(&decltype(kFunction)::operator())>;
  return {name,
          [](std::span<const uint64_t> in, std::span<uint64_t> out, BuiltinMemory& m) {
            S::call(kFunction, in, out, m, std::make_index_sequence<S::kArguments>());
          },
          S::kArguments, S::kResults};
}

// --- functions that libm lacks
constexpr double kPi = 3.141592653589793238462643;
double sin_pi(double x) {  // exact at multiples of a half
  const double r = std::remainder(x, 2.0);
  if (r == 0 || std::fabs(r) == 1) return std::copysign(0.0, x);
  if (std::fabs(r) > 0.5) return std::sin(kPi * (std::copysign(1.0, r) - r));
  return std::sin(kPi * r);
}
double cos_pi(double x) {
  const double r = std::fabs(std::remainder(x, 2.0));
  if (r == 0.5) return 0;
  return r < 0.25 ? std::cos(kPi * r) : sin_pi(0.5 - r);
}
/// Inverse of the normal distribution function: Acklam's rational start, then Halley steps on erfc.
double normal_quantile(double p) {
  if (std::isnan(p) || p < 0 || p > 1) return std::numeric_limits<double>::quiet_NaN();
  if (p == 0 || p == 1)
    return p == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const bool upper = p > 0.5;
  const double tail = upper ? 1 - p : p;
  const double t = std::sqrt(-2 * std::log(tail));
  // Abramowitz and Stegun 26.2.23, good to 4.5e-4; Newton's method makes it exact.
  double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
  for (int i = 0; i < 4; ++i) {
    const double error = 0.5 * std::erfc(-x / std::sqrt(2.0)) - tail;
    const double u = error * std::sqrt(2 * kPi) * std::exp(x * x / 2);
    x -= u / (1 + x * u / 2);
  }
  return upper ? -x : x;
}
double inverse_erfc(double y) {
  if (y > 2 || y < 0) return std::numeric_limits<double>::quiet_NaN();
  return -normal_quantile(y / 2) / std::sqrt(2.0);
}
double inverse_erf(double y) {
  if (std::fabs(y) < 0.5) {  // near 0 erfc's argument would lose y's digits
    double x = y * std::sqrt(kPi) / 2;
    for (int i = 0; i < 6; ++i) x -= (std::erf(x) - y) * std::sqrt(kPi) / 2 * std::exp(x * x);
    return x;
  }
  return y < 0 ? -inverse_erfc(1 + y) : inverse_erfc(1 - y);
}
/// exp(x^2) erfc(x): the product below 25, an asymptotic series above.
double scaled_erfc(double x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  const double r = 1 / (2 * x * x);
  return 1 / (x * std::sqrt(kPi)) * (1 - r * (1 - 3 * r * (1 - 5 * r)));
}
/// Modified Bessel functions by their integral: (1/pi) int_0^pi e^(x cos t) cos(n t) dt, trapezoids converge fast on
/// it.
double bessel_i(int n, double x) {
  constexpr int kSteps = 512;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double t = kPi * i / kSteps, weight = i == 0 || i == kSteps ? 0.5 : 1;
    sum += weight * std::exp(x * std::cos(t)) * std::cos(n * t);
  }
  return sum / kSteps;
}
double integer_power(double x, int n) { return std::pow(x, n); }
template <typename T>
T norm_of(int n, Pointer<T> p) {
  long double sum = 0;
  for (int i = 0; i < n; ++i) sum += static_cast<long double>(p.load(i)) * static_cast<long double>(p.load(i));
  return static_cast<T>(std::sqrt(sum));
}
double norm3(double a, double b, double c) { return std::hypot(a, b, c); }
double norm4(double a, double b, double c, double d) { return std::hypot(std::hypot(a, b), std::hypot(c, d)); }
double exp10_of(double x) { return std::pow(10.0, x); }
double rcbrt_of(double x) { return 1 / std::cbrt(x); }
double rhypot_of(double x, double y) { return 1 / std::hypot(x, y); }
double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double rsqrt_of(double x) { return 1 / std::sqrt(x); }

/// Rounded arithmetic by name suffix (rn, rz, ru, rd).
template <typename T>
const FloatFormat& format() {
  return sizeof(T) == 4 ? kF32 : kF64;
}
template <typename T>
Number number(T v) {
  return unpack(format<T>(), Convert<T>::to(v));
}
template <typename T>
T value(const Number& n, Rounding r) {
  const uint64_t bits = pack(format<T>(), n, r);
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<uint32_t>(bits));
  else
    return std::bit_cast<T>(bits);
}
template <typename T, Rounding kR>
T rounded_add(T a, T b) {
  return value<T>(add(number(a), number(b), kR), kR);
}
template <typename T, Rounding kR>
T rounded_fma(T a, T b, T c) {
  return value<T>(add(mul(number(a), number(b)), number(c), kR), kR);
}
/// Whole number in the mode given, clamped to the integer type; NaN is 0 for float to 32 bits, else the lowest value.
template <typename I, typename F, Rounding kR>
I to_integer(F v) {
  if (std::isnan(v)) return sizeof(F) == 4 && sizeof(I) == 4 ? 0 : static_cast<I>(uint64_t{1} << (8 * sizeof(I) - 1));
  const Number n = round_to_integer(number(v), kR);
  const double whole = value<double>(n, Rounding::kZero);
  if (whole >= std::ldexp(1.0, std::numeric_limits<I>::digits)) return std::numeric_limits<I>::max();
  if (whole <= static_cast<double>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  return static_cast<I>(whole);
}
template <typename F, typename I, Rounding kR>
F from_int(I v) {
  const bool negative = v < 0;
  const auto magnitude = negative ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  return value<F>(from_integer(negative, magnitude), kR);
}

#define WL_ONE(name, ...) entry<([] __VA_ARGS__)>("__nv_" name)
/// name(double), namef(float): the float form computes in double.
#define WL_BOTH(name, function)                          \
  WL_ONE(                                                \
      name, (double x)->double { return function(x); }), \
      WL_ONE(name "f", (float x)->float { return static_cast<float>(function(static_cast<double>(x))); })
#define WL_BOTH2(name, function)                                                                 \
  WL_ONE(                                                                                        \
      name, (double x, double y)->double { return function(x, y); }),                            \
      WL_ONE(                                                                                    \
          name "f", (float x, float y)->float {                                                  \
            return static_cast<float>(function(static_cast<double>(x), static_cast<double>(y))); \
          })
#define WL_EACH_ROUNDING(macro)                                                                       \
  macro("rn", Rounding::kNearestEven), macro("rz", Rounding::kZero), macro("ru", Rounding::kPlusInf), \
      macro("rd", Rounding::kMinusInf)
#define WL_ARITHMETIC(suffix, r)                                                                                 \
  WL_ONE(                                                                                                        \
      "fadd_" suffix, (float a, float b)->float { return rounded_add<float, r>(a, b); }),                        \
      WL_ONE(                                                                                                    \
          "fsub_" suffix, (float a, float b)->float { return rounded_add<float, r>(a, -b); }),                   \
      WL_ONE(                                                                                                    \
          "fmul_" suffix, (float a, float b)->float { return value<float>(mul(number(a), number(b)), r); }),     \
      WL_ONE(                                                                                                    \
          "fdiv_" suffix, (float a, float b)->float { return value<float>(div(number(a), number(b)), r); }),     \
      WL_ONE(                                                                                                    \
          "frcp_" suffix, (float a)->float { return value<float>(div(number(1.0f), number(a)), r); }),           \
      WL_ONE(                                                                                                    \
          "fsqrt_" suffix, (float a)->float { return value<float>(sqrt(number(a)), r); }),                       \
      WL_ONE(                                                                                                    \
          "fmaf_" suffix, (float a, float b, float c)->float { return rounded_fma<float, r>(a, b, c); }),        \
      WL_ONE(                                                                                                    \
          "fmaf_ieee_" suffix, (float a, float b, float c)->float { return rounded_fma<float, r>(a, b, c); }),   \
      WL_ONE(                                                                                                    \
          "dadd_" suffix, (double a, double b)->double { return rounded_add<double, r>(a, b); }),                \
      WL_ONE(                                                                                                    \
          "dsub_" suffix, (double a, double b)->double { return rounded_add<double, r>(a, -b); }),               \
      WL_ONE(                                                                                                    \
          "dmul_" suffix, (double a, double b)->double { return value<double>(mul(number(a), number(b)), r); }), \
      WL_ONE(                                                                                                    \
          "ddiv_" suffix, (double a, double b)->double { return value<double>(div(number(a), number(b)), r); }), \
      WL_ONE(                                                                                                    \
          "drcp_" suffix, (double a)->double { return value<double>(div(number(1.0), number(a)), r); }),         \
      WL_ONE(                                                                                                    \
          "dsqrt_" suffix, (double a)->double { return value<double>(sqrt(number(a)), r); }),                    \
      WL_ONE("fma_" suffix, (double a, double b, double c)->double { return rounded_fma<double, r>(a, b, c); })
#define WL_CONVERSIONS(suffix, r)                                                                      \
  WL_ONE(                                                                                              \
      "float2int_" suffix, (float a)->int { return to_integer<int, float, r>(a); }),                   \
      WL_ONE(                                                                                          \
          "float2uint_" suffix, (float a)->unsigned { return to_integer<unsigned, float, r>(a); }),    \
      WL_ONE(                                                                                          \
          "float2ll_" suffix, (float a)->int64_t { return to_integer<int64_t, float, r>(a); }),        \
      WL_ONE(                                                                                          \
          "float2ull_" suffix, (float a)->uint64_t { return to_integer<uint64_t, float, r>(a); }),     \
      WL_ONE(                                                                                          \
          "double2int_" suffix, (double a)->int { return to_integer<int, double, r>(a); }),            \
      WL_ONE(                                                                                          \
          "double2uint_" suffix, (double a)->unsigned { return to_integer<unsigned, double, r>(a); }), \
      WL_ONE(                                                                                          \
          "double2ll_" suffix, (double a)->int64_t { return to_integer<int64_t, double, r>(a); }),     \
      WL_ONE(                                                                                          \
          "double2ull_" suffix, (double a)->uint64_t { return to_integer<uint64_t, double, r>(a); }),  \
      WL_ONE(                                                                                          \
          "double2float_" suffix, (double a)->float { return value<float>(number(a), r); }),           \
      WL_ONE(                                                                                          \
          "int2float_" suffix, (int a)->float { return from_int<float, int, r>(a); }),                 \
      WL_ONE(                                                                                          \
          "uint2float_" suffix, (unsigned a)->float { return from_int<float, unsigned, r>(a); }),      \
      WL_ONE(                                                                                          \
          "ll2float_" suffix, (int64_t a)->float { return from_int<float, int64_t, r>(a); }),          \
      WL_ONE(                                                                                          \
          "ull2float_" suffix, (uint64_t a)->float { return from_int<float, uint64_t, r>(a); }),       \
      WL_ONE(                                                                                          \
          "ll2double_" suffix, (int64_t a)->double { return from_int<double, int64_t, r>(a); }),       \
      WL_ONE("ull2double_" suffix, (uint64_t a)->double { return from_int<double, uint64_t, r>(a); })

constexpr Builtin kBuiltins[] = {
    WL_BOTH("acos", std::acos),
    WL_BOTH("acosh", std::acosh),
    WL_BOTH("asin", std::asin),
    WL_BOTH("asinh", std::asinh),
    WL_BOTH("atan", std::atan),
    WL_BOTH("atanh", std::atanh),
    WL_BOTH2("atan2", std::atan2),
    WL_BOTH("cbrt", std::cbrt),
    WL_BOTH("ceil", std::ceil),
    WL_BOTH2("copysign", std::copysign),
    WL_BOTH("cos", std::cos),
    WL_BOTH("cosh", std::cosh),
    WL_BOTH("cospi", cos_pi),
    WL_ONE(
        "cyl_bessel_i0", (double x)->double { return bessel_i(0, x); }),
    WL_ONE(
        "cyl_bessel_i0f", (float x)->float { return static_cast<float>(bessel_i(0, static_cast<double>(x))); }),
    WL_ONE(
        "cyl_bessel_i1", (double x)->double { return bessel_i(1, x); }),
    WL_ONE(
        "cyl_bessel_i1f", (float x)->float { return static_cast<float>(bessel_i(1, static_cast<double>(x))); }),
    WL_BOTH("erf", std::erf),
    WL_BOTH("erfc", std::erfc),
    WL_BOTH("erfcinv", inverse_erfc),
    WL_BOTH("erfcx", scaled_erfc),
    WL_BOTH("erfinv", inverse_erf),
    WL_BOTH("exp", std::exp),
    WL_BOTH("exp10", exp10_of),
    WL_BOTH("exp2", std::exp2),
    WL_BOTH("expm1", std::expm1),
    WL_BOTH("fabs", std::fabs),
    WL_BOTH2("fdim", std::fdim),
    WL_BOTH("floor", std::floor),
    WL_ONE(
        "fma", (double a, double b, double c)->double { return std::fma(a, b, c); }),
    WL_ONE(
        "fmaf", (float a, float b, float c)->float { return std::fma(a, b, c); }),
    WL_BOTH2("fmax", std::fmax),
    WL_BOTH2("fmin", std::fmin),
    WL_BOTH2("fmod", std::fmod),
    WL_BOTH2("hypot", std::hypot),
    WL_BOTH("j0", ::j0),
    WL_BOTH("j1", ::j1),
    WL_ONE(
        "jn", (int n, double x)->double { return ::jn(n, x); }),
    WL_ONE(
        "jnf", (int n, float x)->float { return static_cast<float>(::jn(n, static_cast<double>(x))); }),
    WL_BOTH("y0", ::y0),
    WL_BOTH("y1", ::y1),
    WL_ONE(
        "yn", (int n, double x)->double { return ::yn(n, x); }),
    WL_ONE(
        "ynf", (int n, float x)->float { return static_cast<float>(::yn(n, static_cast<double>(x))); }),
    WL_BOTH("lgamma", std::lgamma),
    WL_BOTH("log", std::log),
    WL_BOTH("log10", std::log10),
    WL_BOTH("log1p", std::log1p),
    WL_BOTH("log2", std::log2),
    WL_BOTH("logb", std::logb),
    WL_BOTH("nearbyint", std::nearbyint),
    WL_ONE(
        "nextafter", (double a, double b)->double { return std::nextafter(a, b); }),
    WL_ONE(
        "nextafterf", (float a, float b)->float { return std::nextafter(a, b); }),
    WL_BOTH("normcdf", normal_cdf),
    WL_BOTH("normcdfinv", normal_quantile),
    WL_BOTH2("pow", std::pow),
    WL_ONE(
        "powi", (double x, int n)->double { return integer_power(x, n); }),
    WL_ONE(
        "powif", (float x, int n)->float { return static_cast<float>(integer_power(static_cast<double>(x), n)); }),
    WL_BOTH("rcbrt", rcbrt_of),
    WL_BOTH2("remainder", std::remainder),
    WL_BOTH2("rhypot", rhypot_of),
    WL_BOTH("rint", std::nearbyint),
    WL_BOTH("round", std::round),
    WL_BOTH("rsqrt", rsqrt_of),
    WL_BOTH("sin", std::sin),
    WL_BOTH("sinh", std::sinh),
    WL_BOTH("sinpi", sin_pi),
    WL_BOTH("sqrt", std::sqrt),
    WL_BOTH("tan", std::tan),
    WL_BOTH("tanh", std::tanh),
    WL_BOTH("tgamma", std::tgamma),
    WL_BOTH("trunc", std::trunc),
    WL_ONE(
        "norm3d", (double a, double b, double c)->double { return norm3(a, b, c); }),
    WL_ONE(
        "norm3df", (float a, float b, float c)->float { return static_cast<float>(norm3(a, b, c)); }),
    WL_ONE(
        "rnorm3d", (double a, double b, double c)->double { return 1 / norm3(a, b, c); }),
    WL_ONE(
        "rnorm3df", (float a, float b, float c)->float { return static_cast<float>(1 / norm3(a, b, c)); }),
    WL_ONE(
        "norm4d", (double a, double b, double c, double d)->double { return norm4(a, b, c, d); }),
    WL_ONE(
        "norm4df", (float a, float b, float c, float d)->float { return static_cast<float>(norm4(a, b, c, d)); }),
    WL_ONE(
        "rnorm4d", (double a, double b, double c, double d)->double { return 1 / norm4(a, b, c, d); }),
    WL_ONE(
        "rnorm4df", (float a, float b, float c, float d)->float { return static_cast<float>(1 / norm4(a, b, c, d)); }),
    WL_ONE(
        "norm", (int n, Pointer<double> p)->double { return norm_of(n, p); }),
    WL_ONE(
        "normf", (int n, Pointer<float> p)->float { return norm_of(n, p); }),
    WL_ONE(
        "rnorm", (int n, Pointer<double> p)->double { return 1 / norm_of(n, p); }),
    WL_ONE(
        "rnormf", (int n, Pointer<float> p)->float { return 1 / norm_of(n, p); }),

    WL_ONE(
        "fast_sinf", (float x)->float { return static_cast<float>(std::sin(static_cast<double>(x))); }),
    WL_ONE(
        "fast_cosf", (float x)->float { return static_cast<float>(std::cos(static_cast<double>(x))); }),
    WL_ONE(
        "fast_tanf", (float x)->float { return static_cast<float>(std::tan(static_cast<double>(x))); }),
    WL_ONE(
        "fast_expf", (float x)->float { return static_cast<float>(std::exp(static_cast<double>(x))); }),
    WL_ONE(
        "fast_exp10f", (float x)->float { return static_cast<float>(exp10_of(static_cast<double>(x))); }),
    WL_ONE(
        "fast_logf", (float x)->float { return static_cast<float>(std::log(static_cast<double>(x))); }),
    WL_ONE(
        "fast_log2f", (float x)->float { return static_cast<float>(std::log2(static_cast<double>(x))); }),
    WL_ONE(
        "fast_log10f", (float x)->float { return static_cast<float>(std::log10(static_cast<double>(x))); }),
    WL_ONE(
        "fast_powf",
        (float x, float y)->float {
          return static_cast<float>(std::pow(static_cast<double>(x), static_cast<double>(y)));
        }),
    WL_ONE(
        "fast_fdividef", (float x, float y)->float { return x / y; }),
    WL_ONE(
        "frsqrt_rn", (float x)->float { return static_cast<float>(1 / std::sqrt(static_cast<double>(x))); }),
    WL_ONE(
        "saturatef", (float x)->float { return x > 0 ? std::min(x, 1.0f) : 0.0f; }),
    WL_EACH_ROUNDING(WL_ARITHMETIC),
    WL_EACH_ROUNDING(WL_CONVERSIONS),
    WL_ONE(
        "int2double_rn", (int a)->double { return a; }),
    WL_ONE(
        "uint2double_rn", (unsigned a)->double { return a; }),
    WL_ONE(
        "float2half_rn",
        (float a)->uint16_t { return static_cast<uint16_t>(pack(kF16, number(a), Rounding::kNearestEven)); }),
    WL_ONE(
        "half2float", (uint16_t a)->float { return value<float>(unpack(kF16, a), Rounding::kNearestEven); }),

    WL_ONE(
        "sincos",
        (double x, Pointer<double> s, Pointer<double> c)->void {
          s.store(std::sin(x));
          c.store(std::cos(x));
        }),
    WL_ONE(
        "sincosf",
        (float x, Pointer<float> s, Pointer<float> c)->void {
          s.store(static_cast<float>(std::sin(static_cast<double>(x))));
          c.store(static_cast<float>(std::cos(static_cast<double>(x))));
        }),
    WL_ONE(
        "fast_sincosf",
        (float x, Pointer<float> s, Pointer<float> c)->void {
          s.store(static_cast<float>(std::sin(static_cast<double>(x))));
          c.store(static_cast<float>(std::cos(static_cast<double>(x))));
        }),
    WL_ONE(
        "sincospi",
        (double x, Pointer<double> s, Pointer<double> c)
            ->void {
              s.store(sin_pi(x));
              c.store(cos_pi(x));
            }),
    WL_ONE(
        "sincospif",
        (float x, Pointer<float> s, Pointer<float> c)
            ->void {
              s.store(static_cast<float>(sin_pi(static_cast<double>(x))));
              c.store(static_cast<float>(cos_pi(static_cast<double>(x))));
            }),
    WL_ONE(
        "frexp",
        (double x, Pointer<int> e)
            ->double {
              int exponent = 0;
              const double m = std::frexp(x, &exponent);
              e.store(exponent);
              return m;
            }),
    WL_ONE(
        "frexpf",
        (float x, Pointer<int> e)
            ->float {
              int exponent = 0;
              const float m = std::frexp(x, &exponent);
              e.store(exponent);
              return m;
            }),
    WL_ONE(
        "modf",
        (double x, Pointer<double> whole)
            ->double {
              double w = 0;
              const double fraction = std::modf(x, &w);
              whole.store(w);
              return fraction;
            }),
    WL_ONE(
        "modff",
        (float x, Pointer<float> whole)
            ->float {
              float w = 0;
              const float fraction = std::modf(x, &w);
              whole.store(w);
              return fraction;
            }),
    WL_ONE(
        "remquo",
        (double x, double y, Pointer<int> q)
            ->double {
              int quotient = 0;
              const double r = std::remquo(x, y, &quotient);
              q.store(quotient);
              return r;
            }),
    WL_ONE(
        "remquof",
        (float x, float y, Pointer<int> q)
            ->float {
              int quotient = 0;
              const float r = std::remquo(x, y, &quotient);
              q.store(quotient);
              return r;
            }),
    WL_ONE(
        "ldexp", (double x, int e)->double { return std::ldexp(x, e); }),
    WL_ONE(
        "ldexpf", (float x, int e)->float { return std::ldexp(x, e); }),
    WL_ONE(
        "scalbn", (double x, int e)->double { return std::scalbn(x, e); }),
    WL_ONE(
        "scalbnf", (float x, int e)->float { return std::scalbn(x, e); }),
    WL_ONE(
        "ilogb", (double x)->int { return std::ilogb(x); }),
    WL_ONE(
        "ilogbf", (float x)->int { return std::ilogb(x); }),
    WL_ONE(
        "llrint", (double x)->int64_t { return to_integer<int64_t, double, Rounding::kNearestEven>(x); }),
    WL_ONE(
        "llrintf", (float x)->int64_t { return to_integer<int64_t, float, Rounding::kNearestEven>(x); }),
    WL_ONE(
        "llround", (double x)->int64_t { return to_integer<int64_t, double, Rounding::kZero>(std::round(x)); }),
    WL_ONE(
        "llroundf", (float x)->int64_t { return to_integer<int64_t, float, Rounding::kZero>(std::round(x)); }),
    WL_ONE(
        "nan", (uint64_t)->double { return std::numeric_limits<double>::quiet_NaN(); }),
    WL_ONE(
        "nanf", (uint64_t)->float { return std::bit_cast<float>(0x7fffffff); }),

    WL_ONE(
        "isinfd", (double x)->int { return std::isinf(x) ? 1 : 0; }),
    WL_ONE(
        "isinff", (float x)->int { return std::isinf(x) ? 1 : 0; }),
    WL_ONE(
        "isnand", (double x)->int { return std::isnan(x) ? 1 : 0; }),
    WL_ONE(
        "isnanf", (float x)->int { return std::isnan(x) ? 1 : 0; }),
    WL_ONE(
        "isfinited", (double x)->int { return std::isfinite(x) ? 1 : 0; }),
    WL_ONE(
        "finitef", (float x)->int { return std::isfinite(x) ? 1 : 0; }),
    WL_ONE(
        "signbitd", (double x)->int { return std::signbit(x) ? 1 : 0; }),
    WL_ONE(
        "signbitf", (float x)->int { return std::signbit(x) ? 1 : 0; }),

    WL_ONE(
        "float_as_int", (uint32_t x)->uint32_t { return x; }),
    WL_ONE(
        "float_as_uint", (uint32_t x)->uint32_t { return x; }),
    WL_ONE(
        "int_as_float", (uint32_t x)->uint32_t { return x; }),
    WL_ONE(
        "uint_as_float", (uint32_t x)->uint32_t { return x; }),
    WL_ONE(
        "double_as_longlong", (uint64_t x)->uint64_t { return x; }),
    WL_ONE(
        "longlong_as_double", (uint64_t x)->uint64_t { return x; }),
    WL_ONE(
        "double2hiint", (uint64_t x)->uint32_t { return static_cast<uint32_t>(x >> 32); }),
    WL_ONE(
        "double2loint", (uint64_t x)->uint32_t { return static_cast<uint32_t>(x); }),
    WL_ONE(
        "hiloint2double", (uint32_t high, uint32_t low)->uint64_t { return uint64_t{high} << 32 | low; }),

    WL_ONE(
        "abs", (uint32_t x)->uint32_t { return (x >> 31) != 0 ? 0 - x : x; }),
    WL_ONE(
        "llabs", (uint64_t x)->uint64_t { return (x >> 63) != 0 ? 0 - x : x; }),
    WL_ONE(
        "min", (int a, int b)->int { return std::min(a, b); }),
    WL_ONE(
        "max", (int a, int b)->int { return std::max(a, b); }),
    WL_ONE(
        "umin", (uint32_t a, uint32_t b)->uint32_t { return std::min(a, b); }),
    WL_ONE(
        "umax", (uint32_t a, uint32_t b)->uint32_t { return std::max(a, b); }),
    WL_ONE(
        "llmin", (int64_t a, int64_t b)->int64_t { return std::min(a, b); }),
    WL_ONE(
        "llmax", (int64_t a, int64_t b)->int64_t { return std::max(a, b); }),
    WL_ONE(
        "ullmin", (uint64_t a, uint64_t b)->uint64_t { return std::min(a, b); }),
    WL_ONE(
        "ullmax", (uint64_t a, uint64_t b)->uint64_t { return std::max(a, b); }),
    WL_ONE(
        "mulhi", (int a, int b)->int { return static_cast<int>((int64_t{a} * b) >> 32); }),
    WL_ONE(
        "umulhi", (uint32_t a, uint32_t b)->uint32_t { return static_cast<uint32_t>((uint64_t{a} * b) >> 32); }),
    WL_ONE(
        "mul64hi",
        (int64_t a, int64_t b)->int64_t { return static_cast<int64_t>((static_cast<__int128>(a) * b) >> 64); }),
    WL_ONE(
        "umul64hi",
        (uint64_t a, uint64_t b)->uint64_t { return static_cast<uint64_t>((static_cast<Wide>(a) * b) >> 64); }),
    WL_ONE(
        "mul24",
        (uint32_t a, uint32_t b)
            ->uint32_t {
              return static_cast<uint32_t>((int64_t{static_cast<int>(a << 8)} >> 8) *
                                           (int64_t{static_cast<int>(b << 8)} >> 8));
            }),
    WL_ONE(
        "umul24", (uint32_t a, uint32_t b)->uint32_t { return (a & 0xffffff) * (b & 0xffffff); }),
    WL_ONE(
        "sad",
        (int a, int b, uint32_t c)->uint32_t { return c + static_cast<uint32_t>(std::abs(int64_t{a} - int64_t{b})); }),
    WL_ONE(
        "usad", (uint32_t a, uint32_t b, uint32_t c)->uint32_t { return c + (a > b ? a - b : b - a); }),
    WL_ONE(
        "hadd", (int a, int b)->int { return static_cast<int>((int64_t{a} + b) >> 1); }),
    WL_ONE(
        "rhadd", (int a, int b)->int { return static_cast<int>((int64_t{a} + b + 1) >> 1); }),
    WL_ONE(
        "uhadd", (uint32_t a, uint32_t b)->uint32_t { return static_cast<uint32_t>((uint64_t{a} + b) >> 1); }),
    WL_ONE(
        "urhadd", (uint32_t a, uint32_t b)->uint32_t { return static_cast<uint32_t>((uint64_t{a} + b + 1) >> 1); }),
    WL_ONE(
        "popc", (uint32_t a)->int { return std::popcount(a); }),
    WL_ONE(
        "popcll", (uint64_t a)->int { return std::popcount(a); }),
    WL_ONE(
        "clz", (uint32_t a)->int { return std::countl_zero(a); }),
    WL_ONE(
        "clzll", (uint64_t a)->int { return std::countl_zero(a); }),
    WL_ONE(
        "ffs", (uint32_t a)->int { return a == 0 ? 0 : std::countr_zero(a) + 1; }),
    WL_ONE(
        "ffsll", (uint64_t a)->int { return a == 0 ? 0 : std::countr_zero(a) + 1; }),
    WL_ONE(
        "brev",
        (uint32_t a)
            ->uint32_t {
              uint32_t d = 0;
              for (int i = 0; i < 32; ++i) d |= ((a >> i) & 1) << (31 - i);
              return d;
            }),
    WL_ONE(
        "brevll",
        (uint64_t a)
            ->uint64_t {
              uint64_t d = 0;
              for (int i = 0; i < 64; ++i) d |= ((a >> i) & 1) << (63 - i);
              return d;
            }),
    WL_ONE(
        "byte_perm",
        (uint32_t a, uint32_t b, uint32_t selector)
            ->uint32_t {
              const uint64_t pair = uint64_t{b} << 32 | a;
              uint32_t d = 0;
              for (uint32_t i = 0; i < 4; ++i)
                d |= static_cast<uint32_t>((pair >> (8 * ((selector >> (4 * i)) & 7))) & 0xff) << (8 * i);
              return d;
            }),
    WL_ONE(
        "rcp64h",
        (uint64_t x)
            ->uint64_t {
              return std::bit_cast<uint64_t>(1 / std::bit_cast<double>(x & ~uint64_t{0xffffffff})) &
                     ~uint64_t{0xffffffff};
            }),
};

}  // namespace

std::span<const Builtin> builtins() { return kBuiltins; }

const Builtin* find_builtin(std::string_view name) {
  const auto* it =
      std::find_if(std::begin(kBuiltins), std::end(kBuiltins), [&](const Builtin& b) { return b.name == name; });
  return it == std::end(kBuiltins) ? nullptr : it;
}

}  // namespace warplens::ops
