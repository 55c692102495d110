// SPDX-License-Identifier: Apache-2.0

#include "process/numbers_first.h"

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "process/arrays.h"
#include "process/function.h"
#include "process/guard.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// What arrays make of other numbers of NumPy's is not what they make of Python's.
constexpr std::array CLASSES{"float64", "float32", "int64",  "int32",  "int16",
                             "int8",    "uint64",  "uint32", "uint16", "uint8"};

template <typename Own>
PyObject* apply(Function* function, PyObject* number, PyObject* array, const Own& own) {
  if (!function || !is_array(array)) return own();

  const std::array<PyObject*, 2> operands{number, array};

  return made_or(guard([&] { return function->apply(Py_None, operands.data(), operands.size()); }),
                 own);
}

// Each class has slots of its own. That of a power has a modulus as well.
template <std::size_t CLASS, auto SLOT>
struct Operator {
  using Own = std::remove_reference_t<decltype(std::declval<PyNumberMethods>().*SLOT)>;

  static inline Function* function;
  static inline Own own;

  template <typename... Modulus>
  static PyObject* call(PyObject* a, PyObject* b, Modulus... modulus) {
    const auto is_plain = ((modulus == Py_None) && ...);

    return apply(is_plain ? function : nullptr, a, b, [&] { return own(a, b, modulus...); });
  }

  static void take(PyTypeObject* type, Function* known) {
    const Own ours = &Operator::call;
    auto& slot = type->tp_as_number->*SLOT;

    if (!slot || !known) return;
    function = known;
    own = std::exchange(slot, ours);
  }
};

// In the order of Python's numbers of comparisons.
constexpr std::array COMPARISONS{"less",      "less_equal", "equal",
                                 "not_equal", "greater",    "greater_equal"};

template <std::size_t CLASS>
struct Comparison {
  static inline std::array<Function*, COMPARISONS.size()> functions;
  static inline richcmpfunc own;

  static PyObject* call(PyObject* a, PyObject* b, int which) {
    return apply(functions[static_cast<std::size_t>(which)], a, b,
                 [&] { return own(a, b, which); });
  }
};

template <std::size_t CLASS, typename Find>
void take(const nb::object& numpy, const Find& find) {
  const nb::object object{numpy.attr(CLASSES[CLASS])};
  auto* const type = reinterpret_cast<PyTypeObject*>(object.ptr());

  Operator<CLASS, &PyNumberMethods::nb_add>::take(type, find("add"));
  Operator<CLASS, &PyNumberMethods::nb_subtract>::take(type, find("subtract"));
  Operator<CLASS, &PyNumberMethods::nb_multiply>::take(type, find("multiply"));
  Operator<CLASS, &PyNumberMethods::nb_true_divide>::take(type, find("true_divide"));
  Operator<CLASS, &PyNumberMethods::nb_floor_divide>::take(type, find("floor_divide"));
  Operator<CLASS, &PyNumberMethods::nb_remainder>::take(type, find("remainder"));
  Operator<CLASS, &PyNumberMethods::nb_and>::take(type, find("bitwise_and"));
  Operator<CLASS, &PyNumberMethods::nb_or>::take(type, find("bitwise_or"));
  Operator<CLASS, &PyNumberMethods::nb_xor>::take(type, find("bitwise_xor"));
  Operator<CLASS, &PyNumberMethods::nb_lshift>::take(type, find("left_shift"));
  Operator<CLASS, &PyNumberMethods::nb_rshift>::take(type, find("right_shift"));
  Operator<CLASS, &PyNumberMethods::nb_power>::take(type, find("power"));
  for (std::size_t which = 0; which < COMPARISONS.size(); ++which) {
    Comparison<CLASS>::functions[which] = find(COMPARISONS[which]);
  }
  Comparison<CLASS>::own = std::exchange(type->tp_richcompare, &Comparison<CLASS>::call);
}

template <typename Find, std::size_t... ALL>
void take_all(const nb::object& numpy, const Find& find, std::index_sequence<ALL...> /*classes*/) {
  (take<ALL>(numpy, find), ...);
}

}  // namespace

void take_numbers_first(const nb::dict& functions) {
  const nb::object numpy = nb::module_::import_("numpy");
  const auto find = [&](const char* name) -> Function* {
    const nb::object ufunc{numpy.attr(name)};

    if (!functions.contains(ufunc)) return nullptr;
    return nb::inst_ptr<Function>(nb::object{functions[ufunc]}.release());
  };

  take_all(numpy, find, std::make_index_sequence<CLASSES.size()>{});
}

}  // namespace legate_diffuse
