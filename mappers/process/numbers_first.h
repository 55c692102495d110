// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

namespace legate_diffuse {

// Where a number of NumPy's stands before an array, as in numpy.float64(2) * x, Python asks NumPy
// first, which takes longer to see that the array knows better than most operations take. This
// takes the slots of the classes of such numbers: what can run at once does, and all else goes on
// to NumPy. `functions` has a Function for each universal function of NumPy's that native code
// knows. They are kept. Throws std::logic_error before `know_arrays`.
void take_numbers_first(const nanobind::dict& functions);

}  // namespace legate_diffuse
