// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include <cstdint>
#include <optional>

#include "process/at_once.h"

namespace legate_diffuse {

// Where `view[key]` lies for a key of integers; null if the element is elsewhere, or the key is
// another one. `operand` is then the view.
char* find_element(PyObject* view, PyObject* key, bool changes, LocalOperand& operand);

// array[key] = value for integers and a single element; false if that is left to Python.
bool put(PyObject* array, PyObject* key, PyObject* value);

// A new reference to the only element of an array as a number of Python's, or to None.
PyObject* value_of(PyObject* array);

// What an int of Python's or of NumPy's is as an index; none for other objects.
std::optional<std::int64_t> index_from(PyObject* object);

// The same also for an array of a single integer that is here, which as an index of its own is none
// of the basic ones.
std::optional<std::int64_t> bound_from(PyObject* object);

}  // namespace legate_diffuse
