// SPDX-License-Identifier: Apache-2.0
// The order of work. Every item has a number that counts enqueuings; who must wait for whom follows from comparing the
// numbers at the heads of streams, so no lists of dependencies are kept. Everything is guarded by one mutex, which is
// never held while work runs.
#include "cuda/stream_queue.h"

#include "base/check.h"

namespace warplens::cuda {

namespace {
thread_local bool t_engine = false;
}

Queues::Queues() = default;

bool Queues::on_engine_thread() { return t_engine; }

std::shared_ptr<Stream> Queues::create(bool blocking, int priority) {
  const std::lock_guard lock(mutex_);
  auto stream = std::make_shared<Stream>(next_id_++, blocking, priority);
  streams_[stream.get()] = stream;
  return stream;
}

std::shared_ptr<Stream> Queues::find(const void* handle) const {
  const std::lock_guard lock(mutex_);
  const auto it = streams_.find(handle);
  return it == streams_.end() || it->second->destroyed_ ? nullptr : it->second;
}

bool Queues::destroy(const void* handle) {
  const std::lock_guard lock(mutex_);
  const auto it = streams_.find(handle);
  if (it == streams_.end() || it->second->destroyed_) return false;
  it->second->destroyed_ = true;
  if (it->second->items_.empty()) streams_.erase(it);
  return true;
}

template <typename F>
void Queues::for_each_stream(F&& f) const {
  f(const_cast<Stream&>(legacy_));
  for (const auto& [handle, stream] : streams_) f(*stream);
}

/// True when no item of `stream` with a lower number is still to be done.
bool Queues::nothing_before(const Stream& stream, uint64_t sequence) const {
  return stream.items_.empty() || stream.items_.front().sequence > sequence;
}

/// Whether the head of `stream` may start now.
bool Queues::may_start(const Stream& stream) const {
  if (stream.items_.empty() || stream.items_.front().running) return false;
  const Stream::Item& head = stream.items_.front();
  if (head.wait_for && !head.wait_for->done) return false;
  if (!stream.blocking) return true;
  if (&stream != &legacy_) return nothing_before(legacy_, head.sequence);
  bool free = true;
  for (const auto& [handle, other] : streams_)
    if (other->blocking && !nothing_before(*other, head.sequence)) free = false;
  return free;
}

/// Completes the head of `stream`. Holds the mutex.
void Queues::finish(Stream& stream) {
  Stream::Item& head = stream.items_.front();
  if (head.record) {
    head.record->at = Clock::now();
    head.record->done = true;
  }
  stream.items_.pop_front();
  if (stream.items_.empty() && stream.destroyed_) streams_.erase(&stream);
}

/// Completes all markers that have reached the head of their streams, and wakes whoever waits. Holds the mutex.
void Queues::settle() {
  for (bool again = true; again;) {
    Stream* ready = nullptr;
    for_each_stream([&](Stream& s) {
      if (!ready && may_start(s) && s.items_.front().engine == Engine::kMarker) ready = &s;
    });
    again = ready != nullptr;
    if (ready) finish(*ready);
  }
  changed_.notify_all();
}

/// The stream whose head is the oldest that `engine` may start.
Stream* Queues::next(Engine engine) {
  Stream* best = nullptr;
  for_each_stream([&](Stream& s) {
    if (!may_start(s) || s.items_.front().engine != engine) return;
    if (!best || s.items_.front().sequence < best->items_.front().sequence) best = &s;
  });
  return best;
}

void Queues::engine_loop(Engine engine) {
  t_engine = true;
  std::unique_lock lock(mutex_);
  for (;;) {
    Stream* stream = nullptr;
    changed_.wait(lock, [&] { return (stream = next(engine)) != nullptr; });
    Stream::Item& item = stream->items_.front();
    item.running = true;
    const std::function<void()> work = std::move(item.work);
    lock.unlock();
    work();
    lock.lock();
    finish(*stream);
    settle();
  }
}

/// The engines live as long as the process: a program may enqueue work until its last destructor has run.
void Queues::start_engines() {
  if (engines_started_) return;
  engines_started_ = true;
  for (const Engine engine : {Engine::kKernel, Engine::kCopy})
    std::thread([this, engine] { engine_loop(engine); }).detach();
}

Stream::Item& Queues::append(Stream& stream, Engine engine) {
  Stream::Item& item = stream.items_.emplace_back();
  item.sequence = next_sequence_++;
  item.engine = engine;
  return item;
}

void Queues::push(Stream& stream, Engine engine, std::function<void()> work) {
  WL_CHECK(engine == Engine::kKernel || engine == Engine::kCopy);
  const std::lock_guard lock(mutex_);
  start_engines();
  append(stream, engine).work = std::move(work);
  changed_.notify_all();
}

void Queues::run_in_turn(Stream& stream, const std::function<void()>& work) {
  std::unique_lock lock(mutex_);
  const uint64_t mine = append(stream, Engine::kCaller).sequence;
  changed_.wait(lock, [&] { return stream.items_.front().sequence == mine && may_start(stream); });
  stream.items_.front().running = true;
  lock.unlock();
  work();
  lock.lock();
  finish(stream);
  settle();
}

std::shared_ptr<Ticket> Queues::record(Stream& stream) {
  const std::lock_guard lock(mutex_);
  auto ticket = std::make_shared<Ticket>();
  append(stream, Engine::kMarker).record = ticket;
  settle();
  return ticket;
}

void Queues::wait_for(Stream& stream, std::shared_ptr<const Ticket> ticket) {
  const std::lock_guard lock(mutex_);
  append(stream, Engine::kMarker).wait_for = std::move(ticket);
  settle();
}

bool Queues::idle(const Stream& stream) const {
  const std::lock_guard lock(mutex_);
  return stream.items_.empty();
}

bool Queues::done(const Ticket& ticket) const {
  const std::lock_guard lock(mutex_);
  return ticket.done;
}

void Queues::drain(const Ticket& ticket) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ticket.done; });
}

void Queues::drain(const Stream& stream) {
  // What is enqueued while this waits, by other threads, is not waited for.
  std::unique_lock lock(mutex_);
  const uint64_t until = next_sequence_;
  const auto owner = streams_.find(&stream);  // keeps a stream alive that is destroyed meanwhile
  const std::shared_ptr<Stream> alive = owner == streams_.end() ? nullptr : owner->second;
  changed_.wait(lock, [&] { return nothing_before(stream, until); });
}

void Queues::drain_all() {
  std::unique_lock lock(mutex_);
  const uint64_t until = next_sequence_;
  changed_.wait(lock, [&] {
    bool empty = true;
    for_each_stream([&](Stream& s) { empty = empty && nothing_before(s, until); });
    return empty;
  });
}

}  // namespace warplens::cuda
