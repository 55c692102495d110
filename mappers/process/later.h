// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include "process/function.h"
#include "process/lazy_thunk.h"

namespace legate_diffuse {

// A new array for the only element of a part, once what waits is submitted; None if that is left to
// Python. `function` reads one.
PyObject* read_later(const Function& function, const Stores& part);

// A new array to which an array is reduced, along an axis, or entirely for None, once what waits is
// submitted; None if that is left to Python. `function` knows the types of results, and `templates`
// are tasks with what they start from, by the type and the axis, or by the type and the shape.
PyObject* reduce_later(const Function& function, PyObject* templates, PyObject* array,
                       PyObject* axis);

// A new array with the elements of another one, once what waits is submitted; None if that is left
// to Python. `function` knows the types of arrays.
PyObject* copy_later(const Function& function, PyObject* array);

// array[key] = value for a part and a number or an array that is repeated over it, once what waits
// is submitted; false if that is left to Python.
bool put_later(PyObject* array, PyObject* key, PyObject* value);

}  // namespace legate_diffuse
