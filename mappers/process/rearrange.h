// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include "process/function.h"

namespace legate_diffuse {

// array.reshape(shape), a new reference to a new array, or to None if that is left to Python.
// `function` makes arrays of each type.
PyObject* reshape(const Function& function, PyObject* array, PyObject* shape);

// array.copy() likewise, in row-major order, or that of array[key] for a basic index.
PyObject* copied(const Function& function, PyObject* array, PyObject* key = nullptr);

// numpy.flip(array, axis) likewise; all axes if it is None.
PyObject* flipped(const Function& function, PyObject* array, PyObject* axis);

// numpy.roll(array, shift, axis) likewise; the axis of a vector may be None.
PyObject* roll(const Function& function, PyObject* array, PyObject* shift, PyObject* axis);

}  // namespace legate_diffuse
