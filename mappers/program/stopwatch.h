// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace legate_diffuse {

// Time that was spent in something, summed over threads. Never destroyed while threads may use it.
struct Clock {
  std::atomic<std::int64_t> nanoseconds{};
  std::atomic<std::int64_t> calls{};
};

// Adds its own life to a clock; does nothing without one.
class Stopwatch {
 public:
  explicit Stopwatch(Clock* clock) : clock_{clock}, start_{clock ? now() : 0} {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  ~Stopwatch() {
    if (!clock_) return;
    clock_->nanoseconds.fetch_add(now() - start_, std::memory_order_relaxed);
    clock_->calls.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  static std::int64_t now() {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  }

  Clock* clock_;
  std::int64_t start_;
};

}  // namespace legate_diffuse
