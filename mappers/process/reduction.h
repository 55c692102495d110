// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include "process/function.h"

namespace legate_diffuse {

// Reduces an array along an axis to a new one, which the operation of `function` has as its second
// operand, over the shape of the first. A new reference, or one to None if that is left to Python.
PyObject* reduce(const Function& function, PyObject* array, PyObject* axis);

}  // namespace legate_diffuse
