// SPDX-License-Identifier: Apache-2.0

#include "process/mask.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/numbers.h"
#include "process/runs.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Calls `visit` with the place of each element of `form` that a mask of the same shape selects, in
// row-major order.
template <typename Visit>
void for_each_selected(const LocalOperand& array, const LocalOperand& mask, std::int64_t dim,
                       char* element, const char* selected, const Visit& visit) {
  const auto itemsize = array.small->shape().itemsize;
  const auto is_last = dim + 1 == array.form.dim;
  const auto step = array.repeats ? 0 : array.form.strides[dim] * itemsize;
  const auto mask_step = mask.repeats ? 0 : mask.form.strides[dim];

  for (std::int64_t i = 0; i < array.form.extents[dim]; ++i) {
    auto* const place = element + i * step;
    const auto* const flag = selected + i * mask_step;

    if (!is_last) {
      for_each_selected(array, mask, dim + 1, place, flag, visit);
    } else if (*flag) {
      visit(place);
    }
  }
}

template <typename Visit>
void for_each_selected(const LocalOperand& array, const LocalOperand& mask, const Visit& visit) {
  for_each_selected(array, mask, 0, first_element(array), first_element(mask), visit);
}

// An array and a mask of the same shape.
class Selection {
 public:
  Selection(PyObject* array, PyObject* mask) : view_{view_of(array)}, mask_view_{view_of(mask)} {}

  // False if they are other ones, or elements are not here.
  bool look(bool changes) {
    return view_.is_valid() && mask_view_.is_valid() && array.is_here(view_.ptr(), changes) &&
           mask_.is_here(mask_view_.ptr(), false) && mask_.root != array.root &&
           text_of(mask_.dtype) == "bool" && array.form.dim > 0 &&
           mask_.form.has_shape_of(array.form);
  }

  template <typename Visit>
  void visit(const Visit& visit) const {
    for_each_selected(array, mask_, visit);
  }

  [[nodiscard]] std::int64_t count() const {
    std::int64_t found = 0;

    visit([&](const char*) { ++found; });
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

  const auto* const signature = function.find({selection.array.dtype}, 1);
  const auto count = selection.count();

  if (!signature) Py_RETURN_NONE;

  NewArray made{*signature, function.new_layout(&count, 1).ptr()};

  if (!made.is_here(target) || !selection.look(false) || selection.count() != count) {
    Py_RETURN_NONE;
  }

  const auto itemsize = target.small->shape().itemsize;
  Run run{"select"};

  target.small->reserve();

  auto* to = target.small->elements();

  selection.visit([&](const char* element) {
    std::memcpy(to, element, itemsize);
    to += itemsize;
  });
  target.small->set_changed();
  run.done();
  return made.array.release().ptr();
}

bool put_selected(PyObject* array, PyObject* mask, PyObject* value) {
  if (!arrays_are_ready() || !is_writeable(array)) return false;

  Selection selection{array, mask};
  LocalOperand source;
  ScalarBlock number{};
  const char* from = number.bytes.data();
  std::int64_t step = 0;

  if (!selection.look(true) || selection.array.repeats) return false;

  const auto& target = selection.array;
  const auto itemsize = target.small->shape().itemsize;
  const auto other = view_of(value);

  if (is_assignable(value)) {
    if (!convert_for_assignment(value, text_of(target.dtype), number.bytes.data())) return false;
  } else {
    if (!other.is_valid() || !source.is_here(other.ptr(), false) || source.dtype != target.dtype ||
        source.root == target.root || source.form.dim != 1 ||
        source.form.volume != selection.count()) {
      return false;
    }
    from = first_element(source);
    step = source.repeats ? 0 : source.form.strides[0] * itemsize;
  }

  Run run{"masked write"};

  selection.visit([&](char* element) {
    std::memcpy(element, from, itemsize);
    from += step;
  });
  note_change(store_fields(), target);
  run.done();
  return true;
}

}  // namespace legate_diffuse
