// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include <array>

namespace legate_diffuse {

// Adds methods of C to a class. Throws nanobind::python_error.
void add_methods(PyTypeObject* type, std::array<PyMethodDef, 2>& methods);

// Lets a class written in Python, which sets attributes as `object` does, set them by a function.
// They are methods of the class, as if it had them in Python: with the slot alone, `object`'s
// method would refuse to be called through super() (CPython, Objects/typeobject.c, hackcheck).
// Throws nanobind::python_error.
template <setattrofunc SET>
void replace_set_attribute(PyTypeObject* type) {
  using Function = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);

  static constexpr auto call = [](PyObject* object, PyObject* name, PyObject* value) -> PyObject* {
    if (SET(object, name, value) != 0) return nullptr;
    Py_RETURN_NONE;
  };
  static constexpr Function set = [](PyObject* object, PyObject* const* arguments,
                                     Py_ssize_t count) -> PyObject* {
    if (count == 2) return call(object, arguments[0], arguments[1]);
    return PyErr_Format(PyExc_TypeError, "expected 2 arguments, got %zd", count);
  };
  static constexpr Function remove = [](PyObject* object, PyObject* const* arguments,
                                        Py_ssize_t count) -> PyObject* {
    if (count == 1) return call(object, arguments[0], nullptr);
    return PyErr_Format(PyExc_TypeError, "expected 1 argument, got %zd", count);
  };
  static const auto untyped = [](Function function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
  };
  static std::array<PyMethodDef, 2> methods{
      {{"__setattr__", untyped(set), METH_FASTCALL, nullptr},
       {"__delattr__", untyped(remove), METH_FASTCALL, nullptr}}};

  add_methods(type, methods);
}

}  // namespace legate_diffuse
