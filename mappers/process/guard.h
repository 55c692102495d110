// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <new>

namespace legate_diffuse {

// Calls what may throw for Python, without the costs of a call through nanobind.
template <typename Call>
PyObject* guard(const Call& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (nanobind::python_error& error) {
    error.restore();
    return nullptr;
  }
}

// Returns what was made, or, if that is None, what another way makes.
template <typename Otherwise>
PyObject* made_or(PyObject* made, const Otherwise& otherwise) {
  if (made != Py_None) return made;
  Py_DECREF(made);
  return otherwise();
}

}  // namespace legate_diffuse
