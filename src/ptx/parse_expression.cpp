// SPDX-License-Identifier: Apache-2.0
// Constant expressions (manual section "Constant Expressions"): C's operators on 64-bit integers and doubles. A result
// is unsigned when an operand is; there is no promotion to smaller types.
#include <fmt/format.h>

#include "ptx/module_parser.h"

namespace warplens::ptx {
namespace {

struct Operator {
  char punct;
  int level;  ///< binds tighter when higher
};
constexpr Operator kOperators[] = {
    {punct::kOr, 1},
    {punct::kAnd, 2},
    {'|', 3},
    {'^', 4},
    {'&', 5},
    {punct::kEqual, 6},
    {punct::kNotEqual, 6},
    {'<', 7},
    {'>', 7},
    {punct::kLessEqual, 7},
    {punct::kGreaterEqual, 7},
    {punct::kShiftLeft, 8},
    {punct::kShiftRight, 8},
    {'+', 9},
    {'-', 9},
    {'*', 10},
    {'/', 10},
    {'%', 10},
};

template <typename T>
std::optional<Constant> compare(char op, T a, T b) {
  switch (op) {
    case punct::kEqual: return Constant::of(a == b);
    case punct::kNotEqual: return Constant::of(a != b);
    case '<': return Constant::of(a < b);
    case '>': return Constant::of(a > b);
    case punct::kLessEqual: return Constant::of(a <= b);
    case punct::kGreaterEqual: return Constant::of(a >= b);
    case punct::kAnd: return Constant::of(a != 0 && b != 0);
    case punct::kOr: return Constant::of(a != 0 || b != 0);
    default: return std::nullopt;
  }
}

std::optional<Constant> apply_double(char op, double a, double b) {
  switch (op) {
    case '+': return Constant::of_double(a + b);
    case '-': return Constant::of_double(a - b);
    case '*': return Constant::of_double(a * b);
    case '/': return Constant::of_double(a / b);
    default: return compare(op, a, b);
  }
}

uint64_t divide(char op, uint64_t a, uint64_t b, bool is_signed) {
  if (!is_signed) return op == '/' ? a / b : a % b;
  const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  if (y == -1) return op == '/' ? 0 - a : 0;  // avoids the overflow of INT64_MIN / -1
  return static_cast<uint64_t>(op == '/' ? x / y : x % y);
}

/// Nothing when the operation is not defined: division by zero.
std::optional<Constant> apply_integer(char op, const Constant& a, const Constant& b) {
  const bool is_signed = a.kind == Constant::Kind::kSigned && b.kind == Constant::Kind::kSigned;
  const auto result = [&](uint64_t v) {
    return Constant{is_signed ? Constant::Kind::kSigned : Constant::Kind::kUnsigned, v};
  };
  switch (op) {
    case '+': return result(a.bits + b.bits);
    case '-': return result(a.bits - b.bits);
    case '*': return result(a.bits * b.bits);
    case '/':
    case '%': return b.bits == 0 ? std::nullopt : std::optional(result(divide(op, a.bits, b.bits, is_signed)));
    case '&': return result(a.bits & b.bits);
    case '|': return result(a.bits | b.bits);
    case '^': return result(a.bits ^ b.bits);
    case punct::kShiftLeft: return Constant{a.kind, b.bits > 63 ? 0 : a.bits << b.bits};
    case punct::kShiftRight: {
      const unsigned n = b.bits > 63 ? 63 : static_cast<unsigned>(b.bits);
      if (a.kind == Constant::Kind::kSigned) return Constant::of(static_cast<int64_t>(a.bits) >> n);
      return Constant::of_unsigned(b.bits > 63 ? 0 : a.bits >> n);
    }
    default:
      return is_signed ? compare(op, static_cast<int64_t>(a.bits), static_cast<int64_t>(b.bits))
                       : compare(op, a.bits, b.bits);
  }
}

}  // namespace

bool ModuleParser::parse_ternary(Constant& value, unsigned depth) {
  if (depth > kMaxNesting) return fail(token().pos, "the expression is nested too deeply");
  if (!parse_binary(value, 1, depth)) return false;
  if (!accept('?')) return true;
  Constant yes, no;
  if (!parse_ternary(yes, depth + 1) || !expect(':') || !parse_ternary(no, depth + 1)) return false;
  value = value.as_double() != 0 ? yes : no;
  return true;
}

bool ModuleParser::parse_binary(Constant& value, int lowest, unsigned depth) {
  if (!parse_unary(value, depth)) return false;
  while (token().kind == TokenKind::kPunct) {
    const Operator* op = nullptr;
    for (const Operator& o : kOperators)
      if (o.punct == token().punct && o.level >= lowest) op = &o;
    if (!op) return true;
    const SourcePos pos = token().pos;
    lexer_.next();
    Constant right;
    if (!parse_binary(right, op->level + 1, depth)) return false;
    const auto result = value.is_integer() && right.is_integer()
                            ? apply_integer(op->punct, value, right)
                            : apply_double(op->punct, value.as_double(), right.as_double());
    if (!result) return fail(pos, "this operation has no value");
    value = *result;
  }
  return true;
}

bool ModuleParser::parse_unary(Constant& value, unsigned depth) {
  if (depth > kMaxNesting) return fail(token().pos, "the expression is nested too deeply");
  const SourcePos pos = token().pos;
  if (accept('+')) return parse_unary(value, depth + 1);
  if (accept('-')) {
    if (!parse_unary(value, depth + 1)) return false;
    if (value.is_integer())
      value = Constant{value.kind, 0 - value.bits};
    else if (value.kind == Constant::Kind::kSingle)
      value.bits ^= 0x80000000u;
    else
      value.bits ^= uint64_t{1} << 63;
    return true;
  }
  if (is('!') || is('~')) {
    const bool logical = is('!');
    lexer_.next();
    if (!parse_unary(value, depth + 1)) return false;
    if (logical) {
      value = Constant::of(value.as_double() == 0);
      return true;
    }
    if (!value.is_integer()) return fail(pos, "'~' needs an integer");
    value.bits = ~value.bits;
    return true;
  }
  if (is('(')) return parse_cast_or_group(value, depth);
  if (token().kind == TokenKind::kIdentifier && token().text == "WARP_SZ") {
    value = Constant::of(32);
    lexer_.next();
    return true;
  }
  if (token().kind != TokenKind::kNumber) return fail_here("a constant");
  const auto number = parse_number(token().text);
  if (!number) return fail(pos, fmt::format("'{}' is not a number that PTX can hold", token().text.substr(0, 40)));
  value = *number;
  lexer_.next();
  return true;
}

bool ModuleParser::parse_cast_or_group(Constant& value, unsigned depth) {
  lexer_.next();
  const bool to_signed = is_directive(".s64");
  if (to_signed || is_directive(".u64")) {
    lexer_.next();
    const SourcePos pos = token().pos;
    if (!expect(')') || !parse_unary(value, depth + 1)) return false;
    if (!value.is_integer()) return fail(pos, "only integers can be cast");
    value.kind = to_signed ? Constant::Kind::kSigned : Constant::Kind::kUnsigned;
    return true;
  }
  return parse_ternary(value, depth + 1) && expect(')');
}

}  // namespace warplens::ptx
