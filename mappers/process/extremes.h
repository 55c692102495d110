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

// Adds `find_extremes`, which does so for arrays of NumPy's.
void bind_extremes(nanobind::module_& module);

}  // namespace legate_diffuse
