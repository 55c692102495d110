// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "process/at_once.h"
#include "process/fields.h"
#include "process/lazy_thunk.h"
#include "process/numbers.h"
#include "process/objects.h"

namespace legate_diffuse {

// What native code needs of the classes of arrays; see `know_arrays` in _native/operations.pyi.
// References are kept.
struct ArrayClasses {
  PyTypeObject* ndarray;
  PyTypeObject* thunk;
  PyTypeObject* store;
  PyTypeObject* view;
  PyTypeObject* root;
  PyTypeObject* layout;
  PyObject* library;  // of the tasks of thunks
};

// The classes of arrays, and their slots.
struct ArrayFields {
  explicit ArrayFields(const ArrayClasses& known);

  ArrayClasses classes;
  Field store_owner, store_view;
  Field view_shape, view_derived, view_real, view_handle, view_moves;
  Field layout_indexed, layout_points, layout_shape, layout_volume, layout_dense;
  Field root_dtype, root_owner, root_shape, root_volume;
  // those that a root has in common with its prototype
  std::vector<Field> copied;
};

// Attributes of objects without slots.
struct Names {
  PyObject* const thunk = PyUnicode_InternFromString("_thunk");
  PyObject* const lazy_thunk = PyUnicode_InternFromString("_lazy_thunk");
  PyObject* const base = PyUnicode_InternFromString("base");
  PyObject* const dtype = PyUnicode_InternFromString("dtype");
  PyObject* const kind = PyUnicode_InternFromString("kind");
  PyObject* const out = PyUnicode_InternFromString("out");
  PyObject* const library = PyUnicode_InternFromString("library");
  PyObject* const writeable = PyUnicode_InternFromString("_writeable");
};

const Names& names();

// Lets operations on arrays be run from now on.
void know_arrays(const ArrayClasses& classes);

// Takes note of whether cuPyNumeric looks at every call, and warns of conversions.
void know_settings(bool looks, bool warns);

// Null before `know_arrays`. Never destroyed: arrays may outlive the interpreter.
extern const ArrayFields* known_array_fields;

// Throws std::logic_error before `know_arrays`.
inline const ArrayFields& array_fields() {
  if (!known_array_fields) throw std::logic_error{"the classes of arrays are not known yet"};
  return *known_array_fields;
}

// Whether operations on arrays may run at once now, but for what waits for their operands.
bool arrays_are_ready();

// Whether cuPyNumeric warns where a value becomes one of another type.
bool conversions_warn();

// What is behind a plain array (`thunk_of`); empty for others, and for objects that are no arrays.
inline nanobind::object view_of(PyObject* array) {
  return nanobind::borrow(reinterpret_cast<PyObject*>(thunk_of(array)));
}

inline bool is_array(PyObject* object) {
  return Py_TYPE(object) == array_fields().classes.ndarray;
}

// The name of the type of a plain array, which is one object for each type; null for others. It is
// borrowed.
PyObject* dtype_of(PyObject* array);

// The thunk of a plain array, and the store of the thunk; both are empty for others.
struct PlainArray {
  nanobind::object thunk, store;
};

PlainArray find_plain(PyObject* array);

// Empty if there is no such attribute.
nanobind::object find_attribute(PyObject* object, PyObject* name);

bool is_writeable(PyObject* array);

// An operation on operands of given types, and the array that it makes. All references are kept.
struct Signature {
  std::vector<PyObject*> dtypes;  // of the operands: names that are one object for each type
  std::vector<NumberType> types;  // the same
  Operation* operation;
  PyObject* prototype;  // a root without elements that has the type of the result
  PyObject* dtype;      // NumPy's type of the result
  std::int64_t itemsize;
  std::string scalars;      // the operation's own, of SCALAR_SIZE bytes each
  std::string identity;     // an element that the result of a reduction starts from
  PyObject* task_template;  // of tasks that wait
};

}  // namespace legate_diffuse
