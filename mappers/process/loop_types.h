// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>

namespace legate_diffuse {

// Calls `visit` with a zero of the type of an array's elements, of those that have loops of ours.
// Throws nanobind::value_error for others.
template <typename Visit>
void with_loop_type(nanobind::dlpack::dtype dtype, const Visit& visit) {
  if (dtype == nanobind::dtype<double>()) return visit(double{});
  if (dtype == nanobind::dtype<float>()) return visit(float{});
  if (dtype == nanobind::dtype<std::int64_t>()) return visit(std::int64_t{});
  throw nanobind::value_error("a type that has no loop");
}

}  // namespace legate_diffuse
