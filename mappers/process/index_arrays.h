// SPDX-License-Identifier: Apache-2.0

// What index arrays have in common, whichever they are.

#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/copying.h"
#include "process/extremes.h"
#include "process/numbers.h"
#include "process/shown.h"

namespace legate_diffuse {

inline bool is_mask_array(PyObject* object) {
  auto* const dtype = dtype_of(object);

  return dtype && number_type(dtype) == NumberType::BOOL;
}

// Whether a part of an index is all of a dimension, with no bound.
inline bool is_all(PyObject* part) {
  if (!PySlice_Check(part)) return false;

  const auto& bounds = *reinterpret_cast<PySliceObject*>(part);

  return bounds.start == Py_None && bounds.stop == Py_None && bounds.step == Py_None;
}

// Whether an index is a mask and, behind it, all of other dimensions.
inline bool is_mask_of_rows(PyObject* key) {
  auto* const* const parts = &PyTuple_GET_ITEM(key, 0);
  const auto count = PyTuple_GET_SIZE(key);

  return count > 1 && is_array(parts[0]) && is_mask_array(parts[0]) &&
         std::all_of(parts + 1, parts + count, is_all);
}

// To search more flags is worth a task of several processors.
inline constexpr std::int64_t MOST_SEARCHED = std::int64_t{1} << 20;

inline constexpr auto FLAGS = static_cast<std::int64_t>(sizeof(std::uint64_t));
inline constexpr std::uint64_t ALL_SET = 0x0101010101010101;

// Adds the distances of elements that are a step apart and whose flags are set; returns where the
// next one goes. Flags are hard to predict, but where many in a row are alike.
inline std::int64_t* add_selected(const std::uint8_t* flags, std::int64_t count,
                                  std::int64_t distance, std::int64_t step, std::int64_t* to) {
  for (std::int64_t at = 0; at < count;) {
    const auto end = std::min(count, at + FLAGS);
    std::uint64_t word = 1;

    if (end - at == FLAGS) std::memcpy(&word, flags + at, sizeof(word));
    if (word == 0) {
      at = end;
    } else if (word == ALL_SET) {
      for (; at < end; ++at) *to++ = distance + at * step;
    }
    for (; at < end; ++at) {
      *to = distance + at * step;
      to += flags[at] != 0;
    }
  }
  return to;
}

// Calls `visit` with the distance of the first element of each row from the first one of all, in
// row-major order.
template <typename Visit>
void for_each_row(const Form& form, const Strides& strides, const Visit& visit) {
  std::array<std::int64_t, LEGATE_MAX_DIM> index{};
  std::int64_t distance = 0;
  const auto rows = form.dim == 0 ? 1 : form.volume / form.extents[form.dim - 1];

  for (std::int64_t row = 0; row < rows; ++row) {
    visit(distance);
    for (auto d = form.dim - 1; d-- > 0;) {
      distance += strides[d];
      if (++index[d] < form.extents[d]) break;
      distance -= index[d] * strides[d];
      index[d] = 0;
    }
  }
}

// Calls `visit` with the rows of an array of integers, in row-major order: a zero of their type,
// where the first one is, how many there are, and how many bytes apart. False if an int64 does not
// have all of the type.
template <typename Visit>
bool for_each_row_of_integers(const LocalOperand& integers, const Visit& visit) {
  const auto strides = integers.byte_strides();
  const auto& form = integers.form;
  const auto* const first = first_element(integers);
  const auto count = form.dim == 0 ? 1 : form.extents[form.dim - 1];
  const auto step = form.dim == 0 ? 0 : strides[form.dim - 1];

  return with_integer(number_type(integers.dtype), [&](auto like) {
    if constexpr (std::is_same_v<decltype(like), std::uint64_t>) return false;
    if (integers.is_in_order()) {
      visit(like, first, form.volume, std::int64_t{sizeof(like)});
    } else if (form.volume > 0) {
      for_each_row(form, strides,
                   [&](std::int64_t distance) { visit(like, first + distance, count, step); });
    }
    return true;
  });
}

// Calls `visit` with what copies an element of so many bytes.
template <typename Visit>
void with_copy(std::int64_t itemsize, const Visit& visit) {
  const auto copy = [](auto size) {
    return [](char* to, const char* from) { std::memcpy(to, from, decltype(size)::value); };
  };

  switch (itemsize) {
    case 1:
      return visit(copy(std::integral_constant<std::size_t, 1>{}));
    case 2:
      return visit(copy(std::integral_constant<std::size_t, 2>{}));
    case 4:
      return visit(copy(std::integral_constant<std::size_t, 4>{}));
    case 8:
      return visit(copy(std::integral_constant<std::size_t, 8>{}));
    default:
      return visit([size = static_cast<std::size_t>(itemsize)](char* to, const char* from) {
        std::memcpy(to, from, size);
      });
  }
}

// How many dimensions an array of an index takes the place of; 0 if that is unknown.
inline std::int64_t dims_indexed_by(PyObject* array) {
  return is_mask_array(array) ? dim_of(array) : 1;
}

// An array among the parts of an index: integers along a dimension, or a mask along one or several,
// which is where its flags are set.
class IndexArray {
 public:
  // Adds its shape to that of all places; false if it is not here, or not for these dimensions of
  // the operand, the first of which is given.
  bool look(PyObject* array, const LocalOperand& operand, std::int64_t first, Shape& places) {
    view_ = view_of(array);
    if (!view_.is_valid()) return false;
    is_mask_ = is_mask_array(array);
    if (!is_mask_) return elements_.is_here(view_.ptr(), false) && places.add(elements_.form);
    if (!elements_.is_in_process(view_.ptr(), false)) return false;

    auto form = elements_.form;

    if (form.volume == 0 || form.volume > MOST_SEARCHED || first + form.dim > operand.form.dim ||
        !are_alike(form.extents, operand.form.extents + first, form.dim)) {
      return false;
    }

    const InOrder<std::uint8_t> flags{elements_};
    const auto count = count_set(flags.elements, flags.count);

    select(form, flags.elements, count, operand.byte_strides().data() + first);
    form.dim = 1;
    form.extents = &count;
    return places.add(form);
  }

  [[nodiscard]] bool is_of(const LocalOperand& operand) const {
    return elements_.root == operand.root;
  }

  // Whether the places are integers, one behind the other.
  [[nodiscard]] bool are_integers_in_order() const { return !is_mask_ && elements_.is_in_order(); }

  // Copies what is at such integers along a dimension; false if one of them is outside.
  bool gather(char* to, const char* from, std::int64_t extent, std::int64_t stride,
              std::int64_t itemsize) const {
    bool are_inside = false;
    const auto copy_all = [&](auto integer, const char* next, std::int64_t count, std::int64_t) {
      with_copy(itemsize, [&](const auto& copy) {
        are_inside = gather_with(copy, integer, next, count, to, from, extent, stride, itemsize);
      });
    };

    return for_each_row_of_integers(elements_, copy_all) && are_inside;
  }

  // Adds the distance of each place from the first element of a dimension; false if one of the
  // integers is outside.
  bool add_to(std::vector<std::int64_t>& distances, const Shape& places, std::int64_t extent,
              std::int64_t stride) {
    if (!is_mask_) return add_integers(distances, places, extent, stride);

    const auto row = static_cast<std::size_t>(places.extents[places.dim - 1]);

    for (std::size_t at = 0; at < distances.size(); ++at) {
      distances[at] += selected_[selected_.size() == 1 ? 0 : at % row];
    }
    return true;
  }

 private:
  // All by value: what is captured, elements that are written might be.
  template <typename Copy, typename Integer>
  static bool gather_with(Copy copy, Integer integer, const char* next, std::int64_t count,
                          char* to, const char* from, std::int64_t extent, std::int64_t stride,
                          std::int64_t itemsize) {
    bool are_inside = true;

    for (auto* const end = to + count * itemsize; to < end; to += itemsize) {
      std::memcpy(&integer, next, sizeof(integer));
      next += sizeof(integer);

      const auto place = static_cast<std::int64_t>(integer) + (integer < 0 ? extent : 0);
      const auto is_inside = static_cast<std::uint64_t>(place) < static_cast<std::uint64_t>(extent);

      are_inside &= is_inside;
      copy(to, from + (is_inside ? place : 0) * stride);
    }
    return are_inside;
  }

  // Finds how far what `count` flags of a mask select is from the first element, in bytes.
  void select(const Form& mask, const std::uint8_t* flags, std::int64_t count,
              const std::int64_t* byte_strides) {
    const auto last = mask.dim - 1;
    Strides strides{};

    // the last flags may not be set
    selected_.resize(static_cast<std::size_t>(count) + 1);
    std::copy_n(byte_strides, mask.dim, strides.begin());

    auto* to = selected_.data();

    for_each_row(mask, strides, [&](std::int64_t distance) {
      to = add_selected(flags, mask.extents[last], distance, strides[last], to);
      flags += mask.extents[last];
    });
    selected_.pop_back();
  }

  bool add_integers(std::vector<std::int64_t>& distances, const Shape& places, std::int64_t extent,
                    std::int64_t stride) {
    auto* to = distances.data();
    bool are_inside = true;

    return elements_.broadcast(places.extents.data(), places.dim) &&
           for_each_row_of_integers(
               elements_,
               [&](auto integer, const char* from, std::int64_t count, std::int64_t step) {
                 // not as they are captured: distances that are written might be those
                 const auto own_extent = extent, own_stride = stride;
                 auto* next = to;
                 bool is_inside = true;

                 to += count;
                 for (auto* const end = to; next < end; from += step) {
                   std::memcpy(&integer, from, sizeof(integer));

                   const auto place =
                       static_cast<std::int64_t>(integer) + (integer < 0 ? own_extent : 0);

                   is_inside &= place >= 0 && place < own_extent;
                   *next++ += place * own_stride;
                 }
                 are_inside &= is_inside;
               }) &&
           are_inside;
  }

  nanobind::object view_;
  LocalOperand elements_;
  bool is_mask_{};
  std::vector<std::int64_t> selected_;  // distances in bytes
};

}  // namespace legate_diffuse
