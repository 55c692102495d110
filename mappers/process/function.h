// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/numbers.h"
#include "process/single.h"

namespace legate_diffuse {

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

  // Lets operands of these kinds be converted to a type first: an array's kind is its type, and
  // that of a number its class.
  void mix(const std::vector<PyObject*>& kinds, PyObject* dtype, Function* converter);

  // Lets what is made of operands of these kinds become of another type where it is written to an
  // array of that type, which is the last of the kinds. `dtype` is what it is before.
  void convert_written(const std::vector<PyObject*>& kinds, PyObject* dtype, Function* converter);

  // Lets powers of complex numbers with the exponents 2, 3 and 4 be products, as NumPy's are.
  // `multiply` is the function that makes these.
  void use_products(Function* multiply) { multiply_ = multiply; }

  // An array that becomes one of the type to which operands of these kinds are converted. Empty if
  // it is of that type, or that is not known, or left to Python.
  nanobind::object converted(const std::array<PyObject*, MAX_OPERANDS>& kinds,
                             PyObject* array) const;

  // Writes to `out`, unless it is None, or to a new array, at once or when what waits is submitted.
  // Returns a new reference.
  PyObject* apply(PyObject* out, PyObject* const* operands, std::size_t count);

  // A new array with a layout and with all elements equal to a value.
  PyObject* fill(const Signature& signature, PyObject* layout, const ScalarBlock& value) const;

  // The signature for arrays of these types, and numbers in the place of null.
  [[nodiscard]] const Signature* find(PyObject* const* dtypes, std::size_t count) const;
  [[nodiscard]] const Signature* find(std::initializer_list<PyObject*> dtypes) const {
    return find(dtypes.begin(), dtypes.size());
  }

  // The one for arrays of a type, by NumPy's name of it.
  [[nodiscard]] const Signature* find(std::string_view dtype) const;

  // The layout of a new array.
  [[nodiscard]] nanobind::object new_layout(const std::int64_t* extents, std::int64_t dim) const;

  // array[key] for a basic index, and what `get_places` takes. Returns a new reference to
  // a new array.
  PyObject* get(PyObject* array, PyObject* key);

 private:
  [[nodiscard]] nanobind::object dense_layout(const Shape& shape, const LocalOperands& operands,
                                              std::size_t first, std::size_t count) const;
  // view[key], of which `operand` shows the only element
  PyObject* get_element(PyObject* view, PyObject* key, LocalOperand& operand) const;
  struct Mixture {
    std::vector<PyObject*> kinds;
    PyObject* dtype;
    Function* converter;
  };

  struct Given;

  // Lets an operand show the elements of a view, if they are here, and not too many.
  bool may_be_read(LocalOperand& operand, PyObject* view) const;

  // Finds operands in this process, after `first` places; null if there are none, or others.
  const Signature* find(PyObject* const* operands, std::size_t count, std::size_t first,
                        Given& given) const;
  using Kinds = std::array<PyObject*, MAX_OPERANDS>;
  [[nodiscard]] static Mixture mixture_of(const std::vector<PyObject*>& kinds, PyObject* dtype,
                                          Function* converter);
  [[nodiscard]] static Kinds kinds_of(PyObject* const* operands, std::size_t count);
  [[nodiscard]] static const Mixture* find_mixture(const std::deque<Mixture>& mixtures,
                                                   const Kinds& kinds);
  [[nodiscard]] bool are_products(PyObject* const* operands) const;
  PyObject* apply_products(PyObject* out, PyObject* factor, PyObject* exponent) const;
  PyObject* apply_mixed(PyObject* out, PyObject* const* operands, std::size_t count);
  // Writes to an array of another type than what is made.
  PyObject* apply_written(PyObject* out, PyObject* const* operands, std::size_t count);
  PyObject* apply_at_once(PyObject* out, PyObject* const* operands, std::size_t count);
  // The same for what is to be written over elements that operands have as well: first to a new
  // array.
  PyObject* apply_apart(PyObject* out, PyObject* const* operands, std::size_t count);
  // in later.cc
  [[nodiscard]] PyObject* apply_later(PyObject* out, PyObject* const* operands,
                                      std::size_t count) const;

  PyObject* dense_;
  // the layout of new arrays without dimensions
  mutable PyObject* single_{};
  bool takes_numbers_;
  bool reduces_;
  Function* multiply_{};
  // where one is stays the same when more are added, as other code of the program may at any time
  // that objects are made
  std::deque<Signature> signatures_;
  mutable const Signature* last_found_{};
  std::deque<Mixture> mixtures_;
  std::deque<Mixture> written_;
  SingleElements singles_;
};

}  // namespace legate_diffuse
