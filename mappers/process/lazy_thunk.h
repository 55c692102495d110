// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include "process/small_array.h"

namespace legate_diffuse {

struct Signature;

// Stands for the thunk of a new array, with all that is behind it, until Python asks for that: the
// store, the view, the root. Most arrays are gone before. It is the attribute `_lazy_thunk` of the
// array, which has no `_thunk` as long as nobody asks. References are kept, but those to the
// prototype and the type, which live as long as the process.
struct LazyThunk {
  PyObject_HEAD
  PyObject* prototype;  // a root without elements that has the type of the array
  PyObject* dtype;      // NumPy's type
  PyObject* layout;     // has a form, and shows all elements of the root that there will be
  SmallArray elements;
  bool is_made;  // the thunk has been made, and has taken the elements
};

// Takes note of the classes of arrays, and lets `_thunk` of an array make its thunk.
void know_lazy_thunks();

// Null if the object is another one.
LazyThunk* lazy_thunk(PyObject* object);

// The array, and its lazy thunk.
struct NewArray {
  // `layout` has a form.
  NewArray(const Signature& signature, PyObject* layout);

  nanobind::object array;
  nanobind::object view;
};

}  // namespace legate_diffuse
