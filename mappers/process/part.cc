// SPDX-License-Identifier: Apache-2.0

#include "process/part.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/disjoint.h"
#include "process/element.h"
#include "process/function.h"
#include "process/guard.h"
#include "process/hosted.h"
#include "process/later.h"
#include "process/lazy_thunk.h"
#include "process/numbers.h"
#include "process/numpy_api.h"
#include "process/places.h"
#include "process/rearrange.h"
#include "process/result.h"
#include "process/runs.h"
#include "program/elements.h"
#include "threads/copying.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Never destroyed: arrays may outlive the interpreter.
const Function* new_arrays = nullptr;

// As many views are remembered with a view at most (stores/view.py).
constexpr Py_ssize_t MOST_DERIVED = 64;

bool is_bound(PyObject* object) {
  return object == Py_None || PyLong_CheckExact(object);
}

// A part of an index as layouts remember it (`_token` in shortcuts/parts.py); empty for others.
nb::object token_of_part(PyObject* part) {
  if (part == Py_None || PyLong_CheckExact(part)) return nb::borrow(part);
  if (!PySlice_Check(part)) return {};

  const auto& slice = *reinterpret_cast<PySliceObject*>(part);

  if (slice.step != Py_None || !is_bound(slice.start) || !is_bound(slice.stop)) return {};
  return nb::steal(PyTuple_Pack(2, slice.start, slice.stop));
}

nb::object token_of(PyObject* key) {
  const auto is_tuple = PyTuple_CheckExact(key);
  const auto count = is_tuple ? PyTuple_GET_SIZE(key) : 1;
  auto token = owned(PyTuple_New(count));

  for (Py_ssize_t d = 0; d < count; ++d) {
    auto part = token_of_part(is_tuple ? PyTuple_GET_ITEM(key, d) : key);

    if (!part.is_valid()) return {};
    PyTuple_SET_ITEM(token.ptr(), d, part.release().ptr());
  }
  return token;
}

void copy_to(LocalOperand& target, const char* from, const Strides& strides) {
  const auto& form = target.form;

  if (form.volume == 0) return;

  Run run{form.dim == 0 ? "write" : "copy"};
  const auto itemsize = target.small->shape().itemsize;
  auto* const to = first_own_element(target);

  if (form.dim == 0) {
    std::memcpy(to, from, static_cast<std::size_t>(itemsize));
  } else {
    copy_by_threads(to, target.byte_strides().data(), from, strides.data(), form.dim, form.extents,
                    itemsize);
  }
  note_change(store_fields(), target);
  run.done();
}

using Dims = std::vector<std::pair<std::int64_t, std::int64_t>>;

// The extents and strides of a part, in order of the strides.
Dims dims_of(const Form& form) {
  Dims dims;

  for (std::int64_t d = 0; d < form.dim; ++d) {
    if (form.extents[d] > 1) dims.emplace_back(form.strides[d], form.extents[d]);
  }
  std::sort(dims.begin(), dims.end());
  return dims;
}

// Copies a part of an array to another one that has some of its elements: first to memory of its
// own, as the original does. False if both have the same elements, of which it copies none.
bool copy_overlapping(LocalOperand& target, const LocalOperand& source) {
  const auto& form = source.form;
  const auto itemsize = source.small->shape().itemsize;

  if (form.offset == target.form.offset && dims_of(form) == dims_of(target.form)) return false;

  std::vector<char> copied(static_cast<std::size_t>(form.volume * itemsize));
  const auto strides = row_major_strides(form.dim, form.extents, itemsize);
  Run run{"copy"};

  source.copy_to(copied.data());
  run.done();
  copy_to(target, copied.data(), strides);
  return true;
}

bool put_number(LocalOperand& target, PyObject* value) {
  ScalarBlock number{};

  if (!convert_for_assignment(value, number_type(target.dtype), number.bytes.data())) return false;
  copy_to(target, number.bytes.data(), {});
  return true;
}

}  // namespace

void know_new_arrays(nb::handle function) {
  new_arrays = nb::inst_ptr<Function>(nb::borrow(function).release());
}

namespace {

// A new array of a few ints or floats of Python's; empty if there are others.
nb::object array_of_numbers(PyObject* object) {
  static const auto* const integers = new_arrays->find("int64");
  static const auto* const floats = new_arrays->find("float64");
  constexpr Py_ssize_t MOST = 32;
  const Items items{object};
  const std::int64_t count = items.size();
  // before objects are made, which may run other code
  std::array<std::int64_t, MOST> numbers;
  std::array<double, MOST> values;
  bool has_floats = false;

  if (!items.are_listed() || count == 0 || count > MOST) return {};
  for (std::int64_t at = 0; at < count; ++at) {
    auto* const item = items[at];
    auto& number = numbers[static_cast<std::size_t>(at)];
    auto& value = values[static_cast<std::size_t>(at)];

    if (PyFloat_CheckExact(item)) {
      has_floats = true;
      value = PyFloat_AS_DOUBLE(item);
    } else if (PyLong_CheckExact(item) && read_integer(item, number)) {
      value = static_cast<double>(number);
    } else {
      return {};
    }
  }

  auto made = owned(new_result(
      *new_arrays, has_floats ? floats : integers, 1, &count, nullptr, [] { return true; },
      [&](char* to) {
        const void* const from = has_floats ? static_cast<const void*>(values.data())
                                            : static_cast<const void*>(numbers.data());

        std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(double));
        return true;
      }));

  return made.is_none() ? nb::object{} : made;
}

}  // namespace

nb::object array_from(PyObject* object) {
  if (!new_arrays) return {};
  if (is_array_of_numpy(object)) return small_array_of(*new_arrays, object, "array");
  if (auto made = array_of_numbers(object); made.is_valid()) return made;

  const auto found = GivenArguments{ALL_KINDS, GivenElements::FEW}.as_array(object);

  return found.is_valid() ? small_array_of(*new_arrays, found.ptr(), nullptr) : nb::object{};
}

nb::object through(const nb::object& view, const nb::object& layout) {
  const auto& fields = store_fields();
  auto* const derived = array_fields().view_derived.of(view.ptr());

  if (layout.is(fields.view_layout.of(view.ptr()))) return view;
  if (auto* const found = PyDict_GetItemWithError(derived, layout.ptr())) return nb::borrow(found);
  if (PyErr_Occurred()) throw nb::python_error();
  if (PyDict_GET_SIZE(derived) >= MOST_DERIVED) return view.attr("through")(layout);

  const auto made = new_view(fields.view_root.of(view.ptr()), layout.ptr());
  auto* const found = PyDict_SetDefault(derived, layout.ptr(), made.ptr());

  if (!found) throw nb::python_error();
  return nb::borrow(found);
}

Stores find_part(const Stores& whole, PyObject* key) {
  const auto& fields = store_fields();
  const auto token = whole.view.is_valid() ? token_of(plain_index(key).ptr()) : nb::object{};

  if (!token.is_valid() || fields.fusable.of(fields.view_root.of(whole.view.ptr())) != Py_True) {
    return {};
  }

  auto* const layout = PyDict_GetItemWithError(
      array_fields().layout_indexed.of(fields.view_layout.of(whole.view.ptr())), token.ptr());

  if (!layout) {
    if (PyErr_Occurred()) throw nb::python_error();
    return {};
  }
  return {through(whole.view, nb::borrow(layout)), whole.owner, whole.dtype};
}

PyObject* get_part(PyObject* array, PyObject* key, const LocalOperand& operand) {
  if (operand.copied) return new_arrays ? copied(*new_arrays, array, key) : Py_NewRef(Py_None);

  auto whole = stores_to_index(array);

  if (!whole.view.is_valid()) Py_RETURN_NONE;
  // most parts need not have a view
  return new_array(std::move(whole), plain_index(key).ptr(), operand).release().ptr();
}

PyObject* get_part_elsewhere(const Function& elements, PyObject* array, PyObject* key) {
  auto part = find_part(stores_of(array), key);

  if (!part.view.is_valid()) Py_RETURN_NONE;
  // the original copies a single element
  if (PyTuple_GET_SIZE(array_fields().view_shape.of(part.view.ptr())) == 0) {
    return read_later(elements, part);
  }
  return new_array(std::move(part)).release().ptr();
}

nb::object with_arrays(PyObject* key) {
  const auto is_other = [](PyObject* part) {
    return PyList_CheckExact(part) || is_array_of_numpy(part);
  };
  const auto array_of = [&](PyObject* part) {
    const auto made = is_other(part) ? array_from(part) : nb::object{};

    return made.is_valid() ? made : nb::borrow(part);
  };

  if (!PyTuple_CheckExact(key)) return array_of(key);

  auto* const* const parts = &PyTuple_GET_ITEM(key, 0);
  const auto count = PyTuple_GET_SIZE(key);

  if (std::none_of(parts, parts + count, is_other)) return nb::borrow(key);

  auto made = owned(PyTuple_New(count));

  for (Py_ssize_t at = 0; at < count; ++at) {
    PyTuple_SET_ITEM(made.ptr(), at, array_of(parts[at]).release().ptr());
  }
  return made;
}

PyObject* get_places(PyObject* array, PyObject* key) {
  if (!new_arrays) Py_RETURN_NONE;
  return get_at_places(*new_arrays, array, with_arrays(key).ptr());
}

bool put(PyObject* array, PyObject* key, PyObject* value) {
  const auto view = view_of(array), other = view_of(value);
  LocalOperand target, source;

  if (!arrays_are_ready() || !is_writeable(array) || !view.is_valid() ||
      !target.is_in_process(view.ptr(), true))
    return false;

  const auto most_dims = target.form.dim;

  if (!target.index(key) || target.form.volume > MOST_POINTS) return false;
  if (is_assignable(value)) return put_number(target, value);
  if (auto* const single = single_element(value);
      single && single->elements.is_valid() &&
      array_fields().root_dtype.of(single->prototype) == target.dtype) {
    copy_to(target, single->elements.elements(), {});
    return true;
  }

  // the original refuses values with more dimensions than the array, and copies what overlaps
  if (!other.is_valid() || !source.is_here(other.ptr(), false) || source.dtype != target.dtype ||
      source.form.dim > most_dims) {
    return false;
  }
  if (source.root == target.root && !are_disjoint(source, target)) {
    return source.is_same(target) ||
           (source.form.has_shape_of(target.form) && copy_overlapping(target, source));
  }
  if (!source.form.has_shape_of(target.form) &&
      !source.broadcast(target.form.extents, target.form.dim)) {
    return false;
  }
  copy_to(target, first_element(source), source.byte_strides());
  return true;
}

}  // namespace legate_diffuse
