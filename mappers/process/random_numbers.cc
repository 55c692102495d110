// SPDX-License-Identifier: Apache-2.0

#include "process/random_numbers.h"

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "process/arrays.h"
#include "process/extract.h"
#include "process/numbers.h"
#include "process/result.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// What all distributions here have: two parameters, or one.
constexpr std::size_t MOST_PARAMETERS = 2;

struct Distribution {
  explicit Distribution(PyObject* extra)
      : generators{PyTuple_GET_ITEM(extra, 0)},
        function{PyLong_AsVoidPtr(PyTuple_GET_ITEM(extra, 1))},
        dtype{text_of(PyTuple_GET_ITEM(extra, 2))},
        spellings{PyTuple_GET_ITEM(extra, 3)},
        parameters{PyTuple_GET_ITEM(extra, 4)},
        shape{PyTuple_GET_ITEM(extra, 5)},
        num_named{static_cast<std::size_t>(PyLong_AsSize_t(PyTuple_GET_ITEM(extra, 6)))} {}

  PyObject* generators;    // their addresses by their numbers, None for those that draw in tasks
  void* function;          // of cuPyNumeric's library
  std::string_view dtype;  // of the numbers and the parameters
  PyObject* spellings;     // of this type, in a set
  PyObject* parameters;    // a tuple, with None for those that must be given
  PyObject* shape;         // without another one
  std::size_t num_named;   // parameters that may be given, the first ones
};

// The address of a generator; null if it has not drawn here.
void* find_generator(PyObject* self, PyObject* generators) {
  static auto* const bit_generator = PyUnicode_InternFromString("bit_generator");
  static auto* const handle = PyUnicode_InternFromString("handle");

  const auto own = find_attribute(self, bit_generator);
  const auto number = own.is_valid() ? find_attribute(own.ptr(), handle) : nb::object{};

  if (!number.is_valid()) return nullptr;

  auto* const found = PyDict_GetItemWithError(generators, number.ptr());

  if (!found && PyErr_Occurred()) throw nb::python_error();
  return found && found != Py_None ? PyLong_AsVoidPtr(found) : nullptr;
}

// Whether a type is one of so many spellings.
bool stands_for(PyObject* dtype, PyObject* spellings) {
  const auto answer = PySet_Contains(spellings, dtype);

  // the original refuses what has no hash
  if (answer < 0) PyErr_Clear();
  return answer > 0;
}

// Lets the library draw so many numbers; false if a parameter is none of the type.
template <typename T>
bool draw(void* generator, const Distribution& distribution, const Arguments& given,
          NumberType type, char* to, std::size_t count) {
  const auto num = static_cast<std::size_t>(PyTuple_GET_SIZE(distribution.parameters));
  std::array<T, MOST_PARAMETERS> parameters{};

  for (std::size_t p = 0; p < num; ++p) {
    auto* number = p < distribution.num_named ? given[p + 1] : nullptr;

    if (!number) number = PyTuple_GET_ITEM(distribution.parameters, static_cast<Py_ssize_t>(p));
    if (!is_number(number) || !convert(number, type, reinterpret_cast<char*>(&parameters.at(p)))) {
      return false;
    }
  }

  const auto status =
      num == 1 ? reinterpret_cast<int (*)(void*, void*, std::size_t, T)>(distribution.function)(
                     generator, to, count, parameters[0])
               : reinterpret_cast<int (*)(void*, void*, std::size_t, T, T)>(distribution.function)(
                     generator, to, count, parameters[0], parameters[1]);

  if (status == 0) return true;
  throw std::runtime_error{"cuPyNumeric's generator fails with status " + std::to_string(status)};
}

}  // namespace

PyObject* random_numbers(const Arguments& given) {
  const Distribution distribution{given.extra};
  const auto at_shape = distribution.num_named + 1;
  auto* const shape = given[at_shape];
  auto* const dtype = given[at_shape + 1];
  auto* const generator = find_generator(given[0], distribution.generators);

  if (!arrays_are_ready() || !generator || !given.end_at(at_shape + 2)) Py_RETURN_NONE;
  if ((dtype && !stands_for(dtype, distribution.spellings)) || (shape && PyList_Check(shape))) {
    Py_RETURN_NONE;
  }

  const auto found = new_shape(shape && shape != Py_None ? shape : distribution.shape);

  // the original refuses arrays without elements, or draws nothing for them
  if (!found || found->volume() == 0) Py_RETURN_NONE;

  const auto write = [&](char* to) {
    const auto count = static_cast<std::size_t>(found->volume());

    return distribution.dtype == "float64"
               ? draw<double>(generator, distribution, given, NumberType::FLOAT64, to, count)
               : draw<std::int64_t>(generator, distribution, given, NumberType::INT64, to, count);
  };

  return new_result(
      given.arrays, given.arrays.find(distribution.dtype), found->dim, found->extents.data(),
      "random numbers", [] { return true; }, write);
}

}  // namespace legate_diffuse
