// SPDX-License-Identifier: Apache-2.0
// Runs golden files of the PTX front end. A file is PTX text, then the line "//=== expected", then what is expected,
// each line behind "// ". Expected is the module printed back when it parses (with what its functions lack), the
// rendered diagnostics when it does not. `--bless` writes what is now printed into the files.
#include <fstream>
#include <iostream>
#include <sstream>

#include "ptx/parser.h"
#include "support/ptx_rows.h"

namespace {

using namespace warplens;

constexpr std::string_view kMark = "//=== expected\n";

std::string expected_of(const std::string& input, const std::string& name) {
  const auto module = ptx::parse(input, name, test::rows());
  std::string text;
  if (!module) {
    for (const Diagnostic& d : module.error()) text += render(d, input);
    return text;
  }
  text = ptx::print(*module);
  for (const ptx::Function& f : module->functions)
    for (const Diagnostic& d : f.unsupported) text += f.name + ": " + render(d, input);
  return text;
}

std::string as_comments(const std::string& text) {
  std::stringstream lines(text);
  std::string line, out;
  while (std::getline(lines, line)) out += line.empty() ? "//\n" : "// " + line + "\n";
  return out;
}

bool run(const std::string& path, bool bless) {
  std::ifstream file(path);
  std::stringstream whole;
  whole << file.rdbuf();
  std::string text = whole.str();
  const size_t mark = text.find(kMark);
  const std::string input = text.substr(0, mark);
  const std::string wanted = mark == text.npos ? "" : text.substr(mark + kMark.size());
  const std::string name = path.substr(path.find_last_of('/') + 1);
  const std::string actual = as_comments(expected_of(input, name));
  if (!file.eof() && !file.good()) {
    std::cerr << path << ": cannot be read\n";
    return false;
  }
  if (actual == wanted) return true;
  if (bless) {
    std::ofstream(path) << input << kMark << actual;
    std::cout << path << ": blessed\n";
    return true;
  }
  std::cerr << path << ": differs\n--- expected\n" << wanted << "--- actual\n" << actual;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  bool bless = false, good = true;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--bless")
      bless = true;
    else
      good = run(argv[i], bless) && good;
  }
  return good ? 0 : 1;
}
