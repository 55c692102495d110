// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate_defines.h>
#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "process/small_array.h"
#include "process/spare_arrays.h"

namespace legate_diffuse {

struct LocalOperand;
struct Signature;

// Room for the words of a form (`Form` in at_once.h).
constexpr std::size_t FORM_HEAD = 5;
using FormWords = std::array<std::int64_t, FORM_HEAD + 2 * LEGATE_MAX_DIM>;

// What is behind an array, as native code knows it. It is the attribute `_lazy_thunk` of the array,
// and stands for the thunk of a new one, with all that is behind that, until Python asks for it:
// the store, the view, the root. Most arrays are gone before, and have no `_thunk` until then.
// References are kept, but those to the prototype and, without a view, the type, which live as long
// as the process.
struct LazyThunk {
  // Lets it stand for that of a new array, which has the same form; its elements are not set.
  void reset(const Signature& signature);

  PyObject_HEAD PyObject* dtype;  // NumPy's type
  // of a part of another array, and of one that has a thunk: its view, and the owner of the root;
  // else null
  PyObject* view;
  PyObject* owner;
  // of a part of which only elements were asked for: its index, and what it shows of the root, in
  // the words of a form. Then `view` is what it is a part of: a view, or the lazy thunk of another
  // part. Else null.
  PyObject* key;
  FormWords words;
  // of others: a root without elements that has the type of the array, and a layout that has a
  // form, and shows all elements of the root that there will be
  PyObject* prototype;
  PyObject* layout;
  SmallArray elements;  // there is none without a prototype
  bool is_empty;        // nothing was written to its many elements: Python makes what is behind it
  bool is_made;         // the array has a thunk, of which the view is
  PyObject* array;      // under which it is noted (`note_thunk`); else null
};

// Takes note of the classes of arrays, and lets `_thunk` of an array make its thunk.
void know_lazy_thunks();

extern PyTypeObject* lazy_thunk_type;

// Null if the object is another one.
inline LazyThunk* lazy_thunk(PyObject* object) {
  return Py_TYPE(object) == lazy_thunk_type ? reinterpret_cast<LazyThunk*>(object) : nullptr;
}

// What is behind a plain array, borrowed from it; null for other objects. `find_thunk` looks at the
// array's attributes.
LazyThunk* find_thunk(PyObject* array);

inline LazyThunk* thunk_of(PyObject* array) {
  auto* const noted = noted_thunk(array);

  return noted ? noted : find_thunk(array);
}

// What is behind an array: its view, the owner of the root, and NumPy's type.
struct Stores {
  nanobind::object view, owner, dtype;
};

// Without a view if the array is not a plain one, or is none.
Stores stores_of(PyObject* array);

// The stores of which a basic index shows a part: the view may be the lazy thunk of a part.
Stores stores_to_index(PyObject* array);

// The native part of a root, to which nothing was written yet.
nanobind::object new_small_array(const RootShape& shape);

// A new array with a lazy thunk of a part of another one.
nanobind::object new_array(Stores part);

// The same, of which no more is known than what it shows: `part.view` may be a lazy thunk.
nanobind::object new_array(Stores part, PyObject* key, const LocalOperand& shown);

// Takes note of the function that returns the view at an index of a thunk, and of the one that
// returns a new array of a shape and a type to which nothing was written.
void know_part(PyObject* part_of);
void know_empty(PyObject* empty);

// A new object of a class, whose slots are not set.
nanobind::object new_object(PyTypeObject* type);

// The same of a class with slots, which the garbage collector does not look at: it is in no cycle.
// Many of these wait together, and live longer than the collector expects of new objects. It would
// look through all that the process has, again and again.
nanobind::object new_uncollected(PyTypeObject* type);

// A new view.
nanobind::object new_view(PyObject* root, PyObject* layout);

// The view of a new root with a layout and the type of a prototype, and the owner of the root. Its
// elements are to be in `small`, if that is not None. `dtype` is NumPy's type.
Stores new_stores(PyObject* prototype, PyObject* layout, PyObject* dtype, PyObject* small);

// A new array, and its lazy thunk. Nothing was written to its elements yet.
struct NewArray {
  // `layout` has a form.
  NewArray(const Signature& signature, PyObject* layout);

  // Whether an operation may run at once still, and write to it as `target`: a finalizer may have
  // come while objects were made.
  bool is_here(LocalOperand& target) const;

  nanobind::object array;
  nanobind::object view;
  bool is_spare;  // no object was made, so that nobody else's code came in between

 private:
  explicit NewArray(const Noted& spare)
      : array{nanobind::steal(spare.array)},
        view{nanobind::borrow(reinterpret_cast<PyObject*>(spare.thunk))},
        is_spare{array.is_valid()} {}
};

}  // namespace legate_diffuse
