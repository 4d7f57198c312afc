// SPDX-License-Identifier: Apache-2.0
// Every structure is taken apart by a structured binding of all its members: one that gains a member does not compile
// here until somebody has said whether code generation reads it. The control-flow graph and the loops are functions of
// the text and stay out.
#include "codegen/source_digest.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/BLAKE3.h>
#include <llvm/TargetParser/Host.h>

#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/bits.h"

namespace warplens::codegen {
namespace {

class Feed {
 public:
  template <typename... T>
  void numbers(T... values) {
    const uint64_t words[] = {number(values)...};
    bytes(words, sizeof words);
  }
  void text(std::string_view text) {
    numbers(text.size());
    bytes(text.data(), text.size());
  }
  SourceDigest finish() {
    hasher_.update(llvm::ArrayRef<uint8_t>(buffer_.data(), buffer_.size()));
    return hasher_.final();
  }

 private:
  template <typename T>
  static uint64_t number(T value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    return static_cast<uint64_t>(value);
  }
  void bytes(const void* from, size_t size) {
    const auto* at = static_cast<const uint8_t*>(from);
    buffer_.insert(buffer_.end(), at, at + size);
  }
  std::vector<uint8_t> buffer_;
  llvm::BLAKE3 hasher_;
};

template <typename T, typename F>
void add_list(Feed& feed, const T& list, F&& add_element) {
  feed.numbers(list.size());
  for (const auto& element : list) add_element(element);
}

void add_symbol(Feed& feed, const KernelSource& source, const ptx::SymbolRef& symbol) {
  const auto& [kind, index] = symbol;
  feed.numbers(kind, index);
  if (kind == ptx::SymbolKind::kModuleVariable)
    feed.numbers(source.variable_is_placed(index), source.variable_is_placed(index) ? 0 : source.symbols[index]);
  if (kind == ptx::SymbolKind::kFunction) feed.numbers(source.function_handle(index));
}

void add_operand(Feed& feed, const KernelSource& source, const ptx::Operand& operand) {
  const auto& [tag, type, reg, symbol, special, first, count, imm] = operand;
  feed.numbers(tag, type, reg, special, first, count, imm);
  add_symbol(feed, source, symbol);
}

void add_instruction(Feed& feed, const KernelSource& source, const ptx::Instr& in) {
  const auto& [def, slots, operands, elements, args, returns, guard, guard_negated, nounroll, pos, loc] = in;
  feed.text(def->form.text);
  for (const int8_t slot : slots) feed.numbers(slot);
  for (const auto* list : {&operands, &elements, &args})
    add_list(feed, *list, [&](const ptx::Operand& o) { add_operand(feed, source, o); });
  feed.numbers(returns, guard, guard_negated);  // loops have been unrolled by now
}

void add_variable(Feed& feed, const ptx::Variable& variable) {
  const auto& [name, space, type, linkage, align, bytes, unsized, init, init_addresses, managed, pos] = variable;
  feed.numbers(space, type, linkage, align, bytes, unsized, managed);  // what it holds is not looked at
}

void add_parameter(Feed& feed, const ptx::Param& parameter) {
  const auto& [name, type, align, bytes, offset, reg] = parameter;
  feed.numbers(type, align, bytes, offset, reg);
}

void add_function(Feed& feed, const KernelSource& source, const ptx::Function& function) {
  const auto& [name, is_entry, is_declaration, linkage, params, returns, param_bytes, registers, variables, body,
               labels, branch_tables, locs, maxntid, reqntid, reqcluster, minnctapersm, maxnreg, noreturn, nounroll,
               pos, unsupported] = function;
  feed.numbers(is_entry, param_bytes, minnctapersm, maxnreg, noreturn);
  for (const auto* list : {&params, &returns}) add_list(feed, *list, [&](const auto& p) { add_parameter(feed, p); });
  add_list(feed, registers, [&](const ptx::Register& r) { feed.numbers(r.type); });
  add_list(feed, variables, [&](const ptx::Variable& v) { add_variable(feed, v); });
  add_list(feed, body, [&](const ptx::Instr& in) { add_instruction(feed, source, in); });
  add_list(feed, branch_tables,
           [&](const auto& table) { add_list(feed, table, [&](uint32_t target) { feed.numbers(target); }); });
  for (const auto* bound : {&maxntid, &reqntid, &reqcluster}) feed.numbers((*bound)[0], (*bound)[1], (*bound)[2]);
}

void add_accesses(Feed& feed, const machine::AccessList& list) {
  const auto& [accesses, of_instr] = list;
  add_list(feed, accesses, [&](const machine::Access& a) {
    const auto& [instr, byte_offset, bytes, space, generic, access, form, combined, estimate] = a;
    feed.numbers(instr, byte_offset, bytes, space, generic, access, form, combined, estimate);
  });
  add_list(feed, of_instr,
           [&](const auto& sites) { add_list(feed, sites, [&](uint32_t site) { feed.numbers(site); }); });
}

/// The build id of the object (program or library) that holds `address`, which the linker put into it.
struct BuildIdSearch {
  uintptr_t address = 0;
  std::string found;
};

int look_for_build_id(dl_phdr_info* object, size_t, void* to) {
  auto& search = *static_cast<BuildIdSearch*>(to);
  bool here = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& p = object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + p.p_vaddr;
    here = here || (p.p_type == PT_LOAD && search.address >= begin && search.address - begin < p.p_memsz);
  }
  if (!here) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& p = object->dlpi_phdr[i];
    if (p.p_type != PT_NOTE) continue;
    const std::string_view notes(reinterpret_cast<const char*>(object->dlpi_addr + p.p_vaddr), p.p_memsz);
    const uint64_t align = p.p_align == 8 ? 8 : 4;
    ElfW(Nhdr) note;
    for (size_t at = 0; at + sizeof note <= notes.size();) {
      std::memcpy(&note, notes.data() + at, sizeof note);
      const size_t name = at + sizeof note, bytes = round_up(name + note.n_namesz, align);
      if (bytes > notes.size() || note.n_descsz > notes.size() - bytes) break;
      if (note.n_type == NT_GNU_BUILD_ID && notes.substr(name, note.n_namesz) == std::string_view("GNU\0", 4))
        search.found = notes.substr(bytes, note.n_descsz);
      at = round_up(bytes + note.n_descsz, align);
    }
  }
  return 1;
}

template <typename F>
std::string build_id_of(F* function) {
  BuildIdSearch search{reinterpret_cast<uintptr_t>(function), {}};
  dl_iterate_phdr(look_for_build_id, &search);
  return search.found;
}

}  // namespace

SourceDigest digest_of(const KernelSource& source, const std::string& generator) {
  // `module` is looked at through variable_is_placed alone; what is dumped changes nothing.
  const auto& [module, function, graph, accesses, symbols, variable_offsets, call_frame_bytes, function_handle, loops,
               spinning_loops, shape, options, lane_classes, extend_patterns, part, dump_after] = source;
  const auto& [count, emit_events, bounds, avx512] = options;
  Feed feed;
  feed.text(generator);
  feed.numbers(count, emit_events, bounds, avx512, shape, lane_classes, extend_patterns, part, call_frame_bytes);
  add_list(feed, spinning_loops, [&](bool spins) { feed.numbers(spins); });
  add_list(feed, variable_offsets, [&](uint32_t offset) { feed.numbers(offset); });
  add_function(feed, source, *function);
  add_accesses(feed, *accesses);
  return feed.finish();
}

std::string generator_identity(const std::string& cpu, const std::string& features) {
  const std::string ours = build_id_of(&digest_of), llvm = build_id_of(&llvm::sys::getDefaultTargetTriple);
  if (ours.empty() || llvm.empty()) return {};
  return fmt::format("{:02x};{:02x};{};{};{}", fmt::join(std::string_view(ours), ""),
                     fmt::join(std::string_view(llvm), ""), LLVM_VERSION_STRING, cpu, features);
}

}  // namespace warplens::codegen
