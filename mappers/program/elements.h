// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <array>
#include <cstddef>
#include <optional>

#include "program/loop_nest.h"

namespace legate_diffuse {

using Nest = LoopNest<LEGATE_MAX_DIM>;

// One argument's elements in memory. `lower` is the point that `pointer` belongs to; strides are in
// bytes.
struct Elements {
  char* pointer{};
  Nest::Strides strides{};
  Nest::Strides lower{};
  Nest::Strides upper{};
  bool is_future{};
  std::int64_t itemsize{};
};

// Empty when the argument has no elements here. For the elements that a task reduces to these are
// those that the task is to update, which Legate has initialised.
std::optional<Elements> find_elements(const legate::PhysicalStore& store);

}  // namespace legate_diffuse
