// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"
#include "program/schedule.h"

namespace legate_diffuse {

// Where the scratch buffers of a program lie in one block of memory. Buffers whose lives do not
// overlap may lie in the same place.
struct ScratchPlan {
  std::vector<std::int64_t> offsets;
  std::int64_t size{};
};

constexpr std::int64_t SCRATCH_ALIGNMENT = 64;

ScratchPlan place_scratch(const std::vector<Scratch>& buffers, const Schedule& schedule);

}  // namespace legate_diffuse
