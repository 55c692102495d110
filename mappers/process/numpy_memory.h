// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include <cstddef>

namespace legate_diffuse {

// Calls an object without arguments; arrays that NumPy makes meanwhile in this thread get memory of
// ours (NEP 49). Returns a new reference, null if it raises. Throws nanobind::python_error.
PyObject* call_with_memory(PyObject* call);

// Takes over the memory of such an array, if it is large: whoever has that frees it. The array is
// not to be used any more. Null if it is no such memory of this size.
void* take_from_numpy(void* memory, std::size_t num_bytes);

}  // namespace legate_diffuse
