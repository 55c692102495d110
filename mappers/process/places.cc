// SPDX-License-Identifier: Apache-2.0

#include "process/places.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/copying.h"
#include "process/element.h"
#include "process/extremes.h"
#include "process/index_arrays.h"
#include "process/numbers.h"
#include "process/runs.h"
#include "program/elements.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// So many elements are written here: to hand the arrays to a task takes longer.
constexpr std::int64_t MOST_WRITTEN = std::int64_t{1} << 20;

// What an index with arrays selects of an operand: at each of some places an element, or a row of
// them, along the dimensions that have no places.
class Places {
 public:
  // False if it is another index.
  bool read(PyObject* key) {
    if (!PyTuple_CheckExact(key)) {
      is_mask = is_mask_array(key);
      return dtype_of(key) && add(key, 0);
    }
    if (is_mask_of_rows(key)) {
      is_mask = true;
      num_behind = PyTuple_GET_SIZE(key) - 1;
      return add(PyTuple_GET_ITEM(key, 0), 0);
    }

    bool is_over = false, is_split = false, is_whole = true;
    std::int64_t dim = 0;

    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(key); ++at) {
      auto* const part = PyTuple_GET_ITEM(key, at);
      const auto is_places = is_array(part);

      if (std::int64_t index{}; is_places || read_index(part, index)) {
        is_split = is_split || is_over;
        if (axis_ < 0) axis_ = dim;
        if (is_places && !add(part, dim)) return false;
        if (is_places) dim += widths_[num_arrays_ - 1];
      } else if (part == Py_None || PySlice_Check(part)) {
        is_over = axis_ >= 0;
        ++dim;
      } else {
        return false;
      }
      is_whole = is_whole && is_places;
    }
    // where something comes between them, the dimensions of places are the first ones
    if (is_split) axis_ = 0;
    if (num_arrays_ > 0 && !is_whole) basic_ = basic_part(key);
    return num_arrays_ > 0;
  }

  // The index with all elements in the place of arrays; null if that is the whole array.
  [[nodiscard]] PyObject* basic() const { return basic_.ptr(); }

  // Finds the places in what the basic index shows; false if arrays are not here, or have others.
  bool find(const LocalOperand& operand, bool changes) {
    return is_mask ? find_selected(operand, changes) : find_along(operand, changes);
  }

  // Copies elements between the places, at one end, and others one after the other, the strides of
  // which are those of `shape`. `move` is called with what copies, and both distances.
  template <typename Move>
  void move_all(const Strides& to, const Strides& from, std::int64_t step, std::int64_t itemsize,
                const Move& move) const {
    const auto visit = [&](const auto& copy) {
      std::int64_t other = 0;

      for (const auto distance : distances_) {
        move(copy, distance, other);
        other += step;
      }
    };

    if (row.dim == 0) return with_copy(itemsize, visit);
    visit([&](char* target, const char* source) {
      copy_elements(target, to.data(), source, from.data(), row.dim, row.extents.data(),
                    static_cast<std::size_t>(itemsize));
    });
  }

  // Whether elements of a vector are at integers that are one behind the other. They are copied
  // without distances.
  [[nodiscard]] bool is_gather() const { return is_gather_; }

  // Copies them; false if one of the integers is outside, or they have changed.
  bool gather(const LocalOperand& operand, char* to) {
    IndexArray integers;
    Shape found;

    return integers.look(arrays_[0], operand, 0, found) && integers.are_integers_in_order() &&
           found.volume() == volume &&
           integers.gather(to, first_element(operand), operand.form.extents[0],
                           operand.byte_strides()[0], operand.small->shape().itemsize);
  }

  // How far the others of one place are from those of the next, which are in line.
  [[nodiscard]] std::int64_t step(const Strides& others) const {
    return others[axis_ + places.dim - 1];
  }

  // The strides of the others along a row.
  [[nodiscard]] Strides along_row(const Strides& others) const {
    Strides found{};

    std::copy_n(others.begin() + axis_ + places.dim, row.dim - axis_,
                std::copy_n(others.begin(), axis_, found.begin()));
    return found;
  }

  bool is_mask{};
  std::int64_t num_behind{};  // dimensions that an index names behind a mask
  Shape shape;                // of all that is selected
  Shape places;               // and of the places alone
  Shape row;
  Strides row_strides{};
  std::int64_t volume{};

 private:
  bool add(PyObject* array, std::int64_t dim) {
    const auto width = dims_indexed_by(array);

    if (num_arrays_ == LEGATE_MAX_DIM || width == 0) return false;
    if (axis_ < 0) axis_ = dim;
    arrays_[num_arrays_] = array;
    widths_[num_arrays_] = width;
    dims_[num_arrays_++] = dim;
    return true;
  }

  [[nodiscard]] nb::object basic_part(PyObject* key) const {
    static auto* const all = PySlice_New(nullptr, nullptr, nullptr);
    auto* const begin = widths_.begin();
    const auto added = std::accumulate(begin, begin + num_arrays_, std::int64_t{}) -
                       static_cast<std::int64_t>(num_arrays_);
    auto made = owned(PyTuple_New(PyTuple_GET_SIZE(key) + added));
    auto* width = begin;

    for (Py_ssize_t at = 0, to = 0; at < PyTuple_GET_SIZE(key); ++at) {
      auto* const part = PyTuple_GET_ITEM(key, at);
      const auto is_places = is_array(part);

      for (auto count = is_places ? *width++ : 1; count > 0; --count) {
        PyTuple_SET_ITEM(made.ptr(), to++, Py_NewRef(is_places ? all : part));
      }
    }
    return made;
  }

  // Elements at the set flags of a mask of the operand's shape, or rows, of its first dimensions.
  bool find_selected(const LocalOperand& operand, bool changes) {
    const auto view = view_of(arrays_[0]);
    auto form = operand.form;
    LocalOperand mask;

    if (!view.is_valid() || !mask.is_in_process(view.ptr(), false) || mask.root == operand.root ||
        form.volume == 0 || mask.form.dim == 0 || mask.form.dim + num_behind > form.dim ||
        // to put a number to many elements is a loop
        form.volume > (changes && mask.form.dim == form.dim ? MOST_POINTS : MOST_SEARCHED)) {
      return false;
    }

    const auto strides = operand.byte_strides();
    const InOrder<std::uint8_t> all{mask};
    const auto* flags = all.elements;
    const auto count = count_set(flags, all.count);

    form.dim = mask.form.dim;
    form.volume = all.count;
    if (!mask.form.has_shape_of(form)) return false;
    // of many elements the rest may be computed as well, without a copy
    if (operand.form.volume > MOST_POINTS &&
        count * operand.small->shape().itemsize > store_fields().most_bytes) {
      return false;
    }
    // the last flags may not be set
    distances_.resize(static_cast<std::size_t>(count) + 1);

    const auto last = form.dim - 1;
    const auto row_count = operand.is_in_order() ? form.volume : form.extents[last];
    auto* to = distances_.data();

    if (operand.is_in_order()) form.volume = form.extents[last];
    for_each_row(form, strides, [&](std::int64_t distance) {
      to = add_selected(flags, row_count, distance, strides[last], to);
      flags += row_count;
    });
    distances_.pop_back();
    places = {1, {count}};
    for (auto d = form.dim; d < operand.form.dim; ++d) keep(operand, d);
    return join_shapes();
  }

  // Elements, or rows, at integers or at the set flags of masks along some dimensions.
  bool find_along(const LocalOperand& operand, bool changes) {
    const auto& form = operand.form;
    const auto strides = operand.byte_strides();
    std::array<IndexArray, LEGATE_MAX_DIM> along;

    if (dims_[num_arrays_ - 1] + widths_[num_arrays_ - 1] > form.dim) return false;
    for (std::size_t at = 0; at < num_arrays_; ++at) {
      if (!along[at].look(arrays_[at], operand, dims_[at], places) ||
          (changes && along[at].is_of(operand))) {
        return false;
      }
    }
    is_gather_ = !changes && form.dim == 1 && along[0].are_integers_in_order();
    if (is_gather_) return join_shapes();
    distances_.resize(static_cast<std::size_t>(places.volume()));
    for (std::size_t at = 0; at < num_arrays_; ++at) {
      if (!along[at].add_to(distances_, places, form.extents[dims_[at]], strides[dims_[at]])) {
        return false;
      }
    }
    for (std::int64_t d = 0, at = 0; d < form.dim; ++d) {
      if (at < static_cast<std::int64_t>(num_arrays_) && d == dims_[at]) {
        d += widths_[at++] - 1;
      } else {
        keep(operand, d);
      }
    }
    return join_shapes();
  }

  // Lets what is selected go on along a dimension.
  void keep(const LocalOperand& operand, std::int64_t d) {
    row_strides[row.dim] = operand.byte_strides()[d];
    row.extents[row.dim++] = operand.form.extents[d];
  }

  bool join_shapes() {
    volume = places.volume() * row.volume();
    shape.dim = places.dim + row.dim;
    if (places.dim == 0 || shape.dim > LEGATE_MAX_DIM) return false;

    auto* to = std::copy_n(row.extents.begin(), axis_, shape.extents.begin());

    to = std::copy_n(places.extents.begin(), places.dim, to);
    std::copy_n(row.extents.begin() + axis_, row.dim - axis_, to);
    return true;
  }

  std::array<PyObject*, LEGATE_MAX_DIM> arrays_;
  std::array<std::int64_t, LEGATE_MAX_DIM> dims_;    // the first along which they have places
  std::array<std::int64_t, LEGATE_MAX_DIM> widths_;  // along how many they have
  std::size_t num_arrays_{};
  bool is_gather_{};
  std::int64_t axis_{-1};  // the first dimension of places among those of the shape
  nb::object basic_;
  std::vector<std::int64_t> distances_;  // of the places from the operand's first element, in bytes
};

}  // namespace

PyObject* get_at_places(const Function& function, PyObject* array, PyObject* key) {
  Places places;

  if (!arrays_are_ready() || !places.read(key)) Py_RETURN_NONE;

  Copying copying{places.is_mask ? "select" : "take"};

  if (!copying.look_at(array, places.basic()) || !places.find(copying.source, false)) {
    Py_RETURN_NONE;
  }

  const auto itemsize = copying.itemsize();

  if (places.volume > MOST_POINTS) Py_RETURN_NONE;
  if (places.is_gather()) {
    return copying.make(function, places.shape,
                        [&](char* to) { return places.gather(copying.source, to); });
  }
  return copying.make(function, places.shape, [&](char* to) {
    const auto strides = row_major_strides(places.shape.dim, places.shape.extents.data(), itemsize);
    const auto* const from = copying.from();

    places.move_all(places.along_row(strides), places.row_strides, places.step(strides), itemsize,
                    [=](const auto& copy, std::int64_t distance, std::int64_t other) {
                      copy(to + other, from + distance);
                    });
  });
}

bool put_at_places(PyObject* array, PyObject* key, PyObject* value) {
  Places places;

  if (!arrays_are_ready() || !places.read(key) || !is_writeable(array)) return false;

  const auto view = view_of(array), value_view = view_of(value);
  LocalOperand target, source;

  if (!view.is_valid() || !target.is_in_process(view.ptr(), true) ||
      (places.basic() && !target.index(places.basic())) || !places.find(target, true) ||
      places.volume > MOST_WRITTEN) {
    return false;
  }

  const auto& [dim, extents] = places.shape;
  const auto itemsize = target.small->shape().itemsize;
  ScalarBlock number{};
  const char* from = number.bytes.data();
  Strides strides{};
  std::vector<char> copied;
  const auto are_rows = places.is_mask && places.row.dim > 0;

  if (are_rows && places.volume == 0) return false;
  if (is_assignable(value)) {
    if (!convert_for_assignment(value, number_type(target.dtype), number.bytes.data())) {
      return false;
    }
  } else if (!value_view.is_valid() || !source.is_here(value_view.ptr(), false) ||
             source.dtype != target.dtype ||
             (places.is_mask && !are_rows &&
              (source.form.dim != 1 || source.form.volume != places.volume)) ||
             !source.broadcast(extents.data(), dim)) {
    return false;
  } else {
    from = first_element(source);
    strides = source.byte_strides();
    if (source.root == target.root || places.places.dim > 1) {
      const auto in_order = row_major_strides(dim, extents.data(), itemsize);

      copied.resize(static_cast<std::size_t>(places.volume * itemsize));
      source.copy_to(copied.data());
      from = copied.data();
      strides = in_order;
    }
  }

  Run run{places.is_mask ? "masked write" : "scatter"};
  auto* const to = first_own_element(target);

  // what comes twice keeps what comes last
  places.move_all(places.row_strides, places.along_row(strides), places.step(strides), itemsize,
                  [=](const auto& copy, std::int64_t distance, std::int64_t other) {
                    copy(to + distance, from + other);
                  });
  note_change(store_fields(), target);
  run.done();
  return true;
}

}  // namespace legate_diffuse
