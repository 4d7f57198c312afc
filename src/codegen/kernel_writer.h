// SPDX-License-Identifier: Apache-2.0
// Writes one kernel as one LLVM function `void name(WarpContext*, const void* handover)` that runs a warp to its end.
//
// Two copies of the code share one set of variables (allocas, one or two a web). In FULL all 32 lanes are active, which
// is known at compile time: no masks at all, a branch is a branch, and one that lanes take differently leaves for DYN.
// In DYN the mask is a variable, and so is where lanes are: `pending[p]` holds the lanes that wait for the block at
// layout position p, exactly as docs/divergence.md describes the walk:
//
//   test_p:  lanes = pending[p]; none: goto after_p; pending[p] = 0; mask = lanes; all 32: goto FULL block
//   body_p:  the block; pending[successor] |= its lanes
//   after_p: for each loop that ends at p: lanes wait for its header: goto test_header;   then goto test_(p+1)
//
// Spinning loops: spinning.cpp. Some loops have one more copy for warps whose lanes hold equal values:
// equal_copies.cpp.
//
// FULL and DYN can also be two functions (CodePart): many kernels never need DYN, which is the larger half. FULL then
// hands a warp whose lanes part over to DYN, which keeps it (handover.cpp).
//
// Blocks of DYN that run with all of the warp's lanes (LaneAnalysis::diverged is false) jump straight to their
// successor.
//
// Where a proof by class needs a run-time test (a lane index that might wrap) and the test fails, the warp
// *deoptimises*: its registers and waiting lanes go to the interpreter, which finishes the warp from the last
// instruction that had no effect yet (a checkpoint).
#pragma once
#include <optional>
#include <vector>

#include "analysis/spin_loops.h"
#include "codegen/emit_context.h"
#include "codegen/equal_loops.h"
#include "codegen/kernel_source.h"
#include "codegen/lane_analysis.h"
#include "codegen/lane_emitter.h"
#include "codegen/memory_operands.h"

namespace warplens::codegen {

class KernelWriter final : private RegisterAccess {
 public:
  /// `lanes`: what holds in this part of the code; `handed`: by web, what holds in the masked part, which may be
  /// another.
  KernelWriter(const KernelSource& source, const LaneAnalysis& lanes, const std::vector<WebInfo>& handed,
               const analysis::Liveness& live, EmitContext& context);
  /// Emits the whole function into context.module under `name`.
  void write_kernel(const std::string& name);

 private:
  enum class Clone : uint8_t {
    kFull,
    kDyn,
    kEqual,  ///< a loop of FULL for equal lanes
  };
  static constexpr uint32_t kEnd = ~uint32_t{0};  ///< a destination: the lanes end

  // kernel_writer.cpp: variables and instructions
  void emit_start(llvm::BasicBlock* start);
  void emit_masked_copy();
  llvm::AllocaInst* make_zero(llvm::Type* type, const char* name);
  void make_variables();
  void emit_block(uint32_t position);
  void count_block(ir::BlockId block);
  void emit_instruction(uint32_t i);
  void emit_guarded(uint32_t i);
  void emit_unguarded(uint32_t i);
  void emit_operation(uint32_t i);
  void store_results();
  void use_block_mask();
  LaneValue read_guard(const ptx::Instr& in);
  LaneValue read(ptx::RegId reg) override;
  void write(ptx::RegId reg, const LaneValue& value) override;
  LaneValue read_web(WebId web);

  // access_groups.cpp
  struct AccessGroup {
    int64_t first_byte = 0, end_byte = 0;  ///< of all its accesses, from the register's base
    unsigned bytes = 1;                    ///< the widest access
    int64_t first_offset = 0;              ///< constant part of the first access's address
    uint32_t first_instr = 0, members = 0;
    bool shared = false;
  };
  void find_access_groups(ir::BlockId block);
  void require_group(const AccessGroup& group);

  // row_groups.cpp
  struct RowLoad {
    uint32_t instr;
    int64_t offset;  ///< from the row's root
  };
  struct RowGroup {
    uint32_t first_instr = ~uint32_t{0};
    int64_t first_offset = 0, low = 0;  ///< of the first load, of the lowest word
    unsigned elements = 0;              ///< that each lane reads
    std::vector<RowLoad> members;
    LaneValue address;              ///< of the first load
    std::vector<LaneValue> values;  ///< by element; empty: not read yet, or not by rows
  };
  void find_row_groups(ir::BlockId block);
  void make_rows(const std::vector<RowLoad>& loads, uint32_t begin);
  bool emit_row_member(uint32_t i, const MemoryOperands& m, RowGroup& group);

  // effects.cpp: memory, calls, barriers
  void emit_memory(uint32_t i);
  void emit_access(uint32_t i, const MemoryOperands& m);
  void emit_parameter(const MemoryOperands& m);
  void emit_frame_access(const MemoryOperands& m);
  llvm::Value* frame_word(uint32_t byte_offset);
  LaneValue load_frame(uint32_t byte_offset, Elem elem);
  void store_frame(uint32_t byte_offset, const LaneValue& value);
  void emit_call(uint32_t i);
  void emit_barrier(uint32_t i);
  void emit_cluster_barrier(uint32_t i);
  void check_alignment(uint32_t i);
  void emit_warp_barrier(const ptx::Instr& in);
  void emit_warp_memory(uint32_t i);
  void emit_trap(uint32_t i);

  // control_flow.cpp
  struct BranchTargets {
    uint32_t taken, next;  ///< positions, or kEnd
  };
  void emit_terminator(ir::BlockId block);
  void emit_indexed_branch(ir::BlockId block);
  uint32_t destination_of(uint32_t instr) const;
  BranchTargets targets_of(ir::BlockId block) const;
  void jump(uint32_t destination);
  void jump_if(const LaneValue& condition, uint32_t yes, uint32_t no);
  void jump_if_full(llvm::ICmpInst& compare, uint32_t yes, uint32_t no);
  void jump_unless_all(llvm::Value* yes_lanes, llvm::Value* no_lanes, uint32_t yes, uint32_t no);
  void split(llvm::Value* yes_lanes, llvm::Value* no_lanes, uint32_t yes, uint32_t no);
  void wait_for(uint32_t destination, llvm::Value* lanes);
  llvm::BasicBlock* edge(uint32_t destination);
  llvm::BasicBlock* code_at(uint32_t destination);
  llvm::BasicBlock* after(uint32_t position);
  void emit_test(uint32_t position);
  void emit_after(uint32_t position);
  uint32_t loop_headed_at(uint32_t position) const;
  void check_stop();
  llvm::Value* pending(uint32_t position);
  llvm::BasicBlock* new_block(const char* name);

  // handover.cpp
  struct HandoverSlot {
    WebId web;
    bool is_scale;  ///< else its base or vector
    llvm::Type* type;
    uint64_t offset;  ///< in the handover
  };
  std::vector<HandoverSlot> handover_slots(ir::BlockId block, uint64_t& bytes) const;
  LaneValue as_handed(WebId web);
  bool may_part(ir::BlockId block) const;
  void hand_over(llvm::Value* yes_lanes, llvm::Value* no_lanes);
  void emit_entries();

  // equal_copies.cpp
  struct Variable {
    llvm::AllocaInst *base = nullptr, *scale = nullptr;  ///< vector: base
  };
  struct EqualCopy {
    const EqualLoop* of = nullptr;
    uint32_t first = 0, last = 0;           ///< positions
    llvm::BasicBlock* enter = nullptr;      ///< goes to the copy where lanes are equal, else to full_[first]
    std::vector<llvm::BasicBlock*> blocks;  ///< by position - first
    std::vector<Variable> variables;        ///< by web: of those kept in another form than outside
    bool holds(uint32_t position) const { return position >= first && position < last; }
  };
  llvm::Type* lane_type_of(WebId web) const;
  Variable make_variable(WebId web, const LaneClass& cls);
  void make_equal_copies();
  const EqualCopy* equal_copy_at(uint32_t position) const;
  bool own_form(WebId web) const;
  const WebInfo& info_of(WebId web) const;
  const Variable& variable_of(WebId web) const;
  void emit_equal_copy(const EqualCopy& copy);
  void emit_enter(const EqualCopy& copy);
  void leave_equal_copy(uint32_t destination);

  // spinning.cpp
  bool spins(uint32_t loop) const { return source_.spinning_loops[loop]; }
  bool spins() const;
  bool parks() const;
  llvm::Value* word(uint32_t index);
  void count_turn(uint32_t loop);
  void unpark_within(uint32_t loop);
  void ask_for_round(uint32_t loop, llvm::Value* some, llvm::BasicBlock* again, llvm::BasicBlock* on);
  void yield_if_asked();
  llvm::Value* held(uint32_t position);
  void emit_end_of_walk();
  void order_before(const ptx::Instr& in);
  void order_behind(const ptx::Instr& in);

  // deoptimise.cpp
  void require(llvm::Value* holds) override;
  void set_checkpoint(uint32_t instr);
  llvm::BasicBlock* deoptimise_block();
  llvm::Constant* keep(const LaneValue& v, ptx::RegId reg, llvm::Value* place);
  void widen_kept(llvm::Value* registers, const std::vector<llvm::Constant*>& kept);
  /// A register of lanes that wait for the blocks at `positions`.
  struct WaitingValue {
    ptx::RegId reg;
    LaneValue value;
    std::vector<uint32_t> positions;
  };
  std::vector<WaitingValue> values_of_waiting_lanes(const std::vector<WebId>& here);

  bool has_full() const { return source_.part != CodePart::kMasked; }
  bool has_masked() const { return source_.part != CodePart::kFullMask; }

  const KernelSource& source_;
  const LaneAnalysis& lanes_;
  const std::vector<WebInfo>& handed_;
  const analysis::Liveness& live_;
  EmitContext& e_;
  llvm::IRBuilder<>& ir_;
  LaneEmitter emitter_;

  std::vector<Variable> variables_;  // by web
  std::vector<EqualLoop> equal_loops_;
  std::vector<EqualCopy> equal_copies_;
  const EqualCopy* equal_copy_ = nullptr;  // being emitted
  llvm::AllocaInst *pending_ = nullptr, *mask_ = nullptr, *frame_ = nullptr;
  std::vector<llvm::BasicBlock*> full_, test_, body_, after_;  // by position
  llvm::BasicBlock *finish_ = nullptr, *end_of_walk_ = nullptr;
  analysis::SpinWords words_;
  std::vector<std::vector<uint32_t>> loops_ending_;  // by position, inner first

  Clone clone_ = Clone::kDyn;
  uint32_t position_ = 0;
  ir::BlockId block_ = 0;
  uint32_t instr_ = 0;
  bool guard_varies_ = false;
  llvm::Value *block_mask_bits_ = nullptr, *block_mask_vector_ = nullptr;

  uint64_t handover_bytes_ = 0;                                     ///< of the largest; 0: not known yet
  std::vector<std::pair<llvm::Value*, llvm::AllocaInst*>> stores_;  ///< of the current instruction
  std::vector<AccessGroup> groups_;
  std::vector<uint32_t> group_of_;  // by instruction of the block, from its first; kNoGroup
  std::vector<RowGroup> rows_;
  std::vector<uint32_t> row_of_;  // as group_of_
  static constexpr uint32_t kNoGroup = ~uint32_t{0};

  struct Checkpoint {
    uint32_t instr = 0;
    llvm::BasicBlock* block = nullptr;
    llvm::Instruction* last = nullptr;  ///< the checkpoint is behind it; null: at the block's begin
    llvm::BasicBlock* deoptimise = nullptr;
  };
  Checkpoint checkpoint_;
};

}  // namespace warplens::codegen
