// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

namespace legate_diffuse {

// As long as it lives, arrays that NumPy makes in this thread get memory of ours (NEP 49).
class OwnMemory {
 public:
  // Throws nanobind::python_error.
  OwnMemory();
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
  ~OwnMemory();

 private:
  nanobind::object before_;
};

// Calls an object without arguments, while NumPy has memory of ours. Returns a new reference, null
// if it raises. Throws nanobind::python_error.
PyObject* call_with_memory(PyObject* call);

// Takes over the memory of such an array, if it is large: whoever has that frees it. The array is
// not to be used any more. Null if it is no such memory of this size.
void* take_from_numpy(void* memory, std::size_t num_bytes);

}  // namespace legate_diffuse
