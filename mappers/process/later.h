// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

namespace legate_diffuse {

// array[key] = value for a part and an array of its shape, once what waits is submitted; false if
// that is left to Python.
bool put_later(PyObject* array, PyObject* key, PyObject* value);

}  // namespace legate_diffuse
