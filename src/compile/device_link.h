// SPDX-License-Identifier: Apache-2.0
// Separate compilation: device code of one source that uses functions and variables of another (-rdc=true, -dc). An
// object then carries its device half not as PTX but as LLVM text, in a container of our own in the section
// __nv_relfatbin, and its start-up code calls a function __cudaRegisterLinkedBinary<module id> that the device link
// must provide. The link here reads the texts out of all objects and archives, makes one PTX of them, and adds one
// object that carries it and defines these functions (docs/embedding.md).
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace warplens {

/// The device halves of relocatable objects.
struct RelocatableDevice {
  struct Part {
    std::string ir;    ///< LLVM text
    std::string name;  ///< source file
  };
  std::vector<Part> parts;
  std::vector<std::string> module_ids;  ///< their start-up code asks for __cudaRegisterLinkedBinary<id>
  bool linked = false;                  ///< an input already defines these functions (made by -dlink)
};

/// Our container around LLVM text; read_fat_binary does not take it for PTX.
std::string make_relocatable_container(const std::string& ir, const std::string& name);

/// Collects from object files, and from members of archives; other files are passed over.
Result<RelocatableDevice> read_relocatable(const std::vector<std::string>& files);

/// C text of the object that registers linked device code; the code itself is taken from the file `container`.
std::string link_stub(const std::vector<std::string>& module_ids, const std::string& container);

/// clang 19 gives a static variable that both halves use a name that is unique in the program, but device code that
/// came before the host's first use of it still has the plain name. Gives it the unique one.
std::string join_static_names(const std::string& ir);

/// The archive that `-lname` means, in the folders of the -L options, or "".
std::string find_archive(const std::string& name, const std::vector<std::string>& linker_options);

}  // namespace warplens
