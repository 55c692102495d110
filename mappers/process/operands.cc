// SPDX-License-Identifier: Apache-2.0

#include "process/operands.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "process/arrays.h"
#include "process/numbers.h"
#include "process/numpy_api.h"
#include "process/part.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Whether an array of a type makes of a number of this one what it makes of Python's.
bool means_alike(std::string_view array, std::string_view number) {
  return array == number || array == "float64" || array == "complex128" ||
         (number == "float64" && (array[0] == 'i' || array[0] == 'u' || array == "bool"));
}

// Whether a number has the same type alone and beside others. NumPy refuses some with an int of
// more than 64 bits.
bool has_type_alone(PyObject* number) {
  return PyFloat_CheckExact(number) || integer_from(number).has_value();
}

// Whether the original makes an array of an object.
bool becomes_array(PyObject* object) {
  return Items{object}.are_listed() || is_array_of_numpy(object);
}

}  // namespace

PlainOperands::PlainOperands(PyObject* const* operands, std::size_t count) {
  const auto end = plain_.begin() + static_cast<std::ptrdiff_t>(count);

  std::copy(operands, operands + count, plain_.begin());
  for (std::size_t index = 0; index < count; ++index) {
    auto* const operand = plain_[index];

    // NumPy compares its numbers as arrays
    if (is_array_of_numpy(operand) && content_of(operand).dim == 0) {
      replace(index, owned(PyObject_GetItem(operand, owned(PyTuple_New(0)).ptr())));
    } else if (becomes_array(operand)) {
      replace(index, array_from(operand));
    }
  }

  const auto array = std::find_if(plain_.begin(), end, is_array);
  const auto are_numbers = array == end && std::all_of(plain_.begin(), end, has_type_alone);

  for (std::size_t index = 0; index < count; ++index) {
    auto* const operand = plain_[index];

    if (are_numbers) replace(index, array_from(operand));
    if (is_array(operand) || is_number(operand)) continue;

    const auto type = type_of_numpy(operand);

    if (type.empty()) continue;

    auto* const dtype = array == end || type == "bool" ? nullptr : dtype_of(*array);
    const auto is_plain = dtype && means_alike(text_of(dtype), type);

    replace(index, is_plain ? plain_number(operand) : array_from(operand));
  }
}

nb::object plain_value(PyObject* value) {
  return becomes_array(value) ? array_from(value) : plain_number(value);
}

void PlainOperands::replace(std::size_t index, nb::object by) {
  if (!by.is_valid()) return;
  made_[index] = std::move(by);
  plain_[index] = made_[index].ptr();
}

}  // namespace legate_diffuse
