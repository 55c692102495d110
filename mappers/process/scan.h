// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

namespace legate_diffuse {

// Adds `scan`, which sums or multiplies along rows.
void bind_scan(nanobind::module_& module);

}  // namespace legate_diffuse
