// SPDX-License-Identifier: Apache-2.0

#include "mapper/library.h"

#include <memory>
#include <optional>

#include "mapper/fused_task.h"
#include "mapper/mapper.h"
#include "mapper/program_task.h"
#include "threads/team.h"

namespace legate_diffuse {

namespace {

std::optional<legate::Library> instance;

}  // namespace

void start_library() {
  if (instance) return;

  bool created = false;
  auto result = legate::Runtime::get_runtime()->find_or_create_library(
      "legate_diffuse", legate::ResourceConfig{2}, std::make_unique<Mapper>(), {}, &created);

  if (created) {
    register_fused_task(result);
    register_program_task(result);
  }
  Team::set_cores_of_caller();
  instance = result;
}

legate::Library library() {
  return instance.value();
}

}  // namespace legate_diffuse
