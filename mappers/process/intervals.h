// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

namespace legate_diffuse {

// Adds `sum_in_intervals`, which is described in _native/arrays.pyi.
void bind_intervals(nanobind::module_& module);

}  // namespace legate_diffuse
