// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

namespace legate_diffuse {

// Adds `find_nonzero`; see _native/arrays.pyi.
void bind_nonzero(nanobind::module_& module);

}  // namespace legate_diffuse
