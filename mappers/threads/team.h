// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "program/schedule.h"

namespace legate_diffuse {

// For a task that is submitted now: one thread for each CPU of the machine, if all of these are in
// this process, and else 1; or what was set.
Sharing current_sharing();
// 0 leaves the number to the machine. Returns what it was before.
std::int64_t set_num_threads(std::int64_t threads);

// Threads that help the one that runs a task; without them the other processors are idle while a
// task on one point runs. They are made when they are first needed, and live as long as the
// process. They may run on all cores of the process; Legate's own threads may be bound to one.
class Team {
 public:
  // Notes the cores that the calling thread may run on, for all helpers.
  static void set_cores_of_caller();

  // How many these are; 1 if it is not known.
  static std::int64_t num_cores();

  // Starts a thread that may run on them, and lives as long as the process. False if the system has
  // no more.
  static bool start_thread(const std::string& name, std::function<void()> work);

  // Calls work(part) once for each part in [0, num_parts), and returns when all calls have
  // returned. The calling thread does what no helper has begun. Any thread may call this; only one
  // at a time has helpers. `work` must not throw.
  template <typename Work>
  static void run(std::int64_t num_parts, Work&& work) {
    using Function = std::remove_reference_t<Work>;
    run(
        num_parts,
        [](void* context, std::int64_t part) { (*static_cast<Function*>(context))(part); },
        std::addressof(work));
  }

 private:
  using Call = void (*)(void* context, std::int64_t part);

  static void run(std::int64_t num_parts, Call call, void* context);
};

}  // namespace legate_diffuse
