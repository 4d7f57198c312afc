// SPDX-License-Identifier: Apache-2.0
// What --arg says about one kernel parameter:
//
//   x.npy                     an array from a file, copied to device memory
//   f32[512,512]=random:7     an array made here (session/fill.h); without "=..." zeros
//   out:f32[4096]             the same, and its contents after the launch are a result; also out:x.npy
//   i32:5   f64:0.5   bool:1  a number
//   ptr:null  ptr:2+256       no address; or 256 bytes into the array of argument 2, counted from 1
//   bytes:00ff12              a structure passed by value, as hexadecimal bytes; an array fits there too
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "session/fill.h"

namespace warplens::session {

struct Argument {
  enum class Kind : uint8_t { kArray, kScalar, kPointer, kBytes };
  std::string text;  ///< as written
  Kind kind = Kind::kArray;
  bool output = false;
  Array array;                           ///< kArray: before the launch
  ElementType type = ElementType::kI32;  ///< kScalar
  std::vector<uint8_t> bytes;            ///< kScalar, kBytes: passed by value
  size_t target = 0;                     ///< kPointer: argument number from 1; 0: null
  uint64_t offset = 0;                   ///< kPointer: bytes
};

/// Reads or makes the array of one --arg; `number` counts from 1.
Result<Argument> parse_argument(const std::string& text, size_t number);
/// All of them; every fault is reported.
Result<std::vector<Argument>> parse_arguments(const std::vector<std::string>& texts);

}  // namespace warplens::session
