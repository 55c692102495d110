// SPDX-License-Identifier: Apache-2.0

// Clocks around the bodies of all tasks of Legate's libraries, fused ones and others. All of them
// are called through one function of liblegate, and this library, loaded before Legate and into the
// global scope, defines it. It is only loaded if somebody asks where the time of a program goes.

#include "interposition/clocks.h"

#include <legate.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "interposition/symbols.h"
#include "program/stopwatch.h"

namespace legate_diffuse {

namespace {

constexpr std::size_t MOST_CLOCKS = 1 << 14;

// By the task's name and provenance.
struct Clocks {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, Clock> clocks;
};

// Never destroyed: tasks may still run while the process exits.
Clocks& clocks() {
  static auto* const instance = new Clocks;
  return *instance;
}

// The arguments of a task body are its context (Legion::Runtime::legion_task_preamble), which is
// not the current one yet.
const Legion::Task& task_of(const void* arguments) {
  static const auto find = find_function<const Legion::Task* (*)(Legion::Context)>(
      "_ZN6Legion7Runtime16get_context_taskEPNS_8Internal11TaskContextE");

  return *find(*static_cast<const Legion::Context*>(arguments));
}

Clock& clock_of(const Legion::Task& task) {
  std::pair key{std::string{task.get_task_name()}, std::string{task.get_provenance_string()}};
  const std::lock_guard lock{clocks().mutex};

  // a program may have ever new lines: those after so many share the clock of their task
  if (clocks().clocks.size() >= MOST_CLOCKS && clocks().clocks.count(key) == 0) key.second.clear();
  return clocks().clocks[std::move(key)];
}

}  // namespace

}  // namespace legate_diffuse

void legate_diffuse_clocks_visit(void (*visit)(void*, const char*, const char*, std::int64_t,
                                               std::int64_t),
                                 void* data) {
  const std::lock_guard lock{legate_diffuse::clocks().mutex};

  for (const auto& [key, clock] : legate_diffuse::clocks().clocks) {
    visit(data, key.first.c_str(), key.second.c_str(), clock.nanoseconds, clock.calls);
  }
}

namespace legate::detail {

void task_wrapper(VariantImpl body, VariantCode code, std::optional<std::string_view> name,
                  const void* arguments, std::size_t size, const void* user_data,
                  std::size_t user_size, Legion::Processor processor) {
  static const auto call = legate_diffuse::real(&task_wrapper);
  const legate_diffuse::Stopwatch stopwatch{
      &legate_diffuse::clock_of(legate_diffuse::task_of(arguments))};

  call(body, code, name, arguments, size, user_data, user_size, processor);
}

}  // namespace legate::detail
