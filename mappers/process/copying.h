// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/function.h"
#include "process/runs.h"
#include "program/elements.h"
#include "threads/copying.h"

namespace legate_diffuse {

// To copy so many bytes takes longer than to let two arrays share them.
constexpr std::int64_t LEAST_SHARED = 1 << 15;

using Extents = std::array<std::int64_t, LEGATE_MAX_DIM>;

// Elements in row-major order: those of the array, or a copy.
template <typename T>
class InOrder {
 public:
  explicit InOrder(const LocalOperand& operand)
      : elements{reinterpret_cast<const T*>(first_element(operand))}, count{operand.form.volume} {
    const auto& form = operand.form;

    if (operand.is_in_order() || count == 1) return;
    copy_.resize(static_cast<std::size_t>(count));
    copy_elements(reinterpret_cast<char*>(copy_.data()),
                  row_major_strides(form.dim, form.extents, sizeof(T)).data(),
                  first_element(operand), operand.byte_strides().data(), form.dim, form.extents,
                  sizeof(T));
    elements = copy_.data();
  }

  const T* elements;
  std::int64_t count;

 private:
  std::vector<T> copy_;
};

// A source and a new array for its elements in some shape.
class Copying {
 public:
  explicit Copying(const char* name) : name_{name} {}

  // False if the elements of the array, at a basic index if one is given, are not here, or there
  // are none.
  bool look_at(PyObject* array, PyObject* key = nullptr) {
    view_ = view_of(array);
    key_ = key;
    return view_.is_valid() && look() && source.form.volume > 0;
  }

  // False if that is left to Python. `dtype` is the type of the new array, if it is another one.
  bool make(const Function& function, const Shape& shape, std::string_view dtype = {}) {
    const auto* const signature =
        dtype.empty() ? function.find({source.dtype}) : function.find(dtype);

    if (!signature) return false;

    NewArray made{*signature, function.new_layout(shape.extents.data(), shape.dim).ptr()};

    if (!made.is_here(target) || !look()) return false;
    array_ = std::move(made.array);
    strides = source.byte_strides();
    run_.emplace(name_);
    target.small->reserve();
    return true;
  }

  // The same, where it uses the memory of the source until either changes. False also if they
  // cannot, or it is better copied.
  bool share(const Function& function, const Shape& shape) {
    const auto* const signature = function.find({source.dtype});

    if (!signature || source.form.volume * itemsize() < LEAST_SHARED) return false;

    NewArray made{*signature, function.new_layout(shape.extents.data(), shape.dim).ptr()};
    auto& elements = lazy_thunk(made.view.ptr())->elements;

    if (!look() || !source.small->is_valid() || !source.is_in_order() ||
        !elements.share(*source.small, from()) || !arrays_are_ready() ||
        !target.is_in_process(made.view.ptr(), true)) {
      return false;
    }
    array_ = std::move(made.array);
    run_.emplace(name_);
    return true;
  }

  // That of the source.
  [[nodiscard]] Shape shape() const {
    Shape found{source.form.dim, {}};

    std::copy(source.form.extents, source.form.extents + found.dim, found.extents.begin());
    return found;
  }

  [[nodiscard]] std::int64_t itemsize() const { return source.small->shape().itemsize; }

  [[nodiscard]] const char* from() const { return first_element(source); }

  // Copies all elements in row-major order of the source, the first of which is at `from`.
  [[nodiscard]] PyObject* all_from(const char* from) {
    const auto& form = source.form;

    copy_by_threads(target.small->own_elements(),
                    row_major_strides(form.dim, form.extents, itemsize()).data(), from,
                    strides.data(), form.dim, form.extents, itemsize());
    return done();
  }

  [[nodiscard]] PyObject* done() {
    target.small->set_changed();
    run_->done();
    return array_.release().ptr();
  }

  LocalOperand source, target;
  Strides strides{};  // of the source, in bytes

 private:
  bool look() { return source.is_in_process(view_.ptr(), false) && (!key_ || source.index(key_)); }

  const char* name_;
  PyObject* key_{};
  nanobind::object view_, array_;
  std::optional<Run> run_;
};

}  // namespace legate_diffuse
