// SPDX-License-Identifier: Apache-2.0

#include "process/contents.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/given.h"
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

}  // namespace

PyObject* elements_of(PyObject* array) {
  auto* const name = arrays_are_ready() ? dtype_of(array) : nullptr;
  auto* const dtype = name ? PyDict_GetItemWithError(numpy().dtypes, name) : nullptr;

  if (!dtype) Py_RETURN_NONE;

  auto made = copied_elements(view_of(array).ptr(), dtype);

  return made.is_valid() ? made.release().ptr() : Py_NewRef(Py_None);
}

nb::object copied_elements(PyObject* view, PyObject* dtype) {
  LocalOperand operand;

  if (!operand.is_here(view, false)) return {};

  auto made = new_array_of_numpy(dtype, operand.form.dim, operand.form.extents);

  // a finalizer may have come while objects were made
  if (!operand.is_here(view, false)) return {};
  operand.copy_to(content_of(made.ptr()).elements);
  return made;
}

bool put_elements(PyObject* array, PyObject* old, PyObject* elements) {
  if (!arrays_are_ready() || !is_writeable(array) || !is_array_of_numpy(old) ||
      !is_array_of_numpy(elements)) {
    return false;
  }

  const auto before = content_of(old), after = content_of(elements);
  const auto size = static_cast<std::size_t>(before.num_bytes());
  const auto view = view_of(array);
  LocalOperand operand;

  if (!view.is_valid() || !operand.is_here(view.ptr(), true) || num_bytes(operand) != size ||
      after.num_bytes() != before.num_bytes()) {
    return false;
  }

  std::vector<char> now(size);

  operand.copy_to(now.data());
  if (!std::equal(now.begin(), now.end(), before.elements)) return false;

  Run run{"assignment"};

  const auto& form = operand.form;
  const auto itemsize = operand.small->shape().itemsize;

  copy_by_threads(first_own_element(operand), operand.byte_strides().data(), after.elements,
                  row_major_strides(form.dim, form.extents, itemsize).data(), form.dim,
                  form.extents, itemsize);
  note_change(store_fields(), operand);
  run.done();
  return true;
}

}  // namespace legate_diffuse
