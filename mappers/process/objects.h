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

// What a tuple or a list has, or an object alone. It borrows all of it.
class Items {
 public:
  explicit Items(PyObject* object)
      : object_{object}, are_listed_{PyTuple_CheckExact(object) || PyList_CheckExact(object)} {}

  [[nodiscard]] bool are_listed() const { return are_listed_; }
  [[nodiscard]] Py_ssize_t size() const {
    return are_listed_ ? PySequence_Fast_GET_SIZE(object_) : 1;
  }
  PyObject* operator[](Py_ssize_t at) const {
    return are_listed_ ? PySequence_Fast_GET_ITEM(object_, at) : object_;
  }

 private:
  PyObject* object_;
  bool are_listed_;
};

// A new tuple of integers.
inline nanobind::object tuple_of(const std::int64_t* numbers, std::int64_t count) {
  auto made = owned(PyTuple_New(count));

  for (std::int64_t at = 0; at < count; ++at) {
    PyTuple_SET_ITEM(made.ptr(), at, owned(PyLong_FromLongLong(numbers[at])).release().ptr());
  }
  return made;
}

}  // namespace legate_diffuse
