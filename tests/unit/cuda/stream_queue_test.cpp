// SPDX-License-Identifier: Apache-2.0
// The order that queues keep, with work that only notes its number. Where an order is promised it is checked by gates
// that hold work back, never by waiting for some time.
#include "cuda/stream_queue.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

namespace warplens::cuda {
namespace {

struct Log {
  std::mutex mutex;
  std::string text;
  std::function<void()> note(char c) {
    return [this, c] {
      const std::lock_guard lock(mutex);
      text += c;
    };
  }
};

/// Queues are never destroyed: their engine threads live as long as the process.
Queues& new_queues() {
  static auto* const all = new std::vector<std::unique_ptr<Queues>>;
  return *all->emplace_back(std::make_unique<Queues>());
}

TEST(StreamQueue, work_of_one_stream_keeps_its_order_across_engines) {
  Queues& q = new_queues();
  const auto s = q.create(true, 0);
  Log log;
  for (int i = 0; i < 26; ++i)
    q.push(*s, i % 3 ? Engine::kKernel : Engine::kCopy, log.note(static_cast<char>('a' + i)));
  q.drain(*s);
  EXPECT_EQ(log.text, "abcdefghijklmnopqrstuvwxyz");
}

TEST(StreamQueue, a_copy_in_another_stream_overtakes_a_kernel_that_waits_for_it) {
  Queues& q = new_queues();
  const auto a = q.create(true, 0), b = q.create(true, 0);
  std::promise<void> flag;
  q.push(*a, Engine::kKernel, [&] { flag.get_future().wait(); });
  q.push(*b, Engine::kCopy, [&] { flag.set_value(); });
  q.drain_all();  // ends only if the copy ran while the kernel waited
}

TEST(StreamQueue, default_stream_waits_for_blocking_streams_and_they_for_it) {
  Queues& q = new_queues();
  const auto blocking = q.create(true, 0), free = q.create(false, 0);
  Log log;
  std::promise<void> gate;
  const auto opened = gate.get_future().share();
  q.push(*blocking, Engine::kKernel, [opened] { opened.wait(); });
  q.push(*blocking, Engine::kKernel, log.note('1'));
  q.push(q.legacy(), Engine::kCopy, log.note('2'));
  q.push(*blocking, Engine::kCopy, log.note('3'));
  q.push(*free, Engine::kCopy, log.note('0'));
  q.drain(*free);  // a non-blocking stream does not take part
  EXPECT_EQ(log.text, "0");
  EXPECT_FALSE(q.idle(q.legacy()));
  gate.set_value();
  q.drain_all();
  EXPECT_EQ(log.text, "0123");
}

TEST(StreamQueue, wait_holds_a_stream_until_the_record_is_reached) {
  Queues& q = new_queues();
  const auto a = q.create(false, 0), b = q.create(false, 0);
  Log log;
  std::promise<void> gate;
  const auto opened = gate.get_future().share();
  q.push(*a, Engine::kKernel, [opened] { opened.wait(); });
  q.push(*a, Engine::kKernel, log.note('1'));
  const auto ticket = q.record(*a);
  q.wait_for(*b, ticket);
  q.push(*b, Engine::kCopy, log.note('2'));
  EXPECT_FALSE(q.done(*ticket));
  gate.set_value();
  q.drain(*b);
  EXPECT_EQ(log.text, "12");
  EXPECT_TRUE(q.done(*ticket));
}

TEST(StreamQueue, record_in_an_idle_stream_is_done_at_once) {
  Queues& q = new_queues();
  const auto s = q.create(true, 0);
  EXPECT_TRUE(q.done(*q.record(*s)));
}

TEST(StreamQueue, work_of_the_caller_runs_on_its_thread_in_turn) {
  Queues& q = new_queues();
  const auto s = q.create(true, 0);
  Log log;
  std::thread::id id;
  q.push(*s, Engine::kKernel, log.note('1'));
  q.run_in_turn(*s, [&] {
    log.note('2')();
    id = std::this_thread::get_id();
  });
  EXPECT_EQ(log.text, "12");
  EXPECT_EQ(id, std::this_thread::get_id());
}

TEST(StreamQueue, work_knows_that_it_is_on_an_engine) {
  Queues& q = new_queues();
  bool inside = false;
  q.push(q.legacy(), Engine::kCopy, [&] { inside = Queues::on_engine_thread(); });
  q.drain_all();
  EXPECT_TRUE(inside);
  EXPECT_FALSE(Queues::on_engine_thread());
}

TEST(StreamQueue, destroyed_stream_finishes_its_work_but_is_no_longer_found) {
  Queues& q = new_queues();
  const auto s = q.create(true, 0);
  Log log;
  std::promise<void> gate;
  const auto opened = gate.get_future().share();
  q.push(*s, Engine::kKernel, [opened] { opened.wait(); });
  q.push(*s, Engine::kKernel, log.note('1'));
  EXPECT_TRUE(q.destroy(s.get()));
  EXPECT_FALSE(q.destroy(s.get()));
  EXPECT_EQ(q.find(s.get()), nullptr);
  gate.set_value();
  q.drain_all();
  EXPECT_EQ(log.text, "1");
}

TEST(StreamQueue, many_threads_enqueue_at_once) {
  Queues& q = new_queues();
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto s = q.create(t % 2 == 0, 0);
      for (int i = 0; i < 50; ++i) {
        q.push(*s, Engine::kKernel, [&] { ++ran; });
        q.run_in_turn(*s, [&] { ++ran; });
        q.push(q.legacy(), Engine::kCopy, [&] { ++ran; });
      }
      q.drain(*s);
    });
  for (auto& t : threads) t.join();
  q.drain_all();
  EXPECT_EQ(ran.load(), 600);
}

}  // namespace
}  // namespace warplens::cuda
