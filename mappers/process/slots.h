// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

namespace legate_diffuse {

// Python finds an operator of an object in a slot of its class. These functions take slots of the
// classes of cuPyNumeric, so that what can run at once goes through no function of Python's. What
// cannot goes on to what was in the slot, which calls the method of the operator's name. Python
// puts that back when somebody assigns such a method to the class.

// `functions` has a Function for the name of each operator's method that native code knows: for
// __getitem__ the one that reads single elements, for __setitem__ and for what makes a number of
// Python's None. They are kept. Throws std::logic_error before `know_arrays`.
void take_operators(const nanobind::dict& functions);

}  // namespace legate_diffuse
