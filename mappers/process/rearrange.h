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

// array[places] likewise, for an array of integers.
PyObject* gathered(const Function& function, PyObject* array, PyObject* places);

// array[key], of a tuple with an array of places for each dimension.
PyObject* gathered_points(const Function& function, PyObject* array, PyObject* key);

// numpy.flip(array, axis) likewise; all axes if it is None.
PyObject* flipped(const Function& function, PyObject* array, PyObject* axis);

// array[places] = value for a vector of integers, and an array or a number of the same type; false
// if that is left to Python.
bool scatter(PyObject* array, PyObject* places, PyObject* value);

// numpy.roll(array, shift, axis) likewise; the axis of a vector may be None.
PyObject* roll(const Function& function, PyObject* array, PyObject* shift, PyObject* axis);

}  // namespace legate_diffuse
