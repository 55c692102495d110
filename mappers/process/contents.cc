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

}  // namespace

PyObject* elements_of(PyObject* array) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  const auto view = view_of(array);
  LocalOperand operand;

  if (!view.is_valid() || !operand.is_here(view.ptr(), false)) Py_RETURN_NONE;

  const auto extents = tuple_of(operand.form.extents, operand.form.dim);
  const auto bytes = owned(PyBytes_FromStringAndSize(nullptr, num_bytes(operand)));

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

  const auto now = owned(PyBytes_FromStringAndSize(nullptr, size));

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
