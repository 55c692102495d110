// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>

#include "process/function.h"

namespace legate_diffuse {

// A library of BLAS and OpenBLAS's functions beside it: addresses of routines that take integers of
// 64 bits, and how many processors they may use.
struct BlasRoutines {
  std::array<std::uintptr_t, 4> gemv, gemm;  // of double, float, and complex numbers of these
  std::uintptr_t num_threads, set_num_threads;
  int processors;
};

// Lets products be made by it.
void know_blas(const BlasRoutines& routines);

// The most elements of an array that NumPy, or its BLAS, reads here: where Legate has many
// processors, a task takes no longer.
std::int64_t most_read_here();

// Whether BLAS multiplies a matrix with a vector faster than a kernel, if one is known, and takes
// it.
bool is_faster_in_blas(const LocalOperand& matrix);

// The product of a matrix and a vector, in either order, or of two matrices, whose elements are
// here, without NumPy around it. A new reference to a new array, or to None if that is left to
// others.
PyObject* product_in_blas(const Function& arrays, const nanobind::object& first,
                          const nanobind::object& second);

}  // namespace legate_diffuse
