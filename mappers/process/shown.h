// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include <cstdint>
#include <optional>

namespace legate_diffuse {

// What shows the elements of an array in another shape, without a view until Python asks for one.
// Each returns a new reference to an array, the array itself where cuPyNumeric returns that, or to
// None if that is left to Python.

// `axes` is a tuple of all axes, or null for those in reverse order.
PyObject* transposed(PyObject* array, PyObject* axes);

PyObject* with_swapped_axes(PyObject* array, PyObject* one, PyObject* other);

// Without extents of 1, or without that of one axis, if it is one.
PyObject* squeezed(PyObject* array, PyObject* axis);

// With a new extent of 1.
PyObject* expanded(PyObject* array, PyObject* axis);

// In a shape that differs in extents of 1 alone.
PyObject* shown_in_shape(PyObject* array, const std::int64_t* extents, std::int64_t dim);

// What Python knows of any plain array: its extents as a tuple, and NumPy's type.
PyObject* shape_of(PyObject* array);
PyObject* type_of(PyObject* array);

// How many dimensions a plain array has; 0 if that is unknown.
Py_ssize_t dim_of(PyObject* array);

// Whether an array is a plain one of numbers that are their own conjugates.
bool is_real(PyObject* array);

// Whether a type, by its name, is one of floating-point or complex numbers; false for null.
bool is_inexact(PyObject* dtype);

// Whether an array has one dimension, and more than one element.
bool is_vector(PyObject* array);

// The bytes between elements along each axis of an array in this process.
PyObject* strides_of(PyObject* array);

// The first extent of an array, which has so many dimensions, if that is not 0; none if it has not,
// or that is left to Python.
std::optional<std::int64_t> length_of(PyObject* array, std::int64_t dim = 0);

}  // namespace legate_diffuse
