// SPDX-License-Identifier: Apache-2.0

#include "process/element.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include "process/arrays.h"
#include "process/numbers.h"
#include "process/runs.h"
#include "process/spare_arrays.h"

namespace nb = nanobind;

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

    auto index = bound_from(part);

    if (!index) return {};
    if (*index < 0) *index += form.extents[d];
    if (*index < 0 || *index >= form.extents[d]) return {};
    offset += *index * form.strides[d];
  }
  return offset;
}

// Puts a value to an element of a type; false if that is left to Python.
bool put_value(char* element, PyObject* dtype, std::int64_t itemsize, PyObject* value) {
  if (is_assignable(value)) {
    ScalarBlock number{};

    if (!convert_for_assignment(value, text_of(dtype), number.bytes.data())) return false;
    std::memcpy(element, number.bytes.data(), itemsize);
    return true;
  }

  const auto other = view_of(value);
  LocalOperand source;

  if (!other.is_valid() || !source.is_here(other.ptr(), false) || !source.small->is_valid() ||
      source.form.dim != 0 || !source.repeats || source.dtype != dtype) {
    return false;
  }
  std::memmove(element, source.small->elements(), itemsize);
  return true;
}

}  // namespace

char* find_element(PyObject* view, PyObject* key, bool changes, LocalOperand& operand) {
  if (!operand.is_in_process(view, changes) || (!changes && !operand.small->is_valid())) {
    return nullptr;
  }

  const auto offset = offset_of(operand.form, key);

  if (!offset) return nullptr;
  return operand.small->elements() +
         (operand.repeats ? 0 : *offset * operand.small->shape().itemsize);
}

bool put(PyObject* array, PyObject* key, PyObject* value) {
  if (!arrays_are_ready() || !is_writeable(array)) return false;

  const auto view = view_of(array);
  LocalOperand target;
  auto* const element = view.is_valid() ? find_element(view.ptr(), key, true, target) : nullptr;

  if (!element) return false;

  Run run{"write"};

  if (!put_value(element, target.dtype, target.small->shape().itemsize, value)) return false;
  note_change(store_fields(), target);
  run.done();
  return true;
}

std::optional<std::int64_t> index_from(PyObject* object) {
  static auto* const integer =
      nb::object{nb::module_::import_("numpy").attr("integer")}.release().ptr();

  if (PyLong_CheckExact(object)) return integer_from(object);
  if (!PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(integer))) return {};

  const auto found = owned(PyNumber_Index(object));
  return integer_from(found.ptr());
}

std::optional<std::int64_t> bound_from(PyObject* object) {
  if (Py_TYPE(object) != array_fields().classes.ndarray) return index_from(object);
  return integer_from(nb::steal(value_of(object)).ptr());
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
