// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

namespace legate_diffuse {

// A new reference to a copy of the elements that an array shows, in row-major order: a tuple of
// their bytes, their extents, and the name of their type. To None if they are not here.
PyObject* elements_of(PyObject* array);

// A new array of NumPy's, of a type, with a copy of the elements of a view; empty if they are not
// here.
nanobind::object copied_elements(PyObject* view, PyObject* dtype);

// Lets an array show other elements, so many bytes in row-major order, as long as it shows `old`
// ones; false if it does not, or they are not here, or others in number.
bool put_elements(PyObject* array, const char* old, const char* elements, std::size_t num_bytes);

}  // namespace legate_diffuse
