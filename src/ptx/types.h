// SPDX-License-Identifier: Apache-2.0
// The words of PTX that are not opcodes: scalar types, state spaces, modifiers and special registers.
// Spelling is the PTX manual's (sections "Types", "State Spaces", "Special Registers").
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace warplens::ptx {

enum class Type : uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBF16,
  kBF16x2,
  kF32,
  kF64,
  kTF32,
  kE4M3,
  kE5M2,
  kE4M3x2,
  kE5M2x2,
  kU16x2,
  kS16x2,
  kF32x2,
  kTexref,
  kSamplerref,
  kSurfref,
};
constexpr int kTypeCount = static_cast<int>(Type::kSurfref) + 1;

/// One row for each Type, in the enum's order.
struct TypeInfo {
  std::string_view name;
  uint8_t bits;  ///< of one value
  char kind;     ///< 'b' untyped bits, 'u', 's', 'f' (packed ones too), 'p' predicate, 'o' opaque handle, 0 none
  bool packed;   ///< two values side by side
};
inline constexpr TypeInfo kTypes[kTypeCount] = {
    {"", 0, 0, false},         {"pred", 1, 'p', false},    {"b8", 8, 'b', false},          {"b16", 16, 'b', false},
    {"b32", 32, 'b', false},   {"b64", 64, 'b', false},    {"b128", 128, 'b', false},      {"u8", 8, 'u', false},
    {"u16", 16, 'u', false},   {"u32", 32, 'u', false},    {"u64", 64, 'u', false},        {"s8", 8, 's', false},
    {"s16", 16, 's', false},   {"s32", 32, 's', false},    {"s64", 64, 's', false},        {"f16", 16, 'f', false},
    {"f16x2", 32, 'f', true},  {"bf16", 16, 'f', false},   {"bf16x2", 32, 'f', true},      {"f32", 32, 'f', false},
    {"f64", 64, 'f', false},   {"tf32", 32, 'f', false},   {"e4m3", 8, 'f', false},        {"e5m2", 8, 'f', false},
    {"e4m3x2", 16, 'f', true}, {"e5m2x2", 16, 'f', true},  {"u16x2", 32, 'u', true},       {"s16x2", 32, 's', true},
    {"f32x2", 64, 'f', true},  {"texref", 64, 'o', false}, {"samplerref", 64, 'o', false}, {"surfref", 64, 'o', false},
};
constexpr const TypeInfo& info_of(Type t) { return kTypes[static_cast<int>(t)]; }

/// Bits of one value of the type (kPred: 1, kNone: 0).
constexpr unsigned bits_of(Type t) { return info_of(t).bits; }
constexpr unsigned bytes_of(Type t) { return t == Type::kPred ? 1 : bits_of(t) / 8; }
/// f16, bf16, f32, f64, tf32 and the packed and fp8 types.
constexpr bool is_float(Type t) { return info_of(t).kind == 'f'; }
/// s8..s64, s16x2.
constexpr bool is_signed(Type t) { return info_of(t).kind == 's'; }
/// b, u and s types.
constexpr bool is_integer(Type t) {
  const char k = info_of(t).kind;
  return k == 'b' || k == 'u' || k == 's';
}
/// "u32" for Type::kU32; "pred" for kPred.
constexpr std::string_view name_of(Type t) { return info_of(t).name; }
/// The type named `word` (without the dot), or nothing.
constexpr std::optional<Type> type_named(std::string_view word) {
  // Forms are parsed by the compiler, a few dozen words each: most words are refused by their first letters.
  if (word.size() < 2 || word.size() > 10) return std::nullopt;
  for (int i = 1; i < kTypeCount; ++i) {
    const std::string_view n = kTypes[i].name;
    if (n[0] == word[0] && n[1] == word[1] && n == word) return static_cast<Type>(i);
  }
  return std::nullopt;
}

/// State spaces. kGeneric is "no space given".
enum class Space : uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam, kReg, kSharedCluster };
std::string_view name_of(Space s);

/// Every special register (%tid.x ...). Vector ones are split into components.
enum class SpecialReg : uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kSmid,
  kNsmid,
  kGridid,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kClock,
  kClockHi,
  kClock64,
  kGlobaltimer,
  kGlobaltimerLo,
  kGlobaltimerHi,
  kClusteridX,
  kClusteridY,
  kClusteridZ,
  kNclusteridX,
  kNclusteridY,
  kNclusteridZ,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterCtarank,
  kClusterNctarank,
  kIsExplicitCluster,
  kDynamicSmemSize,
  kTotalSmemSize,
  kAggrSmemSize,
  kReservedSmemOffset,
  kEnvreg,
  kCurrentGraphExec,
};
/// The special register with that spelling ("%tid.x", "%laneid", "%envreg3"), or nothing. `index` receives the number
/// of %envreg<n> / %reserved_smem_offset_<n>.
std::optional<SpecialReg> special_register_named(std::string_view word, unsigned* index = nullptr);
std::string_view name_of(SpecialReg r);
Type type_of(SpecialReg r);

}  // namespace warplens::ptx
