// SPDX-License-Identifier: Apache-2.0

#include "process/set_attribute.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace legate_diffuse {

void add_methods(PyTypeObject* type, std::array<PyMethodDef, 2>& methods) {
  for (auto& each : methods) {
    const auto method = nb::steal(PyDescr_NewMethod(type, &each));

    if (!method.is_valid() || PyObject_SetAttrString(reinterpret_cast<PyObject*>(type),
                                                     each.ml_name, method.ptr()) != 0) {
      throw nb::python_error();
    }
  }
}

}  // namespace legate_diffuse
