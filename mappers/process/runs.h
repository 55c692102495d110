// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace legate_diffuse {

// What ran at once since the last time that somebody asked.
struct Runs {
  std::int64_t runs, operations, fills;
};

extern Runs counted_runs;

Runs take_runs();

// Whether operations are watched.
extern bool runs_are_watched;

// Thrown where a place was found: Python's code has run, which may have changed anything, so that
// the operation begins again.
struct PlaceFound {};

// Operations that run at once. If they are watched and this is one that is looked at, the time from
// here to done() is theirs.
class Run {
 public:
  // Comes before anything is changed. Throws PlaceFound, or nanobind::python_error if the place of
  // an operation that is looked at could not be found. `name` must outlive this.
  explicit Run(const char* name) : name_{name} {
    if (runs_are_watched) begin();
  }

  // Counts them, after they ran. One that did not run after all is none.
  void done(std::int64_t operations = 1, std::int64_t fills = 0) {
    counted_runs.runs += 1;
    counted_runs.operations += operations;
    counted_runs.fills += fills;
    if (started_) add_time();
  }

 private:
  void begin();
  void add_time();

  const char* name_;
  std::optional<std::chrono::steady_clock::time_point> started_;
};

// The place of an operation of the program, from when it was found to the operation's end. Other
// code of the program, which may come in between, has operations of its own.
class PlaceScope {
 public:
  PlaceScope();
  PlaceScope(const PlaceScope&) = delete;
  PlaceScope& operator=(const PlaceScope&) = delete;
  ~PlaceScope();

 private:
  std::optional<std::string> outer_;
};

// Calls what may run operations at once, once more when their place was found.
template <typename Call>
auto located(const Call& call) {
  if (!runs_are_watched) return call();

  const PlaceScope scope;

  while (true) {
    try {
      return call();
    } catch (const PlaceFound&) {
      continue;
    }
  }
}

// Counts an operation that waits.
void count_waiting();

// Counts that one of them fills.
void count_waiting_fill();

// Counts a fill that belongs to the operation that ran before.
void count_fill();

// Looks from now on at where operations come from, and how long they take: at all of the first
// ones, and then at a part of them, which stands for the others. `locate` returns the current
// place as text, given a name.
void watch_runs(nanobind::callable locate);

// Name and place of all that was watched, with its nanoseconds, and how often it ran.
using RunTimes = std::vector<std::tuple<std::string, std::string, std::int64_t, std::int64_t>>;

RunTimes run_times();

}  // namespace legate_diffuse
