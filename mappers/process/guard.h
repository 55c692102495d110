// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <new>

#include "process/runs.h"

namespace legate_diffuse {

// Calls what may throw for Python, without the costs of a call through nanobind.
template <typename Call>
PyObject* guard(const Call& call) {
  try {
    return located(call);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (nanobind::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    // Python's code in C lets none pass
    PyErr_SetString(PyExc_RuntimeError, "an exception of C++ that is none of the standard library");
  }
  return nullptr;
}

// Returns what was made, or, if that is None, what another way makes.
template <typename Otherwise>
PyObject* made_or(PyObject* made, const Otherwise& otherwise) {
  if (made != Py_None) return made;
  Py_DECREF(made);
  return otherwise();
}

// For METH_FASTCALL.
inline PyCFunction fast(PyObject* (*call)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call));
}

// Returns what native code made, or what the slot's own function makes.
template <typename Call, typename Otherwise>
PyObject* first_of(const Call& call, const Otherwise& otherwise) {
  return made_or(guard(call), otherwise);
}

}  // namespace legate_diffuse
