// SPDX-License-Identifier: Apache-2.0

#include <nanobind/nanobind.h>

#include <utility>

#include "process/arrays.h"
#include "process/function.h"
#include "process/guard.h"
#include "process/slots.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Calls of universal functions of COUNT operands.
template <Py_ssize_t COUNT>
struct Call {
  static inline PyObject* functions;
  static inline ternaryfunc own;

  // What is to be written, or None; null if there are other arguments.
  static PyObject* out_of(PyObject* operands, PyObject* options) {
    const auto count = PyTuple_GET_SIZE(operands);

    if (!options) {
      if (count == COUNT) return Py_None;
      return count == COUNT + 1 ? PyTuple_GET_ITEM(operands, COUNT) : nullptr;
    }
    if (count != COUNT || PyDict_GET_SIZE(options) != 1) return nullptr;

    auto* const out = PyDict_GetItemWithError(options, names().out);

    if (!out && PyErr_Occurred()) throw nb::python_error();
    return out;
  }

  static PyObject* call(PyObject* self, PyObject* operands, PyObject* options) {
    return first_of(
        [&]() -> PyObject* {
          auto* const out = out_of(operands, options);

          if (!out) Py_RETURN_NONE;

          auto* const function = PyDict_GetItemWithError(functions, self);

          if (!function && PyErr_Occurred()) throw nb::python_error();
          if (!function) Py_RETURN_NONE;
          return nb::inst_ptr<Function>(function)->apply(out, &PyTuple_GET_ITEM(operands, 0),
                                                         COUNT);
        },
        [&] { return own(self, operands, options); });
  }

  static void take(nb::handle type, const nb::dict& known) {
    functions = nb::object{known}.release().ptr();
    own = std::exchange(reinterpret_cast<PyTypeObject*>(type.ptr())->tp_call, &call);
  }
};

}  // namespace

void take_calls(nb::handle unary, nb::handle binary, const nb::dict& functions) {
  Call<1>::take(unary, functions);
  Call<2>::take(binary, functions);
}

}  // namespace legate_diffuse
