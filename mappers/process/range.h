// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include <string_view>

#include "process/function.h"

namespace legate_diffuse {

// A new array of the numbers from `start` to `stop`, which is not one of them: the elements are
// `place * step + start` in their type, of floats with one rounding, as GCC contracts it in
// cuPyNumeric's wheels (cupynumeric/nullary/arange.cc). Without `stop` they end at `start` and
// begin at 0; null stands for what is not given. Returns a new reference, to None if that is left
// to Python: there is no element, or the numbers are no ints and floats.
PyObject* range(const Function& function, PyObject* start, PyObject* stop, PyObject* step,
                std::string_view dtype);

}  // namespace legate_diffuse
