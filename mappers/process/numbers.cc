// SPDX-License-Identifier: Apache-2.0

#include "process/numbers.h"

#include <nanobind/nanobind.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "process/arrays.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Every int up to this size is a float64.
constexpr std::int64_t EXACT = std::int64_t{1} << 53;

template <typename T>
bool put_value(T value, char* to) {
  std::memcpy(to, &value, sizeof(value));
  return true;
}

template <typename T>
T read(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace

bool is_number(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object);
}

bool is_assignable(PyObject* object) {
  return is_number(object) || PyBool_Check(object);
}

std::optional<std::int64_t> integer_from(PyObject* object) {
  int overflows{};

  if (!PyLong_CheckExact(object)) return {};
#if PY_VERSION_HEX >= 0x030c0000
  auto* const number = reinterpret_cast<PyLongObject*>(object);

  if (PyUnstable_Long_IsCompact(number)) return PyUnstable_Long_CompactValue(number);
#else
  const auto* const number = reinterpret_cast<PyLongObject*>(object);
  const auto digits = Py_SIZE(object);

  if (digits >= -1 && digits <= 1) return digits * static_cast<std::int64_t>(number->ob_digit[0]);
#endif

  const std::int64_t value = PyLong_AsLongLongAndOverflow(object, &overflows);

  return overflows == 0 ? std::optional{value} : std::nullopt;
}

NumberType number_type(std::string_view dtype) {
  if (dtype == "float64") return NumberType::FLOAT64;
  if (dtype == "float32") return NumberType::FLOAT32;
  if (dtype == "int64") return NumberType::INT64;
  return dtype == "int32" ? NumberType::INT32 : NumberType::OTHER;
}

bool convert(PyObject* number, std::string_view dtype, char* to) {
  return convert(number, number_type(dtype), to);
}

bool convert(PyObject* number, NumberType type, char* to) {
  if (PyFloat_CheckExact(number)) {
    const auto value = PyFloat_AS_DOUBLE(number);

    if (std::isnan(value)) return false;
    if (type == NumberType::FLOAT64) return put_value(value, to);
    return type == NumberType::FLOAT32 && put_value(static_cast<float>(value), to);
  }

  const auto exact = integer_from(number);

  if (!exact) return false;

  const auto value = *exact;

  if (type == NumberType::INT64) return put_value(value, to);
  if (type == NumberType::INT32 && static_cast<std::int32_t>(value) == value) {
    return put_value(static_cast<std::int32_t>(value), to);
  }
  if (value > EXACT || value < -EXACT) return false;
  if (type == NumberType::FLOAT64) return put_value(static_cast<double>(value), to);
  return type == NumberType::FLOAT32 && put_value(static_cast<float>(value), to);
}

bool convert_for_assignment(PyObject* number, std::string_view dtype, char* to) {
  if (PyBool_Check(number)) {
    if (dtype == "bool") return put_value(number == Py_True, to);
    return !conversions_warn() && convert(nb::int_{number == Py_True ? 1 : 0}.ptr(), dtype, to);
  }

  const auto is_alike = dtype == (PyFloat_CheckExact(number) ? "float64" : "int64");

  return (is_alike || !conversions_warn()) && convert(number, dtype, to);
}

PyObject* number_from(std::string_view dtype, const char* element) {
  if (dtype == "float64") return PyFloat_FromDouble(read<double>(element));
  if (dtype == "int64") return PyLong_FromLongLong(read<std::int64_t>(element));
  if (dtype == "bool") return PyBool_FromLong(read<bool>(element) ? 1 : 0);
  if (dtype == "float32") return PyFloat_FromDouble(read<float>(element));
  if (dtype == "int32") return PyLong_FromLong(read<std::int32_t>(element));
  Py_RETURN_NONE;
}

std::string_view text_of(PyObject* object) {
  Py_ssize_t size{};
  const auto* const text = PyUnicode_AsUTF8AndSize(object, &size);

  if (!text) throw nb::python_error();
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace legate_diffuse
