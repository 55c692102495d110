// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace legate_diffuse {

// A thread that runs one program of ours at a time, while the program's own thread goes on and
// records what comes next. All of this is used with the GIL held, or while the thread that uses
// arrays waits; the work needs no GIL.
class Background {
 public:
  // Whether there is a core for it beside so many threads.
  static bool has_core(std::int64_t num_threads);

  // Begins some work, once what came before is done; returns a number of its own. The work may
  // throw std::bad_alloc before it has changed anything: then it is done by who waits for it.
  static std::uint64_t begin(std::function<void()> work);

  // Waits until the work is done, and lets go what was kept for it.
  static void wait() {
    if (current_ != 0) finish();
  }

  // Whether the work with a number may not be done yet.
  static bool is_current(std::uint64_t number) { return number != 0 && number == current_; }

  // Keeps what the current work uses, until somebody waits for it.
  static void keep(std::shared_ptr<void> used);

  // Without a thread, who waits for some work does it.
  static void use_thread(bool flag) { has_thread_ = flag; }

  // How often work has begun.
  static std::uint64_t count() { return count_; }

 private:
  static void finish();

  static inline bool has_thread_ = true;
  static inline std::uint64_t count_ = 0;
  static inline std::uint64_t current_ = 0;
};

}  // namespace legate_diffuse
