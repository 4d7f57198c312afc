// SPDX-License-Identifier: Apache-2.0
#include "session/entry_name.h"

#include <fmt/format.h>

#include <functional>

#include "report/kernel_name.h"

namespace warplens::session {
namespace {

using Entries = std::vector<const ptx::Function*>;
constexpr size_t kMostListed = 40;

/// "scan<float, 128>" -> "scan".
std::string without_template(const std::string& name) { return name.substr(0, name.find('<')); }

Entries matching(const Entries& entries, const std::function<bool(const std::string& name)>& is) {
  Entries found;
  for (const ptx::Function* f : entries)
    if (is(f->name)) found.push_back(f);
  return found;
}

/// Names that mean more come first; the first kind of match that exists decides.
Entries candidates(const Entries& entries, const std::string& wanted) {
  const std::function<bool(const std::string&)> kinds[] = {
      [&](const std::string& name) { return name == wanted; },
      [&](const std::string& name) { return report::demangled(name) == wanted; },
      [&](const std::string& name) { return report::short_name(name) == wanted; },
      [&](const std::string& name) { return without_template(report::short_name(name)) == wanted; },
      [&](const std::string& name) {
        return name.find(wanted) != std::string::npos || report::demangled(name).find(wanted) != std::string::npos;
      }};
  for (const auto& kind : kinds)
    if (Entries found = matching(entries, kind); !found.empty()) return found;
  return {};
}

Diagnostic explained(const Module& module, const std::string& message, const Entries& entries) {
  std::string list = entry_list(entries);
  list.pop_back();
  Diagnostic d = make_error(message + "\n" + list, "--entry NAME takes the name on the left or the one on the right");
  d.file = module.ptx().file_name;
  return d;
}

}  // namespace

std::string entry_list(const std::vector<const ptx::Function*>& entries) {
  std::string list;
  size_t shown = 0;
  for (const ptx::Function* f : entries) {
    if (shown++ == kMostListed) return list + fmt::format("  ... and {} more\n", entries.size() - kMostListed);
    const std::string readable = report::demangled(f->name);
    list += "  " + readable + (readable == f->name ? "" : "   " + f->name) +
            (f->unsupported.empty() ? "" : "   (cannot run here)") + "\n";
  }
  return list;
}

Result<const ptx::Function*> find_entry(const Module& module, const std::string& name) {
  const Entries entries = module.entries();
  if (entries.empty()) {
    Diagnostic d = make_error("no kernel (.entry) in this file");
    d.file = module.ptx().file_name;
    return d;
  }
  if (name.empty()) {
    if (entries.size() == 1) return entries[0];
    return explained(module, fmt::format("there are {} kernels; say which with --entry:", entries.size()), entries);
  }
  const Entries found = candidates(entries, name);
  if (found.size() == 1) return found[0];
  if (found.empty()) return explained(module, fmt::format("there is no kernel '{}'; there are:", name), entries);
  return explained(module, fmt::format("'{}' could be {} kernels:", name, found.size()), found);
}

}  // namespace warplens::session
