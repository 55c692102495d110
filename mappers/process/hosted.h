// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>

#include "process/front.h"
#include "process/given.h"

namespace legate_diffuse {

// A function that NumPy does (`Recipe` in shortcuts/recipes.py).
struct Recipe {
  PyObject* function;
  std::string label;  // what people call it; empty if it is no operation
  std::string kinds;  // of the types of arrays
  std::size_t least, most, arrays;
  PyObject* keywords;  // a frozenset
  bool may_warn;
  GivenElements given;
  bool converts;        // whether sequences are as good as arrays
  bool needs_axes;      // whether the first array must have some
  bool needs_elements;  // whether it must have some
  bool orders;          // whether it must have no NaN
  bool changes;  // whether the function changes its elements, which are few, and returns nothing
  bool grows;    // whether few elements may become many
};

// Runs a recipe, which is `extra`, on copies of the elements of arrays in this process. Returns a
// new reference to new arrays of its results, to NotImplemented if it has changed an array; to None
// if Python must decide.
PyObject* hosted(const Arguments& arguments);

// The same, where the elements are given as said.
PyObject* hosted(const Arguments& arguments, GivenElements given);

// A new small array of NumPy's elements, the result of an operation if there is a label; empty if
// it is left to Python.
nanobind::object small_array_of(const Function& arrays, PyObject* found, const char* label);

}  // namespace legate_diffuse
