// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include <cstdint>

#include "process/front.h"
#include "process/function.h"

namespace legate_diffuse {

// What products need to run at once: arrays of each type, those of two vectors, and those of a
// matrix with a vector, which has at least `narrowest` rows and columns, and is none for BLAS
// (libraries/cupynumeric/tasks.py). Operands are the result,
// which they add to, and the factors, all over the shape of the matrix; a vector comes second.
struct Products {
  const Function* arrays;
  const Function* vectors;
  const Function* vectors_of_matrices;
  std::int64_t narrowest;
};

// a.dot(b) of the first two arguments. `extra` has the functions of vectors, and of matrices and
// vectors, the recipe of matrices, the number, the recipe of stacks, and how many dimensions the
// second factor has at most beside one.
PyObject* product(const Arguments& arguments);

// inner(a, b) of two vectors, by the function that `extra` is, and matmul(a, b), as a @ b is.
PyObject* inner_product(const Arguments& given);
PyObject* matrix_product(const Arguments& given);

}  // namespace legate_diffuse
