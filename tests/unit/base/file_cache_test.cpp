// SPDX-License-Identifier: Apache-2.0
// The cache of files: damage of every kind is a miss, the bound holds, and processes do not disturb each other.
#include "base/file_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

namespace warplens {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

FileCache::Key key_of(unsigned n) {
  FileCache::Key key = {};
  for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<uint8_t>(n * 37 + i * (n + 11));
  key[0] = static_cast<uint8_t>(n);
  key[1] = static_cast<uint8_t>(n >> 8);
  return key;
}
/// What every process stores under key_of(n).
Bytes bytes_of(unsigned n, size_t size) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(n + i * 7);
  return bytes;
}

class FileCacheTest : public testing::Test {
 protected:
  FileCacheTest() {
    std::string name = (fs::temp_directory_path() / "file-cache-XXXXXX").string();
    top_ = mkdtemp(name.data());
    folder_ = top_ + "/a/warplens";
  }
  ~FileCacheTest() override { fs::remove_all(top_); }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (fs::exists(folder_))
      for (const auto& e : fs::directory_iterator(folder_)) found.push_back(e.path());
    return found;
  }
  static Bytes content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void put(const fs::path& path, const Bytes& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  std::string top_, folder_;
};

TEST_F(FileCacheTest, what_was_stored_is_found_by_others) {
  FileCache cache(folder_, 1 << 20);
  EXPECT_FALSE(cache.find(key_of(1)));
  EXPECT_FALSE(fs::exists(folder_)) << "looking makes no folder";
  cache.store(key_of(1), bytes_of(1, 100));
  cache.store(key_of(2), {});
  FileCache other(folder_, 1 << 20);
  EXPECT_EQ(other.find(key_of(1)), bytes_of(1, 100));
  EXPECT_EQ(other.find(key_of(2)), Bytes());
  EXPECT_FALSE(other.find(key_of(3)));
  EXPECT_EQ(other.usage().entries, 2u);
  EXPECT_EQ(cache.trouble(), "");
  struct stat s = {};
  ASSERT_EQ(stat(folder_.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0700u);
}

TEST_F(FileCacheTest, every_truncation_is_a_miss_and_is_removed) {
  FileCache cache(folder_, 1 << 20);
  cache.store(key_of(1), bytes_of(1, 24));
  const fs::path path = files().at(0);
  const Bytes whole = content(path);
  for (size_t size = 0; size < whole.size(); ++size) {
    put(path, Bytes(whole.begin(), whole.begin() + static_cast<long>(size)));
    ASSERT_FALSE(cache.find(key_of(1))) << size;
    ASSERT_FALSE(fs::exists(path)) << size;
  }
  Bytes longer = whole;
  longer.push_back(0);
  put(path, longer);
  EXPECT_FALSE(cache.find(key_of(1)));
  put(path, whole);
  EXPECT_TRUE(cache.find(key_of(1)));
}

TEST_F(FileCacheTest, every_flipped_bit_is_a_miss_and_is_removed) {
  FileCache cache(folder_, 1 << 20);
  cache.store(key_of(1), bytes_of(1, 24));
  const fs::path path = files().at(0);
  const Bytes whole = content(path);
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes damaged = whole;
    damaged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    put(path, damaged);
    ASSERT_FALSE(cache.find(key_of(1))) << bit;
    ASSERT_FALSE(fs::exists(path)) << bit;
  }
}

TEST_F(FileCacheTest, what_is_no_entry_of_that_key_is_a_miss) {
  FileCache cache(folder_, 1 << 20);
  cache.store(key_of(1), bytes_of(1, 24));
  const fs::path path = files().at(0);
  cache.store(key_of(2), bytes_of(2, 24));
  for (const fs::path& f : files())
    if (f != path) fs::copy_file(f, path, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(cache.find(key_of(1))) << "the entry of another key";
  EXPECT_EQ(cache.find(key_of(2)), bytes_of(2, 24));
  fs::create_symlink("/dev/zero", path);
  EXPECT_FALSE(cache.find(key_of(1)));
  EXPECT_FALSE(fs::is_symlink(path));
  fs::create_directory(path);
  EXPECT_FALSE(cache.find(key_of(1)));
  fs::remove(path);
  cache.store(key_of(1), bytes_of(1, 24));
  EXPECT_EQ(cache.find(key_of(1)), bytes_of(1, 24));
}

TEST_F(FileCacheTest, the_longest_unused_go_when_the_bound_is_passed) {
  FileCache cache(folder_, 20000);
  for (unsigned n = 0; n < 9; ++n) {
    cache.store(key_of(n), bytes_of(n, 1900));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // times of files may be that coarse
  }
  EXPECT_EQ(cache.usage().entries, 9u);
  EXPECT_TRUE(cache.find(key_of(0)));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  cache.store(key_of(9), bytes_of(9, 1900));
  cache.store(key_of(10), bytes_of(10, 1900));
  EXPECT_LE(cache.usage().bytes, 20000u);
  EXPECT_TRUE(cache.find(key_of(0))) << "it was used";
  EXPECT_TRUE(cache.find(key_of(10)));
  EXPECT_FALSE(cache.find(key_of(1)));
  cache.store(key_of(11), bytes_of(11, 30000));
  EXPECT_FALSE(cache.find(key_of(11))) << "larger than the bound";
}

TEST_F(FileCacheTest, another_process_may_lower_the_bound) {
  FileCache(folder_, 1 << 20).store(key_of(1), bytes_of(1, 9000));
  FileCache(folder_, 5000).store(key_of(2), bytes_of(2, 1000));
  EXPECT_LE(FileCache(folder_, 5000).usage().bytes, 5000u);
}

TEST_F(FileCacheTest, clearing_removes_entries_and_nothing_else) {
  FileCache cache(folder_, 1 << 20);
  for (unsigned n = 0; n < 5; ++n) cache.store(key_of(n), bytes_of(n, 10));
  put(folder_ + "/README", {1});
  EXPECT_EQ(cache.clear(), 5u);
  EXPECT_EQ(cache.usage().entries, 0u);
  EXPECT_TRUE(fs::exists(folder_ + "/README"));
  cache.store(key_of(1), bytes_of(1, 10));
  EXPECT_TRUE(cache.find(key_of(1)));
}

TEST_F(FileCacheTest, a_folder_that_cannot_be_made_costs_one_remark) {
  put(top_ + "/a", {1});  // a file where a folder should be
  FileCache cache(folder_, 1 << 20);
  cache.store(key_of(1), bytes_of(1, 10));
  cache.store(key_of(2), bytes_of(2, 10));
  EXPECT_FALSE(cache.find(key_of(1)));
  EXPECT_NE(cache.trouble().find(folder_), std::string::npos);
}

TEST_F(FileCacheTest, a_folder_that_others_may_write_to_is_not_trusted) {
  FileCache(folder_, 1 << 20).store(key_of(1), bytes_of(1, 10));
  chmod(folder_.c_str(), 0777);
  FileCache cache(folder_, 1 << 20);
  EXPECT_FALSE(cache.find(key_of(1)));
  EXPECT_NE(cache.trouble(), "");
}

/// Stores and looks up in random order; 1 when something else was found than what every process stores.
int work_on(const std::string& folder, unsigned seed, uint64_t bound, int rounds) {
  FileCache cache(folder, bound);
  std::mt19937 random(seed);
  for (int i = 0; i < rounds; ++i) {
    const unsigned n = random() % 40;
    const auto found = cache.find(key_of(n));
    if (found && *found != bytes_of(n, 100 + n * 50)) return 1;
    if (!found) cache.store(key_of(n), bytes_of(n, 100 + n * 50));
  }
  return cache.trouble().empty() ? 0 : 2;
}

TEST_F(FileCacheTest, processes_share_a_folder_at_once) {
  constexpr uint64_t kBound = 25000;  // half of what they store: each removes what another may be reading
  std::vector<pid_t> children;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const pid_t child = fork();
    if (child == 0) _exit(work_on(folder_, seed, kBound, 400));
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (const fs::path& f : files()) EXPECT_EQ(f.filename().string().size(), 64u) << "nothing half written is left";
  FileCache(folder_, kBound).store(key_of(99), bytes_of(99, 10));
  EXPECT_LE(FileCache(folder_, kBound).usage().bytes, kBound);
}

TEST_F(FileCacheTest, a_killed_process_leaves_whole_entries_or_none) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) {
        work_on(folder_, seed, 1 << 20, 40);
        FileCache(folder_, 1 << 20).clear();
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + 3 * seed));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    FileCache cache(folder_, 1 << 20);
    for (unsigned n = 0; n < 40; ++n)
      if (const auto found = cache.find(key_of(n))) {
        ASSERT_EQ(*found, bytes_of(n, 100 + n * 50));
      }
  }
}

TEST_F(FileCacheTest, the_environment_says_where) {
  const auto with = [](const char* cache, const char* size, const char* xdg, const char* home) {
    const auto set = [](const char* name, const char* value) {
      value == nullptr ? unsetenv(name) : setenv(name, value, 1);
    };
    set("WARPLENS_CACHE", cache);
    set("WARPLENS_CACHE_SIZE", size);
    set("XDG_CACHE_HOME", xdg);
    set("HOME", home);
    return cache_location();
  };
  EXPECT_EQ(with(nullptr, nullptr, "/x", "/h").folder, "/x/warplens");
  EXPECT_EQ(with(nullptr, nullptr, nullptr, "/h").folder, "/h/.cache/warplens");
  EXPECT_EQ(with(nullptr, nullptr, "relative", "/h").folder, "/h/.cache/warplens");
  EXPECT_EQ(with(nullptr, nullptr, "", nullptr).folder, "");
  EXPECT_EQ(with("off", nullptr, "/x", "/h").folder, "");
  EXPECT_EQ(with(nullptr, nullptr, "/x", "/h").bytes, uint64_t{1} << 30);
  EXPECT_EQ(with(nullptr, "500M", "/x", "/h").bytes, uint64_t{500} << 20);
  EXPECT_EQ(with(nullptr, "123", "/x", "/h").bytes, 123u);
  for (const char* bad : {"x", "1T", "-1", "1MM", "99999999999999999999", "99999999999999G"}) {
    const CacheLocation location = with(nullptr, bad, "/x", "/h");
    EXPECT_EQ(location.bytes, kDefaultCacheBytes) << bad;
    EXPECT_NE(location.why_not, "") << bad;
  }
}

}  // namespace
}  // namespace warplens
