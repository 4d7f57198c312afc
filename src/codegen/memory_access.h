// SPDX-License-Identifier: Apache-2.0
// One memory access being emitted: what memory_lowering*.cpp share. The address is brought into one of four kinds:
//
//   uniform   all lanes at `first`
//   pattern   lane l at first + rel[l]: rel >= 0 constants, `extent` bytes from the first byte to behind the last
//   scaled    lane l at base + scale * step[l] + offset[l]: `first` is the lowest, `last` the highest lane's address
//   vector    anything
//
// Each access has a fast path for what is inside the site's known range and a cold path through a hook that looks the
// addresses up, reports, and ends the warp when one is bad.
#pragma once
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "codegen/access_cost.h"
#include "codegen/access_descriptor.h"
#include "codegen/emit_context.h"
#include "codegen/memory_lowering.h"

namespace warplens::codegen {

llvm::Value* offset_pointer(llvm::IRBuilder<>& ir, llvm::Value* pointer, uint64_t bytes);

class MemoryAccess {
 public:
  MemoryAccess(EmitContext& e, const MemoryOp& op, events::Access access, const LaneValue& address);

  std::vector<LaneValue> load();
  void store(std::span<const LaneValue> values);
  LaneValue atomic(const LaneValue& a, const LaneValue* b, bool is_reduction);
  std::vector<LaneValue> load_row(int64_t low, unsigned elements, const std::function<void(llvm::Value*)>& require);
  /// Of a load of a row but the first.
  void count_in_row();

 private:
  enum class Kind : uint8_t { kUniform, kPattern, kScaled, kVector };
  using Values = std::vector<llvm::Value*>;

  // --- memory_lowering.cpp: the address, and the skeleton of an access
  void classify();
  void classify_pattern();
  void classify_scaled();
  bool proven() const { return kind_ == Kind::kUniform || kind_ == Kind::kPattern; }
  /// The hook of the cold path counts, since the fast path's closed form holds only there.
  bool costs_by_branch() const { return generic() || kind_ == Kind::kScaled || compact() || form_matters(); }
  bool form_matters() const;
  bool compact() const;
  llvm::Value* address_vector();  ///< <32 x i64>
  llvm::Value* host_pointer(llvm::Value* address);
  llvm::Value* host_addresses();            ///< <32 x i64> of host addresses
  llvm::Value* descriptor(uint32_t flags);  ///< of the first site
  /// What hooks take as addresses: all 32, or the parts that they can be made of, which is less code.
  enum class Spill : uint8_t { kLanes, kParts };
  Spill least_code() const { return address_.cls.is_vector() ? Spill::kLanes : Spill::kParts; }
  llvm::Value* descriptor_of(uint32_t site, uint32_t flags, Spill spill);
  llvm::Value* mask_bits();
  llvm::Value* mask_vector();
  bool hooks_only() const;
  bool per_lane_local() const { return op_.space == ptx::Space::kLocal; }
  bool generic() const { return op_.space == ptx::Space::kGeneric; }
  uint32_t hook_flags() const;
  events::Space counted_space() const;
  bool unit_stride() const;
  llvm::BasicBlock* block(const char* name);
  void branch_likely(llvm::Value* condition, llvm::BasicBlock* yes, llvm::BasicBlock* no);
  /// A varying guard may leave no lane: begins the block that is skipped then and returns the one behind it, or null.
  llvm::BasicBlock* skip_when_empty(llvm::BasicBlock** before);
  LaneValue lane_value(llvm::Value* v) const;
  llvm::Value* spill_addresses() { return spill_addresses(least_code()); }
  llvm::Value* spill_addresses(Spill spill);
  llvm::FixedVectorType* lanes_of(llvm::Type* element) const;
  llvm::Value* splat(llvm::Value* scalar);

  // --- memory_lowering_check.cpp
  llvm::Value* in_range();  ///< i1: the fast path may be taken
  llvm::Value* in_range(llvm::Value* at);
  llvm::Value* global_in_range(llvm::Value* at);
  llvm::Value* window_in_range(llvm::Value* at, uint64_t begin, llvm::Value* end);
  llvm::Value* all_active(llvm::Value* lanes);
  void check();  ///< goes on when all active lanes may access; ends the warp otherwise
  void check_in_hook();

  // --- memory_lowering_count.cpp
  // Words of a site, in the order of events::SiteCounts.
  static constexpr unsigned kRequests = 0, kLanes = 1, kSectors = 2, kLines = 3, kIdealSectors = 4, kWavefronts = 5,
                            kIdealWavefronts = 6;
  void count();
  void count_costs();
  void count_joined();
  /// By itself, in the course of the access.
  bool is_counted() const { return e_.options.count && !op_.counted_bytes; }
  void count_scaled(uint32_t site);
  bool count_progression(uint32_t site);
  bool count_rows(uint32_t site);
  llvm::Value* costs_table(const std::vector<AccessCost>& costs, unsigned words, uint64_t ideal_of_row);
  llvm::Value* constant_table(const char* kind, uint64_t hash, llvm::Constant* data);
  void count_any(uint32_t site);
  void count_requests();
  void count_requests(uint32_t site);
  void count_full(uint32_t site);
  void count_usual(uint32_t site, const AccessCost& usually, llvm::Value* condition,
                   const std::function<std::pair<llvm::Value*, llvm::Value*>()>& sectors_and_lines);
  void count_constant(uint32_t site, const AccessCost& cost);
  void count_phases(uint32_t site, const std::vector<AccessCost>& costs, unsigned granule_log2);
  void count_sectors(uint32_t site, llvm::Value* sectors, llvm::Value* lines);
  void count_wavefronts(uint32_t site, llvm::Value* wavefronts);
  void count_monotone(uint32_t site);
  void count_window(uint32_t site);
  void count_by_hook(uint32_t site);
  void add(uint32_t site, unsigned word, llvm::Value* amount);
  void add_constants(uint32_t site, unsigned word, std::span<const uint64_t> amounts);
  bool by_block() const { return e_.unguarded && !generic() && !is_case_; }
  /// Whether a constant cost needs no code: ConstantCost::Per::kFullRun.
  bool costs_by_block() const { return by_block() && !e_.equal_copy; }
  llvm::Value* lanes_active();
  llvm::Value* groups_active(unsigned group);
  llvm::Value* ideal(llvm::Value* actual, unsigned unit);
  events::SiteCounts site_counts(const AccessCost& cost) const;

  // --- memory_lowering_count_masked.cpp
  void count_partial(uint32_t site);
  void count_partial_row(uint32_t site);
  bool count_partial_banks(uint32_t site);
  llvm::Value* units_met(unsigned unit_log2);
  llvm::Value* sets_met(llvm::Value* sets);
  llvm::Value* most_common(const Values& sets);

  // --- memory_lowering_cases.cpp
  struct Cases {
    llvm::Value* row = nullptr;    ///< where lane 0 is, if the lanes are consecutive
    llvm::Value* place = nullptr;  ///< where all are, if they are equal
    llvm::BasicBlock* consecutive = nullptr;
    llvm::BasicBlock* equal = nullptr;
    llvm::BasicBlock* other = nullptr;
    llvm::BasicBlock* done = nullptr;
  };
  bool asks_cases() const;
  Cases ask_cases(bool ask_equal);
  MemoryAccess case_of(llvm::Value* base, bool is_row) const;
  Values load_by_case();
  void store_by_case(std::span<const LaneValue> lanes);

  // --- memory_lowering_load.cpp
  Values load_active();
  Values load_plain();
  Values load_fast();
  Values load_fast_or_hook(uint32_t flags);
  Values load_by_hook(uint32_t flags);
  Values load_uniform(llvm::Value* pointer);
  Values load_pattern(llvm::Value* pointer);
  Values load_scaled();
  bool load_groups(Values& values);
  unsigned group_width() const;
  bool group_is_row(unsigned first, unsigned width) const;
  bool group_is_place(unsigned first, unsigned width) const;
  llvm::Value* lane_pointer(unsigned lane);
  Values load_window(llvm::Value* pointer, unsigned elements);
  Values load_unit_stride(llvm::Value* pointer);
  Values load_vector();
  Values load_local_uniform();
  Values deinterleave(const Values& vectors);
  llvm::Value* local_pointer();
  llvm::Value* gather_pattern(llvm::Value* pointer, unsigned byte_offset);
  llvm::Value* gather_element(unsigned byte_offset);
  /// The address of lane 0 and 32-bit distances from it serve AVX-512 better than 32 addresses.
  bool goes_by_index() const {
    return (kind_ == Kind::kPattern || kind_ == Kind::kScaled) && element_bytes_ == 4 && e_.options.avx512;
  }
  llvm::Value* index_from_first_lane();
  llvm::Value* gather_by_index(llvm::Value* base, llvm::Value* index, llvm::Value* mask);
  llvm::Value* gather(llvm::Value* host, llvm::Value* mask);

  // --- memory_lowering_chunks.cpp
  bool reads_in_chunks(unsigned elements) const;
  Values load_chunks(unsigned elements, uint64_t byte_offset);
  Values lane_pointers(uint64_t byte_offset);
  llvm::Value* row_in_range(int64_t low, unsigned elements);

  // --- memory_lowering_store.cpp
  void store_active(std::span<const LaneValue> lanes);
  void store_plain(std::span<const LaneValue> lanes);
  void store_fast(std::span<const LaneValue> lanes);
  void store_fast_or_hook(std::span<const LaneValue> lanes, uint32_t flags);
  void store_by_hook(std::span<const LaneValue> lanes, uint32_t flags);
  void store_uniform(std::span<const LaneValue> lanes);
  void store_unit_stride(const Values& values, llvm::Value* pointer);
  bool store_groups(llvm::Value* value);
  bool stores_window() const;
  void store_window(llvm::Value* value);
  void store_local_uniform(const Values& values);
  void scatter(const Values& values);
  void scatter_by_index(llvm::Value* base, llvm::Value* value);
  Values wide_values(std::span<const LaneValue> lanes);
  llvm::Value* as_element(llvm::Value* v);

  // --- memory_lowering_atomic.cpp
  llvm::Value* atomic_active(const LaneValue& a, const LaneValue* b, bool is_reduction);
  llvm::Value* spill_operand(const LaneValue& v, const char* name);

  EmitContext& e_;
  llvm::IRBuilder<>& ir_;
  const MemoryOp& op_;
  events::Access access_;
  LaneValue address_;
  unsigned element_bytes_, bytes_;  ///< of one element, of one lane
  unsigned bytes_log2_;
  llvm::Type* element_type_;  ///< iN
  Kind kind_ = Kind::kVector;
  bool in_row_ = false;                ///< of loads read together (row_groups.cpp): there is no cold path
  bool is_case_ = false;               ///< of a vector address: its site's range is that of single lanes
  unsigned align_log2_ = 0;            ///< known of the address of every lane
  llvm::Value* first_ = nullptr;       ///< not kVector: address of the lowest lane, in the address's own width
  llvm::Value* last_ = nullptr;        ///< kScaled: of the highest one
  llvm::Value* small_ = nullptr;       ///< kScaled: i1, no lane wraps and all are aligned like the first
  Pattern steps_ = {}, offsets_ = {};  ///< kScaled
  Pattern rel_ = {};                   ///< kPattern; kUniform: zeros
  uint64_t extent_ = 0;                ///< kUniform, kPattern
  llvm::Value* index_ = nullptr;       ///< see index_from_first_lane
};

}  // namespace warplens::codegen
