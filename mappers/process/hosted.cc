// SPDX-License-Identifier: Apache-2.0

#include "process/hosted.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/contents.h"
#include "process/numbers.h"
#include "process/numpy_memory.h"
#include "process/runs.h"
#include "program/elements.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// The kinds of all types, where halves are only moved.
constexpr std::string_view ALL_KINDS{"biufc"};
// Where Legate has several processors, its tasks may have more elements.
constexpr std::int64_t MOST_ALONE = std::int64_t{1} << 20;
// To copy so many takes longer than to lend them.
constexpr std::int64_t MANY_BYTES = 1 << 15;

// Never destroyed: arrays may outlive the interpreter.
const NumPy* known_numpy = nullptr;

const NumPy& numpy() {
  return *known_numpy;
}

PyTypeObject* type_of_arrays() {
  static auto* const found = reinterpret_cast<PyTypeObject*>(
      nb::object{nb::module_::import_("numpy").attr("ndarray")}.release().ptr());

  return found;
}

bool is_array_of_numpy(PyObject* object) {
  return Py_TYPE(object) == type_of_arrays();
}

// What arrays call a type of NumPy's; null if they have none such.
PyObject* name_of(PyObject* array) {
  const auto dtype = owned(PyObject_GetAttr(array, names().dtype));

  auto* const name = PyDict_GetItemWithError(numpy().names, dtype.ptr());

  if (!name && PyErr_Occurred()) throw nb::python_error();
  return name;
}

bool is_sequence(PyObject* object) {
  return PyList_CheckExact(object) || PyTuple_CheckExact(object) || PyRange_Check(object);
}

bool contains(PyObject* set, PyObject* object) {
  const auto found = PySet_Contains(set, object);

  if (found < 0) throw nb::python_error();
  return found == 1;
}

// Arguments as NumPy takes them; empty if one is not here, or is not one of those.
class Given {
 public:
  Given(std::string_view kinds, Recipe::Given given) : kinds_{kinds}, given_{given} {}

  // Whether some of them were many elements.
  [[nodiscard]] bool has_many() const { return has_many_; }

  [[nodiscard]] nb::object plain(PyObject* argument) const {
    if (is_array(argument)) return elements(argument);
    if (is_array_of_numpy(argument)) return taken(argument);
    if (contains(numpy().plain, reinterpret_cast<PyObject*>(Py_TYPE(argument)))) {
      return nb::borrow(argument);
    }
    if (PyTuple_CheckExact(argument) || PyList_CheckExact(argument)) return all(argument);
    if (PyRange_Check(argument)) return array_of(argument);
    // they are classes: no code of Python's is called
    return PyObject_IsInstance(argument, numpy().numbers) == 1 ? nb::borrow(argument)
                                                               : nb::object{};
  }

  // An argument that must be an array: of a sequence it is what the original makes of it.
  [[nodiscard]] nb::object as_array(PyObject* argument) const {
    const auto found = plain(argument);

    if (!found.is_valid() || is_array_of_numpy(found.ptr())) return found;
    return array_of(found.ptr());
  }

 private:
  // NumPy's name for a type; null if functions of these kinds do not take it.
  [[nodiscard]] PyObject* dtype_of(PyObject* known) const {
    const auto name = text_of(known);
    auto* const dtype = PyDict_GetItemWithError(numpy().dtypes, known);

    if (!dtype && PyErr_Occurred()) throw nb::python_error();
    return kinds_.find(name[0]) == std::string_view::npos ||
                   (name == "float16" && kinds_ != ALL_KINDS)
               ? nullptr
               : dtype;
  }

  // Empty if NumPy refuses.
  [[nodiscard]] nb::object array_of(PyObject* sequence) const {
    const auto made = nb::steal(PyObject_CallOneArg(numpy().as_array, sequence));

    if (made.is_valid()) return taken(made.ptr());
    if (!PyErr_ExceptionMatches(numpy().refusals)) throw nb::python_error();
    PyErr_Clear();
    return {};
  }

  [[nodiscard]] nb::object taken(PyObject* array) const {
    auto* const name = name_of(array);

    return name && dtype_of(name) ? nb::borrow(array) : nb::object{};
  }

  // Many elements are not copied.
  [[nodiscard]] nb::object elements(PyObject* array) const {
    auto made = lent_elements(array);

    if (made.is_valid()) return made;

    const auto found = owned(elements_of(array));

    if (found.is_none()) return many_elements(array);

    auto* const* const parts = &PyTuple_GET_ITEM(found.ptr(), 0);  // bytes, extents, name
    auto* const dtype = dtype_of(parts[2]);

    if (!dtype) return {};

    PyObject* const arguments[]{parts[1], dtype, parts[0]};
    made = owned(PyObject_Vectorcall(reinterpret_cast<PyObject*>(type_of_arrays()), arguments,
                                     std::size(arguments), nullptr));
    return made;
  }

  // Many elements, or those that are brought; Python knows where they are.
  [[nodiscard]] nb::object many_elements(PyObject* array) const {
    auto* const name = legate_diffuse::dtype_of(array);

    if (given_ == Recipe::Given::FEW || !name || !dtype_of(name)) return {};

    auto found = nb::handle{numpy().elements}(nb::handle{array}, given_ == Recipe::Given::BROUGHT);

    if (found.is_none()) return {};
    has_many_ = true;
    return found;
  }

  // The memory of an array stays as long as NumPy refers to it. Empty if they are few, or not here.
  [[nodiscard]] nb::object lent_elements(PyObject* array) const {
    const auto view = view_of(array);
    LocalOperand operand;

    if (!view.is_valid() || !operand.is_in_process(view.ptr(), false)) return {};

    const auto is_many = operand.form.volume > MOST_POINTS;
    const auto itemsize = operand.small->shape().itemsize;
    const auto owner = nb::find(operand.small);
    auto* const dtype = dtype_of(operand.dtype);

    if (operand.form.volume * itemsize < MANY_BYTES || !owner.is_valid() || !dtype) return {};
    if (is_many && (given_ == Recipe::Given::FEW || operand.form.volume > MOST_ALONE)) return {};

    const auto offset = operand.repeats ? 0 : operand.form.offset * itemsize;
    const auto strides = operand.byte_strides();
    nb::list extents, steps;

    for (std::int64_t d = 0; d < operand.form.dim; ++d) {
      extents.append(operand.form.extents[d]);
      steps.append(strides[d]);
    }

    auto made = nb::handle{reinterpret_cast<PyObject*>(type_of_arrays())}(
        nb::tuple{extents}, nb::handle{dtype}, owner.attr("lend")(), offset, nb::tuple{steps});

    made.attr("flags").attr("writeable") = false;
    has_many_ = has_many_ || is_many;
    return made;
  }

  [[nodiscard]] nb::object all(PyObject* sequence) const {
    const auto parts = owned(PySequence_Tuple(sequence));
    const auto count = PyTuple_GET_SIZE(parts.ptr());
    auto made = owned(PyTuple_CheckExact(sequence) ? PyTuple_New(count) : PyList_New(count));

    for (Py_ssize_t at = 0; at < count; ++at) {
      auto part = plain(PyTuple_GET_ITEM(parts.ptr(), at));

      if (!part.is_valid()) return {};
      if (PyTuple_CheckExact(sequence)) {
        PyTuple_SET_ITEM(made.ptr(), at, part.release().ptr());
      } else {
        PyList_SET_ITEM(made.ptr(), at, part.release().ptr());
      }
    }
    return count > 0 ? made : nb::object{};
  }

  std::string_view kinds_;
  Recipe::Given given_;
  mutable bool has_many_{};
};

// As long as it lives, NumPy does not warn of what it computes.
class NoWarnings {
 public:
  NoWarnings() : token_{nb::steal(PyContextVar_Set(numpy().warnings, numpy().ignored))} {
    if (!token_.is_valid()) throw nb::python_error();
  }

  NoWarnings(const NoWarnings&) = delete;
  NoWarnings& operator=(const NoWarnings&) = delete;

  ~NoWarnings() {
    const nb::error_scope raised;

    if (PyContextVar_Reset(numpy().warnings, token_.ptr()) != 0) PyErr_Clear();
  }

 private:
  nb::object token_;
};

// Empty if NumPy refuses.
nb::object called(const Recipe& recipe, const std::vector<PyObject*>& given, std::size_t count,
                  PyObject* names) {
  const auto call = [&] {
    return nb::steal(PyObject_Vectorcall(recipe.function, given.data(), count, names));
  };
  nb::object made;

  if (recipe.may_warn) {
    const NoWarnings quiet;

    made = call();
  } else {
    made = call();
  }
  if (made.is_valid()) return made;
  // the original raises what it raises
  if (!PyErr_ExceptionMatches(numpy().refusals)) throw nb::python_error();
  PyErr_Clear();
  return {};
}

// The memory of an array of NumPy's.
class Memory {
 public:
  explicit Memory(PyObject* array) {
    if (PyObject_GetBuffer(array, &buffer, PyBUF_STRIDED_RO) != 0) throw nb::python_error();
  }

  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { PyBuffer_Release(&buffer); }

  Py_buffer buffer{};
};

// A new small array of NumPy's elements; empty if it is left to Python.
nb::object small_array_of(const Function& arrays, PyObject* found, const std::string& label) {
  auto* const name = name_of(found);
  const auto* const signature = name ? arrays.find({name}, 1) : nullptr;

  if (!signature) return {};

  const Memory memory{found};
  const auto& buffer = memory.buffer;

  if (buffer.ndim > LEGATE_MAX_DIM || buffer.len > store_fields().most_bytes) {
    return {};
  }

  const std::vector<std::int64_t> extents(buffer.shape, buffer.shape + buffer.ndim);
  const std::vector<std::int64_t> strides(buffer.strides, buffer.strides + buffer.ndim);
  NewArray made{*signature, arrays.new_layout(extents.data(), buffer.ndim).ptr()};
  LocalOperand target;

  if (!made.is_here(target)) return {};

  Run run{label.c_str()};

  target.small->reserve();
  if (buffer.len > 0) {
    copy_elements(target.small->elements(),
                  row_major_strides(buffer.ndim, extents.data(), buffer.itemsize).data(),
                  static_cast<const char*>(buffer.buf), strides.data(), buffer.ndim, extents.data(),
                  static_cast<std::size_t>(buffer.itemsize));
  }
  return nb::steal(made.done(target, run));
}

// A new array of NumPy's elements, of which there may be many; None if there is no such array.
nb::object new_array_of(const Function& arrays, PyObject* found, const std::string& label) {
  auto made = small_array_of(arrays, found, label);

  return made.is_valid() ? made : nb::handle{numpy().others}(nb::handle{found}, label.c_str());
}

// What NumPy has made with new arrays; None if there is something else.
nb::object new_arrays_of(const Function& arrays, PyObject* made, const std::string& label) {
  if (is_array_of_numpy(made)) return new_array_of(arrays, made, label);
  if (PyObject_IsInstance(made, numpy().numbers) == 1) {
    return new_array_of(arrays, owned(PyObject_CallOneArg(numpy().as_array, made)).ptr(), label);
  }
  if (!PyTuple_Check(made) && !PyList_CheckExact(made)) return nb::none();

  const auto parts = owned(PySequence_Tuple(made));
  auto results = owned(PyList_New(0));

  for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(parts.ptr()); ++at) {
    const auto part = new_arrays_of(arrays, PyTuple_GET_ITEM(parts.ptr(), at), label);

    if (part.is_none()) return part;
    if (PyList_Append(results.ptr(), part.ptr()) != 0) throw nb::python_error();
  }
  return PyList_CheckExact(made) ? results : owned(PySequence_Tuple(results.ptr()));
}

// Whether a recipe takes so many arguments, and these names.
bool fits(const Recipe& recipe, const Arguments& arguments, std::size_t named) {
  if (arguments.count > recipe.most || arguments.count < recipe.arrays ||
      arguments.count + named < recipe.least) {
    return false;
  }
  for (std::size_t at = 0; at < recipe.arrays; ++at) {
    if (!is_array(arguments[at]) && !is_array_of_numpy(arguments[at]) &&
        !(recipe.converts && is_sequence(arguments[at]))) {
      return false;
    }
  }
  for (std::size_t at = 0; at < named; ++at) {
    if (!contains(recipe.keywords, PyTuple_GET_ITEM(arguments.names, at))) return false;
  }
  return true;
}

}  // namespace

void know_numpy(const NumPy& known) {
  for (auto* const each :
       {known.dtypes, known.names, known.plain, known.numbers, known.refusals, known.as_array,
        known.warnings, known.ignored, known.others, known.elements}) {
    Py_INCREF(each);
  }
  known_numpy = new NumPy{known};
}

PyObject* hosted(const Arguments& arguments) {
  return hosted(arguments, nb::inst_ptr<Recipe>(arguments.extra)->given);
}

PyObject* hosted(const Arguments& arguments, Recipe::Given how) {
  const auto& recipe = *nb::inst_ptr<Recipe>(arguments.extra);
  const auto named = arguments.names ? static_cast<std::size_t>(PyTuple_GET_SIZE(arguments.names))
                                     : std::size_t{0};

  if (!arrays_are_ready() || !fits(recipe, arguments, named)) Py_RETURN_NONE;

  const Given given{recipe.kinds, how};
  std::vector<nb::object> kept;
  std::vector<PyObject*> plain;

  for (std::size_t at = 0; at < arguments.count + named; ++at) {
    kept.push_back(at < recipe.arrays ? given.as_array(arguments[at]) : given.plain(arguments[at]));
    if (!kept.back().is_valid()) Py_RETURN_NONE;
    plain.push_back(kept.back().ptr());
  }

  std::optional<OwnMemory> memory;

  if (given.has_many()) memory.emplace();

  const auto made = called(recipe, plain, arguments.count, arguments.names);

  if (!made.is_valid()) Py_RETURN_NONE;
  return new_arrays_of(arguments.arrays, made.ptr(), recipe.label).release().ptr();
}

}  // namespace legate_diffuse
