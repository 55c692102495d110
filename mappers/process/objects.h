// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace legate_diffuse {

// What owns a new reference. Throws nanobind::python_error if there is none.
inline nanobind::object owned(PyObject* made) {
  if (!made) throw nanobind::python_error();
  return nanobind::steal(made);
}

// A new tuple of integers.
inline nanobind::object tuple_of(const std::int64_t* numbers, std::int64_t count) {
  auto made = owned(PyTuple_New(count));

  for (std::int64_t at = 0; at < count; ++at) {
    PyTuple_SET_ITEM(made.ptr(), at, owned(PyLong_FromLongLong(numbers[at])).release().ptr());
  }
  return made;
}

}  // namespace legate_diffuse
