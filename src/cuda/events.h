// SPDX-License-Identifier: Apache-2.0
// The program's events: a handle is the address of one. An event names its last recording, in a stream or in a capture.
#pragma once
#include <unordered_map>

#include "cuda/device.h"

namespace warplens::cuda {

struct Node;
struct Capture;

struct Event {
  std::shared_ptr<const Ticket> ticket;  ///< the last recording; null: never recorded
  bool timed = true;
  /// Recorded in a stream that was being captured: the nodes that a waiting stream must come behind.
  std::shared_ptr<Capture> capture;
  std::vector<Node*> captured;
};

class Events {
 public:
  static Events& instance();
  cudaEvent_t add(bool timed);
  bool remove(cudaEvent_t handle);
  /// False for a handle that is none.
  bool set(cudaEvent_t handle, std::shared_ptr<const Ticket> ticket);
  bool set(cudaEvent_t handle, std::shared_ptr<Capture> capture, std::vector<Node*> nodes);
  std::optional<Event> get(cudaEvent_t handle) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Event*, std::unique_ptr<Event>> events_;
};

/// Outside of captures.
cudaError_t record_event(Device& device, Stream& stream, cudaEvent_t event);
cudaError_t wait_for_event(Device& device, Stream& stream, cudaEvent_t event);

}  // namespace warplens::cuda
