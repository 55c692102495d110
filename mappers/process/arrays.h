// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "process/at_once.h"
#include "process/fields.h"

namespace legate_diffuse {

// What this file needs of Python's classes; see `know_arrays` in _native.pyi.
struct ArrayClasses {
  PyTypeObject* ndarray;
  PyTypeObject* thunk;
  PyTypeObject* store;
  PyTypeObject* view;
  PyTypeObject* root;
  PyTypeObject* layout;
  PyObject* library;  // of the tasks of thunks
  PyObject* window;
  PyObject* queue;
  std::int64_t most_bytes;
};

void know_arrays(const ArrayClasses& classes, PyObject* state_type, PyObject* queue_type);

// An operation on operands of given types, and the array that it makes. All references are kept.
struct Signature {
  std::vector<PyObject*> dtypes;  // of the operands: names that are one object for each type
  Operation* operation;
  PyObject* prototype;  // a root without elements that has the type of the result
  PyObject* dtype;      // NumPy's type of the result
  std::int64_t itemsize;
  std::string scalars;  // the operation's own, of SCALAR_SIZE bytes each
};

struct Shape;

// A function of NumPy on small arrays, by the types of its operands. What it cannot do is left to
// Python: then the result is None.
class Function {
 public:
  // `dense` returns the layout of a new array of a shape. The function may take numbers of
  // Python's, which then have the type of their operand. If it reduces, its result has no
  // dimensions, and its operation has the result twice: it fills it first.
  Function(PyObject* dense, bool takes_numbers, bool reduces)
      : dense_{dense}, takes_numbers_{takes_numbers}, reduces_{reduces} {}

  void add(Signature signature) { signatures_.push_back(std::move(signature)); }

  // Writes to `out`, unless it is None, or to a new array. Returns a new reference.
  PyObject* apply(PyObject* out, PyObject* const* operands, std::size_t count);

  // A new array of a type and a layout with all elements equal to a number.
  PyObject* fill(PyObject* dtype, PyObject* layout, PyObject* number);

  // array[key] for integers. Returns a new reference to a new array.
  PyObject* get(PyObject* array, PyObject* key);

 private:
  // The signature for arrays of these types, and numbers in the place of null.
  [[nodiscard]] const Signature* find(const std::array<PyObject*, MAX_OPERANDS>& dtypes,
                                      std::size_t count) const;

  [[nodiscard]] nanobind::object dense_layout(const Shape& shape, const LocalOperands& operands,
                                              std::size_t first, std::size_t count) const;

  PyObject* dense_;
  bool takes_numbers_;
  bool reduces_;
  std::vector<Signature> signatures_;
};

// array[key] = value for integers and a single element; false if that is left to Python.
bool put(PyObject* array, PyObject* key, PyObject* value);

// A new reference to the only element of an array as a number of Python's, or to None.
PyObject* value_of(PyObject* array);

}  // namespace legate_diffuse
