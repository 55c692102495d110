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
#include "process/extremes.h"
#include "process/numbers.h"
#include "process/numpy_memory.h"
#include "process/result.h"
#include "process/runs.h"
#include "threads/copying.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

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

// A new array that takes over the memory of NumPy's elements; empty if it is left to Python.
nb::object adopting_array_of(const Function& arrays, PyObject* found, const std::string& label) {
  auto* const name = name_of(found);
  const auto* const signature = name ? arrays.find({name}) : nullptr;
  const auto content = content_of(found);
  const auto num_bytes = static_cast<std::size_t>(content.num_bytes());

  if (!signature || content.dim > LEGATE_MAX_DIM || !content.is_in_order() ||
      !may_stay(num_bytes)) {
    return {};
  }

  NewArray made{*signature, arrays.new_layout(content.extents, content.dim).ptr()};

  if (!arrays_are_ready()) return {};

  auto* const memory = take_from_numpy(content.elements, num_bytes);

  if (!memory) return {};

  Run run{label.c_str()};

  // nobody else has the array
  lazy_thunk(made.view.ptr())->elements.adopt(memory);
  run.done();
  return std::move(made.array);
}

// A new array of NumPy's elements, of which there may be many; None if there is no such array.
nb::object new_array_of(const Function& arrays, PyObject* found, const std::string& label) {
  auto made = small_array_of(arrays, found, label.empty() ? nullptr : label.c_str());

  if (!made.is_valid()) made = adopting_array_of(arrays, found, label);
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
  if (recipe.changes && (arguments.count == 0 || !is_array(arguments[0]) || conversions_warn())) {
    return false;
  }
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

// Whether the first of the arrays that NumPy would be given is refused.
bool refuses(const Recipe& recipe, PyObject* array) {
  if (!is_array_of_numpy(array)) return false;

  const auto content = content_of(array);

  return (recipe.needs_axes && content.dim == 0) ||
         (recipe.needs_elements && content.volume == 0) || (recipe.orders && has_nan(array));
}

}  // namespace

nb::object small_array_of(const Function& arrays, PyObject* found, const char* label) {
  auto* const name = name_of(found);
  const auto* const signature = name ? arrays.find({name}) : nullptr;

  if (!signature) return {};

  const auto content = content_of(found);

  if (content.dim > LEGATE_MAX_DIM || content.num_bytes() > store_fields().most_bytes) return {};

  auto made = owned(new_result(
      arrays, signature, content.dim, content.extents, label, [] { return true; },
      [&](char* to) {
        copy_in_order(to, content.elements, content.byte_strides, content.dim, content.extents,
                      content.itemsize);
        return true;
      }));

  return made.is_none() ? nb::object{} : made;
}

PyObject* hosted(const Arguments& arguments) {
  return hosted(arguments, nb::inst_ptr<Recipe>(arguments.extra)->given);
}

PyObject* hosted(const Arguments& arguments, GivenElements how) {
  const auto& recipe = *nb::inst_ptr<Recipe>(arguments.extra);
  const auto named = arguments.names ? static_cast<std::size_t>(PyTuple_GET_SIZE(arguments.names))
                                     : std::size_t{0};

  if (!arrays_are_ready() || !fits(recipe, arguments, named)) Py_RETURN_NONE;

  const GivenArguments given{recipe.kinds, how};
  std::vector<nb::object> kept;
  std::vector<PyObject*> plain;
  nb::object before;

  for (std::size_t at = 0; at < arguments.count + named; ++at) {
    if (recipe.changes && at == 0) {
      before = owned(elements_of(arguments[0]));
      kept.push_back(owned(elements_of(arguments[0])));
      if (before.is_none() || kept[0].is_none()) Py_RETURN_NONE;
    } else {
      kept.push_back(at < recipe.arrays ? given.as_array(arguments[at])
                                        : given.plain(arguments[at]));
    }
    if (!kept.back().is_valid()) Py_RETURN_NONE;
    plain.push_back(kept.back().ptr());
  }

  if (!plain.empty() && refuses(recipe, plain[0])) Py_RETURN_NONE;

  std::optional<OwnMemory> memory;

  if (given.was_lent() || recipe.grows) memory.emplace();

  const auto made = called(recipe, plain, arguments.count, arguments.names);

  if (!made.is_valid()) Py_RETURN_NONE;
  if (recipe.changes) {
    return Py_NewRef(put_elements(arguments[0], before.ptr(), plain[0]) ? Py_NotImplemented
                                                                        : Py_None);
  }
  return new_arrays_of(arguments.arrays, made.ptr(), recipe.label).release().ptr();
}

}  // namespace legate_diffuse
