// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

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

// Where threads wait for work that others bring.
class Doorbell {
 public:
  // To be called once the work is there for all to see (by a sequentially consistent store).
  void ring() {
    if (num_asleep_.load() == 0) return;

    const std::lock_guard lock{mutex_};
    rung_.notify_all();
  }

  // Awake at first, and then asleep.
  template <typename IsReady>
  void wait_until(IsReady&& is_ready) {
    for (Waiting waiting; !waiting.is_long(); waiting.turn()) {
      if (is_ready()) return;
    }
    std::unique_lock lock{mutex_};
    ++num_asleep_;
    rung_.wait(lock, is_ready);
    --num_asleep_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable rung_;
  std::atomic<int> num_asleep_{0};
};

}  // namespace legate_diffuse
