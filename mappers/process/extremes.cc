// SPDX-License-Identifier: Apache-2.0

#include "process/extremes.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/copying.h"
#include "process/guard.h"
#include "process/loop_types.h"
#include "process/numpy_api.h"
#include "process/result.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

template <typename T, typename Precedes>
[[gnu::always_inline]] inline void find_in_rows(const T* __restrict row, std::int64_t count,
                                                std::int64_t columns,
                                                std::int64_t* __restrict places, T* __restrict best,
                                                const Precedes& precedes) {
  std::copy(row, row + columns, best);
  std::fill(places, places + columns, 0);
  for (std::int64_t at = 1; at < count; ++at) {
    row += columns;
    for (std::int64_t column = 0; column < columns; ++column) {
      const auto one = row[column];
      const auto before = best[column];
      const auto is_found = static_cast<bool>(int{precedes(one, before)} | int{one != one});

      best[column] = is_found ? one : before;
      places[column] = is_found ? at : places[column];
    }
  }
}

// A vector holds as many at most, of each type.
constexpr std::int64_t LANES = 64;
// The first element that equals the best one is looked for among so many.
constexpr std::int64_t FEW_LANES = 16 * LANES;

// The place of the first best element of some; -1 if there is NaN.
template <typename T, typename Precedes>
[[gnu::always_inline]] inline std::int64_t first_place(const T* row, std::int64_t count,
                                                       const Precedes& precedes) {
  auto best = row[0];
  std::int64_t begin = 0;

  for (std::int64_t first = 0; first < count; first += FEW_LANES) {
    const auto end = std::min(first + FEW_LANES, count);
    std::array<T, LANES> lanes;
    int is_nan = 0;
    auto at = first;

    lanes.fill(row[first]);
    for (; at + LANES <= end; at += LANES) {
      for (std::int64_t lane = 0; lane < LANES; ++lane) {
        const auto one = row[at + lane];

        lanes[lane] = precedes(one, lanes[lane]) ? one : lanes[lane];
        is_nan |= int{one != one};
      }
    }
    for (; at < end; ++at) {
      lanes[0] = precedes(row[at], lanes[0]) ? row[at] : lanes[0];
      is_nan |= int{row[at] != row[at]};
    }
    if (is_nan != 0) return -1;
    for (const auto one : lanes) {
      if (precedes(one, best)) {
        best = one;
        begin = first;
      }
    }
  }
  return std::find(row + begin, row + count, best) - row;
}

}  // namespace

#define LEGATE_DIFFUSE_FIND(T)                                                            \
  __attribute__((target_clones("avx512f", "avx2", "default"))) std::int64_t place_in_row( \
      const T* row, std::int64_t count, bool largest) {                                   \
    return largest ? first_place(row, count, std::greater<T>{})                           \
                   : first_place(row, count, std::less<T>{});                             \
  }
LEGATE_DIFFUSE_FIND(double)
LEGATE_DIFFUSE_FIND(float)
LEGATE_DIFFUSE_FIND(std::int64_t)
LEGATE_DIFFUSE_FIND(std::int32_t)
LEGATE_DIFFUSE_FIND(std::uint8_t)
#undef LEGATE_DIFFUSE_FIND

namespace {

template <typename T>
std::int64_t place_in(const LocalOperand& operand, bool largest) {
  const InOrder<T> row{operand};

  return place_in_row(row.elements, row.count, largest);
}

// As `place_in_row`, of elements whatever their type is; -1 if they have no loop.
std::int64_t place_in(const LocalOperand& operand, bool largest) {
  const auto dtype = text_of(operand.dtype);

  if (dtype == "float64") return place_in<double>(operand, largest);
  if (dtype == "int64") return place_in<std::int64_t>(operand, largest);
  if (dtype == "bool" || dtype == "uint8") return place_in<std::uint8_t>(operand, largest);
  if (dtype == "float32") return place_in<float>(operand, largest);
  return dtype == "int32" ? place_in<std::int32_t>(operand, largest) : -1;
}

}  // namespace

PyObject* place_of_extreme(const Function& function, PyObject* array, bool largest) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  const auto view = view_of(array);
  LocalOperand source;
  const auto look = [&] { return source.is_here(view.ptr(), false) && source.form.volume > 0; };

  if (!view.is_valid() || !look()) Py_RETURN_NONE;
  return new_result(function, function.find("int64"), 0, nullptr, largest ? "argmax" : "argmin",
                    look, [&](char* to) {
                      const auto place = place_in(source, largest);

                      std::memcpy(to, &place, sizeof(place));
                      return place >= 0;
                    });
}

#define LEGATE_DIFFUSE_FIND(T)                                                                \
  __attribute__((target_clones("avx512f", "avx2", "default"))) void find_extremes(            \
      const T* rows, std::int64_t count, std::int64_t columns, std::int64_t* places, T* best, \
      bool largest) {                                                                         \
    if (largest) {                                                                            \
      find_in_rows(rows, count, columns, places, best, std::greater<T>{});                    \
    } else {                                                                                  \
      find_in_rows(rows, count, columns, places, best, std::less<T>{});                       \
    }                                                                                         \
  }
LEGATE_DIFFUSE_FIND(double)
LEGATE_DIFFUSE_FIND(float)
LEGATE_DIFFUSE_FIND(std::int64_t)
#undef LEGATE_DIFFUSE_FIND

__attribute__((target_clones("avx512f", "avx2",
                             "default"))) std::int64_t count_set(const std::uint8_t* flags,
                                                                 std::int64_t count) {
  // a byte counts them, and vectors hold many bytes
  constexpr std::int64_t BLOCK = 255;
  std::int64_t found = 0;

  for (std::int64_t at = 0; at < count;) {
    const auto end = std::min(count, at + BLOCK);
    std::uint8_t in_block = 0;

    for (; at < end; ++at) in_block += flags[at] != 0;
    found += in_block;
  }
  return found;
}

__attribute__((target_clones("avx512f", "avx2", "default"))) bool has_flag(
    const std::uint8_t* flags, std::int64_t count, bool is_set) {
  constexpr std::int64_t BLOCK = 4096;

  for (std::int64_t at = 0; at < count;) {
    const auto end = std::min(count, at + BLOCK);
    std::uint8_t found = 0;

    for (; at < end; ++at) found |= static_cast<std::uint8_t>((flags[at] != 0) == is_set);
    if (found != 0) return true;
  }
  return false;
}

namespace {

using Source = nb::ndarray<nb::c_contig, nb::ro, nb::ndim<3>>;
using Target = nb::ndarray<std::int64_t, nb::c_contig, nb::ndim<2>>;

template <typename T>
void find_extremes_of(const Source& source, const Target& target, bool largest) {
  const auto count = static_cast<std::int64_t>(source.shape(1));
  const auto columns = static_cast<std::int64_t>(source.shape(2));
  const auto* from = static_cast<const T*>(source.data());
  auto* to = target.data();
  std::vector<T> best(source.shape(2));

  for (std::size_t plane = 0; plane < source.shape(0); ++plane) {
    find_extremes(from, count, columns, to, best.data(), largest);
    from += count * columns;
    to += columns;
  }
}

void find_all_extremes(const Source& source, const Target& target, bool largest) {
  if (source.shape(0) != target.shape(0) || source.shape(2) != target.shape(1) ||
      source.shape(1) == 0) {
    throw nb::value_error("places of another shape");
  }
  with_loop_type(source.dtype(),
                 [&](auto like) { find_extremes_of<decltype(like)>(source, target, largest); });
}

}  // namespace

namespace {

template <typename T>
[[gnu::always_inline]] inline bool has_nan_in_row(const T* row, std::int64_t count) {
  constexpr std::int64_t BLOCK = 1024;

  for (std::int64_t first = 0; first < count; first += BLOCK) {
    const auto end = std::min(first + BLOCK, count);
    int found = 0;

    for (auto at = first; at < end; ++at) found |= int{row[at] != row[at]};
    if (found != 0) return true;
  }
  return false;
}

}  // namespace

#define LEGATE_DIFFUSE_FIND(T)                                                                    \
  __attribute__((target_clones("avx512f", "avx2", "default"))) bool has_nan(const T* row,         \
                                                                            std::int64_t count) { \
    return has_nan_in_row(row, count);                                                            \
  }
LEGATE_DIFFUSE_FIND(double)
LEGATE_DIFFUSE_FIND(float)
#undef LEGATE_DIFFUSE_FIND

namespace {

bool has_nan(const std::uint16_t* halves, std::int64_t count) {
  // all bits of the exponent are set, and others
  return std::any_of(halves, halves + count, [](auto half) { return (half & 0x7fff) > 0x7c00; });
}

}  // namespace

bool has_nan(PyObject* array) {
  const auto content = content_of(array);

  if ((content.kind != 'f' && content.kind != 'c') || content.volume == 0) return false;
  if (!content.is_in_order()) return has_nan(nb::handle{array}.attr("copy")().ptr());

  // a complex one is two numbers
  const auto size = content.itemsize / (content.kind == 'c' ? 2 : 1);
  const auto count = content.num_bytes() / size;

  if (size == sizeof(double))
    return has_nan(reinterpret_cast<const double*>(content.elements), count);
  if (size == sizeof(float))
    return has_nan(reinterpret_cast<const float*>(content.elements), count);
  // others are not looked at
  return size != sizeof(std::uint16_t) ||
         has_nan(reinterpret_cast<const std::uint16_t*>(content.elements), count);
}

void bind_extremes(nb::module_& module) {
  module.def(
      "has_nan",
      [](nb::handle array) {
        if (!is_array_of_numpy(array.ptr())) throw nb::type_error("not an array of NumPy's");
        return has_nan(array.ptr());
      },
      nb::arg("array"));
  module.def("find_extremes", &find_all_extremes, nb::arg("source"), nb::arg("places"),
             nb::arg("largest"));
}

}  // namespace legate_diffuse
