// SPDX-License-Identifier: Apache-2.0

#include "process/mask.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/numbers.h"
#include "process/runs.h"
#include "program/elements.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// To search more elements is worth a task of several processors.
constexpr std::int64_t MOST_SEARCHED = std::int64_t{1} << 20;

// Elements at equal distances, and flags that say which of them a mask selects.
struct Row {
  char* element;
  const char* flag;
  std::int64_t count, step, flag_step;
};

// Calls `visit` with each row of elements and of a mask of the same shape.
template <typename Visit>
void for_each_row(const LocalOperand& array, const LocalOperand& mask, std::int64_t dim,
                  char* element, const char* selected, const Visit& visit) {
  const auto itemsize = array.small->shape().itemsize;
  const auto is_last = dim + 1 == array.form.dim;
  const auto step = array.repeats ? 0 : array.form.strides[dim] * itemsize;
  const auto mask_step = mask.repeats ? 0 : mask.form.strides[dim];

  if (is_last) {
    visit(Row{element, selected, array.form.extents[dim], step, mask_step});
    return;
  }
  for (std::int64_t i = 0; i < array.form.extents[dim]; ++i) {
    for_each_row(array, mask, dim + 1, element + i * step, selected + i * mask_step, visit);
  }
}

constexpr auto FLAGS = static_cast<std::int64_t>(sizeof(std::uint64_t));
constexpr std::uint64_t ONE_IN_EACH_BYTE = 0x0101010101010101;

// How many of the flags in some words are set. Each byte of `found` counts those in its place.
std::int64_t count_in_words(const char* flags, std::int64_t words) {
  std::uint64_t found = 0, others = 0;

  for (std::int64_t i = 0; i < words; ++i) {
    std::uint64_t word;

    std::memcpy(&word, flags + i * FLAGS, sizeof(word));
    found += word & ONE_IN_EACH_BYTE;
    others |= word;
  }
  // all bits count
  if ((others & ~ONE_IN_EACH_BYTE) != 0) {
    return std::count_if(flags, flags + words * FLAGS, [](char flag) { return flag != 0; });
  }

  std::int64_t sum = 0;

  for (; found != 0; found >>= 8) sum += static_cast<std::int64_t>(found & 0xff);
  return sum;
}

std::int64_t count_of(const Row& row) {
  constexpr std::int64_t MOST_WORDS = 255;  // a byte counts no further
  std::int64_t found = 0, i = 0;

  while (row.flag_step == 1 && row.count - i >= FLAGS) {
    const auto words = std::min(MOST_WORDS, (row.count - i) / FLAGS);

    found += count_in_words(row.flag + i, words);
    i += words * FLAGS;
  }
  for (; i < row.count; ++i) found += row.flag[i * row.flag_step] != 0;
  return found;
}

// Which of as many flags as a word has, from one on, are set.
enum class Flags { NONE, ALL, SOME };

Flags flags_at(const Row& row, std::int64_t from) {
  std::uint64_t word = 0;

  if (row.flag_step != 1 || from + FLAGS > row.count) return Flags::SOME;
  std::memcpy(&word, row.flag + from, sizeof(word));
  if (word == 0) return Flags::NONE;
  return word == ONE_IN_EACH_BYTE ? Flags::ALL : Flags::SOME;
}

// How many flags from one on are not set, in multiples of several words'.
std::int64_t num_unset(const Row& row, std::int64_t from) {
  std::array<std::uint64_t, 8> words;
  auto i = from;

  for (; i + static_cast<std::int64_t>(sizeof(words)) <= row.count; i += sizeof(words)) {
    std::memcpy(words.data(), row.flag + i, sizeof(words));
    if (std::accumulate(words.begin(), words.end(), std::uint64_t{0}, std::bit_or<>{}) != 0) break;
  }
  return i - from;
}

// Calls `several(first, count)` for elements of a row that follow each other and are selected, and
// `one(i, is_selected)` for those with neighbours of both kinds, as flags are hard to predict,
// until `left` elements were selected. Returns how many are left then.
template <typename One, typename Several>
std::int64_t visit_selected(const Row& row, std::int64_t left, const One& one,
                            const Several& several) {
  for (std::int64_t i = 0; i < row.count && left > 0;) {
    const auto flags = flags_at(row, i);

    if (flags == Flags::NONE) {
      i += std::max(FLAGS, num_unset(row, i));
      continue;
    }
    if (flags == Flags::ALL && left >= FLAGS) {
      auto count = FLAGS;

      while (count + FLAGS <= left && flags_at(row, i + count) == Flags::ALL) count += FLAGS;
      several(i, count);
      i += count;
      left -= count;
      continue;
    }
    for (const auto end = std::min(row.count, i + FLAGS); i < end && left > 0; ++i) {
      const std::int64_t is_selected = row.flag[i * row.flag_step] != 0;

      one(i, is_selected);
      left -= is_selected;
    }
  }
  return left;
}

// Copies what is selected one after the other. Nothing is written past the last element, of `left`.
template <std::int64_t SIZE>
void copy_selected(const Row row, char*& result, std::int64_t& left) {
  auto* to = result;

  left = visit_selected(
      row, left,
      [&](std::int64_t i, std::int64_t is_selected) {
        std::memcpy(to, row.element + i * row.step, SIZE);
        to += is_selected * SIZE;
      },
      [&](std::int64_t first, std::int64_t count) {
        const auto step = SIZE;

        copy_elements(to, &step, row.element + first * row.step, &row.step, 1, &count, SIZE);
        to += count * SIZE;
      });
  result = to;
}

// Copies elements at equal distances, as many as are left, to those that are selected.
template <std::int64_t SIZE>
void put_to_selected(const Row row, const char*& source, std::int64_t step, std::int64_t& left) {
  const auto* from = source;

  left = visit_selected(
      row, left,
      [&](std::int64_t i, std::int64_t is_selected) {
        std::array<char, SIZE> value;
        auto* const to = row.element + i * row.step;

        std::memcpy(value.data(), is_selected ? from : to, SIZE);
        std::memcpy(to, value.data(), SIZE);
        from += is_selected * step;
      },
      [&](std::int64_t first, std::int64_t count) {
        copy_elements(row.element + first * row.step, &row.step, from, &step, 1, &count, SIZE);
        from += count * step;
      });
  source = from;
}

// Calls a function with the size of an element as a constant; false for sizes that no type has.
template <typename Call>
bool with_size(std::int64_t itemsize, const Call& call) {
  const auto fits = [&](auto size) {
    if (itemsize == size.value) call(size);
    return itemsize == size.value;
  };

  return (fits(std::integral_constant<std::int64_t, 1>{}) ||
          fits(std::integral_constant<std::int64_t, 2>{}) ||
          fits(std::integral_constant<std::int64_t, 4>{}) ||
          fits(std::integral_constant<std::int64_t, 8>{}) ||
          fits(std::integral_constant<std::int64_t, 16>{}));
}

// An array and a mask of the same shape.
class Selection {
 public:
  Selection(PyObject* array, PyObject* mask) : view_{view_of(array)}, mask_view_{view_of(mask)} {}

  // False if they are other ones, or elements are not here.
  bool look(bool changes) {
    return view_.is_valid() && mask_view_.is_valid() && array.is_in_process(view_.ptr(), changes) &&
           mask_.is_in_process(mask_view_.ptr(), false) &&
           array.form.volume <= (changes ? MOST_POINTS : MOST_SEARCHED) &&
           mask_.root != array.root && text_of(mask_.dtype) == "bool" && array.form.dim > 0 &&
           mask_.form.has_shape_of(array.form);
  }

  // Elements are changed only once `array` has memory of its own.
  template <typename Visit>
  void visit_rows(const Visit& visit) const {
    auto* const first = const_cast<char*>(first_element(array));

    if (array.is_in_order() && mask_.is_in_order()) {
      visit(Row{first, first_element(mask_), array.form.volume, array.small->shape().itemsize, 1});
      return;
    }
    for_each_row(array, mask_, 0, first, first_element(mask_), visit);
  }

  [[nodiscard]] std::int64_t count() const {
    std::int64_t found = 0;

    visit_rows([&](const Row& row) { found += count_of(row); });
    return found;
  }

  LocalOperand array;

 private:
  LocalOperand mask_;
  nb::object view_, mask_view_;
};

}  // namespace

PyObject* get_selected(const Function& function, PyObject* array, PyObject* mask) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  Selection selection{array, mask};
  LocalOperand target;

  if (!selection.look(false)) Py_RETURN_NONE;

  const auto* const signature = function.find({selection.array.dtype});
  const auto count = selection.count();

  // of many elements the rest may be computed as well, without a copy
  if (!signature || (selection.array.form.volume > MOST_POINTS &&
                     count * signature->itemsize > store_fields().most_bytes)) {
    Py_RETURN_NONE;
  }

  NewArray made{*signature, function.new_layout(&count, 1).ptr()};

  if (!made.has_room(target) || !selection.look(false) || selection.count() != count) {
    Py_RETURN_NONE;
  }

  Run run{"select"};

  target.small->reserve();

  auto* to = target.small->own_elements();
  auto left = count;
  const auto is_done = with_size(target.small->shape().itemsize, [&](auto size) {
    selection.visit_rows([&](const Row& row) { copy_selected<size.value>(row, to, left); });
  });

  if (!is_done) Py_RETURN_NONE;
  return made.done(target, run);
}

bool put_selected(PyObject* array, PyObject* mask, PyObject* value) {
  if (!arrays_are_ready() || !is_writeable(array)) return false;

  Selection selection{array, mask};
  LocalOperand source;
  ScalarBlock number{};
  const char* from = number.bytes.data();
  std::int64_t step = 0, left = std::numeric_limits<std::int64_t>::max();

  if (!selection.look(true) || selection.array.repeats) return false;

  const auto& target = selection.array;
  const auto itemsize = target.small->shape().itemsize;
  const auto other = view_of(value);

  if (is_assignable(value)) {
    if (!convert_for_assignment(value, number_type(target.dtype), number.bytes.data()))
      return false;
  } else {
    if (!other.is_valid() || !source.is_here(other.ptr(), false) || source.dtype != target.dtype ||
        source.root == target.root || source.form.dim != 1 ||
        source.form.volume != selection.count()) {
      return false;
    }
    left = source.form.volume;
    from = first_element(source);
    step = source.repeats ? 0 : source.form.strides[0] * itemsize;
  }

  Run run{"masked write"};

  target.small->own();

  const auto is_done = with_size(itemsize, [&](auto size) {
    selection.visit_rows(
        [&](const Row& row) { put_to_selected<size.value>(row, from, step, left); });
  });

  if (!is_done) return false;
  note_change(store_fields(), target);
  run.done();
  return true;
}

}  // namespace legate_diffuse
