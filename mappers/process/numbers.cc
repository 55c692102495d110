// SPDX-License-Identifier: Apache-2.0

#include "process/numbers.h"

#include <nanobind/nanobind.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

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

// False if the type has no such integer.
template <typename T>
bool put_integer(std::int64_t value, char* to) {
  if constexpr (std::is_unsigned_v<T>) {
    if (value < 0) return false;
  }
  return static_cast<std::int64_t>(static_cast<T>(value)) == value &&
         put_value(static_cast<T>(value), to);
}

// The integer that a float is cut to; false if the type has no such integer.
template <typename T>
bool put_cut(double value, char* to) {
  constexpr double BOUND = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
  constexpr double LEAST = std::is_unsigned_v<T> ? 0.0 : -BOUND;

  return value >= LEAST && value < BOUND && put_value(static_cast<T>(value), to);
}

// An integer and an exact float are the same number.
template <typename T>
bool put_float(std::int64_t value, char* to) {
  return value <= EXACT && value >= -EXACT && put_value(static_cast<T>(value), to);
}

template <typename T>
PyObject* integer_at(const char* from) {
  if constexpr (std::is_unsigned_v<T>) return PyLong_FromUnsignedLongLong(read<T>(from));
  return PyLong_FromLongLong(read<T>(from));
}

constexpr std::array<std::pair<std::string_view, NumberType>, 13> TYPES{{
    {"float64", NumberType::FLOAT64},
    {"int64", NumberType::INT64},
    {"float32", NumberType::FLOAT32},
    {"int32", NumberType::INT32},
    {"int16", NumberType::INT16},
    {"int8", NumberType::INT8},
    {"uint64", NumberType::UINT64},
    {"uint32", NumberType::UINT32},
    {"uint16", NumberType::UINT16},
    {"uint8", NumberType::UINT8},
    {"bool", NumberType::BOOL},
    {"complex128", NumberType::COMPLEX128},
    {"complex64", NumberType::COMPLEX64},
}};

}  // namespace

namespace {

bool convert_to_complex(PyObject* number, bool is_double, char* to) {
  const auto is_complex = PyComplex_CheckExact(number);
  const auto imaginary = is_complex ? PyComplex_ImagAsDouble(number) : 0.0;
  double real = 0.0;

  if (is_complex) {
    real = PyComplex_RealAsDouble(number);
  } else if (PyBool_Check(number)) {
    real = number == Py_True ? 1.0 : 0.0;
  } else if (!convert(number, NumberType::FLOAT64, reinterpret_cast<char*>(&real))) {
    return false;
  }
  return is_double ? put_value(std::complex{real, imaginary}, to)
                   : put_value(std::complex<float>(std::complex{real, imaginary}), to);
}

bool is_complex_type(NumberType type) {
  return type == NumberType::COMPLEX128 || type == NumberType::COMPLEX64;
}

}  // namespace

namespace {

constexpr std::string_view PREFIX{"numpy."};

// By its name, which takes a while to read.
std::string_view type_of_class(const PyTypeObject* type) {
  const std::string_view name{type->tp_name + PREFIX.size()};
  const auto number = number_type(name);

  return (number != NumberType::OTHER && !is_complex_type(number)) || name == "float16"
             ? name
             : std::string_view{};
}

}  // namespace

std::string_view type_of_numpy(PyObject* object) {
  static std::vector<std::pair<const PyTypeObject*, std::string_view>> known;
  auto* const type = Py_TYPE(object);

  if (std::strncmp(type->tp_name, PREFIX.data(), PREFIX.size()) != 0) return {};
  for (const auto& [each, name] : known) {
    if (each == type) return name;
  }

  const auto name = type_of_class(type);

  // a class that may be destroyed is none of NumPy's
  if (!name.empty() && !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE))
    known.emplace_back(type, name);
  return name;
}

nb::object plain_number(PyObject* number) {
  const auto type = type_of_numpy(number);

  if (type.empty()) return {};

  // its method `item` takes ten times as long
  auto plain = owned(type == "bool"   ? PyBool_FromLong(PyObject_IsTrue(number))
                     : type[0] == 'f' ? PyNumber_Float(number)
                                      : PyNumber_Index(number));
  return plain;
}

bool is_assignable(PyObject* object) {
  return is_any_number(object) || PyBool_Check(object);
}

PyObject* number_of(std::int64_t value) {
  static const auto* const numbers = [] {
    auto* const made = new std::array<PyObject*, 2>;

    for (std::size_t at = 0; at < made->size(); ++at) (*made)[at] = PyLong_FromLong(at);
    return made;
  }();

  return (*numbers)[static_cast<std::size_t>(value)];
}

std::optional<std::int64_t> integer_from(PyObject* object) {
  std::int64_t value{};

  return read_integer(object, value) ? std::optional{value} : std::nullopt;
}

std::optional<std::int64_t> axis_from(PyObject* object, std::int64_t dim) {
  const auto axis = integer_from(object);

  if (!axis || *axis < -dim || *axis >= dim) return {};
  return *axis < 0 ? *axis + dim : *axis;
}

NumberType number_type(std::string_view dtype) {
  for (const auto& [name, type] : TYPES) {
    if (name == dtype) return type;
  }
  return NumberType::OTHER;
}

NumberType number_type(PyObject* dtype) {
  static auto* const known = new std::array<std::pair<PyObject*, NumberType>, 64>{};
  auto& [name, type] = (*known)[(reinterpret_cast<std::uintptr_t>(dtype) >> 4) % known->size()];

  if (name != dtype) {
    type = number_type(text_of(dtype));
    Py_XSETREF(name, Py_NewRef(dtype));
  }
  return type;
}

bool convert(PyObject* number, NumberType type, char* to) {
  if (is_complex_type(type)) return convert_to_complex(number, type == NumberType::COMPLEX128, to);
  if (PyFloat_CheckExact(number)) {
    const auto value = PyFloat_AS_DOUBLE(number);

    if (type == NumberType::FLOAT64) return put_value(value, to);
    return type == NumberType::FLOAT32 && put_value(static_cast<float>(value), to);
  }

  const auto exact = integer_from(number);

  if (!exact) return false;

  if (type == NumberType::FLOAT64) return put_float<double>(*exact, to);
  if (type == NumberType::FLOAT32) return put_float<float>(*exact, to);
  return with_integer(type, [&](auto like) { return put_integer<decltype(like)>(*exact, to); });
}

namespace {

// Whether a real number is another one than zero; false if Python must say.
bool put_truth(PyObject* number, char* to) {
  if (PyFloat_CheckExact(number)) return put_value(PyFloat_AS_DOUBLE(number) != 0.0, to);

  const auto value = integer_from(number);

  return value && put_value(*value != 0, to);
}

}  // namespace

bool convert_for_assignment(PyObject* number, NumberType type, char* to) {
  if (PyBool_Check(number)) {
    if (type == NumberType::BOOL) return put_value(number == Py_True, to);
    return !conversions_warn() && convert(nb::int_{number == Py_True ? 1 : 0}.ptr(), type, to);
  }

  const auto own = PyComplex_CheckExact(number) ? NumberType::COMPLEX128
                   : PyFloat_CheckExact(number) ? NumberType::FLOAT64
                                                : NumberType::INT64;

  if (type != own && conversions_warn()) return false;
  if (type == NumberType::BOOL) return put_truth(number, to);
  if (convert(number, type, to)) return true;
  return own == NumberType::FLOAT64 && with_integer(type, [&](auto like) {
           return put_cut<decltype(like)>(PyFloat_AS_DOUBLE(number), to);
         });
}

PyObject* number_from(NumberType type, const char* element) {
  PyObject* made = nullptr;

  if (type == NumberType::FLOAT64) return PyFloat_FromDouble(read<double>(element));
  if (type == NumberType::FLOAT32) return PyFloat_FromDouble(read<float>(element));
  if (type == NumberType::BOOL) return PyBool_FromLong(read<bool>(element) ? 1 : 0);
  return with_integer(type,
                      [&](auto like) {
                        made = integer_at<decltype(like)>(element);
                        return true;
                      })
             ? made
             : Py_NewRef(Py_None);
}

std::string_view text_of(PyObject* object) {
  Py_ssize_t size{};
  const auto* const text = PyUnicode_AsUTF8AndSize(object, &size);

  if (!text) throw nb::python_error();
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace legate_diffuse
