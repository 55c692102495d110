// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace legate_diffuse {

// NumPy's arrays, through its own C interface, whose functions only numpy_api.cc calls.

PyTypeObject* type_of_arrays();
bool is_array_of_numpy(PyObject* object);

// What an array shows. It belongs to the array.
struct ArrayContent {
  char* elements;
  std::int64_t dim;
  const std::int64_t* extents;
  const std::int64_t* byte_strides;
  std::int64_t itemsize, volume;
  char kind;  // of its type, as NumPy names it

  [[nodiscard]] std::int64_t num_bytes() const { return volume * itemsize; }

  // Whether elements come one after the other in memory, in row-major order.
  [[nodiscard]] bool is_in_order() const;
};

ArrayContent content_of(PyObject* array);

// The name of an array's type, which `names` has by types: it is one object for each. Borrowed;
// null if there is no such name. Throws nanobind::python_error.
PyObject* name_of_type(PyObject* names, PyObject* array);

// A new array of a type of NumPy's, with elements in row-major order, to which nobody has written
// yet. Throws nanobind::python_error.
nanobind::object new_array_of_numpy(PyObject* dtype, std::int64_t dim, const std::int64_t* extents);

// A new array that shows elements of an owner, which it keeps. Nobody is to write to it; but of
// what may not be written NumPy makes copies, as of places (PyArray_ContiguousFromAny). Throws
// nanobind::python_error.
nanobind::object array_over(PyObject* dtype, std::int64_t dim, const std::int64_t* extents,
                            const std::int64_t* byte_strides, const char* elements,
                            nanobind::object owner);

// Lets NumPy get memory from a handler, a capsule; returns the one before. Empty after an error.
nanobind::object set_memory_handler(PyObject* handler);

}  // namespace legate_diffuse
