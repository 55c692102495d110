// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include "process/front.h"
#include "process/function.h"

namespace legate_diffuse {

// Reduces an array along an axis, or several in a tuple, to a new one, which the operation of
// `function` has as its second operand, over the shape of the first. The axes are kept, with one
// element each, or dropped. A new reference, or one to None if that is left to Python.
PyObject* reduce(const Function& function, PyObject* array, PyObject* axis, bool keeps);

// array.sum(axis, ..., keepdims), or a function, of which nothing between is given. What comes with
// it are the functions that reduce all elements, and along axes, and whether these may be several.
PyObject* reduction(const Arguments& given);

// Lets the only element of a new array say whether any of all elements are set, or all are; false
// if that is another reduction, or they do not lie in a row. It looks no further than to the block
// of elements that decides.
bool find_truth(const Signature& signature, LocalOperand& result, const LocalOperand& source);

}  // namespace legate_diffuse
