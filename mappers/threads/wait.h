// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sched.h>

#include <chrono>

namespace legate_diffuse {

// Turns of a loop, under a microsecond, in which a waiting thread assumes that the other thread is
// running; then it lets other threads run.
constexpr int SPINS = 50;

inline void wait(int turn) {
  if (turn < SPINS) {
    __builtin_ia32_pause();
  } else {
    sched_yield();
  }
}

// How long a thread waits for more work before it goes to sleep. Nests follow one another at once;
// to wake a thread takes as long as this. Longer waiting takes the cores from Legate's own threads.
constexpr std::chrono::microseconds PATIENCE{50};

class Waiting {
 public:
  void turn() { wait(++turns_); }

  bool is_long() { return turns_ >= SPINS && std::chrono::steady_clock::now() - start_ > PATIENCE; }

 private:
  int turns_{};
  std::chrono::steady_clock::time_point start_{std::chrono::steady_clock::now()};
};

}  // namespace legate_diffuse
