// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

namespace legate_diffuse {

// Adds what runs operations at once to the module.
void add_operations(nanobind::module_& module);

}  // namespace legate_diffuse
