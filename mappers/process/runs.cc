// SPDX-License-Identifier: Apache-2.0

#include "process/runs.h"

#include <nanobind/stl/string.h>

#include <map>
#include <optional>
#include <random>
#include <utility>

namespace legate_diffuse {

namespace nb = nanobind;

Runs counted_runs{};

bool runs_are_watched = false;

namespace {

using Clock = std::chrono::steady_clock;

// To find a place takes as long as many an operation. What short programs do is exact.
constexpr std::int64_t ALL_OF_FIRST = 1024;
constexpr std::int64_t ONE_IN = 128;

struct Time {
  std::int64_t nanoseconds, times;
};

struct Watch {
  nb::callable locate;
  // one that began before anybody watched cannot begin again
  std::int64_t scopes{};
  // operations of other code that runs meanwhile are not looked at
  bool is_locating{};
  // the place of the operation that begins again
  std::optional<std::string> found;
  std::map<std::pair<std::string, std::string>, Time> times;
  std::int64_t looked_at{};
  std::int64_t until_next{1};
  // programs have periods, which steps of one length would meet always at the same place
  std::uniform_int_distribution<std::int64_t> steps{1, 2 * ONE_IN - 1};
  std::minstd_rand random;
};

// Never destroyed: arrays may outlive the interpreter.
Watch* watch = nullptr;

// While a place is looked for. Who watches may be another one then.
class Locating {
 public:
  explicit Locating(Watch& watch) : watch_{watch} { watch_.is_locating = true; }
  Locating(const Locating&) = delete;
  Locating& operator=(const Locating&) = delete;
  ~Locating() { watch_.is_locating = false; }

  void find(const char* name) const { watch_.found = nb::cast<std::string>(watch_.locate(name)); }

 private:
  Watch& watch_;
};

}  // namespace

Runs take_runs() {
  return std::exchange(counted_runs, {});
}

void Run::begin() {
  if (watch->scopes == 0 || watch->is_locating) return;
  if (watch->found) {
    started_ = Clock::now();
    return;
  }
  if (--watch->until_next > 0) return;

  const Locating locating{*watch};

  locating.find(name_);
  throw PlaceFound{};
}

PlaceScope::PlaceScope() : outer_{std::exchange(watch->found, {})} {
  ++watch->scopes;
}

PlaceScope::~PlaceScope() {
  --watch->scopes;
  watch->found = std::move(outer_);
}

void Run::add_time() {
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - *started_).count();
  const auto weight = watch->looked_at < ALL_OF_FIRST ? 1 : ONE_IN;

  ++watch->looked_at;
  watch->until_next = watch->looked_at < ALL_OF_FIRST ? 1 : watch->steps(watch->random);

  auto& time = watch->times[{name_, std::exchange(watch->found, {}).value_or("")}];

  time.nanoseconds += weight * elapsed;
  time.times += weight;
}

void count_waiting() {
  counted_runs.operations += 1;
}

void count_waiting_fill() {
  counted_runs.fills += 1;
}

void count_fill() {
  counted_runs.runs += 1;
  counted_runs.operations += 1;
  counted_runs.fills += 1;
}

void watch_runs(nb::callable locate) {
  const auto scopes = watch ? watch->scopes : 0;

  watch = new Watch{std::move(locate), scopes};
  runs_are_watched = true;
}

RunTimes run_times() {
  RunTimes found;

  if (!watch) return found;
  for (const auto& [key, time] : watch->times) {
    found.emplace_back(key.first, key.second, time.nanoseconds, time.times);
  }
  return found;
}

}  // namespace legate_diffuse
