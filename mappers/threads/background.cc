// SPDX-License-Identifier: Apache-2.0

#include "threads/background.h"

#include <pthread.h>

#include <atomic>
#include <new>
#include <utility>
#include <vector>

#include "threads/team.h"
#include "threads/wait.h"

namespace legate_diffuse {

namespace {

enum class State : int { NONE, HELD_BACK, READY, TAKEN, DONE };

class Thread {
 public:
  // Never destroyed: the thread may still wait while the process exits.
  static Thread& instance() { return *pointer(); }

  void begin(std::function<void()> work, bool has_thread) {
    work_ = std::move(work);
    if (!has_thread) {
      state_.store(State::HELD_BACK);
      return;
    }
    if (!is_started_) is_started_ = start();
    state_.store(State::READY);
    work_came_.ring();
  }

  // Whoever waits does what the thread has not begun.
  void finish() {
    if (state_.load() == State::HELD_BACK || take()) {
      work_();
    } else {
      Waiting waiting;

      while (state_.load(std::memory_order_acquire) != State::DONE) waiting.turn();
      if (std::exchange(has_failed_, false)) work_();
    }
    state_.store(State::NONE);
    work_ = nullptr;
  }

  std::vector<std::shared_ptr<void>> kept;

 private:
  static Thread*& pointer() {
    static auto* thread = [] {
      // nothing may be under way in a process that forks, and its child has no such thread
      pthread_atfork(&Background::wait, nullptr, [] { pointer() = new Thread; });
      return new Thread;
    }();
    return thread;
  }

  // Without a thread, who waits does the work.
  bool start() {
    return Team::start_thread("diffuse-apart", [this] {
      while (true) {
        work_came_.wait_until([&] { return state_.load() == State::READY; });
        if (!take()) continue;
        try {
          work_();
        } catch (const std::bad_alloc&) {
          has_failed_ = true;
        }
        state_.store(State::DONE, std::memory_order_release);
      }
    });
  }

  bool take() {
    auto ready = State::READY;
    return state_.compare_exchange_strong(ready, State::TAKEN, std::memory_order_acq_rel);
  }

  bool is_started_{};
  std::function<void()> work_;
  bool has_failed_{};
  alignas(64) std::atomic<State> state_{State::NONE};
  Doorbell work_came_;
};

}  // namespace

bool Background::has_core(std::int64_t num_threads) {
  return Team::num_cores() > num_threads;
}

std::uint64_t Background::begin(std::function<void()> work) {
  wait();
  Thread::instance().begin(std::move(work), has_thread_);
  return current_ = ++count_;
}

void Background::keep(std::shared_ptr<void> used) {
  Thread::instance().kept.push_back(std::move(used));
}

void Background::finish() {
  auto& thread = Thread::instance();
  // it is not current for what is let go
  current_ = 0;
  const auto gone = std::exchange(thread.kept, {});

  thread.finish();
}

}  // namespace legate_diffuse
