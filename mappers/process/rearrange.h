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

// Elements in reverse order along each axis that is set in `axes`, counted from 0; then the first
// two axes are swapped, if it `turns`.
PyObject* reversed(const Function& function, PyObject* array, std::uint64_t axes,
                   bool turns = false);

// numpy.flip(array, axis), along all axes if that is null, and numpy.rot90(array, quarters).
PyObject* flipped(const Function& function, PyObject* array, PyObject* axis);
PyObject* turned(const Function& function, PyObject* array, std::int64_t quarters);

// array.diagonal(offset) of a matrix, whose elements are added to zeros: no zero has a sign.
PyObject* diagonal(const Function& function, PyObject* array, std::int64_t offset);

// Its sum, of floating-point and complex numbers.
PyObject* trace(const Function& function, PyObject* array, std::int64_t offset);

}  // namespace legate_diffuse
