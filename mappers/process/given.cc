// SPDX-License-Identifier: Apache-2.0

#include "process/given.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/blas.h"
#include "process/contents.h"
#include "process/numbers.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// To copy so many takes longer than to lend them.
constexpr std::int64_t MANY_BYTES = 1 << 15;

// Never destroyed: arrays may outlive the interpreter.
const NumPy* known_numpy = nullptr;

}  // namespace

void know_numpy(const NumPy& known) {
  known_numpy = new NumPy{known};
}

const NumPy& numpy() {
  return *known_numpy;
}

bool may_stay(std::size_t num_bytes) {
  return known_numpy && nb::cast<bool>(nb::handle{known_numpy->may_stay}(num_bytes));
}

PyObject* name_of(PyObject* array) {
  return name_of_type(numpy().names, array);
}

bool is_sequence(PyObject* object) {
  return PyList_CheckExact(object) || PyTuple_CheckExact(object) || PyRange_Check(object);
}

bool contains(PyObject* set, PyObject* object) {
  const auto found = PySet_Contains(set, object);

  if (found < 0) throw nb::python_error();
  return found == 1;
}

bool GivenArguments::was_lent() const {
  return points_ > 0;
}

nb::object GivenArguments::plain(PyObject* argument) const {
  if (is_array(argument)) return elements(argument);
  if (is_array_of_numpy(argument)) return taken(argument);
  if (contains(numpy().plain, reinterpret_cast<PyObject*>(Py_TYPE(argument)))) {
    return nb::borrow(argument);
  }
  if (PyTuple_CheckExact(argument) || PyList_CheckExact(argument)) return all(argument);
  if (PyRange_Check(argument)) return array_of(argument);
  // they are classes: no code of Python's is called
  return PyObject_IsInstance(argument, numpy().numbers) == 1 ? nb::borrow(argument) : nb::object{};
}

nb::object GivenArguments::as_array(PyObject* argument) const {
  const auto found = plain(argument);

  if (!found.is_valid() || is_array_of_numpy(found.ptr())) return found;
  return array_of(found.ptr());
}

PyObject* GivenArguments::dtype_of(PyObject* known) const {
  const auto name = text_of(known);
  auto* const dtype = PyDict_GetItemWithError(numpy().dtypes, known);

  if (!dtype && PyErr_Occurred()) throw nb::python_error();
  return kinds_.find(name[0]) == std::string_view::npos ||
                 (name == "float16" && kinds_ != ALL_KINDS)
             ? nullptr
             : dtype;
}

nb::object GivenArguments::array_of(PyObject* sequence) const {
  const auto made = nb::steal(PyObject_CallOneArg(numpy().as_array, sequence));

  if (made.is_valid()) return taken(made.ptr());
  if (!PyErr_ExceptionMatches(numpy().refusals)) throw nb::python_error();
  PyErr_Clear();
  return {};
}

nb::object GivenArguments::taken(PyObject* array) const {
  auto* const name = name_of(array);

  return name && dtype_of(name) ? nb::borrow(array) : nb::object{};
}

nb::object GivenArguments::elements(PyObject* array) const {
  auto made = elements_here(array);

  return made.is_valid() ? made : many_elements(array);
}

nb::object GivenArguments::many_elements(PyObject* array) const {
  const auto brings = given_ == GivenElements::BROUGHT;
  auto* const name = legate_diffuse::dtype_of(array);

  // what a mask selects is an array when it is brought
  if (given_ == GivenElements::FEW || (name ? !dtype_of(name) : !brings)) return {};

  auto found = nb::handle{numpy().elements}(nb::handle{array}, brings);

  if (found.is_none()) return {};
  points_ += MOST_POINTS + 1;
  return name ? found : taken(found.ptr());
}

nb::object GivenArguments::elements_here(PyObject* array) const {
  auto view = view_of(array);
  LocalOperand operand;

  if (!view.is_valid() || !operand.is_in_process(view.ptr(), false)) return {};

  const auto is_copied = operand.form.volume * operand.small->shape().itemsize < MANY_BYTES;

  // an array has memory that may be lent once somebody has asked for its thunk
  if (!is_copied && !nb::find(operand.small).is_valid()) {
    owned(PyObject_GetAttr(array, names().thunk));
    view = view_of(array);
    if (!view.is_valid() || !operand.is_in_process(view.ptr(), false)) return {};
  }

  const auto& form = operand.form;
  const auto owner = nb::find(operand.small);
  auto* const dtype = dtype_of(operand.dtype);

  if (!dtype) return {};
  if (is_copied || !owner.is_valid()) {
    return form.volume > MOST_POINTS ? nb::object{} : copied_elements(view.ptr(), dtype);
  }

  const auto is_many = form.volume > MOST_POINTS;

  if (is_many && (given_ == GivenElements::FEW || form.volume > most_read_here())) return {};

  auto lent = owner.attr("lend")();

  // a finalizer may have come while objects were made
  if (!operand.is_in_process(view.ptr(), false)) return {};
  points_ += form.volume;
  return array_over(dtype, form.dim, form.extents, operand.byte_strides().data(),
                    first_element(operand), std::move(lent));
}

nb::object GivenArguments::all(PyObject* sequence) const {
  const auto parts = owned(PySequence_Tuple(sequence));
  const auto count = PyTuple_GET_SIZE(parts.ptr());
  auto made = owned(PyTuple_CheckExact(sequence) ? PyTuple_New(count) : PyList_New(count));

  for (Py_ssize_t at = 0; at < count; ++at) {
    auto part = plain(PyTuple_GET_ITEM(parts.ptr(), at));

    if (!part.is_valid()) return {};
    if (PyTuple_CheckExact(sequence)) {
      PyTuple_SET_ITEM(made.ptr(), at, part.release().ptr());
    } else {
      PyList_SET_ITEM(made.ptr(), at, part.release().ptr());
    }
  }
  return count > 0 ? made : nb::object{};
}

}  // namespace legate_diffuse
