// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include <cstdint>
#include <optional>

#include "process/arrays.h"
#include "process/lazy_thunk.h"
#include "process/numbers.h"

namespace legate_diffuse {

// What is behind an array of a single element without dimensions that is no part of another one,
// and has no thunk yet; null for others.
inline LazyThunk* single_element(PyObject* array) {
  auto* const thunk = thunk_of(array);

  return thunk && !thunk->view && thunk->elements.shape().extents.empty() ? thunk : nullptr;
}

// The only element of an array without dimensions.
struct Element {
  const char* pointer;  // null if the array has others, or it is not here
  PyObject* dtype;
};

Element only_element_of_view(PyObject* array);

inline Element only_element(PyObject* array) {
  auto* const single = single_element(array);

  if (!single) return only_element_of_view(array);
  return {single->elements.is_valid() ? single->elements.elements() : nullptr,
          array_fields().root_dtype.of(single->prototype)};
}

// Lets an operand show the only element of an array without dimensions, to be changed; false if
// the array has others, or it is not here.
bool is_element_to_change(PyObject* array, LocalOperand& element);

// A new reference to the only element of an array as a number of Python's, or to None.
PyObject* value_of(PyObject* array);

// What `CONVERT` makes of it; a new reference to None if it is not here.
template <PyObject* (*CONVERT)(PyObject*)>
PyObject* converted(PyObject* array) {
  const auto value = nanobind::steal(value_of(array));

  return value.is_none() ? Py_NewRef(Py_None) : CONVERT(value.ptr());
}

// A new reference to an integer as it is, and to None in place of another number, which is the
// original's to refuse.
inline PyObject* as_index(PyObject* value) {
  return Py_NewRef(PyLong_CheckExact(value) ? value : Py_None);
}

// Whether the only element of an array of any dimensions is another one than zero: True, False, or
// None if it is not here.
PyObject* truth_of(PyObject* array);

// Reads an int of Python's or of NumPy's as an index; false for other objects.
bool read_index(PyObject* object, std::int64_t& index);

// The same also for an array of a single integer that is here, which as an index of its own is none
// of the basic ones.
inline bool read_bound(PyObject* object, std::int64_t& index) {
  if (PyLong_CheckExact(object)) return read_integer(object, index);
  return is_array(object) ? read_integer(nanobind::steal(value_of(object)).ptr(), index)
                          : read_index(object, index);
}

inline std::optional<std::int64_t> bound_from(PyObject* object) {
  std::int64_t index{};

  return read_bound(object, index) ? std::optional{index} : std::nullopt;
}

}  // namespace legate_diffuse
