// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "process/function.h"

namespace legate_diffuse {

// The places of the first largest or smallest of `count` elements, for each of `columns` that are
// next to each other, and these elements; where there is NaN, that of one.
void find_extremes(const double* rows, std::int64_t count, std::int64_t columns,
                   std::int64_t* places, double* best, bool largest);
void find_extremes(const float* rows, std::int64_t count, std::int64_t columns,
                   std::int64_t* places, float* best, bool largest);
void find_extremes(const std::int64_t* rows, std::int64_t count, std::int64_t columns,
                   std::int64_t* places, std::int64_t* best, bool largest);

// array.argmax() or array.argmin(), a new reference to a new array, or to None if that is left to
// Python: where there is NaN, too. `function` makes arrays of each type.
PyObject* place_of_extreme(const Function& function, PyObject* array, bool largest);

// How many flags are set.
std::int64_t count_set(const std::uint8_t* flags, std::int64_t count);

// Whether one of them is set, or one is not.
bool has_flag(const std::uint8_t* flags, std::int64_t count, bool is_set);

// Whether an array of NumPy's has NaN, or is of a type of floats of which nothing is known.
bool has_nan(PyObject* array);

// Adds `find_extremes`, which does so for arrays of NumPy's, and `has_nan`.
void bind_extremes(nanobind::module_& module);

}  // namespace legate_diffuse
