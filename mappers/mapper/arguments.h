// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "program/elements.h"
#include "program/privilege.h"
#include "program/program.h"

namespace legate_diffuse {

// One store that a task accesses. The store belongs to the caller.
struct Access {
  const legate::LogicalStore* store;
  Privilege privilege;
};

// Copies bytes of the memory in which a task runs.
using Copy = std::function<void(char* to, const char* from, std::size_t size)>;

// In the task: the elements of each argument, if it has any here.
std::vector<std::optional<Elements>> find_arguments(const legate::TaskContext& context,
                                                    const Privilege* privileges, std::size_t count,
                                                    const Copy& copy);

// The points of a nest over all of its arguments that lie in their tiles here; none if an
// argument has no elements here.
std::optional<Tile> find_tile(const std::vector<std::optional<Elements>>& arguments,
                              const Privilege* privileges, const NestHead& nest);

}  // namespace legate_diffuse
