// SPDX-License-Identifier: Apache-2.0

#include "process/element.h"

#include <nanobind/nanobind.h>

#include <cstdint>

#include "process/arrays.h"
#include "process/extract.h"
#include "process/guard.h"
#include "process/numbers.h"
#include "process/spare_arrays.h"

namespace nb = nanobind;

namespace legate_diffuse {

bool read_index(PyObject* object, std::int64_t& index) {
  static auto* const integer =
      nb::object{nb::module_::import_("numpy").attr("integer")}.release().ptr();

  if (PyLong_CheckExact(object)) return read_integer(object, index);
  return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(integer)) &&
         read_integer(owned(PyNumber_Index(object)).ptr(), index);
}

Element only_element_of_view(PyObject* array) {
  auto* const view = reinterpret_cast<PyObject*>(thunk_of(array));
  LocalOperand operand;

  if (!view || !operand.is_here(view, false) || operand.form.dim != 0 ||
      !operand.small->is_valid()) {
    return {};
  }
  return {first_element(operand), operand.dtype};
}

bool is_element_to_change(PyObject* array, LocalOperand& element) {
  auto* const view = reinterpret_cast<PyObject*>(thunk_of(array));

  return view && element.is_here(view, true) && element.form.dim == 0;
}

PyObject* value_of(PyObject* array) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  const auto [pointer, dtype] = only_element(array);

  if (!pointer) Py_RETURN_NONE;
  return number_from(number_type(dtype), pointer);
}

PyObject* truth_of(PyObject* array) {
  auto value = nb::steal(made_or(value_of(array), [&] { return item(array, nullptr, 0); }));

  return value.is_none() ? value.release().ptr() : PyBool_FromLong(PyObject_IsTrue(value.ptr()));
}

}  // namespace legate_diffuse
