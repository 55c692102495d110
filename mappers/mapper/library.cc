// SPDX-License-Identifier: Apache-2.0

#include "mapper/library.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mapper/mapper.h"
#include "mapper/program_task.h"
#include "mapper/store_task.h"
#include "threads/team.h"

namespace legate_diffuse {

namespace {

constexpr std::int64_t MAX_TASKS = 4096;

std::optional<legate::Library> instance;
std::int64_t num_tasks = 0;

legate::LocalTaskID register_next(std::string name) {
  const auto id = static_cast<legate::LocalTaskID>(num_tasks++);

  register_program_task(library(), id, std::move(name));
  return id;
}

}  // namespace

void start_library() {
  if (instance) return;

  bool created = false;
  auto result = legate::Runtime::get_runtime()->find_or_create_library(
      "legate_diffuse", legate::ResourceConfig{MAX_TASKS}, std::make_unique<Mapper>(), {},
      &created);

  instance = result;
  if (created) {
    register_next("fused loops");
    register_store_task(library(), static_cast<legate::LocalTaskID>(num_tasks++));
  }
  Team::set_cores_of_caller();
}

legate::Library library() {
  return instance.value();
}

legate::LocalTaskID name_task(std::string name) {
  return num_tasks == MAX_TASKS ? PROGRAM_TASK : register_next(std::move(name));
}

}  // namespace legate_diffuse
