// SPDX-License-Identifier: Apache-2.0

#include "process/shown.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/lazy_thunk.h"
#include "process/numbers.h"
#include "process/part.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// What an array shows; false if that is left to Python.
bool find(PyObject* array, Stores& whole, LocalOperand& operand) {
  if (!arrays_are_ready() || !is_array(array)) return false;
  whole = stores_to_index(array);
  return whole.view.is_valid() && arrays_are_ready() && operand.shows(whole.view.ptr());
}

// A list of axes is the index of a transpose (`part_of` in shortcuts/parts.py).
PyObject* in_order(Stores whole, LocalOperand& operand,
                   const std::array<std::int64_t, LEGATE_MAX_DIM>& axes) {
  const auto form = operand.form;
  auto key = nb::steal(PyList_New(form.dim));
  Strides extents{}, strides{};

  if (!key.is_valid()) throw nb::python_error();
  for (std::int64_t d = 0; d < form.dim; ++d) {
    auto* const axis = PyLong_FromLongLong(axes[d]);

    if (!axis) throw nb::python_error();
    PyList_SET_ITEM(key.ptr(), d, axis);
    extents[d] = form.extents[axes[d]];
    strides[d] = form.strides[axes[d]];
  }
  operand.show(form.dim, extents.data(), strides.data());
  return new_array(std::move(whole), key.ptr(), operand).release().ptr();
}

// None, one element where it may not be alone, and what must not be written to are the original's
// affair.
bool is_shown_natively(PyObject* array, const LocalOperand& operand, bool may_be_alone = false) {
  const auto volume = operand.form.volume;

  return (volume > 1 ? !operand.repeats : may_be_alone && volume == 1) && is_writeable(array);
}

// The shape of an array that is no part of which only elements were asked for; null if it is not
// known. Borrowed.
PyObject* known_shape(const LazyThunk& lazy) {
  if (!lazy.view) return array_fields().layout_shape.of(lazy.layout);
  // how many elements others have may not be known yet
  if (store_fields().fusable.of(store_fields().view_root.of(lazy.view)) != Py_True) return nullptr;
  return array_fields().view_shape.of(lazy.view);
}

// Layouts and views have tuples of a class of their own.
PyObject* plain_tuple(PyObject* shape) {
  return PyTuple_GetSlice(shape, 0, PyTuple_GET_SIZE(shape));
}

}  // namespace

PyObject* transposed(PyObject* array, PyObject* axes) {
  Stores whole;
  LocalOperand operand;

  if (!find(array, whole, operand)) Py_RETURN_NONE;

  const auto dim = operand.form.dim;
  std::array<std::int64_t, LEGATE_MAX_DIM> order{};
  std::array<bool, LEGATE_MAX_DIM> has_come{};

  if (dim == 1) return Py_NewRef(array);
  if (!is_shown_natively(array, operand)) Py_RETURN_NONE;

  const Items given{axes ? axes : Py_None};

  if (axes && (!given.are_listed() || given.size() != dim)) Py_RETURN_NONE;
  for (std::int64_t d = 0; d < dim; ++d) {
    const auto axis = axes ? axis_from(given[d], dim) : std::optional<std::int64_t>{dim - 1 - d};

    // the original knows what negative ones are
    if (!axis || (axes && *integer_from(given[d]) < 0) || std::exchange(has_come[*axis], true)) {
      Py_RETURN_NONE;
    }
    order[d] = *axis;
  }
  return in_order(std::move(whole), operand, order);
}

PyObject* with_swapped_axes(PyObject* array, PyObject* one, PyObject* other) {
  Stores whole;
  LocalOperand operand;

  if (!find(array, whole, operand) || !is_shown_natively(array, operand)) Py_RETURN_NONE;

  const auto dim = operand.form.dim;
  const auto first = axis_from(one, dim);
  const auto second = axis_from(other, dim);
  std::array<std::int64_t, LEGATE_MAX_DIM> order{};

  if (!first || !second || *first == *second) Py_RETURN_NONE;
  for (std::int64_t d = 0; d < dim; ++d) order[d] = d;
  std::swap(order[*first], order[*second]);
  return in_order(std::move(whole), operand, order);
}

PyObject* squeezed(PyObject* array, PyObject* axis) {
  Stores whole;
  LocalOperand operand;

  if (!find(array, whole, operand) || !is_shown_natively(array, operand)) Py_RETURN_NONE;

  const auto& form = operand.form;
  const auto is_one = axis && axis != Py_None;
  const auto along = is_one ? axis_from(axis, form.dim) : std::nullopt;

  if (is_one && (!along || form.extents[*along] != 1)) Py_RETURN_NONE;

  std::vector<std::int64_t> kept;

  for (std::int64_t d = 0; d < form.dim; ++d) {
    if (is_one ? d != *along : form.extents[d] != 1) kept.push_back(form.extents[d]);
  }
  return shown_in_shape(array, kept.data(), static_cast<std::int64_t>(kept.size()));
}

PyObject* expanded(PyObject* array, PyObject* axis) {
  Stores whole;
  LocalOperand operand;

  if (!find(array, whole, operand) || !is_shown_natively(array, operand, true)) Py_RETURN_NONE;

  const auto& form = operand.form;
  const auto at = axis_from(axis, form.dim + 1);
  std::vector<std::int64_t> extents(form.extents, form.extents + form.dim);

  if (!at || form.dim == LEGATE_MAX_DIM) Py_RETURN_NONE;
  extents.insert(extents.begin() + *at, 1);
  return shown_in_shape(array, extents.data(), static_cast<std::int64_t>(extents.size()));
}

PyObject* shown_in_shape(PyObject* array, const std::int64_t* extents, std::int64_t dim) {
  Stores whole;
  LocalOperand operand;

  if (!find(array, whole, operand)) Py_RETURN_NONE;

  const auto form = operand.form;

  if (form.dim == dim && std::equal(extents, extents + dim, form.extents)) return Py_NewRef(array);
  // of an element alone the original copies what has no dimensions
  if (!is_shown_natively(array, operand, dim > 0)) Py_RETURN_NONE;

  static auto* const all = PySlice_New(nullptr, nullptr, nullptr);
  static auto* const first = PyLong_FromLong(0);
  std::vector<PyObject*> parts;
  std::int64_t from = 0;

  for (std::int64_t d = 0; d < dim; ++d) {
    if (extents[d] == 1) {
      parts.push_back(Py_None);
      continue;
    }
    for (; from < form.dim && form.extents[from] == 1; ++from) parts.push_back(first);
    if (from == form.dim || form.extents[from++] != extents[d]) Py_RETURN_NONE;
    parts.push_back(all);
  }
  for (; from < form.dim && form.extents[from] == 1; ++from) parts.push_back(first);
  if (from < form.dim) Py_RETURN_NONE;

  const auto key = owned(PyTuple_New(static_cast<Py_ssize_t>(parts.size())));

  for (std::size_t at = 0; at < parts.size(); ++at) {
    PyTuple_SET_ITEM(key.ptr(), static_cast<Py_ssize_t>(at), Py_NewRef(parts[at]));
  }
  if (!operand.index(key.ptr())) Py_RETURN_NONE;
  return new_array(std::move(whole), key.ptr(), operand).release().ptr();
}

PyObject* shape_of(PyObject* array) {
  const auto* const lazy = thunk_of(array);

  if (!lazy) Py_RETURN_NONE;
  if (lazy->key) {
    const Form form{lazy->words.data()};

    return tuple_of(form.extents, form.dim).release().ptr();
  }

  auto* const shape = known_shape(*lazy);

  return shape ? plain_tuple(shape) : Py_NewRef(Py_None);
}

Py_ssize_t dim_of(PyObject* array) {
  const auto shape = nb::steal(shape_of(array));

  return shape.is_valid() && PyTuple_CheckExact(shape.ptr()) ? PyTuple_GET_SIZE(shape.ptr()) : 0;
}

PyObject* type_of(PyObject* array) {
  const auto* const lazy = thunk_of(array);

  return Py_NewRef(lazy ? lazy->dtype : Py_None);
}

bool is_real(PyObject* array) {
  const auto* const lazy = thunk_of(array);

  return lazy &&
         text_of(owned(PyObject_GetAttr(nb::borrow(lazy->dtype).ptr(), names().kind)).ptr()) != "c";
}

bool is_inexact(PyObject* dtype) {
  return dtype && (text_of(dtype)[0] == 'f' || text_of(dtype)[0] == 'c');
}

bool is_vector(PyObject* array) {
  return is_array(array) && length_of(array, 1).value_or(0) > 1;
}

PyObject* strides_of(PyObject* array) {
  Stores whole;
  LocalOperand operand;

  if (!find(array, whole, operand) || operand.repeats || operand.form.volume == 0 ||
      !operand.is_in_process()) {
    Py_RETURN_NONE;
  }
  return tuple_of(operand.byte_strides().data(), operand.form.dim).release().ptr();
}

std::optional<std::int64_t> length_of(PyObject* array, std::int64_t dim) {
  const auto* const lazy = thunk_of(array);

  if (!lazy) return {};
  if (lazy->key) {
    const Form form{lazy->words.data()};

    return form.dim > 0 && (dim == 0 || form.dim == dim) ? std::optional{form.extents[0]}
                                                         : std::nullopt;
  }

  auto* const shape = known_shape(*lazy);
  const auto own_dim = shape ? PyTuple_GET_SIZE(shape) : 0;

  if (own_dim == 0 || (dim != 0 && own_dim != dim)) return {};
  return integer_from(PyTuple_GET_ITEM(shape, 0));
}

}  // namespace legate_diffuse
