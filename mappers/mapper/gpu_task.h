// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>
#include <legate/mapping/mapping.h>

#include <cstddef>
#include <optional>

#include "mapper/launch.h"

namespace legate_diffuse {

// The body of a program task on a GPU: launches its nests on the stream of the task. If the driver
// refuses one, the program ends.
void run_program_on_gpu(const legate::TaskContext& context) noexcept;

// How much memory of the GPU the body allocates; empty if that is a large share of it.
std::optional<std::size_t> gpu_pool_size(const Launch& launch, const legate::mapping::Task& task);

}  // namespace legate_diffuse
