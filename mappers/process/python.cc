// SPDX-License-Identifier: Apache-2.0

#include "process/python.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/blas.h"
#include "process/contents.h"
#include "process/copying.h"
#include "process/element.h"
#include "process/front.h"
#include "process/function.h"
#include "process/guard.h"
#include "process/hosted.h"
#include "process/later.h"
#include "process/part.h"
#include "process/places.h"
#include "process/programs.h"
#include "process/rearrange.h"
#include "process/record.h"
#include "process/reduction.h"
#include "process/repeat.h"
#include "process/runs.h"
#include "process/slots.h"
#include "process/waiting.h"
#include "process/window.h"
#include "threads/background.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

std::vector<PyObject*> items_of(const nb::tuple& tuple) {
  auto* const* const first = &PyTuple_GET_ITEM(tuple.ptr(), 0);

  return {first, first + tuple.size()};
}

// A kernel, the number of the view with the shape, the arguments, and the scalars.
using Nest = std::tuple<std::uint32_t, std::size_t, std::vector<std::size_t>, std::vector<bool>,
                        std::vector<std::int64_t>>;

Answer look(const Operation& operation, const nb::list& views, LocalOperands& operands) {
  if (views.size() != operation.num_operands()) throw nb::value_error("another number of views");

  auto most = MOST_REDUCED;

  // what it writes comes first
  for (const auto changed : {true, false}) {
    for (std::size_t number = 0; number < views.size(); ++number) {
      if (operation.changes(number) != changed) continue;

      auto& one = operands[number];
      const auto answer =
          one.look(store_fields(), PyList_GET_ITEM(views.ptr(), number), changed, most);

      if (answer != Answer::DONE) return answer;
      if (changed && !one.has_few_elements()) most = MOST_LOOPED;
    }
  }
  return Answer::DONE;
}

Answer run(Operation& operation, const nb::list& views, const nb::bytes& scalars) {
  return located([&] {
    // a finalizer may have recorded operations since the caller looked
    if (!may_run_at_once()) return Answer::IMPOSSIBLE;

    LocalOperands operands;
    const auto answer = look(operation, views, operands);

    if (answer != Answer::DONE) return answer;
    return operation.run(store_fields(), operands, scalars.c_str(), scalars.size() / SCALAR_SIZE);
  });
}

void add(Operation& operation, const nb::list& views, const std::vector<Nest>& nests) {
  LocalOperands operands;
  std::vector<NestAtOnce> found;

  if (!may_run_at_once() || look(operation, views, operands) != Answer::DONE) return;
  for (const auto& [kernel, shape, arguments, whole, scalars] : nests) {
    const auto* const code = find_kernel(kernel);

    if (!code) throw nb::value_error("no kernel is registered under this id");
    found.push_back({code, shape, arguments, whole, scalars});
  }
  operation.add(operands, std::move(found));
}

PyObject* apply(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guard([&] {
    return nb::inst_ptr<Function>(arguments[0])->apply(arguments[1], arguments + 2, count - 2);
  });
}

PyObject* make_of_places(PyObject*, PyObject* const* arguments, Py_ssize_t) {
  return guard([&] {
    return get_at_places(*nb::inst_ptr<Function>(arguments[0]), arguments[1], arguments[2]);
  });
}

PyObject* copy_of_elements(PyObject*, PyObject* array) {
  return guard([&] { return elements_of(array); });
}

PyObject* assign_elements(PyObject*, PyObject* const* arguments, Py_ssize_t) {
  return guard(
      [&] { return PyBool_FromLong(put_elements(arguments[0], arguments[1], arguments[2])); });
}

PyObject* reduce_along(PyObject*, PyObject* const* arguments, Py_ssize_t) {
  return guard([&] {
    return reduce(*nb::inst_ptr<Function>(arguments[0]), arguments[1], arguments[2],
                  arguments[3] == Py_True);
  });
}

PyObject* let_task_wait(PyObject*, PyObject* const* arguments, Py_ssize_t) {
  return guard([&] {
    return PyBool_FromLong(
        let_wait(arguments[0], nb::borrow<nb::list>(arguments[1]), arguments[2]));
  });
}

PyObject* let_reduction_wait(PyObject*, PyObject* const* arguments, Py_ssize_t) {
  return guard([&] {
    return reduce_later(*nb::inst_ptr<Function>(arguments[0]), arguments[1], arguments[2],
                        arguments[3]);
  });
}

std::array<PyMethodDef, 7> fast_functions{{
    {"apply", fast(apply), METH_FASTCALL, nullptr},
    {"elements_of", copy_of_elements, METH_O, nullptr},
    {"let_wait", fast(let_task_wait), METH_FASTCALL, nullptr},
    {"get_at_places", fast(make_of_places), METH_FASTCALL, nullptr},
    {"put_elements", fast(assign_elements), METH_FASTCALL, nullptr},
    {"reduce", fast(reduce_along), METH_FASTCALL, nullptr},
    {"reduce_later", fast(let_reduction_wait), METH_FASTCALL, nullptr},
}};

// Lets native code know objects of Python's, which are the members of a structure in their order.
// They are kept.
template <typename Known, void (*KNOW)(const Known&)>
void know(const nb::args& given) {
  static_assert(std::is_trivially_copyable_v<Known>);
  if (given.size() * sizeof(PyObject*) != sizeof(Known)) {
    throw nb::value_error("another number of objects");
  }

  Known known{};

  std::memcpy(&known, &PyTuple_GET_ITEM(given.ptr(), 0), sizeof(known));
  given.inc_ref();
  KNOW(known);
}

nb::object array_of(const Function& function, nb::handle elements, const std::string& label) {
  return located([&]() -> nb::object {
    auto made = arrays_are_ready() && is_array_of_numpy(elements.ptr())
                    ? small_array_of(function, elements.ptr(), label.c_str())
                    : nb::object{};

    return made.is_valid() ? made : nb::none();
  });
}

void add_signature(Function& function, const nb::tuple& dtypes, nb::handle operation,
                   nb::handle prototype, nb::handle dtype, std::int64_t itemsize,
                   const nb::bytes& scalars, const nb::bytes& identity, nb::handle task_template) {
  std::vector<PyObject*> names;
  std::vector<NumberType> types;

  for (const auto name : dtypes) {
    names.push_back(name.inc_ref().ptr());
    types.push_back(number_type(name.ptr()));
  }
  function.add({std::move(names),
                std::move(types),
                operation.is_none() ? nullptr : nb::inst_ptr<Operation>(operation.inc_ref()),
                prototype.inc_ref().ptr(),
                dtype.inc_ref().ptr(),
                itemsize,
                {scalars.c_str(), scalars.size()},
                {identity.c_str(), identity.size()},
                task_template.inc_ref().ptr()});
}

using Places = std::vector<std::pair<std::size_t, std::size_t>>;

void note(const nb::tuple& key, const nb::list& operations, std::vector<nb::object> layouts,
          std::vector<nb::object> shapes, std::vector<std::size_t> arguments,
          const nb::bytes& privileges, const nb::bytes& program, Places constants, Places scalars,
          std::vector<std::size_t> temporaries, std::size_t most_bytes, bool takes_long,
          nb::object note) {
  RepeatedWindow window{};
  const auto* const given = reinterpret_cast<const Privilege*>(privileges.c_str());

  if (privileges.size() != arguments.size()) {
    throw nb::value_error("one privilege is needed for each argument");
  }
  window.layouts = std::move(layouts);
  window.shapes = std::move(shapes);
  window.arguments = std::move(arguments);
  window.privileges.assign(given, given + privileges.size());
  window.program.resize(program.size() / sizeof(window.program[0]));
  std::memcpy(window.program.data(), program.c_str(), program.size());
  window.constants = std::move(constants);
  window.scalars = std::move(scalars);
  window.temporaries = std::move(temporaries);
  window.most_bytes = most_bytes;
  window.takes_long = takes_long;
  window.note = std::move(note);
  note_window(key, operations, std::move(window));
}

void bind_operations(nb::module_& module) {
  nb::enum_<Answer>(module, "Answer")
      .value("DONE", Answer::DONE)
      .value("UNKNOWN", Answer::UNKNOWN)
      .value("IMPOSSIBLE", Answer::IMPOSSIBLE);
  nb::class_<Operation>(module, "Operation")
      .def(nb::init<std::string, std::vector<bool>, std::int64_t, std::int64_t>())
      .def("run", &run)
      .def("add", &add);
  nb::class_<Function>(module, "Function")
      .def("__init__",
           [](Function* function, nb::handle dense, bool takes_numbers, bool reduces) {
             new (function) Function{dense.inc_ref().ptr(), takes_numbers, reduces};
           })
      .def("array_of", &array_of)
      .def("add", &add_signature, nb::arg("dtypes"), nb::arg("operation").none(),
           nb::arg("prototype"), nb::arg("dtype"), nb::arg("itemsize"), nb::arg("scalars"),
           nb::arg("identity"), nb::arg("task_template"))
      // converters and products are kept
      .def("mix",
           [](Function& function, const nb::tuple& kinds, nb::handle dtype, nb::handle converter) {
             function.mix(items_of(kinds), dtype.ptr(),
                          nb::inst_ptr<Function>(converter.inc_ref()));
           })
      .def("convert_written",
           [](Function& function, const nb::tuple& kinds, nb::handle dtype, nb::handle converter) {
             function.convert_written(items_of(kinds), dtype.ptr(),
                                      nb::inst_ptr<Function>(converter.inc_ref()));
           })
      .def("use_products", [](Function& function, nb::handle multiply) {
        function.use_products(nb::inst_ptr<Function>(multiply.inc_ref()));
      });
  for (auto& each : fast_functions) {
    module.attr(each.ml_name) = nb::steal(PyCFunction_New(&each, nullptr));
  }
}

using Counts = std::tuple<std::size_t, std::size_t, std::size_t>;

void make_recipe(Recipe* recipe, nb::handle function, std::string label, std::string kinds,
                 const Counts& counts, nb::handle keywords, bool may_warn, bool brings,
                 bool reads_many, bool converts, bool needs_axes, bool needs_elements, bool orders,
                 bool changes, bool grows) {
  const auto [least, most, arrays] = counts;
  const auto given = brings       ? GivenElements::BROUGHT
                     : reads_many ? GivenElements::HERE
                                  : GivenElements::FEW;

  new (recipe) Recipe{function.inc_ref().ptr(),
                      std::move(label),
                      std::move(kinds),
                      least,
                      most,
                      arrays,
                      keywords.inc_ref().ptr(),
                      may_warn,
                      given,
                      converts,
                      needs_axes,
                      needs_elements,
                      orders,
                      changes,
                      grows};
}

// What runs in front of Python's functions.
void bind_fronts(nb::module_& module) {
  nb::class_<Recipe>(module, "Recipe").def("__init__", &make_recipe);
  module.def("front", &new_front, nb::arg("way"), nb::arg("arrays"), nb::arg("extra").none(),
             nb::arg("names").none(), nb::arg("learn"), nb::arg("otherwise"), nb::arg("converted"));
  module.def("take_operators", &take_operators);
}

// What native code has to know before.
void bind_knowledge(nb::module_& module) {
  module.def("know_arrays", &know<ArrayClasses, know_arrays>);
  module.def("know_keys", &know<Keys, know_keys>);
  module.def("know_numpy", &know<NumPy, know_numpy>);
  module.def("know_waiting", &know<WaitingClasses, know_waiting>);
  module.def("know_window", &know<WindowObjects, know_window>);
  module.def("know_settings", &know_settings);
  module.def("know_blas", [](const std::vector<std::uintptr_t>& routines, int processors) {
    BlasRoutines known{};

    std::copy_n(&routines.at(0), known.gemv.size(), known.gemv.begin());
    std::copy_n(&routines.at(4), known.gemm.size(), known.gemm.begin());
    known.num_threads = routines.at(8);
    known.set_num_threads = routines.at(9);
    known.processors = processors;
    know_blas(known);
  });
  module.def("know_empty", [](nb::handle empty) { know_empty(empty.ptr()); });
  module.def("know_parts", [](nb::handle part_of, nb::handle function) {
    know_part(part_of.ptr());
    know_new_arrays(function);
  });
  module.def("know_stores",
             [](nb::handle root, nb::handle view, nb::handle layout, std::int64_t most_bytes) {
               know_stores({root.ptr(), view.ptr(), layout.ptr(), most_bytes});
             });
}

// Windows that run again, and what ran.
void bind_windows(nb::module_& module) {
  module.def("note_window", &note);
  module.def("knows_window", &knows_window);
  module.def("repeat_window", &repeat_window);
  module.def("wait_for_background", &Background::wait);
  module.def("num_run_apart", &Background::count);
  module.def("use_background_thread", &Background::use_thread, nb::arg("flag"));
  module.def("set_least_apart", &set_least_apart, nb::arg("points"));
  module.def(
      "set_least_shared",
      [](std::int64_t num_bytes) { return std::exchange(least_shared, num_bytes); },
      nb::arg("num_bytes"));
  module.def("forget_windows", &forget_windows);
  module.def("take_runs", [] {
    const auto [runs, operations, fills] = take_runs();
    return std::tuple{runs, operations, fills};
  });
  module.def("watch_runs", &watch_runs);
  module.def("run_times", &run_times);
}

}  // namespace

void add_operations(nb::module_& module) {
  bind_operations(module);
  bind_fronts(module);
  bind_knowledge(module);
  bind_windows(module);
}

}  // namespace legate_diffuse
