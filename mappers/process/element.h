// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include <cstdint>

#include "process/at_once.h"

namespace legate_diffuse {

// A new reference to the only element of an array as a number of Python's, or to None.
PyObject* value_of(PyObject* array);

// Reads an int of Python's or of NumPy's as an index; false for other objects.
bool read_index(PyObject* object, std::int64_t& index);

// The same also for an array of a single integer that is here, which as an index of its own is none
// of the basic ones.
bool read_bound(PyObject* object, std::int64_t& index);

}  // namespace legate_diffuse
