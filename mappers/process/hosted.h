// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>

#include "process/front.h"

namespace legate_diffuse {

// A function that NumPy does (`Recipe` in shortcuts/recipes.py).
struct Recipe {
  // What is given to it: elements that are here, and few; also many; or also those for which
  // something waits, or that Legate has.
  enum class Given { FEW, HERE, BROUGHT };

  PyObject* function;
  std::string label;  // what people call it
  std::string kinds;  // of the types of arrays
  std::size_t least, most, arrays;
  PyObject* keywords;  // a frozenset
  bool may_warn;
  Given given;
  bool converts;  // whether sequences are as good as arrays
};

// What is needed of NumPy.
struct NumPy {
  PyObject* dtypes;    // the types of arrays by their names
  PyObject* names;     // and their names, which are one object for each type
  PyObject* plain;     // a frozenset of classes of which objects mean the same to NumPy
  PyObject* numbers;   // a tuple of classes of its own whose objects do
  PyObject* refusals;  // a tuple of what it raises of arguments that do not fit
  PyObject* as_array;
  PyObject* warnings;  // a context variable, and its value
  PyObject* ignored;   // where NumPy is not to warn of what it computes
  PyObject* others;    // makes an array of elements that native code does not take, or None
  PyObject* elements;  // returns those of an array, whether they are brought or not, or None
};

// Keeps all of it.
void know_numpy(const NumPy& known);

// Runs a recipe, which is `extra`, on copies of the elements of arrays in this process. Returns a
// new reference to new arrays of its results; to None if Python must decide.
PyObject* hosted(const Arguments& arguments);

// The same, where the elements are given as said.
PyObject* hosted(const Arguments& arguments, Recipe::Given given);

}  // namespace legate_diffuse
