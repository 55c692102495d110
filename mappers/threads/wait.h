// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sched.h>

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

}  // namespace legate_diffuse
