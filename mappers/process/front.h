// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "process/function.h"

namespace legate_diffuse {

// What native code is given in front of a function of Python's.
struct Arguments {
  const Function& arrays;  // makes arrays of each type
  PyObject* extra;         // what the front was made with, or None
  PyObject* const* given;  // null where one was left out
  std::size_t count;
  PyObject* names;  // of the last ones, for what takes any number of them; else null

  PyObject* operator[](std::size_t place) const { return given[place]; }

  // Whether all from a place on were left out.
  [[nodiscard]] bool end_at(std::size_t place) const;
};

// Returns a new reference: to None if the call is left to Python, and to NotImplemented if None is
// the result.
using Way = PyObject* (*)(const Arguments&);

// Makes the class of fronts. Throws nanobind::python_error.
void know_fronts();

// A new object that is called, or bound to an array, as `otherwise` is, and goes on to that where
// the way makes nothing. `names` are those of all parameters, in order; None if the way takes
// whatever comes. `learn` is asked for each argument that is an array, before Python goes on: the
// way is tried again if there was more to know of one. `arrays` has a bit for the place of each
// argument of which the original makes an array: the way is tried again with these, too, and Python
// goes on with them, but numbers beside arrays stay numbers. All objects are kept. Throws
// std::invalid_argument if there is no such way.
nanobind::object new_front(std::string_view way, nanobind::handle function, nanobind::handle extra,
                           nanobind::handle names, nanobind::handle learn,
                           nanobind::handle otherwise, std::uint64_t arrays);

}  // namespace legate_diffuse
