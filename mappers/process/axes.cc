// SPDX-License-Identifier: Apache-2.0

#include "process/axes.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/extremes.h"
#include "process/numbers.h"
#include "process/runs.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Elements that are combined at a time, in lanes that do not wait for each other.
constexpr std::int64_t LANES = 8;

// A loop over elements of a source, and of a result that stays where the source is reduced.
// Strides count elements.
struct Loop {
  std::int64_t extent, from, to;

  [[nodiscard]] bool goes_on(const Loop& outer) const {
    return outer.from == from * extent && outer.to == to * extent;
  }
};

// The loops from the outermost to the innermost, of which those that go on are one.
class AllLoops {
 public:
  void add(const Loop& loop) {
    if (loop.extent == 1) return;
    if (!loops_.empty() && loop.goes_on(loops_.back())) {
      loops_.back() = {loops_.back().extent * loop.extent, loop.from, loop.to};
    } else {
      loops_.push_back(loop);
    }
  }

  // Calls `row` with the innermost loop, at each place of the others.
  template <typename T, typename Row>
  void visit(const T* from, T* to, const Row& row) {
    if (loops_.empty()) loops_.push_back({1, 0, 0});
    visit(0, from, to, row);
  }

 private:
  template <typename T, typename Row>
  void visit(std::size_t depth, const T* from, T* to, const Row& row) const {
    const auto& loop = loops_[depth];

    if (depth + 1 == loops_.size()) return row(from, to, loop);
    for (std::int64_t at = 0; at < loop.extent; ++at) {
      visit(depth + 1, from + at * loop.from, to + at * loop.to, row);
    }
  }

  std::vector<Loop> loops_;
};

template <typename T, typename Combine>
T combined(const T* from, std::int64_t count, const Combine& combine) {
  std::array<T, LANES> lanes;
  std::int64_t at = LANES;

  if (count < LANES) return std::accumulate(from + 1, from + count, from[0], combine);
  std::copy(from, from + LANES, lanes.begin());
  for (; at + LANES <= count; at += LANES) {
    for (std::int64_t lane = 0; lane < LANES; ++lane) {
      lanes[lane] = combine(lanes[lane], from[at + lane]);
    }
  }

  const auto found = std::accumulate(lanes.begin() + 1, lanes.end(), lanes[0], combine);

  return std::accumulate(from + at, from + count, found, combine);
}

template <typename T, typename Combine>
void reduce_to(AllLoops& loops, const T* from, T* to, const Combine& combine) {
  loops.visit(from, to, [&](const T* source, T* result, const Loop& loop) {
    if (loop.to == 0 && loop.from == 1) {
      *result = combine(*result, combined(source, loop.extent, combine));
    } else if (loop.to == 1 && loop.from == 1) {
      for (std::int64_t at = 0; at < loop.extent; ++at) {
        result[at] = combine(result[at], source[at]);
      }
    } else {
      for (std::int64_t at = 0; at < loop.extent; ++at) {
        auto& one = result[at * loop.to];

        one = combine(one, source[at * loop.from]);
      }
    }
  });
}

// The same for the largest or smallest element; false if one is NaN.
template <typename T, typename Combine>
bool find_to(AllLoops& loops, const T* from, T* to, const Combine& combine, bool largest) {
  auto has_none = true;

  loops.visit(from, to, [&](const T* source, T* result, const Loop& loop) {
    if (!has_none) return;
    if (loop.to == 0 && loop.from == 1) {
      const auto value = extreme_of(source, loop.extent, largest);

      has_none = value == value;
      *result = combine(*result, value);
    } else if (loop.to == 1 && loop.from == 1) {
      has_none = !has_nan(source, loop.extent);
      for (std::int64_t at = 0; at < loop.extent; ++at) {
        result[at] = combine(result[at], source[at]);
      }
    } else {
      for (std::int64_t at = 0; at < loop.extent; ++at) {
        const auto value = source[at * loop.from];
        auto& one = result[at * loop.to];

        has_none &= value == value;
        one = combine(one, value);
      }
    }
  });
  return has_none;
}

// False if there is no such reduction, or what is ordered has NaN. Integers wrap around.
template <typename T>
bool reduce_elements(std::string_view name, AllLoops& loops, const LocalOperand& source,
                     const LocalOperand& result) {
  using Limits = std::numeric_limits<T>;
  constexpr auto LEAST = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  constexpr auto MOST = Limits::has_infinity ? Limits::infinity() : Limits::max();

  const auto* const from = reinterpret_cast<const T*>(first_element(source));
  auto* const to = reinterpret_cast<T*>(result.small->own_elements());
  const auto count = result.form.volume;
  const auto reduce = [&](T start, const auto& combine) {
    std::fill(to, to + count, start);
    reduce_to(loops, from, to, combine);
    return true;
  };

  if (name == "sum") return reduce(T{0}, std::plus<T>{});
  if (name == "prod") return reduce(T{1}, std::multiplies<T>{});
  // integers are added as unsigned ones, which nobody compares
  if constexpr (!std::is_unsigned_v<T>) {
    const auto find = [&](T start, const auto& combine, bool largest) {
      std::fill(to, to + count, start);
      return find_to(loops, from, to, combine, largest);
    };

    if (name == "max") return find(LEAST, [](T a, T b) { return a < b ? b : a; }, true);
    if (name == "min") return find(MOST, [](T a, T b) { return b < a ? b : a; }, false);
  }
  return false;
}

bool reduce_elements_of(std::string_view dtype, std::string_view name, AllLoops& loops,
                        const LocalOperand& source, const LocalOperand& result) {
  switch (number_type(dtype)) {
    case NumberType::FLOAT64:
      return reduce_elements<double>(name, loops, source, result);
    case NumberType::FLOAT32:
      return reduce_elements<float>(name, loops, source, result);
    case NumberType::INT64:
      return name == "max" || name == "min"
                 ? reduce_elements<std::int64_t>(name, loops, source, result)
                 : reduce_elements<std::uint64_t>(name, loops, source, result);
    default:
      return false;
  }
}

// The axes that a tuple of ints names; false if there are none, or some do not exist or come twice.
bool find_axes(PyObject* axes, std::int64_t dim, std::array<bool, LEGATE_MAX_DIM>& reduced) {
  if (!PyTuple_CheckExact(axes) || PyTuple_GET_SIZE(axes) == 0) return false;
  for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(axes); ++at) {
    const auto axis = axis_from(PyTuple_GET_ITEM(axes, at), dim);

    if (!axis || reduced[*axis]) return false;
    reduced[*axis] = true;
  }
  return true;
}

}  // namespace

PyObject* reduce_axes(const Function& function, PyObject* array, PyObject* given) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  const auto name = text_of(PyTuple_GET_ITEM(given, 0));
  const auto view = view_of(array);
  LocalOperand source, result;
  std::array<bool, LEGATE_MAX_DIM> reduced{};

  if (!view.is_valid() || !source.is_here(view.ptr(), false, MOST_REDUCED) || source.repeats) {
    Py_RETURN_NONE;
  }

  const auto& form = source.form;

  if (!find_axes(PyTuple_GET_ITEM(given, 1), form.dim, reduced)) Py_RETURN_NONE;

  const auto* const signature = function.find({source.dtype});
  std::array<std::int64_t, LEGATE_MAX_DIM> extents{}, strides{};
  std::int64_t dim = 0;
  std::int64_t volume = 1;
  AllLoops loops;

  for (auto d = form.dim; d-- > 0;) {
    if (reduced[d]) continue;
    strides[d] = volume;
    volume *= form.extents[d];
  }
  for (std::int64_t d = 0; d < form.dim; ++d) {
    if (!reduced[d]) extents[dim++] = form.extents[d];
    loops.add({form.extents[d], form.strides[d], strides[d]});
  }
  // the original copies single elements, and reduces nothing to identities
  if (!signature || volume < 2 || form.volume == 0) Py_RETURN_NONE;

  NewArray made{*signature, function.new_layout(extents.data(), dim).ptr()};

  if (!made.has_room(result) || !source.is_here(view.ptr(), false, MOST_REDUCED)) Py_RETURN_NONE;

  Run run{name.data()};

  result.small->reserve();
  if (!reduce_elements_of(text_of(source.dtype), name, loops, source, result)) Py_RETURN_NONE;
  return made.done(result, run);
}

}  // namespace legate_diffuse
