// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include <cstdint>

#include "process/function.h"

namespace legate_diffuse {

// array.reshape(shape), a new reference to a new array, or to None if that is left to Python.
// `function` makes arrays of each type.
PyObject* reshape(const Function& function, PyObject* array, PyObject* shape);

// array.copy() likewise, in row-major order, or that of array[key] for a basic index.
PyObject* copied(const Function& function, PyObject* array, PyObject* key = nullptr);

// array.diagonal(offset) of a matrix, whose elements are added to zeros: no zero has a sign.
PyObject* diagonal(const Function& function, PyObject* array, std::int64_t offset);

}  // namespace legate_diffuse
