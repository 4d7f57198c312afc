// SPDX-License-Identifier: Apache-2.0
// A folder of entries that may be lost without harm, shared by any number of processes: bytes kept under a key that is
// a hash of everything they depend on. Which hash, and what the bytes mean, is the caller's affair.
//
//   <folder>/<key as 64 hexadecimal digits>    one file an entry: magic, key, size, checksum, bytes
//   <folder>/new-...                           being written; renamed when complete, so no reader sees half an entry
//
// There are no locks and no index. Two writers of one key write the same bytes and the later rename wins. A file that
// is cut short, damaged or not ours under an entry's name is a miss and is removed. An entry's modification time is its
// last use; when the folder outgrows its bound the longest unused entries go. Whatever fails (no space, no permission)
// costs speed, never a result.
#pragma once
#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warplens {

/// Where a cache is to be and how large it may grow.
struct CacheLocation {
  std::string folder;   ///< empty: no cache
  uint64_t bytes = 0;   ///< bound on the sum of its files' sizes
  std::string why_not;  ///< when there is none, or a variable was not understood; else empty
};
constexpr uint64_t kDefaultCacheBytes = uint64_t{1} << 30;

/// From the environment: WARPLENS_CACHE=off switches it off; $XDG_CACHE_HOME/warplens, else $HOME/.cache/warplens;
/// WARPLENS_CACHE_SIZE is the bound in bytes, or with K, M or G behind the number.
CacheLocation cache_location();

class FileCache {
 public:
  using Key = std::array<uint8_t, 32>;
  struct Usage {
    uint64_t entries = 0, bytes = 0;
  };

  /// The folder is made at the first store. It must belong to this user and be writable by nobody else: entries may be
  /// code.
  FileCache(std::string folder, uint64_t most_bytes) : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  /// The bytes stored under `key`, or nothing. Thread safe, as all of these.
  std::optional<std::vector<uint8_t>> find(const Key& key);
  /// Keeps `bytes`, unless they alone exceed the bound. The first failure ends storing.
  void store(const Key& key, std::span<const uint8_t> bytes);
  /// Removes what find() gave when it turned out to be of no use.
  void remove(const Key& key) const;
  Usage usage() const;
  /// Removes all entries, and nothing else; says how many.
  uint64_t clear() const;
  /// Why entries could not be read or stored, one sentence; empty: no trouble.
  std::string trouble() const;

 private:
  enum class State : uint8_t { kUnknown, kReady, kMissing, kUnusable };
  State look_at_folder();
  bool make_folder();
  void give_up(const std::string& why);
  std::string path_of(const Key& key) const;
  bool write_entry(const Key& key, std::span<const uint8_t> bytes, const std::string& temporary);
  uint64_t trim() const;

  const std::string folder_;
  const uint64_t most_bytes_;
  mutable std::mutex mutex_;
  State state_ = State::kUnknown;
  bool stores_ = true;
  uint64_t next_temporary_ = 0;
  std::optional<uint64_t> bytes_;  ///< in the folder, as far as this process knows
  std::string trouble_;
};

}  // namespace warplens
