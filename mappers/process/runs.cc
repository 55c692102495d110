// SPDX-License-Identifier: Apache-2.0

#include "process/runs.h"

#include <nanobind/stl/string.h>

#include <map>
#include <random>
#include <utility>

namespace legate_diffuse {

namespace nb = nanobind;

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
  std::map<std::pair<std::string, std::string>, Time> times;
  std::int64_t looked_at{};
  std::int64_t until_next{1};
  // programs have periods, which steps of one length would meet always at the same place
  std::uniform_int_distribution<std::int64_t> steps{1, 2 * ONE_IN - 1};
  std::minstd_rand random;
};

Runs runs{};

// Never destroyed: arrays may outlive the interpreter.
Watch* watch = nullptr;

}  // namespace

Runs take_runs() {
  return std::exchange(runs, {});
}

Run::Run() {
  if (watch && --watch->until_next <= 0) started_ = Clock::now();
}

void Run::done(const char* name, std::int64_t operations, std::int64_t fills) {
  runs.runs += 1;
  runs.operations += operations;
  runs.fills += fills;
  if (!started_) return;

  const auto elapsed =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - *started_).count();
  const auto weight = watch->looked_at < ALL_OF_FIRST ? 1 : ONE_IN;

  ++watch->looked_at;
  watch->until_next = watch->looked_at < ALL_OF_FIRST ? 1 : watch->steps(watch->random);

  auto place = nb::cast<std::string>(watch->locate(name));
  auto& time = watch->times[{name, std::move(place)}];

  time.nanoseconds += weight * elapsed;
  time.times += weight;
}

void count_waiting() {
  runs.operations += 1;
}

void count_waiting_fill() {
  runs.fills += 1;
}

void count_fill() {
  runs.runs += 1;
  runs.operations += 1;
  runs.fills += 1;
}

void watch_runs(nb::callable locate) {
  watch = new Watch{std::move(locate), {}};
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
