// SPDX-License-Identifier: Apache-2.0

#include "process/ways.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "process/arrays.h"
#include "process/element.h"
#include "process/extract.h"
#include "process/extremes.h"
#include "process/guard.h"
#include "process/hosted.h"
#include "process/join.h"
#include "process/later.h"
#include "process/numbers.h"
#include "process/objects.h"
#include "process/part.h"
#include "process/product.h"
#include "process/random_numbers.h"
#include "process/range.h"
#include "process/rearrange.h"
#include "process/reduction.h"
#include "process/shown.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

struct NamedWay {
  std::string_view name;
  Way way;
};

// What stands for all elements in one row.
PyObject* one_row() {
  static auto* const number = PyLong_FromLong(-1);

  return number;
}

// The name of a type; empty if it is not known what stands for it.
std::string_view type_from(PyObject* known, PyObject* object, std::string_view default_type) {
  if (!object) return default_type;

  auto* const found = PyDict_GetItemWithError(known, object);

  // the original refuses what has no hash
  if (!found) PyErr_Clear();
  return found ? text_of(found) : std::string_view{};
}

// What is left to Python.
PyObject* none() {
  return Py_NewRef(Py_None);
}

// Whether an argument is given, and is not None.
bool is_given(PyObject* argument) {
  return argument && argument != Py_None;
}

// What a number of Python's or of NumPy's is without a type.
std::string_view own_type(PyObject* number) {
  if (const auto type = type_of_numpy(number); !type.empty()) return type;
  if (PyBool_Check(number)) return "bool";
  if (PyFloat_CheckExact(number)) return "float64";
  return PyComplex_CheckExact(number) ? "complex128" : "int64";
}

// A new array of a shape full of a number, or of the only element of an array.
PyObject* full(const Arguments& given) {
  if (!given[1]) Py_RETURN_NONE;

  const auto dtype = type_from(given.extra, is_given(given[2]) ? given[2] : nullptr, {});

  if (is_given(given[2]) && dtype.empty()) Py_RETURN_NONE;

  const auto plain = plain_number(given[1]);
  auto* const number = plain.is_valid() ? plain.ptr() : given[1];

  if (is_assignable(number)) {
    return filled(given.arrays, given[0], dtype.empty() ? own_type(given[1]) : dtype, number);
  }
  if (!is_array(given[1]) || !dtype.empty()) Py_RETURN_NONE;

  const auto value = nb::steal(value_of(given[1]));
  auto* const own = value.is_none() ? nullptr : dtype_of(given[1]);

  return own ? filled(given.arrays, given[0], text_of(own), value.ptr()) : none();
}

PyObject* filled_with(const Arguments& given, std::int64_t number) {
  const auto dtype = type_from(given.extra, given[1], "float64");

  if (dtype.empty()) Py_RETURN_NONE;
  return filled(given.arrays, given[0], dtype, number_of(number));
}

// A new array of the shape of another one, of its type if none is given.
PyObject* filled_like_by(const Arguments& given, PyObject* type, PyObject* number) {
  const auto dtype = type_from(given.extra, is_given(type) ? type : nullptr, {});

  if (is_given(type) && dtype.empty()) return none();
  return filled_like(given.arrays, given[0], dtype, number);
}

PyObject* filled_like_with(const Arguments& given, std::int64_t number) {
  return filled_like_by(given, given[1], number_of(number));
}

PyObject* empty_of(const Arguments& given) {
  return made_or(filled_with(given, 0), [&] {
    const auto dtype = type_from(given.extra, given[1], "float64");

    return dtype.empty() ? none() : empty(given.arrays, given[0], dtype);
  });
}

PyObject* empty_like_of(const Arguments& given) {
  return made_or(filled_like_with(given, 0), [&] {
    const auto dtype = type_from(given.extra, is_given(given[1]) ? given[1] : nullptr, {});

    return is_given(given[1]) && dtype.empty() ? none() : empty_like(given.arrays, given[0], dtype);
  });
}

PyObject* range_of(const Arguments& given) {
  const auto dtype = type_from(given.extra, is_given(given[3]) ? given[3] : nullptr, {});

  if (is_given(given[3]) && dtype.empty()) return none();
  return range(given.arrays, given[0], given[1], given[2], dtype);
}

// What `extra` has under a key; null if it has nothing.
PyObject* known_of(const Arguments& given, PyObject* key) {
  auto* const found = PyDict_GetItemWithError(given.extra, key);

  if (!found && PyErr_Occurred()) throw nb::python_error();
  return found;
}

// ufunc(*operands) of so many, where `extra` has the function of a ufunc. They may be followed by
// what is written.
template <std::size_t COUNT>
PyObject* call(const Arguments& given) {
  const auto num_names = given.names ? PyTuple_GET_SIZE(given.names) : 0;
  const auto has_out = given.count + static_cast<std::size_t>(num_names) == COUNT + 2;

  if ((given.count != COUNT + 1 && given.count != COUNT + 2) || (num_names > 0 && !has_out) ||
      (num_names > 0 && PyUnicode_Compare(PyTuple_GET_ITEM(given.names, 0), names().out) != 0)) {
    return none();
  }

  auto* const function = known_of(given, given[0]);

  if (!function) return none();
  return nb::inst_ptr<Function>(function)->apply(has_out ? given[COUNT + 1] : Py_None,
                                                 given.given + 1, COUNT);
}

// array.__array_ufunc__(ufunc, method, *operands), likewise.
PyObject* array_ufunc(const Arguments& given) {
  static auto* const call = PyUnicode_InternFromString("__call__");

  if (given.names || given.count < 4 || PyUnicode_Compare(given[2], call) != 0) return none();

  auto* const function = known_of(given, given[1]);

  if (!function) return none();
  return nb::inst_ptr<Function>(function)->apply(Py_None, given.given + 3, given.count - 3);
}

// `extra` of one operand.
PyObject* function_of_one(const Arguments& given) {
  return given.end_at(1) ? nb::inst_ptr<Function>(given.extra)->apply(Py_None, given.given, 1)
                         : none();
}

PyObject* flattened(const Arguments& given) {
  return length_of(given[0], 1) ? copied(given.arrays, given[0])
                                : reshape(given.arrays, given[0], one_row());
}

PyObject* size_of(const Arguments& given) {
  const auto shape = nb::steal(shape_of(given[0]));
  std::int64_t size = 1;

  if (!shape.is_valid() || shape.is_none()) return nb::object{shape}.release().ptr();
  for (Py_ssize_t d = 0; d < PyTuple_GET_SIZE(shape.ptr()); ++d) {
    size *= integer_from(PyTuple_GET_ITEM(shape.ptr(), d)).value_or(0);
  }
  return PyLong_FromLongLong(size);
}

PyObject* copy_of(const Arguments& given) {
  return made_or(copied(given.arrays, given[0]),
                 [&] { return copy_later(given.arrays, given[0]); });
}

// What makes an array of arrays in a list stacks them.
PyObject* array_of(const Arguments& given) {
  if (!Items{given[0]}.are_listed()) return copy_of(given);
  return made_or(joined(given.arrays, Joining::STACK, given[0], nullptr), [&] {
    auto made = arrays_are_ready() ? array_from(given[0]) : nb::object{};

    return made.is_valid() ? made.release().ptr() : none();
  });
}

// array.diagonal(offset) along the first two axes, or its sum; None if there are others.
template <PyObject* (*FIND)(const Function&, PyObject*, std::int64_t)>
PyObject* diagonal_of(const Arguments& given) {
  const auto offset = given[1] ? integer_from(given[1]) : std::optional<std::int64_t>{0};

  return offset && given.end_at(2) ? FIND(given.arrays, given[0], *offset) : none();
}

// In the plane of the first two axes; None if there are others.
PyObject* turned_by(const Arguments& given) {
  const auto quarters = given[1] ? integer_from(given[1]) : std::optional<std::int64_t>{1};

  return quarters && given.end_at(2) ? turned(given.arrays, given[0], *quarters) : none();
}

// A vector is all of it, wherever its elements are.
PyObject* ravel(const Arguments& given) {
  if (!given.end_at(1) || !arrays_are_ready()) return none();
  return is_vector(given[0]) ? Py_NewRef(given[0]) : reshape(given.arrays, given[0], one_row());
}

template <Joining HOW>
PyObject* join(const Arguments& given) {
  return given.end_at(2) ? joined(given.arrays, HOW, given[0], given[1]) : none();
}

template <Joining HOW>
PyObject* stack(const Arguments& given) {
  return joined(given.arrays, HOW, given[0], nullptr);
}

template <bool LARGEST>
PyObject* place_of(const Arguments& given) {
  return !is_given(given[1]) && given.end_at(2) ? place_of_extreme(given.arrays, given[0], LARGEST)
                                                : none();
}

constexpr std::array WAYS{
    NamedWay{"arange", range_of},
    NamedWay{"argmax", place_of<true>},
    NamedWay{"argmin", place_of<false>},
    NamedWay{"array", array_of},
    NamedWay{"array_ufunc", array_ufunc},
    NamedWay{"asarray",
             [](const Arguments& given) {
               return Py_NewRef(is_array(given[0]) && given.end_at(1) ? given[0] : Py_None);
             }},
    NamedWay{"bool", [](const Arguments& given) { return truth_of(given[0]); }},
    NamedWay{"call of one", call<1>},
    NamedWay{"call of two", call<2>},
    NamedWay{"concatenate", join<Joining::CONCATENATE>},
    NamedWay{"copy", copy_of},
    NamedWay{"diagonal", diagonal_of<diagonal>},
    NamedWay{"dtype", [](const Arguments& given) { return type_of(given[0]); }},
    NamedWay{"empty", empty_of},
    NamedWay{"empty_like", empty_like_of},
    NamedWay{
        "expand_dims",
        [](const Arguments& given) { return given[1] ? expanded(given[0], given[1]) : none(); }},
    NamedWay{"fill",
             [](const Arguments& given) {
               return Py_NewRef(given[1] && is_assignable(given[1]) &&
                                        put(given[0], Py_Ellipsis, given[1])
                                    ? Py_NotImplemented
                                    : Py_None);
             }},
    NamedWay{"flatten", flattened},
    NamedWay{"flip",
             [](const Arguments& given) {
               return flipped(given.arrays, given[0], is_given(given[1]) ? given[1] : nullptr);
             }},
    NamedWay{"fliplr", [](const Arguments& given) { return reversed(given.arrays, given[0], 2); }},
    NamedWay{"flipud", [](const Arguments& given) { return reversed(given.arrays, given[0], 1); }},
    NamedWay{"float", [](const Arguments& given) { return converted<PyNumber_Float>(given[0]); }},
    NamedWay{"format",
             [](const Arguments& given) {
               const auto value = nb::steal(value_of(given[0]));

               return value.is_none() || !given[1] ? none()
                                                   : PyObject_Format(value.ptr(), given[1]);
             }},
    NamedWay{"full", full},
    NamedWay{"function", function_of_one},
    NamedWay{"full_like",
             [](const Arguments& given) {
               return given[1] ? filled_like_by(given, given[2], given[1]) : none();
             }},
    NamedWay{"hosted", hosted},
    NamedWay{"hosted_by",
             [](const Arguments& given) {
               auto* const recipe = given.count > 0 ? known_of(given, given[0]) : nullptr;

               if (!recipe) return none();
               return hosted({given.arrays, recipe, given.given + 1, given.count - 1, given.names});
             }},
    NamedWay{"imag",
             [](const Arguments& given) {
               return is_real(given[0]) ? filled_like(given.arrays, given[0], {}, number_of(0))
                                        : function_of_one(given);
             }},
    NamedWay{"index", [](const Arguments& given) { return converted<as_index>(given[0]); }},
    NamedWay{"hstack", stack<Joining::HSTACK>},
    NamedWay{"inner", inner_product},
    NamedWay{"int", [](const Arguments& given) { return converted<PyNumber_Long>(given[0]); }},
    NamedWay{"item",
             [](const Arguments& given) {
               return !given.names && given.count > 0
                          ? item(given[0], given.given + 1,
                                 static_cast<Py_ssize_t>(given.count) - 1)
                          : none();
             }},
    NamedWay{"itemsize",
             [](const Arguments& given) {
               auto* const dtype = dtype_of(given[0]);

               return dtype ? PyLong_FromLongLong(itemsize_of(dtype)) : none();
             }},
    NamedWay{"matmul", matrix_product},
    NamedWay{"ndim",
             [](const Arguments& given) {
               const auto shape = nb::steal(shape_of(given[0]));

               return shape.is_none() ? none() : PyLong_FromSsize_t(PyTuple_GET_SIZE(shape.ptr()));
             }},
    NamedWay{"ones", [](const Arguments& given) { return filled_with(given, 1); }},
    NamedWay{"ones_like", [](const Arguments& given) { return filled_like_with(given, 1); }},
    NamedWay{"random", random_numbers},
    NamedWay{"ravel", ravel},
    NamedWay{"product", product},
    NamedWay{"real",
             [](const Arguments& given) {
               return is_real(given[0]) ? Py_NewRef(given[0]) : function_of_one(given);
             }},
    NamedWay{"reduction", reduction},
    NamedWay{"reshape",
             [](const Arguments& given) {
               if (given.names || given.count < 2) Py_RETURN_NONE;
               if (given.count == 2) return reshape(given.arrays, given[0], given[1]);

               const auto shape = owned(PyTuple_New(static_cast<Py_ssize_t>(given.count) - 1));

               for (std::size_t at = 1; at < given.count; ++at) {
                 PyTuple_SET_ITEM(shape.ptr(), static_cast<Py_ssize_t>(at) - 1,
                                  Py_NewRef(given[at]));
               }
               return reshape(given.arrays, given[0], shape.ptr());
             }},
    NamedWay{"rot90", turned_by},
    NamedWay{"shape", [](const Arguments& given) { return shape_of(given[0]); }},
    NamedWay{"size", size_of},
    NamedWay{"squeeze", [](const Arguments& given) { return squeezed(given[0], given[1]); }},
    NamedWay{"stack", join<Joining::STACK>},
    NamedWay{"strides", [](const Arguments& given) { return strides_of(given[0]); }},
    NamedWay{"swapaxes",
             [](const Arguments& given) {
               return given[1] && given[2] ? with_swapped_axes(given[0], given[1], given[2])
                                           : none();
             }},
    NamedWay{"trace", diagonal_of<trace>},
    NamedWay{"transpose", [](const Arguments& given) { return transposed(given[0], given[1]); }},
    NamedWay{"vstack", stack<Joining::VSTACK>},
    NamedWay{"zeros", [](const Arguments& given) { return filled_with(given, 0); }},
    NamedWay{"zeros_like", [](const Arguments& given) { return filled_like_with(given, 0); }},
};

}  // namespace

Way find_way(std::string_view name) {
  const auto* const found =
      std::find_if(WAYS.begin(), WAYS.end(), [&](const auto& each) { return each.name == name; });

  return found == WAYS.end() ? nullptr : found->way;
}

}  // namespace legate_diffuse
