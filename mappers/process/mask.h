// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include "process/function.h"

namespace legate_diffuse {

// array[mask] for a mask of the array's shape: a new reference to a new array, or to None if that
// is left to Python. `function` makes arrays of each type.
PyObject* get_selected(const Function& function, PyObject* array, PyObject* mask);

// array[mask] = value for such a mask, and a number or as many elements as it selects, of the same
// type; false if that is left to Python.
bool put_selected(PyObject* array, PyObject* mask, PyObject* value);

}  // namespace legate_diffuse
