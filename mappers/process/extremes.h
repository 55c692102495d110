// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace legate_diffuse {

// The places of the first largest or smallest of `count` elements, for each of `columns` that are
// next to each other, and these elements; where there is NaN, that of one.
void find_extremes(const double* rows, std::int64_t count, std::int64_t columns,
                   std::int64_t* places, double* best, bool largest);
void find_extremes(const float* rows, std::int64_t count, std::int64_t columns,
                   std::int64_t* places, float* best, bool largest);
void find_extremes(const std::int64_t* rows, std::int64_t count, std::int64_t columns,
                   std::int64_t* places, std::int64_t* best, bool largest);

// The place of the first largest or smallest of elements; -1 if there is NaN.
std::int64_t find_extreme(const double* row, std::int64_t count, bool largest);
std::int64_t find_extreme(const float* row, std::int64_t count, bool largest);
std::int64_t find_extreme(const std::int64_t* row, std::int64_t count, bool largest);
std::int64_t find_extreme(const std::int32_t* row, std::int64_t count, bool largest);
std::int64_t find_extreme(const std::uint8_t* row, std::int64_t count, bool largest);

// How many of the elements are not zero.
std::int64_t count_others(const double* row, std::int64_t count);
std::int64_t count_others(const float* row, std::int64_t count);
std::int64_t count_others(const std::int64_t* row, std::int64_t count);
std::int64_t count_others(const std::int32_t* row, std::int64_t count);
std::int64_t count_others(const std::uint8_t* row, std::int64_t count);

// Whether one of the elements is NaN.
bool has_nan(const double* row, std::int64_t count);
bool has_nan(const float* row, std::int64_t count);

// Whether an array of NumPy's has NaN, or is of a type of floats of which nothing is known.
bool has_nan(PyObject* array);

// Adds `find_extremes`, which does so for arrays of NumPy's, and `has_nan`.
void bind_extremes(nanobind::module_& module);

}  // namespace legate_diffuse
