// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include "process/function.h"
#include "process/lazy_thunk.h"

namespace legate_diffuse {

// What is behind array[key] for integers, slices without a step and None, where Python has computed
// the layout of such a part before; there is no view if that is left to Python.
Stores find_part(const Stores& whole, PyObject* key);

// The view of the same root through a layout that was derived from its own one, which remembers it.
nanobind::object through(const nanobind::object& view, const nanobind::object& layout);

// array[key] for such a key, where `operand` shows more than one element of it. A new reference to
// a new array, or to None if that is left to Python.
PyObject* get_part(PyObject* array, PyObject* key, const LocalOperand& operand);

// The same where it is not known what the array shows, or that is an element that is not here, or
// for which something waits. `elements` reads one.
PyObject* get_part_elsewhere(const Function& elements, PyObject* array, PyObject* key);

// Takes note of a function that makes arrays of each type.
void know_new_arrays(nanobind::handle function);

// The array that the original makes of a number of Python's, of a list or a tuple of numbers and
// single elements, or of a small array of NumPy's; empty if that is left to Python.
nanobind::object array_from(PyObject* object);

// A key with arrays of places in the place of lists of them, and of NumPy's arrays.
nanobind::object with_arrays(PyObject* key);

// array[key] for a mask, or an array of places, likewise.
PyObject* get_places(PyObject* array, PyObject* key);

// array[key] = value for a basic index, and an array or a number of the same type; false if that is
// left to Python.
bool put(PyObject* array, PyObject* key, PyObject* value);

}  // namespace legate_diffuse
