// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or the diagnostics that say why there is none. Member names are std::expected's
// (which GCC 12 lacks in C++20 mode).
#pragma once
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/diagnostic.h"

namespace warplens {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}              // NOLINT: implicit by intent
  Result(Diagnostics errors) : state_(std::in_place_index<1>, std::move(errors)) {}  // NOLINT
  Result(Diagnostic error) : state_(std::in_place_index<1>, Diagnostics{std::move(error)}) {}  // NOLINT

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }
  T& operator*() { return checked(); }
  const T& operator*() const { return const_cast<Result*>(this)->checked(); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->checked(); }
  const Diagnostics& error() const {
    WL_CHECK(!has_value());
    return std::get<1>(state_);
  }

 private:
  T& checked() {
    WL_CHECK(has_value(), "a Result without a value was used");
    return std::get<0>(state_);
  }
  std::variant<T, Diagnostics> state_;
};

/// A Result of nothing: success, or diagnostics.
struct Done {};
using Status = Result<Done>;

}  // namespace warplens
