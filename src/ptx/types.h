// SPDX-License-Identifier: Apache-2.0
// The words of PTX that are not opcodes: scalar types, state spaces, modifiers and special registers.
// Spelling is the PTX manual's (sections "Types", "State Spaces", "Special Registers").
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace warplens::ptx {

enum class Type : uint8_t {
  kNone, kPred,
  kB8, kB16, kB32, kB64, kB128,
  kU8, kU16, kU32, kU64,
  kS8, kS16, kS32, kS64,
  kF16, kF16x2, kBF16, kBF16x2, kF32, kF64, kTF32,
  kE4M3, kE5M2, kE4M3x2, kE5M2x2,
  kU16x2, kS16x2,
};

/// Bits of one value of the type (kPred: 1, kNone: 0).
unsigned bits_of(Type t);
inline unsigned bytes_of(Type t) { return t == Type::kPred ? 1 : bits_of(t) / 8; }
bool is_float(Type t);    ///< f16, bf16, f32, f64, tf32 and the packed and fp8 types
bool is_signed(Type t);   ///< s8..s64, s16x2
bool is_integer(Type t);  ///< b, u and s types
/// "u32" for Type::kU32; "pred" for kPred.
std::string_view name_of(Type t);
/// The type named `word` (without the dot), or nothing.
std::optional<Type> type_named(std::string_view word);

/// State spaces. kGeneric is "no space given".
enum class Space : uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam, kReg, kSharedCluster };
std::string_view name_of(Space s);

/// Every special register (%tid.x ...). Vector ones are split into components.
enum class SpecialReg : uint8_t {
  kTidX, kTidY, kTidZ, kNtidX, kNtidY, kNtidZ, kCtaidX, kCtaidY, kCtaidZ, kNctaidX, kNctaidY, kNctaidZ,
  kLaneid, kWarpid, kNwarpid, kSmid, kNsmid, kGridid,
  kLanemaskEq, kLanemaskLe, kLanemaskLt, kLanemaskGe, kLanemaskGt,
  kClock, kClockHi, kClock64, kGlobaltimer, kGlobaltimerLo, kGlobaltimerHi,
  kClusteridX, kClusteridY, kClusteridZ, kNclusteridX, kNclusteridY, kNclusteridZ,
  kClusterCtaidX, kClusterCtaidY, kClusterCtaidZ, kClusterNctaidX, kClusterNctaidY, kClusterNctaidZ,
  kClusterCtarank, kClusterNctarank, kIsExplicitCluster,
  kDynamicSmemSize, kTotalSmemSize, kAggrSmemSize, kReservedSmemOffset, kEnvreg, kCurrentGraphExec,
};
/// The special register with that spelling ("%tid.x", "%laneid", "%envreg3"), or nothing. `index` receives the number of
/// %envreg<n> / %reserved_smem_offset_<n>.
std::optional<SpecialReg> special_register_named(std::string_view word, unsigned* index = nullptr);
std::string_view name_of(SpecialReg r);
Type type_of(SpecialReg r);

}  // namespace warplens::ptx
