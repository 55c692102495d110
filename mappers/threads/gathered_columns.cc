// SPDX-License-Identifier: Apache-2.0

#include "threads/gathered_columns.h"

#include <algorithm>

namespace legate_diffuse {

namespace {

// Columns are less; what lies between rows may be anything.
constexpr std::int64_t MOST_COLUMNS = std::int64_t{1} << 48;

// From the smallest to the largest of `count` numbers, at least one.
__attribute__((target_clones("avx512f", "avx2", "default"))) Interval
range_of(const std::int64_t* numbers, std::int64_t count) {
  auto low = numbers[0];
  auto high = numbers[0];

  for (std::int64_t index = 1; index < count; ++index) {
    low = std::min(low, numbers[index]);
    high = std::max(high, numbers[index]);
  }
  low = std::clamp(low, -MOST_COLUMNS, MOST_COLUMNS);
  return {low, std::clamp(high, -MOST_COLUMNS, MOST_COLUMNS) - low + 1};
}

// From the first to the last element of `count` rows, those between them included.
Interval elements_of(const Rectangle* rows, std::int64_t count) {
  auto low = INT64_MAX;
  auto high = INT64_MIN;

  for (std::int64_t row = 0; row < count; ++row) {
    const auto is_empty = rows[row].low > rows[row].high;

    low = std::min(low, is_empty ? INT64_MAX : rows[row].low);
    high = std::max(high, is_empty ? INT64_MIN : rows[row].high);
  }
  return low > high ? Interval{0, 0} : Interval{low, high - low + 1};
}

}  // namespace

bool contains(const Interval& one, const Interval& other) {
  return one.first <= other.first && other.first + other.extent <= one.first + one.extent;
}

Interval hull(const Interval& one, const Interval& other) {
  if (one.extent <= 0) return other;
  if (other.extent <= 0) return one;

  const auto first = std::min(one.first, other.first);

  return {first, std::max(one.first + one.extent, other.first + other.extent) - first};
}

Interval overlap(const Interval& one, const Interval& other) {
  const auto first = std::max(one.first, other.first);
  const auto end = std::min(one.first + one.extent, other.first + other.extent);

  return {first, std::max(end - first, std::int64_t{0})};
}

Interval named_columns(const Rectangle* rows, std::int64_t num_rows, const Interval& known,
                       const std::int64_t* columns) {
  const auto here = overlap(elements_of(rows, num_rows), known);

  return here.extent <= 0 ? Interval{0, 0} : range_of(columns + here.first, here.extent);
}

}  // namespace legate_diffuse
