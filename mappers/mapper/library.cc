// SPDX-License-Identifier: Apache-2.0

#include "mapper/library.h"

#include <legion.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mapper/copy_task.h"
#include "mapper/mapper.h"
#include "mapper/program_task.h"
#include "mapper/store_task.h"
#include "memory/huge_pages.h"
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
    register_copy_task(library(), static_cast<legate::LocalTaskID>(num_tasks++));
  }
  prefer_huge_pages_in_legate();
  Team::set_cores_of_caller();
}

legate::Library library() {
  return instance.value();
}

legate::LocalTaskID name_task(std::string name) {
  if (num_tasks == MAX_TASKS) return PROGRAM_TASK;
  // Mappers look tasks up in the table that this changes, without a lock (`Library::find_task`,
  // src/cpp/legate/runtime/detail/library.cc, 26.06): nothing may be left to map.
  Legion::Runtime::get_runtime()
      ->issue_mapping_fence(Legion::Runtime::get_context())
      .get_void_result();
  return register_next(std::move(name));
}

}  // namespace legate_diffuse
