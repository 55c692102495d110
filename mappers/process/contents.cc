// SPDX-License-Identifier: Apache-2.0

#include "process/contents.h"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/runs.h"
#include "program/elements.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

std::size_t num_bytes(const LocalOperand& operand) {
  return static_cast<std::size_t>(operand.form.volume * operand.small->shape().itemsize);
}

Strides in_order(const LocalOperand& operand) {
  return row_major_strides(operand.form.dim, operand.form.extents, operand.small->shape().itemsize);
}

void copy_from(const LocalOperand& operand, char* to) {
  copy_elements(to, in_order(operand).data(), first_element(operand), operand.byte_strides().data(),
                operand.form.dim, operand.form.extents, operand.small->shape().itemsize);
}

nb::object extents_of(const Form& form) {
  auto extents = nb::steal(PyTuple_New(form.dim));

  if (!extents.is_valid()) throw nb::python_error();
  for (std::int64_t d = 0; d < form.dim; ++d) {
    auto* const extent = PyLong_FromLongLong(form.extents[d]);

    if (!extent) throw nb::python_error();
    PyTuple_SET_ITEM(extents.ptr(), d, extent);
  }
  return extents;
}

}  // namespace

PyObject* elements_of(PyObject* array) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  const auto view = view_of(array);
  LocalOperand operand;

  if (!view.is_valid() || !operand.is_here(view.ptr(), false)) Py_RETURN_NONE;

  const auto extents = extents_of(operand.form);
  const auto bytes = nb::steal(PyBytes_FromStringAndSize(nullptr, num_bytes(operand)));

  if (!bytes.is_valid()) throw nb::python_error();
  // a finalizer may have come while objects were made
  if (!operand.is_here(view.ptr(), false)) Py_RETURN_NONE;
  copy_from(operand, PyBytes_AS_STRING(bytes.ptr()));
  return PyTuple_Pack(3, bytes.ptr(), extents.ptr(), operand.dtype);
}

bool put_elements(PyObject* array, PyObject* old, PyObject* bytes) {
  if (!arrays_are_ready() || !is_writeable(array)) return false;

  const auto view = view_of(array);
  LocalOperand operand;

  if (!view.is_valid() || !operand.is_here(view.ptr(), true)) return false;

  const auto size = num_bytes(operand);
  const auto has_size = [&](PyObject* each) {
    return PyBytes_CheckExact(each) && static_cast<std::size_t>(PyBytes_GET_SIZE(each)) == size;
  };

  if (!has_size(old) || !has_size(bytes)) return false;

  const auto now = nb::steal(PyBytes_FromStringAndSize(nullptr, size));

  if (!now.is_valid()) throw nb::python_error();
  if (!operand.is_here(view.ptr(), true)) return false;
  copy_from(operand, PyBytes_AS_STRING(now.ptr()));
  if (std::memcmp(PyBytes_AS_STRING(now.ptr()), PyBytes_AS_STRING(old), size) != 0) return false;

  Run run{"assignment"};

  copy_elements(first_element(operand), operand.byte_strides().data(), PyBytes_AS_STRING(bytes),
                in_order(operand).data(), operand.form.dim, operand.form.extents,
                operand.small->shape().itemsize);
  note_change(store_fields(), operand);
  run.done();
  return true;
}

}  // namespace legate_diffuse
