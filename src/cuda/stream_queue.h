// SPDX-License-Identifier: Apache-2.0
// Streams: what a program enqueues runs later, in the order that CUDA promises and no other. Each stream is a FIFO. Two
// engine threads take work from the heads of the streams, one runs kernels, the other copies, fills and host functions,
// so a kernel may wait for a copy in another stream; kernels run one at a time, each on all cores. The legacy default
// stream is a barrier for all blocking streams: its work waits for theirs and theirs for it ("Default Stream" in the
// programming guide). Event records and waits are not work: they are settled as soon as they reach the head.
//
//   stream a   [kernel 1] [record e]                 work of one stream: strictly one after another
//   stream b   [wait e] [copy 3]                     copy 3 starts when kernel 1 has ended
//   default    [kernel 4]                            starts when a and b are empty
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace warplens::cuda {

using Clock = std::chrono::steady_clock;

/// One recording of an event: done when the stream reached it.
struct Ticket {
  bool done = false;  ///< guarded by the queues' mutex
  Clock::time_point at = {};
};

enum class Engine : uint8_t {
  kKernel,
  kCopy,
  kCaller,  ///< runs on the thread that enqueued it, which waits for its turn
  kMarker,  ///< no work: a record or a wait
};

class Queues;

class Stream {
 public:
  Stream(uint64_t id, bool blocking, int priority) : id(id), blocking(blocking), priority(priority) {}
  const uint64_t id;
  const bool blocking;  ///< takes part in the default stream's barrier
  const int priority;

 private:
  friend class Queues;
  struct Item {
    uint64_t sequence = 0;
    Engine engine = Engine::kMarker;
    std::function<void()> work;
    std::shared_ptr<Ticket> record;          ///< completed when the item is
    std::shared_ptr<const Ticket> wait_for;  ///< the item may not start before this is done
    bool running = false;
  };
  std::deque<Item> items_;
  bool destroyed_ = false;
};

class Queues {
 public:
  Queues();

  Stream& legacy() { return legacy_; }
  std::shared_ptr<Stream> create(bool blocking, int priority);
  /// The stream with that handle (the address of a Stream); nothing for an unknown one.
  std::shared_ptr<Stream> find(const void* handle) const;
  /// Its work still runs; the handle is no longer valid. False for an unknown one.
  bool destroy(const void* handle);

  /// Enqueues `work` and returns at once.
  void push(Stream& stream, Engine engine, std::function<void()> work);
  /// Enqueues `work` and runs it on this thread when its turn has come.
  void run_in_turn(Stream& stream, const std::function<void()>& work);
  std::shared_ptr<Ticket> record(Stream& stream);
  void wait_for(Stream& stream, std::shared_ptr<const Ticket> ticket);

  bool idle(const Stream& stream) const;
  bool done(const Ticket& ticket) const;
  void drain(const Stream& stream);
  void drain_all();
  void drain(const Ticket& ticket);
  /// True on a thread that runs work: it must not wait for queues (a host function that ends the process).
  static bool on_engine_thread();

 private:
  Stream::Item& append(Stream& stream, Engine engine);
  void start_engines();
  void engine_loop(Engine engine);
  bool may_start(const Stream& stream) const;
  bool nothing_before(const Stream& stream, uint64_t sequence) const;
  void settle();
  void finish(Stream& stream);
  Stream* next(Engine engine);
  template <typename F>
  void for_each_stream(F&& f) const;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Stream legacy_{1, true, 0};
  std::unordered_map<const void*, std::shared_ptr<Stream>> streams_;
  uint64_t next_sequence_ = 1, next_id_ = 2;
  bool engines_started_ = false;
};

}  // namespace warplens::cuda
