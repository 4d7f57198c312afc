// SPDX-License-Identifier: Apache-2.0
#include "session/npy.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>

namespace warplens::session {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

Diagnostic fault(const std::string& name, const std::string& text, std::string hint = {}) {
  return make_error(fmt::format("{}: {}", name, text), std::move(hint));
}

/// What the header's dictionary says.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<uint64_t> shape;
  bool has_descr = false, has_order = false, has_shape = false;
};

/// Reads the few forms of Python literals that the dictionary has: 'text', True, False, (1, 2), and for structured
/// types a list, which is skipped.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  std::optional<Header> read() {
    Header h;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      const auto key = quoted();
      if (!key || !take(':')) return std::nullopt;
      if (*key == "descr") {
        h.has_descr = descr(h.descr);
        if (!h.has_descr) return std::nullopt;
      } else if (*key == "fortran_order") {
        const std::string_view w = word();
        if (w != "True" && w != "False") return std::nullopt;
        h.fortran_order = w == "True";
        h.has_order = true;
      } else if (*key == "shape") {
        h.has_shape = shape(h.shape);
        if (!h.has_shape) return std::nullopt;
      } else {
        return std::nullopt;
      }
      take(',');
    }
    skip_space();
    if (!text_.empty() || !h.has_descr || !h.has_order || !h.has_shape) return std::nullopt;
    return h;
  }

 private:
  void skip_space() {
    while (!text_.empty() && std::strchr(" \t\r\n", text_.front()) != nullptr && text_.front() != '\0')
      text_.remove_prefix(1);
  }
  bool take(char c) {
    skip_space();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::optional<std::string> quoted() {
    skip_space();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return std::nullopt;
    const size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return value;
  }
  std::string_view word() {
    skip_space();
    size_t n = 0;
    while (n < text_.size() && ((text_[n] | 32) >= 'a' && (text_[n] | 32) <= 'z')) ++n;
    const std::string_view w = text_.substr(0, n);
    text_.remove_prefix(n);
    return w;
  }
  bool descr(std::string& to) {
    skip_space();
    if (!text_.starts_with('[')) {
      const auto value = quoted();
      if (value) to = *value;
      return value.has_value();
    }
    int depth = 0;
    for (size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '[') ++depth;
      if (text_[i] == ']' && --depth == 0) {
        to = std::string(text_.substr(0, i + 1));
        text_.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }
  bool shape(std::vector<uint64_t>& to) {
    if (!take('(')) return false;
    while (!take(')')) {
      skip_space();
      uint64_t extent = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (error != std::errc()) return false;
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      if (text_.starts_with('L')) text_.remove_prefix(1);  // as Python 2 wrote them
      to.push_back(extent);
      if (!take(',') && !text_.starts_with(')')) return false;
    }
    return true;
  }

  std::string_view text_;
};

/// Why elements of this type cannot be used, and what to do.
Diagnostic refuse_type(const std::string& name, const std::string& descr) {
  if (descr.starts_with('>'))
    return fault(name, fmt::format("the elements are big-endian ('{}')", descr),
                 fmt::format("in Python: numpy.save(file, x.astype('<{}'))", descr.substr(1)));
  const std::string known = "usable types: " + element_type_names();
  if (descr.starts_with('[')) return fault(name, "the elements are structures, not numbers", known);
  if (descr.find('O') != std::string::npos) return fault(name, "the elements are Python objects, not numbers", known);
  if (descr.find('c') != std::string::npos)
    return fault(name, fmt::format("the elements are complex ('{}')", descr),
                 "in Python: numpy.save(file, x.view('<f4')) gives pairs of numbers ('<f8' for c16)");
  return fault(name, fmt::format("elements of type '{}' cannot be used", descr), known);
}

bool order_matters(const std::vector<uint64_t>& shape) {
  int long_ones = 0;
  for (const uint64_t extent : shape) long_ones += extent > 1 ? 1 : 0;
  return long_ones > 1;
}

/// Splits the contents into header text and elements.
struct Parts {
  std::string_view header, elements;
};
Result<Parts> split(std::string_view contents, const std::string& name) {
  if (!contents.starts_with(kMagic))
    return fault(name, "this is no .npy file (it does not begin with \\x93NUMPY)",
                 contents.starts_with("PK") ? "an .npz holds several arrays; save one with numpy.save" : "");
  const Diagnostic truncated =
      fault(name, fmt::format("the file is truncated: {} bytes, not even a whole header", contents.size()));
  if (contents.size() < 10) return truncated;
  const auto byte = [&](size_t i) { return static_cast<uint64_t>(static_cast<unsigned char>(contents[i])); };
  const uint64_t version = byte(6);
  if (version < 1 || version > 3)
    return fault(name, fmt::format("version {}.{} of the .npy format is not known", version, byte(7)),
                 "versions 1 to 3 can be read; numpy.save writes them");
  const size_t begin = version == 1 ? 10 : 12;
  if (contents.size() < begin) return truncated;
  uint64_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > contents.size() - begin) return truncated;
  return Parts{contents.substr(begin, length), contents.substr(begin + length)};
}

}  // namespace

Result<Array> parse_npy(std::string_view contents, const std::string& name) {
  const auto parts = split(contents, name);
  if (!parts) return parts.error();
  const auto header = HeaderReader(parts->header).read();
  if (!header) return fault(name, "the header of the .npy file cannot be read");
  const auto type = element_type_of_npy(header->descr);
  if (!type) return refuse_type(name, header->descr);
  if (header->fortran_order && order_matters(header->shape))
    return fault(name, "the array is in Fortran order (column by column)",
                 "in Python: numpy.save(file, numpy.ascontiguousarray(x))");
  const auto count = count_of(*type, header->shape);
  if (!count) return fault(name, fmt::format("{} is too large", describe(*type, header->shape)));
  const uint64_t bytes = *count * bytes_of(*type);
  if (parts->elements.size() < bytes)
    return fault(name,
                 fmt::format("the file is truncated: {} bytes of elements, {} needs {}", parts->elements.size(),
                             describe(*type, header->shape), bytes),
                 "save it again");
  if (parts->elements.size() > bytes)
    return fault(name,
                 fmt::format("the file has {} bytes more than {} needs", parts->elements.size() - bytes,
                             describe(*type, header->shape)),
                 "one array in a file: numpy.save it again");
  Array array{*type, header->shape, std::vector<uint8_t>(bytes)};
  if (bytes != 0) std::memcpy(array.bytes.data(), parts->elements.data(), bytes);
  return array;
}

Result<Array> read_npy(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0)
    return make_error(errno == ENOENT ? fmt::format("there is no file '{}'", path)
                                      : fmt::format("cannot look at '{}': {}", path, std::strerror(errno)));
  if (S_ISDIR(info.st_mode)) return make_error(fmt::format("'{}' is a directory", path));
  std::ifstream in(path, std::ios::binary);
  std::string contents(static_cast<size_t>(info.st_size), '\0');
  if (S_ISREG(info.st_mode)) {
    if (!in || !in.read(contents.data(), static_cast<std::streamsize>(contents.size())))
      return make_error(fmt::format("cannot read '{}'", path));
  } else {
    std::ostringstream all;
    if (!in || !(all << in.rdbuf())) return make_error(fmt::format("cannot read '{}'", path));
    contents = all.str();
  }
  return parse_npy(contents, path);
}

std::string npy_text(const Array& array) {
  std::string shape;
  for (const uint64_t extent : array.shape) shape += fmt::format("{}, ", extent);
  // Python writes (3,) and (3, 4): the last comma stays only where it makes the tuple.
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  if (array.shape.size() == 1) shape.resize(shape.size() - 1);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", npy_name_of(array.type), shape);
  const size_t unpadded = 10 + header.size() + 1;
  header += std::string((64 - unpadded % 64) % 64, ' ') + "\n";
  std::string text(kMagic);
  text += {1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  text += header;
  text.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return text;
}

}  // namespace warplens::session
