// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include "process/function.h"

namespace legate_diffuse {

// Sums, multiplies or takes extremes of an array along two or more axes to a new one: `given` is
// the name of the method and the axes. None if that is left to Python, as what may be NaN is where
// extremes are taken. `function` makes arrays.
PyObject* reduce_axes(const Function& function, PyObject* array, PyObject* given);

}  // namespace legate_diffuse
