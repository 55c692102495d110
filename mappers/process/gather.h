// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include "process/function.h"

namespace legate_diffuse {

// So many elements are written to places here: to hand the arrays to a task takes longer.
constexpr std::int64_t MOST_WRITTEN = std::int64_t{1} << 20;

// array[places] for an array of integers, a new reference to a new array, or to None if that is
// left to Python. `function` makes arrays of each type.
PyObject* gathered(const Function& function, PyObject* array, PyObject* places);

// array[places] = value for a vector of integers, which may be the only one in a tuple of slices,
// or one for each dimension, and an array or a number of the same type; false if that is left to
// Python.
bool scatter(PyObject* array, PyObject* places, PyObject* value);

}  // namespace legate_diffuse
