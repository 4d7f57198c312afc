// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, versions 1 to 3 of the format (numpy.lib.format): the magic "\x93NUMPY", a version, the length of
// a header, the header - a Python dictionary with descr, fortran_order and shape - and the elements. Only what a kernel
// can use is read: little-endian numbers in row-major order; everything else is refused with what to do in Python.
#pragma once
#include <string>

#include "base/result.h"
#include "session/element_type.h"

namespace warplens::session {

/// Reads a file. Diagnostics name the file.
Result<Array> read_npy(const std::string& path);
/// The same from the file's contents; `name` is for messages.
Result<Array> parse_npy(std::string_view contents, const std::string& name);
/// The contents of a .npy file, version 1.0, as NumPy writes it (the elements begin at a multiple of 64 bytes).
std::string npy_text(const Array& array);

}  // namespace warplens::session
