// SPDX-License-Identifier: Apache-2.0

#pragma once

// What a thread tells the net while it submits something. Without the net nothing is told.

#include <cstdint>

#include "bindings/bindings.h"
#include "interposition/net.h"
#include "interposition/traces.h"
#include "mapper/library.h"

namespace legate_diffuse {

// While one lives, calls of Legate on this thread are the window's own, which the net lets pass.
class Passage {
 public:
  Passage() : before_{set(true)} {}
  ~Passage() { set(before_); }
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

 private:
  static bool set(bool passing) {
    static auto* const function =
        find_in_net<decltype(legate_diffuse_net_set_passing)>("legate_diffuse_net_set_passing");
    return function && function(passing);
  }

  bool before_;
};

// What is submitted on this thread while one lives is one launch on several points.
class LaunchOnPoints {
 public:
  LaunchOnPoints(std::uint64_t kind, legate::LocalTaskID task, bool& has_trace)
      : has_trace_{has_trace} {
    static auto* const begin =
        find_in_net<decltype(legate_diffuse_net_begin_launch)>("legate_diffuse_net_begin_launch");
    if (begin) begin(kind, static_cast<std::uint32_t>(library().get_task_id(task)));
  }
  ~LaunchOnPoints() {
    static auto* const end =
        find_in_net<decltype(legate_diffuse_net_end_launch)>("legate_diffuse_net_end_launch");
    has_trace_ = end && end();
  }
  LaunchOnPoints(const LaunchOnPoints&) = delete;
  LaunchOnPoints& operator=(const LaunchOnPoints&) = delete;

 private:
  bool& has_trace_;
};

// How often the calling thread has called Legate's entry points.
inline std::uint64_t num_net_calls() {
  static auto* const function =
      find_in_net<decltype(legate_diffuse_net_num_calls)>("legate_diffuse_net_num_calls");
  return function ? function() : 0;
}

}  // namespace legate_diffuse
