// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include <optional>
#include <string_view>

#include "process/at_once.h"
#include "process/function.h"

namespace legate_diffuse {

// Each returns a new reference to a new array, or to None if that is left to Python. `function`
// makes arrays of each type.

// array.item(*index) as a number of Python's, with one index for all elements or one of each axis.
PyObject* item(PyObject* array, PyObject* const* index, Py_ssize_t count);

// The extents of a new array by an int, or a tuple or list of them; none if these are others, or
// more than `most`: as many as it takes to be here.
std::optional<Shape> new_shape(PyObject* shape, std::int64_t most = store_fields().most_bytes);

// A new array of such a shape, and of a type, by NumPy's name of it, with all
// elements equal to a number.
PyObject* filled(const Function& function, PyObject* shape, std::string_view dtype,
                 PyObject* number);

// One of the shape of another one, and of its type, unless a name is given.
PyObject* filled_like(const Function& function, PyObject* array, std::string_view dtype,
                      PyObject* number);

// The same of many elements, to which nothing was written. Python makes what is behind it when it
// is asked for.
PyObject* empty(const Function& function, PyObject* shape, std::string_view dtype);
PyObject* empty_like(const Function& function, PyObject* array, std::string_view dtype);

}  // namespace legate_diffuse
