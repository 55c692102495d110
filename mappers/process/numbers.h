// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace legate_diffuse {

// Whether an object is a float or an int of Python's, and of no class derived from them.
inline bool is_number(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object);
}

// The same, or a complex.
inline bool is_any_number(PyObject* object) {
  return is_number(object) || PyComplex_CheckExact(object);
}

// The name of the type of a real number, or bool, of NumPy's; empty for other objects.
std::string_view type_of_numpy(PyObject* object);

// Python's number in place of such a one; empty for other objects.
nanobind::object plain_number(PyObject* number);

// Whether it is a float, an int, a bool or a complex of Python's.
bool is_assignable(PyObject* object);

// 0 or 1, borrowed.
PyObject* number_of(std::int64_t value);

// Reads an int of Python's; false if it is another object, or has more than 64 bits.
inline bool read_integer(PyObject* object, std::int64_t& value) {
  int overflows{};

  if (!PyLong_CheckExact(object)) return false;

  auto* const number = reinterpret_cast<PyLongObject*>(object);
#if PY_VERSION_HEX >= 0x030c0000
  if (PyUnstable_Long_IsCompact(number)) {
    value = PyUnstable_Long_CompactValue(number);
    return true;
  }
#else
  if (const auto digits = Py_SIZE(object); digits >= -1 && digits <= 1) {
    value = digits * static_cast<std::int64_t>(number->ob_digit[0]);
    return true;
  }
#endif
  value = PyLong_AsLongLongAndOverflow(object, &overflows);
  return overflows == 0;
}

// An int of Python's; none if it is another object, or has more than 64 bits.
std::optional<std::int64_t> integer_from(PyObject* object);

// An axis of so many, which may be counted from the last one; none if there is no such axis.
std::optional<std::int64_t> axis_from(PyObject* object, std::int64_t dim);

// The types that numbers of Python's become.
enum class NumberType {
  FLOAT64,
  FLOAT32,
  INT64,
  INT32,
  INT16,
  INT8,
  UINT64,
  UINT32,
  UINT16,
  UINT8,
  BOOL,
  COMPLEX128,
  COMPLEX64,
  OTHER,
};

// Calls `visit` with a zero of a type of integers; false if it is another type.
template <typename Visit>
bool with_integer(NumberType type, const Visit& visit) {
  switch (type) {
    case NumberType::INT64:
      return visit(std::int64_t{});
    case NumberType::INT32:
      return visit(std::int32_t{});
    case NumberType::INT16:
      return visit(std::int16_t{});
    case NumberType::INT8:
      return visit(std::int8_t{});
    case NumberType::UINT64:
      return visit(std::uint64_t{});
    case NumberType::UINT32:
      return visit(std::uint32_t{});
    case NumberType::UINT16:
      return visit(std::uint16_t{});
    case NumberType::UINT8:
      return visit(std::uint8_t{});
    default:
      return false;
  }
}

// `dtype` is NumPy's name of the type.
NumberType number_type(std::string_view dtype);

// The same for a name that is one object for each type, which is remembered.
NumberType number_type(PyObject* dtype);

// Converts a number of Python's as NumPy does; false if Python must decide what becomes of it.
bool convert(PyObject* number, NumberType type, char* to);

// Does the same; false also for a type that cuPyNumeric does not make of such a number, if it warns
// of such conversions.
bool convert_for_assignment(PyObject* number, NumberType type, char* to);

// A new reference to an element as a number of Python's; to None if its type has none here.
PyObject* number_from(NumberType type, const char* element);

// The characters of a str. Throws nanobind::python_error.
std::string_view text_of(PyObject* text);

}  // namespace legate_diffuse
