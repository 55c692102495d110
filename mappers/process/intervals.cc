// SPDX-License-Identifier: Apache-2.0

#include "process/intervals.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// NumPy adds the sums of so many weights to what it has.
constexpr std::int64_t BLOCK = 65536;
// Places that are computed before any of them is used.
constexpr std::int64_t PLACES = 1024;

using Numbers = nb::ndarray<const double, nb::c_contig, nb::ndim<1>>;
using Sums = nb::ndarray<double, nb::c_contig, nb::ndim<1>>;

struct Intervals {
  explicit Intervals(const Numbers& numbers)
      : edges{numbers.data()},
        count{static_cast<std::int32_t>(numbers.shape(0)) - 1},
        first{edges[0]},
        last{edges[count]},
        scale{count / (last - first)} {}

  const double* edges;
  std::int32_t count;
  double first, last, scale;
};

}  // namespace

// In which of the intervals each value is, or in the one before or behind it, as it is rounded.
__attribute__((target_clones("avx512f", "avx2", "default"))) void find_places(
    const double* values, std::int64_t count, double first, double scale, double most,
    std::int32_t* places) {
  for (std::int64_t at = 0; at < count; ++at) {
    const auto place = (values[at] - first) * scale;
    const auto at_least = place > 0.0 ? place : 0.0;

    places[at] = static_cast<std::int32_t>(at_least < most ? at_least : most);
  }
}

namespace {

// Calls `add` with the interval of each value that is in one, and its number.
template <typename Add>
void for_each_place(const Intervals& intervals, const double* values, std::int64_t count,
                    const Add& add) {
  std::array<std::int32_t, PLACES> places;
  const auto last = intervals.count - 1;

  for (std::int64_t first = 0; first < count; first += PLACES) {
    const auto end = std::min(PLACES, count - first);

    find_places(values + first, end, intervals.first, intervals.scale, last, places.data());
    for (std::int64_t at = 0; at < end; ++at) {
      const auto value = values[first + at];
      auto place = places[at];

      place -= value < intervals.edges[place] ? 1 : 0;
      // the last interval has its end
      place += place != last && value >= intervals.edges[place + 1] ? 1 : 0;
      // behind all intervals is a place for what is in none
      add(value >= intervals.first && value <= intervals.last ? place : intervals.count,
          first + at);
    }
  }
}

// NumPy adds the sums of blocks, and counts what has no weights.
void sum_in_intervals(const Numbers& values, const Numbers& edges,
                      const std::optional<Numbers>& weights, const Sums& sums) {
  if (edges.shape(0) < 2 || edges.shape(0) > INT32_MAX || sums.shape(0) + 1 != edges.shape(0) ||
      (weights && weights->shape(0) != values.shape(0))) {
    throw nb::value_error("another number of intervals, or not a weight for each");
  }

  const Intervals intervals{edges};
  const auto count = static_cast<std::int64_t>(values.shape(0));
  std::vector<double> found(edges.shape(0));

  std::fill_n(sums.data(), intervals.count, 0.0);
  for (std::int64_t first = 0; first < count; first += BLOCK) {
    const auto* const added = weights ? weights->data() + first : nullptr;

    std::fill(found.begin(), found.end(), 0.0);
    for_each_place(intervals, values.data() + first, std::min(BLOCK, count - first),
                   [&](auto place, auto at) { found[place] += added ? added[at] : 1.0; });
    for (std::int32_t place = 0; place < intervals.count; ++place) {
      sums.data()[place] += found[place];
    }
  }
}

}  // namespace

void bind_intervals(nb::module_& module) {
  module.def("sum_in_intervals", &sum_in_intervals, nb::arg("values"), nb::arg("edges"),
             nb::arg("weights").none(), nb::arg("sums"));
}

}  // namespace legate_diffuse
