// SPDX-License-Identifier: Apache-2.0
// Entries as files; see file_cache.h. No fsync: after a power failure an entry may be anything, which its checksum
// notices.
#include "base/file_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include "base/text_hash.h"

namespace warplens {
namespace {

constexpr std::string_view kMagic = "WLENTRY\1";
constexpr std::string_view kNewPrefix = "new-";
/// A file that was being written for so long belongs to a process that is gone.
constexpr time_t kAbandonedSeconds = 3600;

struct Header {
  char magic[8];
  FileCache::Key key;
  uint64_t bytes;
  uint64_t checksum;  ///< of key, size and bytes
};
static_assert(sizeof(Header) == 56);

uint64_t checksum(uint64_t hash, std::span<const uint8_t> bytes) {
  for (const uint8_t b : bytes) hash = text_hash(b, hash);
  return hash;
}

uint64_t checksum_of(const FileCache::Key& key, std::span<const uint8_t> bytes) {
  const uint64_t size = bytes.size();
  uint64_t hash = checksum(kTextHashSeed, key);
  hash = checksum(hash, {reinterpret_cast<const uint8_t*>(&size), sizeof size});
  return checksum(hash, bytes);
}

class File {
 public:
  File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  bool close() {
    const bool good = fd_ < 0 || ::close(fd_) == 0;
    fd_ = -1;
    return good;
  }
  bool read(void* to, size_t bytes) { return move(bytes, to, ::read); }
  bool write(const void* from, size_t bytes) { return move(bytes, from, ::write); }

 private:
  template <typename Pointer, typename Call>
  bool move(size_t bytes, Pointer at, Call call) {
    for (size_t done = 0; done < bytes;) {
      using Byte = std::conditional_t<std::is_same_v<Pointer, void*>, char, const char>;
      const ssize_t n = call(fd_, static_cast<Byte*>(at) + done, bytes - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      done += static_cast<size_t>(n);
    }
    return true;
  }
  int fd_;
};

bool is_entry_name(std::string_view name) {
  return name.size() == 64 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

struct Entry {
  std::string path;
  uint64_t bytes = 0;
  timespec used = {};
};

/// Calls f(path, name, stat) for each plain file of the folder.
template <typename F>
void for_each_file(const std::string& folder, F&& f) {
  DIR* open = opendir(folder.c_str());
  if (open == nullptr) return;
  while (const dirent* e = readdir(open)) {
    const std::string path = folder + "/" + e->d_name;
    struct stat s = {};
    if (lstat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode)) f(path, std::string_view(e->d_name), s);
  }
  closedir(open);
}

bool make_folders(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    if (mkdir(path.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST) return false;
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

/// "64M"; nothing when it is no size.
std::optional<uint64_t> parse_bytes(std::string_view text) {
  uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  constexpr std::string_view kUnits = "KMG";
  if (unit.empty()) return n;
  const size_t k = kUnits.find(unit[0]);
  const auto shift = static_cast<unsigned>(10 * (k + 1));
  if (unit.size() != 1 || k == std::string_view::npos || n > UINT64_MAX >> shift) return std::nullopt;
  return n << shift;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

CacheLocation cache_location() {
  CacheLocation out;
  if (variable("WARPLENS_CACHE") == "off") {
    out.why_not = "WARPLENS_CACHE is off";
    return out;
  }
  // A relative $XDG_CACHE_HOME is to be ignored, says the XDG base directory specification.
  const std::string xdg = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (xdg.starts_with('/')) out.folder = xdg + "/warplens";
  if (out.folder.empty() && home.starts_with('/')) out.folder = home + "/.cache/warplens";
  if (out.folder.empty()) out.why_not = "neither XDG_CACHE_HOME nor HOME names a folder";
  out.bytes = kDefaultCacheBytes;
  if (const std::string size = variable("WARPLENS_CACHE_SIZE"); !size.empty()) {
    const auto bytes = parse_bytes(size);
    if (!bytes) out.why_not = fmt::format("WARPLENS_CACHE_SIZE is bytes, as 500M or 2G, not '{}'; 1G is used", size);
    out.bytes = bytes.value_or(kDefaultCacheBytes);
  }
  return out;
}

std::string FileCache::path_of(const Key& key) const {
  std::string path = folder_ + "/";
  for (const uint8_t b : key) fmt::format_to(std::back_inserter(path), "{:02x}", b);
  return path;
}

void FileCache::give_up(const std::string& why) {
  stores_ = false;
  if (trouble_.empty()) trouble_ = fmt::format("the cache folder {} cannot be used: {}", folder_, why);
}

/// Holds the mutex.
FileCache::State FileCache::look_at_folder() {
  if (state_ == State::kReady || state_ == State::kUnusable) return state_;
  struct stat s = {};
  if (stat(folder_.c_str(), &s) != 0) {
    if (errno == ENOENT) return state_ = State::kMissing;
    give_up(std::strerror(errno));
    return state_ = State::kUnusable;
  }
  state_ = State::kUnusable;
  if (!S_ISDIR(s.st_mode))
    give_up("it is no folder");
  else if (s.st_uid != geteuid())
    give_up("it belongs to another user");
  else if ((s.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    give_up("others may write to it");
  else
    state_ = State::kReady;
  return state_;
}

/// Holds the mutex.
bool FileCache::make_folder() {
  if (look_at_folder() == State::kMissing && !make_folders(folder_)) {
    give_up(std::strerror(errno));
    state_ = State::kUnusable;
  }
  return look_at_folder() == State::kReady;
}

std::optional<std::vector<uint8_t>> FileCache::find(const Key& key) {
  {
    const std::lock_guard lock(mutex_);
    if (look_at_folder() != State::kReady) return std::nullopt;
  }
  const std::string path = path_of(key);
  File file(path, O_RDONLY);
  if (!file.is_open()) {
    if (errno == ELOOP) ::unlink(path.c_str());  // a link under an entry's name
    return std::nullopt;
  }
  struct stat s = {};
  Header header;
  std::vector<uint8_t> bytes;
  const auto good = [&] {
    if (fstat(file.fd(), &s) != 0 || !S_ISREG(s.st_mode) || s.st_uid != geteuid()) return false;
    if (!file.read(&header, sizeof header) || std::string_view(header.magic, 8) != kMagic || header.key != key)
      return false;
    if (header.bytes != static_cast<uint64_t>(s.st_size) - sizeof header || header.bytes > most_bytes_) return false;
    bytes.resize(header.bytes);
    return file.read(bytes.data(), bytes.size()) && header.checksum == checksum_of(key, bytes);
  };
  if (!good()) {
    remove(key);
    return std::nullopt;
  }
  futimens(file.fd(), nullptr);  // it was used now
  return bytes;
}

void FileCache::remove(const Key& key) const { ::unlink(path_of(key).c_str()); }

bool FileCache::write_entry(const Key& key, std::span<const uint8_t> bytes, const std::string& temporary) {
  Header header;
  std::memcpy(header.magic, kMagic.data(), sizeof header.magic);
  header.key = key;
  header.bytes = bytes.size();
  header.checksum = checksum_of(key, bytes);
  File file(temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open()) return false;
  if (file.write(&header, sizeof header) && file.write(bytes.data(), bytes.size()) && file.close() &&
      ::rename(temporary.c_str(), path_of(key).c_str()) == 0)
    return true;
  const int why = errno;
  ::unlink(temporary.c_str());
  errno = why;
  return false;
}

void FileCache::store(const Key& key, std::span<const uint8_t> bytes) {
  const uint64_t size = bytes.size() + sizeof(Header);
  std::string temporary;
  {
    const std::lock_guard lock(mutex_);
    if (!stores_ || size > most_bytes_ || !make_folder()) return;
    // The time keeps processes apart that have one number in different containers, and threads the counter.
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    temporary = fmt::format("{}/{}{}-{}-{:x}", folder_, kNewPrefix, getpid(), next_temporary_++, now);
  }
  const bool written = write_entry(key, bytes, temporary);
  const int why = errno;
  const std::lock_guard lock(mutex_);
  if (!written && why == ENOENT) state_ = State::kUnknown;  // removed meanwhile, alone or with its folder
  if (!written && why != ENOENT) give_up(std::strerror(why));
  if (!written) return;
  // The folder is read once, and again when what this process knows of it exceeds the bound: others store, too.
  bytes_ = bytes_ ? *bytes_ + size : trim();
  if (*bytes_ > most_bytes_) bytes_ = trim();
}

/// Removes what is too much and returns how many bytes remain. A tenth more than needed goes, so that a full cache does
/// not do this at each store.
uint64_t FileCache::trim() const {
  std::vector<Entry> entries;
  uint64_t total = 0;
  for_each_file(folder_, [&](const std::string& path, std::string_view name, const struct stat& s) {
    if (name.starts_with(kNewPrefix)) {
      if (std::time(nullptr) - s.st_mtim.tv_sec > kAbandonedSeconds) ::unlink(path.c_str());
    } else if (is_entry_name(name)) {
      entries.push_back({path, static_cast<uint64_t>(s.st_size), s.st_mtim});
      total += entries.back().bytes;
    }
  });
  if (total <= most_bytes_) return total;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry& e : entries) {
    if (total <= most_bytes_ - most_bytes_ / 10) break;
    if (::unlink(e.path.c_str()) == 0 || errno == ENOENT) total -= e.bytes;
  }
  return total;
}

FileCache::Usage FileCache::usage() const {
  Usage usage;
  for_each_file(folder_, [&](const std::string&, std::string_view name, const struct stat& s) {
    if (!is_entry_name(name)) return;
    ++usage.entries;
    usage.bytes += static_cast<uint64_t>(s.st_size);
  });
  return usage;
}

uint64_t FileCache::clear() const {
  uint64_t removed = 0;
  for_each_file(folder_, [&](const std::string& path, std::string_view name, const struct stat&) {
    if (is_entry_name(name) && ::unlink(path.c_str()) == 0) ++removed;
    if (name.starts_with(kNewPrefix)) ::unlink(path.c_str());
  });
  return removed;
}

std::string FileCache::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

}  // namespace warplens
