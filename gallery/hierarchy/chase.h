// SPDX-License-Identifier: Apache-2.0
// A pointer chase: one thread loads an address, then what lies there, and so on around a ring, so that each load waits
// for the one before and the time of a load is its latency. A ring's places are 128 bytes apart and follow each other
// in random order: no line is found by fetching its neighbour.
#pragma once
#include "../harness.h"

namespace gallery {

/// next[k]: the place after k, in one cycle through all places.
inline std::vector<unsigned> random_ring(unsigned places) {
  std::vector<unsigned> next(places);
  for (unsigned k = 0; k < places; ++k) next[k] = k;
  unsigned long long state = 11;
  for (unsigned k = places - 1; k > 0; --k) {  // Sattolo: exchanges with an earlier one only make a single cycle
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    std::swap(next[k], next[static_cast<unsigned>((state >> 33) % k)]);
  }
  return next;
}

struct Chase {
  int loads;
  const unsigned* next;       // of places
  unsigned long long* state;  // where the chase is (what that is, is the rung's affair), and its loads so far
};

/// `launch(Chase)` makes `loads` loads from where the last launch ended. `place(state)` is the number of that place.
template <class Launch, class Place>
int run_chase(int argc, char** argv, const char* name, const std::vector<unsigned>& next, unsigned long long begin,
              Launch launch, Place place) {
  Run run(argc, argv, name);
  Buffer<unsigned> ring(next);
  Buffer<unsigned long long> state(std::vector<unsigned long long>{begin, 0});
  const auto check = [&](const std::string& what) {
    const std::vector<unsigned long long> end = state.host();
    unsigned at = 0;
    for (unsigned long long k = 0; k < end[1]; ++k) at = next[at];
    run.compare(what, std::vector<unsigned>{place(end[0])}, {double(at)}, 0);
  };
  for (const int loads : {100, 1, 0, 333}) {
    launch(Chase{loads, ring.get(), state.get()});
    run.finished(std::to_string(loads));
    check(std::to_string(loads));
  }
  if (run.measures()) {
    const int loads = run.size(1 << 16, 1000);
    run.time_each(loads, loads, "ns/load", [&] { launch(Chase{loads, ring.get(), state.get()}); });
    check("after timing");
  }
  return run.exit_code();
}

}  // namespace gallery
