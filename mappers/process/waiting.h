// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

namespace legate_diffuse {

// What native code needs to let operations wait; see `know_waiting` in _native/operations.pyi.
// References are kept.
struct WaitingClasses {
  PyObject* task;  // `TemplateTask`
  PyObject* task_template;
  PyObject* kind;
  PyObject* fill;          // `Fill`
  PyObject* at_once;       // the object that knows how operations run at once
  PyObject* constant;      // returns the view of a number of Python's, or None
  PyObject* copies;        // the templates of copies, by type
  PyObject* writes;        // of copies of one element to one of an array
  PyObject* common_shape;  // returns that of two shapes together, or None
  PyObject* repeated;      // returns a view that repeats over a shape
};

void know_waiting(const WaitingClasses& classes);

// Whether an operation may wait behind others, if any, without a function of Python's.
bool may_wait();

// Lets a task wait that is made from a template, on a list of views, and before it a fill of the
// kind that the template names, unless that is None; false if that is left to Python, as they can
// run at once, or not wait as they are.
bool let_wait(PyObject* task_template, const nanobind::list& views, PyObject* fill = Py_None);

// The template, with its scalars, from which an operation that waits was made; null for others.
PyObject* template_of(PyObject* operation);

// The value of an operation that fills; null for others.
PyObject* fill_value_of(PyObject* operation);

// What `know_waiting` was given. Call it if operations may wait.
const WaitingClasses& waiting_classes();

bool have_one_shape(PyObject* view, PyObject* other);

// The same of their shapes: tuples of integers, whose comparison runs no code of Python's.
bool are_equal(PyObject* shape, PyObject* other);

}  // namespace legate_diffuse
