// SPDX-License-Identifier: Apache-2.0

#include "process/slots.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "process/arrays.h"
#include "process/element.h"
#include "process/function.h"
#include "process/guard.h"
#include "process/later.h"
#include "process/numbers.h"
#include "process/operands.h"
#include "process/part.h"
#include "process/places.h"
#include "process/rearrange.h"
#include "process/shown.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

PyNumberMethods& numbers() {
  return *array_fields().classes.ndarray->tp_as_number;
}

// Calls the method of the array, as the slot's own function does: that one refuses to if it is not
// in the slot. Not all are methods if the array comes second.
PyObject* call_method(PyObject* a, PyObject* b, PyObject* name, PyObject* swapped_name) {
  const auto is_first = Py_TYPE(a) == array_fields().classes.ndarray;

  if (!is_first && !swapped_name) Py_RETURN_NOTIMPLEMENTED;

  return PyObject_CallMethodOneArg(is_first ? a : b, is_first ? name : swapped_name,
                                   is_first ? b : a);
}

PyObject* name_of(std::string_view name, const char* prefix) {
  return PyUnicode_InternFromString((prefix + std::string{name.substr(2)}).c_str());
}

// What a slot of both operands does; each slot has one of its own. If it SWAPS, the array comes
// first, as cuPyNumeric's methods have it.
template <typename Slot, bool SWAPS = false>
struct TwoSided {
  static inline Function* function;
  static inline PyObject *method, *swapped_method;

  static PyObject* apply(PyObject* a, PyObject* b) {
    const auto swaps = SWAPS && !is_array(a);
    const std::array<PyObject*, 2> operands{swaps ? b : a, swaps ? a : b};

    return first_of([&] { return function->apply(Py_None, operands.data(), operands.size()); },
                    [&] { return call_method(a, b, method, swapped_method); });
  }

  static void know(std::string_view name, Function* known) {
    function = known;
    method = name_of(name, "__");
    swapped_method = name_of(name, "__r");

    auto* const type = reinterpret_cast<PyObject*>(array_fields().classes.ndarray);
    if (!PyObject_HasAttr(type, swapped_method)) swapped_method = nullptr;
  }
};

template <binaryfunc PyNumberMethods::* SLOT, bool SWAPS = false>
struct Binary : TwoSided<Binary<SLOT, SWAPS>, SWAPS> {
  static void take(std::string_view name, Function* known) {
    Binary::know(name, known);
    numbers().*SLOT = &Binary::apply;
  }
};

struct Power : TwoSided<Power> {
  static inline ternaryfunc own;

  static PyObject* call(PyObject* a, PyObject* b, PyObject* modulus) {
    return modulus == Py_None ? apply(a, b) : own(a, b, modulus);
  }

  static void take(std::string_view name, Function* known) {
    know(name, known);
    own = std::exchange(numbers().nb_power, &call);
  }
};

// That of a power has a modulus as well.
template <auto SLOT>
struct InPlace {
  using Own = std::remove_reference_t<decltype(std::declval<PyNumberMethods>().*SLOT)>;

  static inline Function* function;
  static inline Own own;

  template <typename... Modulus>
  static PyObject* call(PyObject* a, PyObject* b, Modulus... modulus) {
    const std::array<PyObject*, 2> operands{a, b};

    return first_of([&] { return function->apply(a, operands.data(), operands.size()); },
                    [&] { return own(a, b, modulus...); });
  }

  static void take(std::string_view, Function* known) {
    const Own ours = &InPlace::call;

    function = known;
    own = std::exchange(numbers().*SLOT, ours);
  }
};

template <unaryfunc PyNumberMethods::* SLOT>
struct Unary {
  static inline Function* function;
  static inline unaryfunc own;

  static PyObject* call(PyObject* array) {
    return first_of([&] { return function->apply(Py_None, &array, 1); },
                    [&] { return own(array); });
  }

  static void take(std::string_view, Function* known) {
    function = known;
    own = std::exchange(numbers().*SLOT, &call);
  }
};

// A number of Python's that is made of the only element.
template <unaryfunc PyNumberMethods::* SLOT, PyObject* (*CONVERT)(PyObject*)>
struct Number {
  static inline unaryfunc own;

  static PyObject* call(PyObject* array) {
    return first_of([&] { return converted<CONVERT>(array); }, [&] { return own(array); });
  }

  static void take(std::string_view, Function*) { own = std::exchange(numbers().*SLOT, &call); }
};

struct Truth {
  static inline inquiry own;

  static int call(PyObject* array) {
    const auto found = nb::steal(guard([&] { return truth_of(array); }));

    if (!found.is_valid()) return -1;
    return found.is_none() ? own(array) : static_cast<int>(found.ptr() == Py_True);
  }

  static void take(std::string_view, Function*) { own = std::exchange(numbers().nb_bool, &call); }
};

struct Length {
  static inline lenfunc own;

  static Py_ssize_t call(PyObject* array) {
    std::optional<std::int64_t> length;
    const auto done = nb::steal(guard([&]() -> PyObject* {
      if (is_array(array)) length = length_of(array);
      Py_RETURN_NONE;
    }));

    if (!done.is_valid()) return -1;
    return length ? *length : own(array);
  }

  static void take(std::string_view, Function*) {
    auto& type = *array_fields().classes.ndarray;

    own = std::exchange(type.tp_as_sequence->sq_length, &call);
    type.tp_as_mapping->mp_length = &call;
  }
};

constexpr std::size_t NUM_COMPARISONS = Py_GE + 1;

struct Comparison {
  static inline std::array<Function*, NUM_COMPARISONS> functions;
  static inline richcmpfunc own;

  static PyObject* call(PyObject* a, PyObject* b, int which) {
    const std::array<PyObject*, 2> operands{a, b};
    auto* const function = functions[static_cast<std::size_t>(which)];

    return first_of(
        [&] {
          if (!function) Py_RETURN_NONE;
          return function->apply(Py_None, operands.data(), operands.size());
        },
        [&] { return own(a, b, which); });
  }

  template <int WHICH>
  static void take(std::string_view, Function* known) {
    auto& slot = array_fields().classes.ndarray->tp_richcompare;

    functions[WHICH] = known;
    if (slot != &call) own = std::exchange(slot, &call);
  }
};

struct Get {
  static inline Function* elements;
  static inline binaryfunc own;

  static PyObject* call(PyObject* array, PyObject* key) {
    return first_of([&] { return elements->get(array, key); }, [&] { return own(array, key); });
  }

  // An element of a sequence, as for ``reversed`` and ``bisect``.
  static PyObject* item(PyObject* array, Py_ssize_t place) {
    const auto key = nb::steal(PyLong_FromSsize_t(place));

    return key.is_valid() ? call(array, key.ptr()) : nullptr;
  }

  static void take(std::string_view, Function* known) {
    auto& type = *array_fields().classes.ndarray;

    elements = known;
    own = std::exchange(type.tp_as_mapping->mp_subscript, &call);
    type.tp_as_sequence->sq_item = &item;
  }
};

struct Put {
  static inline objobjargproc own;
  static inline Function* function;

  static bool put_any(PyObject* array, PyObject* key, PyObject* value) {
    return put(array, key, value) || put_at_places(array, with_arrays(key).ptr(), value) ||
           put_later(array, key, value);
  }

  // An array of the type of another one; empty if it is, or if Python is to convert it.
  static nb::object converted(PyObject* array, PyObject* value) {
    if (!arrays_are_ready() || !is_array(value) || conversions_warn()) return {};
    return function->converted({dtype_of(array), dtype_of(value)}, value);
  }

  // A null value stands for a deletion.
  static int call(PyObject* array, PyObject* key, PyObject* value) {
    if (value && (function || is_array(value))) {
      const auto done = nb::steal(guard([&] {
        const auto plain = plain_value(value);
        auto* const given = plain.is_valid() ? plain.ptr() : value;

        if (put_any(array, key, given)) Py_RETURN_TRUE;

        const auto made = function ? converted(array, given) : nb::object{};

        return PyBool_FromLong(made.is_valid() && put_any(array, key, made.ptr()));
      }));

      if (!done.is_valid()) return -1;
      if (done.ptr() == Py_True) return 0;
    }
    return own(array, key, value);
  }

  static void take(std::string_view, Function* known) {
    function = known;
    own = std::exchange(array_fields().classes.ndarray->tp_as_mapping->mp_ass_subscript, &call);
  }
};

struct Operator {
  std::string_view name;
  void (*take)(std::string_view, Function*);
};

// An operator's second name is that of the same slot.
constexpr std::array OPERATORS{
    Operator{"__add__", Binary<&PyNumberMethods::nb_add, true>::take},
    Operator{"__sub__", Binary<&PyNumberMethods::nb_subtract>::take},
    Operator{"__mul__", Binary<&PyNumberMethods::nb_multiply, true>::take},
    Operator{"__truediv__", Binary<&PyNumberMethods::nb_true_divide>::take},
    Operator{"__floordiv__", Binary<&PyNumberMethods::nb_floor_divide>::take},
    Operator{"__mod__", Binary<&PyNumberMethods::nb_remainder>::take},
    Operator{"__and__", Binary<&PyNumberMethods::nb_and>::take},
    Operator{"__or__", Binary<&PyNumberMethods::nb_or>::take},
    Operator{"__xor__", Binary<&PyNumberMethods::nb_xor>::take},
    Operator{"__lshift__", Binary<&PyNumberMethods::nb_lshift>::take},
    Operator{"__rshift__", Binary<&PyNumberMethods::nb_rshift>::take},
    Operator{"__pow__", Power::take},
    Operator{"__iadd__", InPlace<&PyNumberMethods::nb_inplace_add>::take},
    Operator{"__isub__", InPlace<&PyNumberMethods::nb_inplace_subtract>::take},
    Operator{"__imul__", InPlace<&PyNumberMethods::nb_inplace_multiply>::take},
    Operator{"__itruediv__", InPlace<&PyNumberMethods::nb_inplace_true_divide>::take},
    Operator{"__ifloordiv__", InPlace<&PyNumberMethods::nb_inplace_floor_divide>::take},
    Operator{"__imod__", InPlace<&PyNumberMethods::nb_inplace_remainder>::take},
    Operator{"__ipow__", InPlace<&PyNumberMethods::nb_inplace_power>::take},
    Operator{"__iand__", InPlace<&PyNumberMethods::nb_inplace_and>::take},
    Operator{"__ilshift__", InPlace<&PyNumberMethods::nb_inplace_lshift>::take},
    Operator{"__irshift__", InPlace<&PyNumberMethods::nb_inplace_rshift>::take},
    Operator{"__ior__", InPlace<&PyNumberMethods::nb_inplace_or>::take},
    Operator{"__ixor__", InPlace<&PyNumberMethods::nb_inplace_xor>::take},
    Operator{"__neg__", Unary<&PyNumberMethods::nb_negative>::take},
    Operator{"__pos__", Unary<&PyNumberMethods::nb_positive>::take},
    Operator{"__abs__", Unary<&PyNumberMethods::nb_absolute>::take},
    Operator{"__invert__", Unary<&PyNumberMethods::nb_invert>::take},
    Operator{"__bool__", Truth::take},
    Operator{"__float__", Number<&PyNumberMethods::nb_float, PyNumber_Float>::take},
    Operator{"__int__", Number<&PyNumberMethods::nb_int, PyNumber_Long>::take},
    Operator{"__index__", Number<&PyNumberMethods::nb_index, as_index>::take},
    Operator{"__len__", Length::take},
    Operator{"__lt__", Comparison::take<Py_LT>},
    Operator{"__le__", Comparison::take<Py_LE>},
    Operator{"__eq__", Comparison::take<Py_EQ>},
    Operator{"__ne__", Comparison::take<Py_NE>},
    Operator{"__gt__", Comparison::take<Py_GT>},
    Operator{"__ge__", Comparison::take<Py_GE>},
    Operator{"__getitem__", Get::take},
    Operator{"__setitem__", Put::take},
};

}  // namespace

void take_operators(const nb::dict& functions) {
  for (const auto& [name, take] : OPERATORS) {
    const nb::str key{name.data(), name.size()};

    if (!functions.contains(key)) continue;

    const nb::object function{functions[key]};

    take(name,
         function.is_none() ? nullptr : nb::inst_ptr<Function>(nb::object{function}.release()));
  }
}

}  // namespace legate_diffuse
