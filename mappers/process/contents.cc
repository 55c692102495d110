// SPDX-License-Identifier: Apache-2.0

#include "process/contents.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/numpy_api.h"
#include "process/runs.h"
#include "program/elements.h"
#include "threads/copying.h"

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
  copy_by_threads(to, in_order(operand).data(), first_element(operand),
                  operand.byte_strides().data(), operand.form.dim, operand.form.extents,
                  operand.small->shape().itemsize);
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

nb::object copied_elements(PyObject* view, PyObject* dtype) {
  LocalOperand operand;

  if (!operand.is_here(view, false)) return {};

  auto made = new_array_of_numpy(dtype, operand.form.dim, operand.form.extents);

  // a finalizer may have come while objects were made
  if (!operand.is_here(view, false)) return {};
  copy_from(operand, content_of(made.ptr()).elements);
  return made;
}

bool put_elements(PyObject* array, const char* old, const char* elements, std::size_t size) {
  if (!arrays_are_ready() || !is_writeable(array)) return false;

  const auto view = view_of(array);
  LocalOperand operand;

  if (!view.is_valid() || !operand.is_here(view.ptr(), true) || num_bytes(operand) != size) {
    return false;
  }

  const std::unique_ptr<char, decltype(&std::free)> now{
      static_cast<char*>(std::malloc(std::max(size, std::size_t{1}))), &std::free};

  if (!now) throw std::bad_alloc{};
  copy_from(operand, now.get());
  if (std::memcmp(now.get(), old, size) != 0) return false;

  Run run{"assignment"};

  copy_by_threads(first_own_element(operand), operand.byte_strides().data(), elements,
                  in_order(operand).data(), operand.form.dim, operand.form.extents,
                  operand.small->shape().itemsize);
  note_change(store_fields(), operand);
  run.done();
  return true;
}

}  // namespace legate_diffuse
