// SPDX-License-Identifier: Apache-2.0
// Fragments: how the lanes of a warp hold the elements of a matrix that mma works on ("Warp-Level Matrix Instructions:
// Matrix Fragments for mma"). All shapes but m8n8k4 of f16 follow one rule: a register holds `pack` neighbours along k
// (A, B) or n (C, D); lane l = 4 * g + t has row g of a group of 8 rows, and of its columns the t-th pack.
//
// wmma leaves the distribution open; here it is the same rule, so that loads have the access pattern of mma's.
#pragma once
#include <cstdint>
#include <string_view>

namespace warplens::ops {

struct Shape {
  unsigned m = 0, n = 0, k = 0;
};
/// "m16n8k16".
Shape shape_named(std::string_view word);

/// Bits of an element in memory and in a packed register, by the name of its type ("f16", "tf32", "u4", "b1" ...).
unsigned element_bits(std::string_view type);

/// A place in a matrix. A is m x k, C and D are m x n; B is taken as its transpose, n x k.
struct Place {
  unsigned row = 0, column = 0;
};

class Fragment {
 public:
  static Fragment of_a(Shape s, std::string_view type) { return {s.m, s.k, type, false}; }
  static Fragment of_b(Shape s, std::string_view type) { return {s.n, s.k, type, false}; }
  static Fragment of_c(Shape s, std::string_view type) { return {s.m, s.n, type, true}; }

  unsigned rows() const { return rows_; }
  unsigned columns() const { return columns_; }
  /// Elements in one register: 32 bits, or 64 for f64.
  unsigned pack() const { return pack_; }
  unsigned bits() const { return bits_; }
  /// Registers that hold the matrix once. (wmma has more for A and B of f16: copies.)
  unsigned registers() const { return rows_ * columns_ / (32 * pack_); }
  Place at(unsigned reg, unsigned lane, unsigned element) const;

 private:
  Fragment(unsigned rows, unsigned columns, std::string_view type, bool accumulator);
  unsigned rows_, columns_, bits_, pack_;
  bool accumulator_;
};

}  // namespace warplens::ops
