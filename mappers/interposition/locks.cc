// SPDX-License-Identifier: Apache-2.0

// Locks and polls of Realm that give way. Legion holds them for some instructions, and who waits
// for one spins (Realm::FastReservation, realm/reservation.cc, 26.06); but where a process has more
// threads than cores, which is so when --cpus names all of them, the holder may not be running, and
// the waiting thread then burns the time slice that the holder needs. CG on two of two cores took 9
// ms an iteration, and 42 % of the processors' time was spent in there; it takes 3.4 when the
// waiting thread yields. A process of several has threads that poll the network (Realm's module for
// UCX), and never sleep: they yield where nothing has arrived for some turns.
//
// A library of its own, loaded before Legate and into the global scope, so that these definitions
// are found before Realm's: this is no fusion, and LEGATE_DIFFUSE_YIELD gives it to processes that
// must not have the net. Inlined code that takes a free lock is not changed.
//
// Follows: Legion and Realm (realm/reservation.h, reservation.inl)

#include <realm.h>

#include <algorithm>

#include "interposition/symbols.h"
#include "threads/wait.h"

namespace Realm {

namespace {

using State = FastReservation::State;

// What only the real function deals with.
constexpr State EXCEPTIONAL = FastReservation::STATE_SLEEPER | FastReservation::STATE_BASE_RSRV |
                              FastReservation::STATE_BASE_RSRV_WAITING |
                              FastReservation::STATE_SLOW_FALLBACK;
constexpr State WRITING = FastReservation::STATE_WRITER | FastReservation::STATE_WRITER_WAITING;

// The real function takes over then. It keeps readers out while a writer waits.
constexpr int TURNS = 1000;

}  // namespace

Event FastReservation::wrlock_slow(WaitMode mode) {
  for (int turn = 0; turn < TURNS; ++turn) {
    const State current = state.load_acquire();
    if ((current & EXCEPTIONAL) != 0) break;
    State free = current & STATE_WRITER_WAITING;
    if (state.compare_exchange(free, STATE_WRITER)) return {};
    legate_diffuse::wait(turn);
  }
  static const auto call = legate_diffuse::real(&FastReservation::wrlock_slow);
  return (this->*call)(mode);
}

Event FastReservation::rdlock_slow(WaitMode mode) {
  for (int turn = 0; turn < TURNS; ++turn) {
    const State current = state.load_acquire();
    if ((current & EXCEPTIONAL) != 0 || (current & WRITING) == 0) break;
    legate_diffuse::wait(turn);
  }
  static const auto call = legate_diffuse::real(&FastReservation::rdlock_slow);
  return (this->*call)(mode);
}

}  // namespace Realm

extern "C" unsigned ucp_worker_progress(void* worker) {
  static const auto call = legate_diffuse::real(&ucp_worker_progress);
  static thread_local int turn = 0;
  const auto arrived = call(worker);

  turn = arrived == 0 ? std::min(turn + 1, legate_diffuse::SPINS) : 0;
  if (turn == legate_diffuse::SPINS) sched_yield();
  return arrived;
}
