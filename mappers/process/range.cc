// SPDX-License-Identifier: Apache-2.0

#include "process/range.h"

#include <nanobind/nanobind.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "process/arrays.h"
#include "process/numbers.h"
#include "process/result.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Ints up to this size are floats, too, and so are their differences.
constexpr double MOST_EXACT = 4503599627370496.0;

// A number that is an int or a float, of Python's or as wide of NumPy's.
struct Number {
  explicit Number(PyObject* given) : object{given} {
    if (const auto type = type_of_numpy(object); type == "int64" || type == "float64") {
      plain = plain_number(object);
      object = plain.ptr();
    }
    if (!is_number(object)) return;
    is_float = PyFloat_CheckExact(object);
    value = PyFloat_AsDouble(object);
    if (value == -1.0 && PyErr_Occurred()) PyErr_Clear();
    is_exact = std::abs(value) < MOST_EXACT;
  }

  PyObject* object;
  nb::object plain;
  bool is_float{};
  bool is_exact{};
  double value{};
};

// There are fewer elements than numbers of this type, which vectors convert.
using Place = std::int32_t;

template <typename T>
[[gnu::always_inline]] inline void write_by(T* to, Place count, T start, T by) {
  for (Place place = 0; place < count; ++place) {
    if constexpr (std::is_floating_point_v<T>) {
      to[place] = std::fma(static_cast<T>(place), by, start);
    } else {
      // they wrap around
      using Bits = std::make_unsigned_t<T>;

      to[place] = static_cast<T>(static_cast<std::uint64_t>(place) * static_cast<Bits>(by) +
                                 static_cast<Bits>(start));
    }
  }
}

// Without the instruction, it is a call of the library's for each element.
template <typename T>
__attribute__((target("avx2,fma"))) void write_in_vectors(T* to, Place count, T start, T by) {
  write_by(to, count, start, by);
}

template <typename T>
void write(char* to, std::int64_t count, const char* first, const char* step) {
  static const auto has_vectors = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  T start, by;

  std::memcpy(&start, first, sizeof(T));
  std::memcpy(&by, step, sizeof(T));
  (has_vectors ? &write_in_vectors<T> : &write_by<T>)(reinterpret_cast<T*>(to),
                                                      static_cast<Place>(count), start, by);
}

// Writes what a type has such numbers of; false if it is none of those.
bool write(NumberType type, char* to, std::int64_t count, PyObject* first, PyObject* step) {
  // a complex one, of which there are no ranges, takes all of it
  ScalarBlock start{}, by{};

  if (!convert(first, type, start.bytes.data()) || !convert(step, type, by.bytes.data())) {
    return false;
  }

  const auto write_as = [&](auto like) {
    write<decltype(like)>(to, count, start.bytes.data(), by.bytes.data());
    return true;
  };

  if (type == NumberType::FLOAT64) return write_as(double{});
  if (type == NumberType::FLOAT32) return write_as(float{});
  return with_integer(type, write_as);
}

}  // namespace

PyObject* range(const Function& function, PyObject* start, PyObject* stop, PyObject* step,
                std::string_view dtype) {
  static auto* const zero = PyLong_FromLong(0);
  static auto* const one = PyLong_FromLong(1);

  const auto is_end = !stop || stop == Py_None;
  const Number first{is_end ? zero : start}, end{is_end ? start : stop};
  const Number by{!step || step == Py_None ? one : step};

  if (!arrays_are_ready() || !first.is_exact || !end.is_exact || !by.is_exact || by.value == 0) {
    Py_RETURN_NONE;
  }

  const auto are_floats = first.is_float || end.is_float || by.is_float;

  if (dtype.empty()) dtype = are_floats ? "float64" : "int64";

  const auto type = number_type(dtype);
  const auto is_float = type == NumberType::FLOAT64 || type == NumberType::FLOAT32;
  const auto extent = std::ceil((end.value - first.value) / by.value);

  // the original converts floats to integers in its own way
  if ((are_floats && !is_float) || !(extent >= 1.0 && extent < MOST_EXACT)) Py_RETURN_NONE;

  const auto count = static_cast<std::int64_t>(extent);

  if (count > store_fields().most_bytes) Py_RETURN_NONE;

  return new_result(
      function, function.find(dtype), 1, &count, "arange", [] { return true; },
      [&](char* to) { return write(type, to, count, first.object, by.object); });
}

}  // namespace legate_diffuse
