// SPDX-License-Identifier: Apache-2.0

#include "process/element.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include "process/arrays.h"
#include "process/numbers.h"
#include "process/runs.h"

namespace legate_diffuse {

namespace {

// Where an index of integers leads to, in elements; none if it is another one.
std::optional<std::int64_t> offset_of(const Form& form, PyObject* key) {
  const auto is_tuple = PyTuple_CheckExact(key);
  const auto count = is_tuple ? PyTuple_GET_SIZE(key) : 1;
  auto offset = form.offset;

  if (count != form.dim) return {};
  for (Py_ssize_t d = 0; d < count; ++d) {
    auto* const part = is_tuple ? PyTuple_GET_ITEM(key, d) : key;

    auto index = integer_from(part);

    if (!index) return {};
    if (*index < 0) *index += form.extents[d];
    if (*index < 0 || *index >= form.extents[d]) return {};
    offset += *index * form.strides[d];
  }
  return offset;
}

}  // namespace

char* find_element(PyObject* view, PyObject* key, bool changes, LocalOperand& operand) {
  if (!operand.is_here(view, changes) || (!changes && !operand.small->is_valid())) return nullptr;

  const auto offset = offset_of(operand.form, key);

  if (!offset) return nullptr;
  return operand.small->elements() +
         (operand.repeats ? 0 : *offset * operand.small->shape().itemsize);
}

bool put(PyObject* array, PyObject* key, PyObject* value) {
  if (!arrays_are_ready()) return false;

  const auto view = view_of(array);
  LocalOperand target, source;
  ScalarBlock number{};

  if (!view.is_valid() || !is_writeable(array)) return false;

  auto* const element = find_element(view.ptr(), key, true, target);

  if (!element) return false;

  auto* const dtype = target.dtype;
  const auto itemsize = target.small->shape().itemsize;

  if (is_number(value)) {
    if (!convert_alike(value, text_of(dtype), number.bytes.data())) return false;
    std::memcpy(element, number.bytes.data(), itemsize);
  } else {
    const auto other = view_of(value);

    if (!other.is_valid() || !source.is_here(other.ptr(), false) || !source.small->is_valid() ||
        source.form.dim != 0 || !source.repeats || source.dtype != dtype) {
      return false;
    }
    std::memmove(element, source.small->elements(), itemsize);
  }
  note_change(store_fields(), target);
  Run{}.done("write");
  return true;
}

PyObject* value_of(PyObject* array) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  const auto view = view_of(array);
  LocalOperand operand;

  if (!view.is_valid() || !operand.is_here(view.ptr(), false) || !operand.small->is_valid() ||
      operand.form.dim != 0) {
    Py_RETURN_NONE;
  }

  return number_from(text_of(operand.dtype), first_element(operand));
}

}  // namespace legate_diffuse
