// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include "process/function.h"

namespace legate_diffuse {

// Each returns a new reference to a new array, without dimensions unless it says so, or to None if
// that is left to Python. `function` makes arrays of each type.

// The places of the first of the largest elements along an axis, or of the smallest: a new array
// without it, or of one place in row-major order if it is None. Left to Python if there is NaN.
PyObject* extremes(const Function& function, PyObject* array, PyObject* axis, bool largest);

// How many elements are not zero.
PyObject* count_of_others(const Function& function, PyObject* array);

}  // namespace legate_diffuse
