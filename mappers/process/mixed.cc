// SPDX-License-Identifier: Apache-2.0

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>

#include "process/arrays.h"
#include "process/function.h"
#include "process/guard.h"
#include "process/numbers.h"
#include "process/shown.h"

namespace nb = nanobind;

namespace legate_diffuse {

bool Function::are_products(PyObject* const* operands) const {
  auto* const dtype = is_number(operands[1]) ? dtype_of(operands[0]) : nullptr;

  if (!dtype || text_of(dtype).substr(0, 7) != "complex") return false;

  const auto exponent = PyFloat_AsDouble(operands[1]);

  // of a large integer
  PyErr_Clear();
  return exponent == 2 || exponent == 3 || exponent == 4;
}

PyObject* Function::apply_products(PyObject* out, PyObject* factor, PyObject* exponent) const {
  const auto number = PyFloat_AsDouble(exponent);
  std::array<PyObject*, 2> factors{factor, factor};
  nb::object square;

  if (number > 2) {
    square = nb::steal(multiply_->apply(Py_None, factors.data(), factors.size()));
    if (!square.is_valid() || square.is_none()) return square.release().ptr();
    factors = {number > 3 ? square.ptr() : factor, square.ptr()};
  }
  return multiply_->apply(out, factors.data(), factors.size());
}

void Function::mix(const std::vector<PyObject*>& kinds, PyObject* dtype, Function* converter) {
  mixtures_.push_back(mixture_of(kinds, dtype, converter));
}

void Function::convert_written(const std::vector<PyObject*>& kinds, PyObject* dtype,
                               Function* converter) {
  written_.push_back(mixture_of(kinds, dtype, converter));
}

Function::Mixture Function::mixture_of(const std::vector<PyObject*>& kinds, PyObject* dtype,
                                       Function* converter) {
  for (auto* const kind : kinds) Py_INCREF(kind);
  Py_INCREF(dtype);
  return {kinds, dtype, converter};
}

Function::Kinds Function::kinds_of(PyObject* const* operands, std::size_t count) {
  Kinds kinds{};

  for (std::size_t index = 0; index < count; ++index) {
    kinds[index] = is_any_number(operands[index])
                       ? reinterpret_cast<PyObject*>(Py_TYPE(operands[index]))
                       : dtype_of(operands[index]);
  }
  return kinds;
}

const Function::Mixture* Function::find_mixture(const std::deque<Mixture>& mixtures,
                                                const Kinds& kinds) {
  const auto found = std::find_if(mixtures.begin(), mixtures.end(), [&](const auto& each) {
    return std::equal(each.kinds.begin(), each.kinds.end(), kinds.begin());
  });

  return found == mixtures.end() ? nullptr : &*found;
}

nb::object Function::converted(const std::array<PyObject*, MAX_OPERANDS>& kinds,
                               PyObject* array) const {
  const auto* const found = find_mixture(mixtures_, kinds);

  if (!found || dtype_of(array) == found->dtype) return {};

  auto made = nb::steal(found->converter->apply(Py_None, &array, 1));

  if (!made.is_valid()) throw nb::python_error();
  return made.is_none() ? nb::object{} : made;
}

PyObject* Function::apply_mixed(PyObject* out, PyObject* const* operands, std::size_t count) {
  if (mixtures_.empty()) Py_RETURN_NONE;

  const auto kinds = kinds_of(operands, count);
  const auto* const found = find_mixture(mixtures_, kinds);
  std::array<nb::object, MAX_OPERANDS> converted;
  std::array<PyObject*, MAX_OPERANDS> mixed{};

  if (!found) Py_RETURN_NONE;
  for (std::size_t index = 0; index < count; ++index) {
    mixed[index] = operands[index];
    if (is_any_number(operands[index]) || kinds[index] == found->dtype) continue;
    converted[index] = nb::steal(found->converter->apply(Py_None, operands + index, 1));
    if (!converted[index].is_valid()) throw nb::python_error();
    if (converted[index].is_none()) Py_RETURN_NONE;
    mixed[index] = converted[index].ptr();
  }
  return made_or(apply_at_once(out, mixed.data(), count),
                 [&] { return apply_later(out, mixed.data(), count); });
}

PyObject* Function::apply_written(PyObject* out, PyObject* const* operands, std::size_t count) {
  if (out == Py_None || written_.empty() || conversions_warn()) Py_RETURN_NONE;

  auto kinds = kinds_of(operands, count);

  kinds[count] = dtype_of(out);

  const auto* const found = find_mixture(written_, kinds);

  if (!found || !is_writeable(out)) Py_RETURN_NONE;

  auto made = nb::steal(apply(Py_None, operands, count));

  if (!made.is_valid()) throw nb::python_error();
  // the type may follow from what a number is
  if (made.is_none() || dtype_of(made.ptr()) != found->dtype) Py_RETURN_NONE;

  const auto shape = owned(shape_of(made.ptr()));
  const auto own_shape = owned(shape_of(out));

  if (shape.is_none() || !shape.equal(own_shape)) Py_RETURN_NONE;

  auto* result = made.ptr();

  return found->converter->apply(out, &result, 1);
}

}  // namespace legate_diffuse
