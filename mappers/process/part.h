// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

namespace legate_diffuse {

// array[key] for integers, slices without a step and None, where Python has computed the layout of
// such a part before. A new reference to a new array, or to None if that is left to Python.
PyObject* get_part(PyObject* array, PyObject* key);

// array[key] = value for such a key, and an array or a number of the same type; false if that is
// left to Python.
bool put_part(PyObject* array, PyObject* key, PyObject* value);

}  // namespace legate_diffuse
