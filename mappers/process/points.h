// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include "process/function.h"

namespace legate_diffuse {

// As `gathered` in gather.h, of a tuple with an array of places for each dimension.
PyObject* gathered_points(const Function& function, PyObject* array, PyObject* key);

// As `scatter` there, at the elements that several arrays of places lead to.
bool scatter_points(PyObject* array, PyObject* key, PyObject* value);

}  // namespace legate_diffuse
