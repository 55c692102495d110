// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include <array>
#include <cstddef>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/numbers.h"

namespace legate_diffuse {

// Operations of a function on single elements and numbers that ran before, each of them one call of
// a kernel. They make a result of an array that is spare, so that no object is made, and nobody
// else's code comes in between.
class SingleElements {
 public:
  static constexpr std::size_t MOST_OPERANDS = 2;

  // Takes note of an operation that ran; `found` has its result first. One that is no call of one
  // kernel is left out.
  void add(const Signature& signature, const LocalOperands& found, std::size_t count);

  // Writes to `out`, unless it is None. A new reference to the result; null if this is another
  // operation, or no array is spare.
  PyObject* apply(PyObject* out, PyObject* const* operands, std::size_t count);

 private:
  // For each operand its type, null for a number, and how many there are, and which arrays are the
  // same.
  struct Key {
    std::array<PyObject*, MOST_OPERANDS> dtypes;
    int pattern;
  };

  struct Known {
    Signature signature;
    NestAtOnce nest;
    PyObject* layout;  // of the result
  };

  // `all` has the result first, and null for numbers, and may have for what is new.
  static int pattern_of(const std::array<const void*, MOST_OPERANDS + 1>& all, std::size_t count);

  // Null if it is not known.
  [[nodiscard]] const Known* find(const std::array<PyObject*, MOST_OPERANDS>& dtypes,
                                  int pattern) const;

  // one for each that is known
  std::vector<Key> keys_;
  std::vector<Known> known_;
};

}  // namespace legate_diffuse
