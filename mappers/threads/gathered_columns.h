// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "program/tiling.h"

namespace legate_diffuse {

bool contains(const Interval& one, const Interval& other);

// The smallest interval that has both; one without elements does not count.
Interval hull(const Interval& one, const Interval& other);

Interval overlap(const Interval& one, const Interval& other);

// What Legate keeps of a row: the first and the last of its columns.
struct Rectangle {
  std::int64_t low;
  std::int64_t high;
};

// The smallest interval with the columns of some rows, of which `known` are there.
Interval named_columns(const Rectangle* rows, std::int64_t num_rows, const Interval& known,
                       const std::int64_t* columns);

// What points have found out about columns, by the moment for which it holds.
class KnownColumns {
 public:
  static KnownColumns& instance() {
    static auto* const known = new KnownColumns;
    return *known;
  }

  // Whether a point has come with the same columns before.
  bool has_come(std::int64_t moment, const Interval& columns) {
    const std::lock_guard<std::mutex> guard{mutex_};

    make_room();
    return !ranges_.insert({{moment, ~columns.first, columns.extent}, {}}).second;
  }

  // The smallest interval with all columns of some rows; `look` returns it if it isn't known.
  template <typename Look>
  Interval find(std::int64_t moment, std::int64_t first_row, std::int64_t num_rows,
                const Look& look) {
    const Key key{moment, first_row, num_rows};
    {
      const std::lock_guard<std::mutex> guard{mutex_};
      const auto found = ranges_.find(key);

      if (found != ranges_.end()) return found->second;
    }
    const auto range = look();
    const std::lock_guard<std::mutex> guard{mutex_};

    make_room();
    ranges_[key] = range;
    return range;
  }

 private:
  // A moment, the first row, and how many there are.
  using Key = std::array<std::int64_t, 3>;

  static constexpr std::size_t MOST = std::size_t{1} << 16;

  void make_room() {
    if (ranges_.size() >= MOST) ranges_.clear();
  }

  std::mutex mutex_;
  std::map<Key, Interval> ranges_;
};

}  // namespace legate_diffuse
