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

}  // namespace legate_diffuse
