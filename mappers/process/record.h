// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

namespace legate_diffuse {

// What keys of windows say (launch/state.py). References are kept.
struct Keys {
  PyObject* state_type;
  PyObject* place;               // returns where a layout lies in a root of given extents
  PyObject* dtypes;              // the numbers of types, by their names
  PyObject* new_view;            // what the description of a view follows
  PyObject *single, *undefined;  // facts of a root
};

// `know_stores` comes before, and `know_arrays` before `record`.
void know_keys(const Keys& known);

// Takes an operation of a kind, on a list of views, into the state of a window, as
// `WindowState.add` does. Throws nanobind::python_error.
void record(PyObject* state, PyObject* operation, PyObject* kind, PyObject* views);

}  // namespace legate_diffuse
