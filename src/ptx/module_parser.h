// SPDX-License-Identifier: Apache-2.0
// The parser's state, shared by the files parse_*.cpp: the module being made, the function being made, and the nested
// scopes of names. Only these files include it; users call ptx::parse.
//
// Every parse function returns false after it has reported an error; the loop over statements then skips to the next
// ';' and goes on, so that one run reports all errors. Names are views into Module::text, which stays put meanwhile.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ptx/constant.h"
#include "ptx/lexer.h"
#include "ptx/module.h"

namespace warplens::ptx {

/// What a name stands for. Labels live apart: a label may be used before it is defined.
struct NameEntry {
  enum class Kind : uint8_t { kRegister, kVectorRegister, kSymbol, kPrototype };
  Kind kind = Kind::kSymbol;
  RegId reg = kNoReg;  ///< the first one of a vector register
  uint32_t count = 1;  ///< components of a vector register
  SymbolRef symbol;
};

/// ".reg .b32 %r<20>": the names %r0 ... %r19, never spelled out one by one.
struct RegisterRange {
  std::string_view prefix;
  RegId first = 0;
  uint32_t count = 0;
};

/// A label written as an operand or in a .branchtargets list; resolved when its scope closes.
struct PendingLabel {
  std::string_view name;
  SourcePos pos;
  uint32_t instr = kNoIndex, operand = 0;  ///< kNoIndex: entry `operand` of branch table `table`
  uint32_t table = 0;
};

struct LabelEntry {
  bool is_table = false;  ///< names a .branchtargets list
  uint32_t index = 0;     ///< instruction, or index into Function::branch_tables
};

struct Scope {
  std::unordered_map<std::string_view, NameEntry> names;
  std::vector<RegisterRange> ranges;
  std::unordered_map<std::string_view, LabelEntry> labels;
  std::vector<PendingLabel> pending;
};

/// An operand as written, before a row says what it means.
struct RawOperand {
  enum class Kind : uint8_t {
    kRegister,
    kVectorRegister,
    kSpecial,
    kConstant,
    kSymbol,
    kUnknownName,
    kSink,
    kVector,
    kAddress,
    kList
  };
  Kind kind = Kind::kSink;
  bool negated = false;      ///< !p
  bool pair_second = false;  ///< q of p|q
  bool in_bracket = false;   ///< behind a comma inside [ ]
  RegId reg = kNoReg;
  uint32_t count = 0;  ///< kVectorRegister; kVector, kList: elements
  uint32_t first = 0;  ///< kVector, kList: first of them in ModuleParser::raw_elements_; kSpecial: index
  SymbolRef symbol;
  SpecialReg special = SpecialReg::kTidX;
  Constant constant;
  int64_t offset = 0;     ///< kAddress, kSymbol, kRegister
  std::string_view name;  ///< as written, of whatever has one
  SourcePos pos;
};

/// A row whose modifiers fit an opcode as written, and the chosen alternatives.
struct RowMatch {
  const OpDef* def = nullptr;
  std::array<int8_t, kMaxSlots> slots = {};
};
/// What is known of an opcode spelling ("ld.global.v4.f32"): modules use few, so it is worked out once for each.
struct OpcodeMatch {
  std::vector<RowMatch> rows;
  bool is_call = false;
  std::string problem, hint;  ///< when no row fits
};

class ModuleParser {
 public:
  ModuleParser(Module& module, const OpTable& table);
  void run();
  Diagnostics errors;

 private:
  // --- tokens and errors (parser.cpp)
  const Token& token() const { return lexer_.token(); }
  bool is(char punct) const { return lexer_.is(punct); }
  bool is_directive(std::string_view text) const {
    return token().kind == TokenKind::kDirective && token().text == text;
  }
  bool accept(char punct);
  bool expect(char punct);
  bool accept_directive(std::string_view text);
  bool fail(SourcePos pos, std::string message, std::string hint = {});
  bool fail_here(std::string_view expected);
  bool take_identifier(std::string_view& name, std::string_view what);
  bool take_integer(uint64_t& value, std::string_view what);
  bool take_u32(uint32_t& value, std::string_view what);
  bool take_signed(int64_t& value);
  bool end_statement();
  void recover_in_module();
  void recover_in_body();
  bool skip_balanced(char open, char close);

  // --- module level (parse_module.cpp)
  bool parse_module_item();
  bool parse_version();
  bool parse_target();
  bool parse_file();
  bool parse_section();
  bool parse_debug_strings();
  bool parse_alias();
  void check_initialisers();
  void resolve_inline_names();

  // --- declarations (parse_declaration.cpp)
  struct Declarator {
    std::string_view name;
    SourcePos pos;
    std::vector<uint64_t> dimensions;  ///< 0: empty brackets
    uint32_t range = 0;                ///< %r<20>; 0: a single name
  };
  struct Qualifiers {
    Linkage linkage = Linkage::kNone;
    Space space = Space::kGlobal;
    Type type = Type::kNone;
    unsigned vector = 1;
    uint64_t align = 0;
    bool managed = false;
  };
  std::optional<Linkage> take_linkage();
  bool parse_qualifiers(Qualifiers& q);
  bool parse_attribute(Qualifiers& q);
  bool parse_declarator(Declarator& d);
  bool parse_registers();
  bool declare_register(const Declarator& d, const Qualifiers& q);
  bool declare_vector_range(const Declarator& d, const Qualifiers& q);
  bool parse_variables(Linkage linkage);
  bool declare_variable(const Declarator& d, const Qualifiers& q);
  bool size_of(const Declarator& d, const Qualifiers& q, uint64_t& bytes);
  bool parse_initialiser(Variable& v, std::vector<uint64_t>& dimensions, unsigned vector);
  bool parse_init_list(Variable& v, const std::vector<uint64_t>& dimensions, size_t level, uint64_t offset,
                       uint64_t& end);
  bool parse_init_value(Variable& v, uint64_t offset);
  bool parse_init_address(Variable& v, uint64_t offset);
  bool parse_param(std::vector<Param>& list, SymbolKind kind);
  bool parse_param_list(std::vector<Param>& list, SymbolKind kind);

  // --- constant expressions (parse_expression.cpp)
  bool parse_expression(Constant& value) { return parse_ternary(value, 0); }
  bool parse_ternary(Constant& value, unsigned depth);
  bool parse_binary(Constant& value, int lowest, unsigned depth);
  bool parse_unary(Constant& value, unsigned depth);
  bool parse_cast_or_group(Constant& value, unsigned depth);

  // --- functions (parse_function.cpp)
  bool parse_function(Linkage linkage, bool is_entry);
  bool parse_function_header();
  bool parse_function_directives();
  /// Its words; whether "nounroll" is one.
  bool parse_pragma();
  bool parse_body();
  bool parse_statement();
  bool parse_body_directive();
  bool parse_label_statement();
  bool parse_branch_targets(std::string_view name, SourcePos pos);
  bool parse_loc();
  bool take_loc_place(SourceLoc& loc);
  void open_scope() { scopes_.emplace_back(); }
  void close_scope();
  void resolve_label(const PendingLabel& p, const LabelEntry& label);
  bool define_label(std::string_view name, SourcePos pos, LabelEntry entry);
  bool declare(std::string_view name, SourcePos pos, const NameEntry& entry);
  const NameEntry* find_name(std::string_view name, NameEntry& storage) const;
  RegId add_register(std::string name, Type type);
  RegId carry_register();

  // --- instructions (parse_instruction.cpp: opcode and rows; parse_operand.cpp: operands as written; bind_operand.cpp)
  bool parse_guard(Instr& instr);
  bool parse_instruction();
  bool add_offset(RawOperand& raw, const Instr& instr);
  const OpcodeMatch& match_opcode(std::string_view opcode);
  bool parse_raw_operands(bool is_call);
  bool parse_raw(RawOperand& raw, bool is_call, unsigned depth);
  bool parse_raw_name(RawOperand& raw);
  bool parse_raw_offset(RawOperand& raw);
  bool parse_raw_address(RawOperand& raw, unsigned depth);
  bool parse_raw_list(RawOperand& raw, char close, RawOperand::Kind kind, bool is_call, unsigned depth);
  bool bind(const RowMatch& row, Instr& instr);
  bool bind_call(const RowMatch& row, Instr& instr);
  bool bind_operand(const OperandForm& form, const RawOperand& raw, Instr& instr, Operand& out);
  bool bind_value(const RawOperand& raw, Type type, bool is_dest, Instr& instr, Operand& out);
  bool bind_vector(const OperandForm& form, const RawOperand& raw, Type type, Instr& instr, Operand& out);
  bool bind_address(const RawOperand& raw, const Instr& instr, Operand& out);
  bool bind_label(const RawOperand& raw, Operand& out);
  bool bind_function(const RawOperand& raw, Operand& out);
  bool misfit(const RawOperand& raw, std::string message);
  std::string describe(const RawOperand& raw) const;

  static constexpr size_t kMaxErrors = 100;
  static constexpr unsigned kMaxNesting = 64;
  static constexpr uint32_t kMaxRegisters = 1u << 20;

  Module& module_;
  const OpTable& table_;
  Lexer lexer_;
  std::unordered_map<std::string_view, NameEntry> module_names_;
  std::unordered_map<std::string_view, OpcodeMatch> opcodes_;
  std::deque<std::string> made_names_;                          ///< names that the text does not spell out
  std::unordered_map<std::string, std::string> debug_strings_;  ///< "label" or "label+offset" -> text

  Function fn_;                     ///< being parsed
  std::vector<uint32_t> nounroll_;  ///< instructions of fn_ before which .pragma "nounroll" stands
  bool nounroll_module_ = false;    ///< the same at module scope
  uint32_t fn_index_ = kNoIndex;    ///< its place in Module::functions; kNoIndex at module level
  std::vector<Scope> scopes_;
  uint32_t loc_ = 0;                                                       ///< current entry of fn_.locs
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> last_loc_;  ///< place -> latest entry of fn_.locs there
  RegId carry_ = kNoReg;
  SourcePos statement_;  ///< where the current one begins

  std::string_view opcode_;  ///< current instruction, for messages
  std::vector<RawOperand> raw_, raw_elements_;
  std::vector<PendingLabel> new_labels_;  ///< of the current instruction; kept when a row binds
  SourcePos misfit_pos_;                  ///< why the latest row did not bind
  std::string misfit_message_;
};

}  // namespace warplens::ptx
