// SPDX-License-Identifier: Apache-2.0

#include "mapper/library.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mapper/fused_task.h"
#include "mapper/mapper.h"
#include "mapper/program_task.h"
#include "threads/team.h"

namespace legate_diffuse {

namespace {

constexpr std::int64_t MAX_TASKS = 4096;

std::optional<legate::Library> instance;
std::int64_t num_tasks = 0;

void register_body(legate::LocalTaskID body, legate::LocalTaskID id, std::string name) {
  const auto register_with = body == FUSED_TASK ? register_fused_task : register_program_task;

  register_with(library(), id, std::move(name));
  ++num_tasks;
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
    register_body(FUSED_TASK, FUSED_TASK, "fused loop");
    register_body(PROGRAM_TASK, PROGRAM_TASK, "fused loops");
  }
  Team::set_cores_of_caller();
}

legate::Library library() {
  return instance.value();
}

legate::LocalTaskID name_task(legate::LocalTaskID unnamed, std::string name) {
  if (num_tasks == MAX_TASKS) return unnamed;

  const auto id = static_cast<legate::LocalTaskID>(num_tasks);

  register_body(unnamed, id, std::move(name));
  return id;
}

}  // namespace legate_diffuse
