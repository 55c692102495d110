// SPDX-License-Identifier: Apache-2.0

#include "threads/team.h"

#include <legate.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "program/kernel_table.h"
#include "threads/wait.h"
#include "versions.h"

namespace legate_diffuse {

namespace {

std::atomic<std::int64_t>& chosen_threads() {
  static std::atomic<std::int64_t> threads{0};
  return threads;
}

struct Cores {
  cpu_set_t set{};
  bool known{};
};

Cores& cores() {
  static Cores cores;
  return cores;
}

// One helper and its part of the current job, which is part `index + 1`.
struct alignas(64) Helper {
  // Twice the number of the job whose part may be taken; odd when it has been.
  std::atomic<std::uint64_t> ticket{0};
};

// Never destroyed: helpers may still wait while the process exits.
class Helpers {
 public:
  static Helpers& instance() {
    static auto* const helpers = new Helpers;
    return *helpers;
  }

  // Returns false if other helpers are busy with another thread's job.
  bool run(std::int64_t num_parts, void (*call)(void*, std::int64_t), void* context) {
    const std::unique_lock caller{callers_, std::try_to_lock};

    if (!caller.owns_lock()) return false;
    const auto num_helpers = static_cast<std::size_t>(num_parts - 1);

    while (helpers_.size() < num_helpers) add_helper();
    call_ = call;
    context_ = context;
    done_.store(0, std::memory_order_relaxed);

    const auto job = job_.load(std::memory_order_relaxed) + 1;
    for (std::size_t index = 0; index < num_helpers; ++index) {
      helpers_[index].ticket.store(2 * job, std::memory_order_release);
    }
    job_.store(job);
    work_came_.ring();
    call(context, 0);

    std::int64_t own = 0;
    for (std::size_t index = 0; index < num_helpers; ++index) {
      if (take(helpers_[index], job)) {
        call(context, static_cast<std::int64_t>(index) + 1);
        ++own;
      }
    }
    Waiting waiting;
    while (done_.load(std::memory_order_acquire) + own < num_parts - 1) waiting.turn();
    return true;
  }

 private:
  static bool take(Helper& helper, std::uint64_t job) {
    auto ticket = 2 * job;
    return helper.ticket.compare_exchange_strong(ticket, ticket + 1, std::memory_order_acquire);
  }

  // If the system has no more threads, the caller takes the helper's part.
  void add_helper() {
    const auto index = helpers_.size();
    auto& helper = helpers_.emplace_back();

    Team::start_thread("diffuse-" + std::to_string(index + 1),
                       [this, &helper, index, job = job_.load()] { help(helper, index, job); });
  }

  [[noreturn]] void help(Helper& helper, std::size_t index, std::uint64_t last_job) {
    while (true) {
      work_came_.wait_until([&] { return job_.load() != last_job; });

      const auto job = job_.load();
      if (take(helper, job)) {
        call_(context_, static_cast<std::int64_t>(index) + 1);
        done_.fetch_add(1, std::memory_order_release);
      }
      last_job = job;
    }
  }

  std::mutex callers_;
  std::deque<Helper> helpers_;
  // The current job. A helper reads it after it has taken its part, and the job ends after that.
  void (*call_)(void*, std::int64_t){};
  void* context_{};
  std::atomic<std::int64_t> done_{0};
  alignas(64) std::atomic<std::uint64_t> job_{0};
  Doorbell work_came_;
};

}  // namespace

Sharing current_sharing() {
  // A quarter of the elements from which on Legate would partition an array: 4,096, unless
  // LEGATE_TEST=1 asks for the smallest parts.
  constexpr std::uint64_t SHARE = 4;
  const auto target = legate::mapping::TaskTarget::CPU;
  const auto chosen = chosen_threads().load();
  const auto machine = legate::Scope::machine();
  const auto threshold = partitioning_threshold(legate::Scope::parallel_policy(), target);
  Sharing sharing{1, std::max(static_cast<std::int64_t>(threshold / SHARE), std::int64_t{1})};

  if (legate::Runtime::get_runtime()->node_count() > 1 || kernels_run_on_gpus()) return sharing;
  if (chosen > 0) {
    sharing.num_threads = chosen;
  } else if (machine.preferred_target() == target) {
    sharing.num_threads = std::max(std::int64_t{machine.count(target)}, std::int64_t{1});
  }
  return sharing;
}

std::int64_t set_num_threads(std::int64_t threads) {
  return chosen_threads().exchange(threads);
}

void Team::set_cores_of_caller() {
  auto& [set, known] = cores();
  known = pthread_getaffinity_np(pthread_self(), sizeof(set), &set) == 0;
}

std::int64_t Team::num_cores() {
  return cores().known ? CPU_COUNT(&cores().set) : 1;
}

bool Team::start_thread(const std::string& name, std::function<void()> work) {
  try {
    std::thread thread{std::move(work)};

    pthread_setname_np(thread.native_handle(), name.substr(0, 15).c_str());
    if (cores().known) {
      pthread_setaffinity_np(thread.native_handle(), sizeof(cpu_set_t), &cores().set);
    }
    thread.detach();
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void Team::run(std::int64_t num_parts, Call call, void* context) {
  if (num_parts > 1 && Helpers::instance().run(num_parts, call, context)) return;
  for (std::int64_t part = 0; part < num_parts; ++part) call(context, part);
}

}  // namespace legate_diffuse
