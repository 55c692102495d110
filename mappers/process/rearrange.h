// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

#include "process/function.h"

namespace legate_diffuse {

// Copies elements of `itemsize` bytes from one place to another; strides are in bytes.
void copy_elements(char* to, const std::int64_t* to_strides, const char* from,
                   const std::int64_t* from_strides, std::int64_t dim, const std::int64_t* extents,
                   std::size_t itemsize);

// array.reshape(shape), a new reference to a new array, or to None if that is left to Python.
// `function` makes arrays of each type.
PyObject* reshape(const Function& function, PyObject* array, PyObject* shape);

// numpy.roll(array, shift, axis) likewise; the axis of a vector may be None.
PyObject* roll(const Function& function, PyObject* array, PyObject* shift, PyObject* axis);

}  // namespace legate_diffuse
