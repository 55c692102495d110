// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/numbers.h"

namespace legate_diffuse {

// Operands as kernels take them: arrays, and Python's numbers beside them. In place of a number of
// NumPy's is Python's, where an array makes the same of both, else an array of one element; in
// place of a list, a tuple or an array of NumPy's is the array that the original makes of it; and
// Python's numbers alone are arrays of one element. What is none of these stays what it is.
class PlainOperands {
 public:
  PlainOperands(PyObject* const* operands, std::size_t count);

  [[nodiscard]] PyObject* const* get() const { return plain_.data(); }

  // Whether operands are so already.
  static bool are_plain(PyObject* const* operands, std::size_t count) {
    bool has_arrays = false;

    for (std::size_t index = 0; index < count; ++index) {
      const auto is_one = is_array(operands[index]);

      if (!is_one && !is_number(operands[index])) return false;
      has_arrays = has_arrays || is_one;
    }
    return has_arrays;
  }

 private:
  void replace(std::size_t index, nanobind::object by);

  std::array<PyObject*, MAX_OPERANDS> plain_{};
  std::array<nanobind::object, MAX_OPERANDS> made_;
};

// Python's number in place of one of NumPy's, and the array that a list or a tuple becomes, of what
// is assigned; empty for what is to stay what it is.
nanobind::object plain_value(PyObject* value);

}  // namespace legate_diffuse
