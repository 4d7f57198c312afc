// SPDX-License-Identifier: Apache-2.0
// Types of array elements and scalars as people name them for bare kernels: f32, i64, bf16 ... and what NumPy calls
// them in a .npy file. Values go in and out as text or as double; integers keep all 64 bits.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ptx/types.h"

namespace warplens::session {

enum class ElementType : uint8_t { kBool, kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64, kF16, kBF16, kF32, kF64 };
constexpr int kElementTypes = static_cast<int>(ElementType::kF64) + 1;

/// 'b' bool, 'i' signed, 'u' unsigned, 'f' floating point.
char kind_of(ElementType type);
unsigned bytes_of(ElementType type);
std::string_view name_of(ElementType type);
/// All names, for messages: "bool, i8, ...".
std::string element_type_names();
std::optional<ElementType> element_type(std::string_view name);

/// NumPy's name in a .npy header: "<f4", "|u1". bf16, which NumPy lacks, is "<V2", two plain bytes, as the ml_dtypes
/// package writes it.
std::string_view npy_name_of(ElementType type);
std::optional<ElementType> element_type_of_npy(std::string_view descr);

/// The element's raw bits from a number as text: decimal or 0x integers, "true", "inf", "nan", 1e-3. Fails when the
/// text is no number or does not fit; `what` names the place in the message.
Result<uint64_t> bits_of(ElementType type, std::string_view text, const std::string& what);
/// Raw bits from a double, rounded to nearest even for floating-point types. For integers `value` must be in range.
uint64_t bits_of(ElementType type, double value);
/// The value of an element (exact for all but 64-bit integers).
double value_of(ElementType type, const uint8_t* element);
/// For messages: "-3", "0.25", "nan".
std::string text_of(ElementType type, const uint8_t* element);

/// Elements in host memory, row-major.
struct Array {
  ElementType type = ElementType::kF32;
  std::vector<uint64_t> shape;
  std::vector<uint8_t> bytes;
  uint64_t count() const { return bytes.size() / bytes_of(type); }
};
/// "f32[512,512]".
std::string describe(ElementType type, const std::vector<uint64_t>& shape);
/// Product of the extents, or nothing when the array would be over 2^40 bytes.
std::optional<uint64_t> count_of(ElementType type, const std::vector<uint64_t>& shape);

}  // namespace warplens::session
