// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "program/privilege.h"

namespace legate_diffuse {

// A window that ran as one program in this process. All that the program depends on is either part
// of the window's key, or in here. Views and shapes are numbered as in the window.
struct RepeatedWindow {
  std::vector<nanobind::object> layouts, shapes;
  std::vector<std::size_t> arguments;  // views whose roots these are
  std::vector<Privilege> privileges;
  std::vector<std::int64_t> program;
  // where the program has the value of a constant, in words, and a view of the constant
  std::vector<std::pair<std::size_t, std::size_t>> constants;
  // the same for the scalars of operations, by position
  std::vector<std::pair<std::size_t, std::size_t>> scalars;
  // what each of these operations has its scalars from, if they never change; else null
  std::vector<nanobind::object> sources;
  std::vector<std::size_t> temporaries;  // views of roots that are never made
  std::size_t most_bytes;                // that all arrays of this process may take
  bool takes_long;
  nanobind::object note;  // what Python remembers of it
};

// Lets windows with this key (`ClosedWindow.key`) run again; not if an operation may keep other
// scalars each time, and nobody here knows where.
void note_window(const nanobind::tuple& key, const nanobind::list& operations,
                 RepeatedWindow window);

// Whether what waits is like a window that was noted.
bool knows_window();

// Runs what waits in a state as a window that was noted did, and lets `following` be what is
// recorded then. Returns what Python remembers of it; None where Python has to look: it is none of
// those, or their program would not run as it did. Then nothing was changed.
//
// If it may run apart, its arrays get their elements later: see `run_apart`.
nanobind::object repeat_window(nanobind::handle state, nanobind::handle following, bool apart);

// Forgets all that was noted.
void forget_windows();

}  // namespace legate_diffuse
