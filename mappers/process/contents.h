// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

namespace legate_diffuse {

// A new reference to a copy of the elements that an array shows, in row-major order: a tuple of
// their bytes, their extents, and the name of their type. To None if they are not here.
PyObject* elements_of(PyObject* array);

// Lets an array show other elements, which are as many bytes in row-major order, as long as it
// shows `old` ones; false if it does not, or they are not here.
bool put_elements(PyObject* array, PyObject* old, PyObject* bytes);

}  // namespace legate_diffuse
