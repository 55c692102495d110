// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

namespace legate_diffuse {

// A copy of the elements that an array shows, as a new array of NumPy's in row-major order; None if
// they are not here.
PyObject* elements_of(PyObject* array);

// A new array of NumPy's, of a type, with a copy of the elements of a view; empty if they are not
// here.
nanobind::object copied_elements(PyObject* view, PyObject* dtype);

// Lets an array show other elements, those of an array of NumPy's in row-major order, as long as it
// shows the `old` ones, of another of the same size; false if it does not, or they are not here.
bool put_elements(PyObject* array, PyObject* old, PyObject* elements);

}  // namespace legate_diffuse
