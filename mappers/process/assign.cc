// SPDX-License-Identifier: Apache-2.0

#include "process/assign.h"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string_view>

#include "process/arrays.h"
#include "process/contents.h"
#include "process/given.h"
#include "process/numbers.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Kinds of types that index arrays have.
constexpr std::string_view PLACES{"biu"};

bool is_any_array(PyObject* object) {
  return is_array(object) || is_array_of_numpy(object);
}

// Whether NumPy takes a part of an index as the original does.
bool is_part(PyObject* part) {
  if (PySlice_Check(part)) {
    const auto step = owned(PyObject_GetAttrString(part, "step"));

    return step.is_none() || (PyLong_CheckExact(step.ptr()) && PyLong_AsLong(step.ptr()) == 1);
  }
  return PyLong_CheckExact(part) || part == Py_Ellipsis || is_any_array(part) ||
         PyList_CheckExact(part);
}

// Whether an index is a list or an array of places, or a tuple with some or with masks.
bool is_taken(PyObject* key) {
  if (!PyTuple_CheckExact(key)) return is_any_array(key) || PyList_CheckExact(key);

  bool has_arrays = false;

  for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(key); ++at) {
    auto* const part = PyTuple_GET_ITEM(key, at);

    if (!is_part(part)) return false;
    has_arrays = has_arrays || is_any_array(part) || PyList_CheckExact(part);
  }
  return has_arrays;
}

char kind_of(PyObject* array) {
  return content_of(array).kind;
}

// Whether elements are as the original makes them of a value: of complex ones it refuses others.
bool fits(PyObject* elements, PyObject* value) {
  if (PyFloat_CheckExact(value) || PyLong_CheckExact(value)) return true;
  return is_array_of_numpy(value) && (kind_of(value) != 'c' || kind_of(elements) == 'c');
}

// Masks of all elements select in other ways, and of one element the original refuses others.
bool is_mask_apart(PyObject* plain, PyObject* elements, PyObject* value) {
  if (!is_array_of_numpy(plain) && !PyList_CheckExact(plain)) return false;
  if (PyList_CheckExact(plain)) {
    return PyList_GET_SIZE(plain) > 0 && PyBool_Check(PyList_GET_ITEM(plain, 0));
  }
  if (kind_of(plain) != 'b') return false;

  if (!is_array_of_numpy(value) || content_of(plain).dim >= content_of(elements).dim) return true;
  return content_of(value).volume == 1;
}

bool is_assigned(PyObject* elements, PyObject* key, PyObject* value) {
  const NoWarnings quiet;

  if (PyObject_SetItem(elements, key, value) == 0) return true;
  // the original raises what it raises
  if (!PyErr_ExceptionMatches(numpy().refusals)) throw nb::python_error();
  PyErr_Clear();
  return false;
}

}  // namespace

bool assign_by_numpy(PyObject* array, PyObject* key, PyObject* value) {
  if (!arrays_are_ready() || conversions_warn() || !is_taken(key)) return false;

  const auto view = view_of(array);
  auto* const name = view.is_valid() ? dtype_of(array) : nullptr;
  auto* const dtype = name ? PyDict_GetItemWithError(numpy().dtypes, name) : nullptr;

  if (!dtype) return false;

  const auto old = copied_elements(view.ptr(), dtype);
  const auto elements = copied_elements(view.ptr(), dtype);

  if (!old.is_valid() || !elements.is_valid()) return false;

  const auto plain_key = GivenArguments{PLACES, GivenElements::FEW}.plain(key);

  if (!plain_key.is_valid()) return false;

  const auto plain_value = GivenArguments{ALL_KINDS, GivenElements::FEW}.plain(value);

  if (!plain_value.is_valid()) return false;

  if (!fits(elements.ptr(), plain_value.ptr()) ||
      is_mask_apart(plain_key.ptr(), elements.ptr(), plain_value.ptr()) ||
      !is_assigned(elements.ptr(), plain_key.ptr(), plain_value.ptr())) {
    return false;
  }

  const auto content = content_of(elements.ptr());

  return put_elements(array, content_of(old.ptr()).elements, content.elements,
                      static_cast<std::size_t>(content.num_bytes()));
}

}  // namespace legate_diffuse
