// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>
#include <structmember.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace legate_diffuse {

// A slot of a Python class, read and written without a lookup.
class Field {
 public:
  // Throws std::invalid_argument if the class has no such slot.
  Field(PyObject* type, const char* name) {
    auto* const found = PyObject_GetAttrString(type, name);

    if (found && Py_TYPE(found) == &PyMemberDescr_Type) {
      const auto* const member = reinterpret_cast<PyMemberDescrObject*>(found)->d_member;

      if (member->type == T_OBJECT_EX) offset_ = member->offset;
    }
    Py_XDECREF(found);
    PyErr_Clear();
    if (offset_ == 0) throw std::invalid_argument{std::string{"no slot is called "} + name};
  }

  // Borrowed; null if it was not set.
  [[nodiscard]] PyObject* of(PyObject* object) const { return *place(object); }

  // Takes the reference over.
  void set(PyObject* object, PyObject* value) const {
    Py_XDECREF(std::exchange(*place(object), value));
  }

 private:
  [[nodiscard]] PyObject** place(PyObject* object) const {
    return reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset_);
  }

  Py_ssize_t offset_{};
};

}  // namespace legate_diffuse
