// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include "process/front.h"

namespace legate_diffuse {

// A new array of random numbers, which a generator of cuPyNumeric's draws from a distribution
// (`_Common` in shortcuts/random_numbers.py). The arguments are the generator, the parameters of
// the distribution, the shape and the type; all else must have been left out. Returns a new
// reference, to None if that is left to Python. Throws std::runtime_error if cuPyNumeric fails.
PyObject* random_numbers(const Arguments& arguments);

}  // namespace legate_diffuse
