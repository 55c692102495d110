// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "process/numpy_api.h"

namespace legate_diffuse {

// What is needed of NumPy. References are kept.
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
  PyObject* may_stay;  // says whether so many bytes of a large array may be here
};

void know_numpy(const NumPy& known);
const NumPy& numpy();

// Whether there is room for a large new array in this process, for which things that wait may be
// submitted.
bool may_stay(std::size_t num_bytes);

// The kinds of all types, where halves are only moved.
inline constexpr std::string_view ALL_KINDS{"biufc"};

bool is_sequence(PyObject* object);

// What arrays call a type of NumPy's; null if they have none such.
PyObject* name_of(PyObject* array);

bool contains(PyObject* set, PyObject* object);

// Which elements NumPy is given: those that are here, and few; also many; or also those for which
// something waits, or that Legate has.
enum class GivenElements { FEW, HERE, BROUGHT };

// Arguments as NumPy takes them; empty if one is not here, or is not one of those.
class GivenArguments {
 public:
  GivenArguments(std::string_view kinds, GivenElements given) : kinds_{kinds}, given_{given} {}

  // Whether NumPy is lent memory of arrays: then results may be as large.
  [[nodiscard]] bool was_lent() const;

  [[nodiscard]] nanobind::object plain(PyObject* argument) const;

  // An argument that must be an array: of a sequence it is what the original makes of it.
  [[nodiscard]] nanobind::object as_array(PyObject* argument) const;

 private:
  // NumPy's name for a type; null if functions of these kinds do not take it.
  [[nodiscard]] PyObject* dtype_of(PyObject* known) const;

  // Empty if NumPy refuses.
  [[nodiscard]] nanobind::object array_of(PyObject* sequence) const;

  [[nodiscard]] nanobind::object taken(PyObject* array) const;

  [[nodiscard]] nanobind::object elements(PyObject* array) const;

  // Many elements, or those that are brought; Python knows where they are.
  [[nodiscard]] nanobind::object many_elements(PyObject* array) const;

  // Elements that are here: a copy of a few; else the memory of an array stays as long as NumPy
  // refers to it. Empty if they are not here, or too many.
  [[nodiscard]] nanobind::object elements_here(PyObject* array) const;

  [[nodiscard]] nanobind::object all(PyObject* sequence) const;

  std::string_view kinds_;
  GivenElements given_;
  mutable std::int64_t points_{};  // of arrays whose memory NumPy is lent
};

// As long as it lives, NumPy does not warn of what it computes.
class NoWarnings {
 public:
  NoWarnings() : token_{nanobind::steal(PyContextVar_Set(numpy().warnings, numpy().ignored))} {
    if (!token_.is_valid()) throw nanobind::python_error();
  }

  NoWarnings(const NoWarnings&) = delete;
  NoWarnings& operator=(const NoWarnings&) = delete;

  ~NoWarnings() {
    const nanobind::error_scope raised;

    if (PyContextVar_Reset(numpy().warnings, token_.ptr()) != 0) PyErr_Clear();
  }

 private:
  nanobind::object token_;
};

}  // namespace legate_diffuse
