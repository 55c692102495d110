// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "gpu/grid.h"
#include "gpu/kernel_code.h"
#include "program/bases.h"
#include "program/program.h"

namespace legate_diffuse {

// How to run the nests of a run together, each block on some rows, where memory of the block has
// what only they use. The grid follows from the extents alone, and with it the order in which
// values are combined. None if the nests must run one after the other: a row does not fit into that
// memory or is so long that one block would be slow, or elements that are reduced to move along
// other loops than that along rows.
std::optional<GridLaunch> launch_rows(const GpuKernelCode& code,
                                      const std::vector<ParsedNest>& nests, const Bases& bases);

}  // namespace legate_diffuse
