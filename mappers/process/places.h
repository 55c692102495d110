// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include "process/function.h"

namespace legate_diffuse {

// array[key] for a mask of the array's shape, or of its first dimensions, for an array of integers,
// or for a tuple with some of those among the parts of a basic index. A new reference to a new
// array, or to None if that is left to Python. `function` makes arrays of each type.
PyObject* get_at_places(const Function& function, PyObject* array, PyObject* key);

// array[key] = value likewise, for an array or a number of the same type, and a mask of all
// elements; false if that is left to Python.
bool put_at_places(PyObject* array, PyObject* key, PyObject* value);

}  // namespace legate_diffuse
