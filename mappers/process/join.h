// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include "process/function.h"

namespace legate_diffuse {

// How functions join arrays: along an axis that they have, or a new one, which is given or follows
// from how many dimensions they have.
enum class Joining { CONCATENATE, STACK, VSTACK, HSTACK };

// A new array of the arrays in a list or a tuple, which have one type and are here; None if that is
// left to Python. `axis` is null if it was left out.
PyObject* joined(const Function& function, Joining how, PyObject* parts, PyObject* axis);

}  // namespace legate_diffuse
