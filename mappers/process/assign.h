// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

namespace legate_diffuse {

// Lets NumPy assign to the elements of a small array that an index with arrays or lists selects.
// False if it is left to Python; then nothing has changed.
bool assign_by_numpy(PyObject* array, PyObject* key, PyObject* value);

}  // namespace legate_diffuse
