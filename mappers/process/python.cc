// SPDX-License-Identifier: Apache-2.0

#include "process/python.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/blas.h"
#include "process/contents.h"
#include "process/element.h"
#include "process/front.h"
#include "process/function.h"
#include "process/guard.h"
#include "process/hosted.h"
#include "process/later.h"
#include "process/part.h"
#include "process/places.h"
#include "process/rearrange.h"
#include "process/record.h"
#include "process/reduction.h"
#include "process/repeat.h"
#include "process/runs.h"
#include "process/slots.h"
#include "process/waiting.h"
#include "process/window.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// A kernel, the number of the view with the shape, the arguments, and the scalars.
using Nest =
    std::tuple<std::uint32_t, std::size_t, std::vector<std::size_t>, std::vector<std::int64_t>>;

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
  for (const auto& [kernel, shape, arguments, scalars] : nests) {
    const auto* const code = find_kernel(kernel);

    if (!code) throw nb::value_error("no kernel is registered under this id");
    found.push_back({code, shape, arguments, scalars});
  }
  operation.add(operands, std::move(found));
}

PyObject* apply(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guard([&] {
    return nb::inst_ptr<Function>(arguments[0])->apply(arguments[1], arguments + 2, count - 2);
  });
}

template <PyObject* (*make)(const Function&, PyObject* array, PyObject* argument)>
PyObject* make_from(PyObject*, PyObject* const* arguments, Py_ssize_t) {
  return guard(
      [&] { return make(*nb::inst_ptr<Function>(arguments[0]), arguments[1], arguments[2]); });
}

PyObject* copy_of_elements(PyObject*, PyObject* array) {
  return guard([&] { return elements_of(array); });
}

PyObject* assign_elements(PyObject*, PyObject* const* arguments, Py_ssize_t) {
  return guard(
      [&] { return PyBool_FromLong(put_elements(arguments[0], arguments[1], arguments[2])); });
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
    {"get_at_places", fast(make_from<get_at_places>), METH_FASTCALL, nullptr},
    {"put_elements", fast(assign_elements), METH_FASTCALL, nullptr},
    {"reduce", fast(make_from<reduce>), METH_FASTCALL, nullptr},
    {"reduce_later", fast(let_reduction_wait), METH_FASTCALL, nullptr},
}};

void know(const nb::tuple& classes, nb::handle library) {
  const auto type = [&](std::size_t number) {
    return reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(classes.ptr(), number));
  };

  know_arrays({type(0), type(1), type(2), type(3), type(4), type(5), library.ptr()});
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

}  // namespace

void add_operations(nb::module_& module) {
  nb::enum_<Answer>(module, "Answer")
      .value("DONE", Answer::DONE)
      .value("UNKNOWN", Answer::UNKNOWN)
      .value("IMPOSSIBLE", Answer::IMPOSSIBLE);
  nb::class_<Operation>(module, "Operation")
      .def(nb::init<std::string, std::vector<bool>, std::int64_t, std::int64_t>(), nb::arg("name"),
           nb::arg("changes"), nb::arg("number"), nb::arg("fills"))
      .def("run", &run, nb::arg("views"), nb::arg("scalars") = nb::bytes{""})
      .def("add", &add, nb::arg("views"), nb::arg("nests"));
  nb::class_<Function>(module, "Function")
      .def(
          "__init__",
          [](Function* function, nb::handle dense, bool takes_numbers, bool reduces) {
            new (function) Function{dense.inc_ref().ptr(), takes_numbers, reduces};
          },
          nb::arg("dense"), nb::arg("takes_numbers"), nb::arg("reduces"))
      .def("array_of",
           [](const Function& function, nb::handle elements, const std::string& label) {
             return located([&]() -> nb::object {
               auto made = arrays_are_ready() && is_array_of_numpy(elements.ptr())
                               ? small_array_of(function, elements.ptr(), label.c_str())
                               : nb::object{};

               return made.is_valid() ? made : nb::none();
             });
           })
      .def("add", &add_signature, nb::arg("dtypes"), nb::arg("operation").none(),
           nb::arg("prototype"), nb::arg("dtype"), nb::arg("itemsize"), nb::arg("scalars"),
           nb::arg("identity"), nb::arg("task_template"))
      .def(
          "mix",
          [](Function& function, const nb::tuple& kinds, nb::handle dtype, nb::handle converter) {
            std::vector<PyObject*> known;

            for (const auto& kind : kinds) known.push_back(kind.ptr());
            // it is kept
            function.mix(known, dtype.ptr(), nb::inst_ptr<Function>(converter.inc_ref()));
          },
          nb::arg("kinds"), nb::arg("dtype"), nb::arg("converter"))
      .def(
          "use_products",
          [](Function& function, nb::handle multiply) {
            // it is kept
            function.use_products(nb::inst_ptr<Function>(multiply.inc_ref()));
          },
          nb::arg("multiply"));
  for (auto& each : fast_functions) {
    module.attr(each.ml_name) = nb::steal(PyCFunction_New(&each, nullptr));
  }
  module.def("take_runs", [] {
    const auto [runs, operations, fills] = take_runs();
    return std::tuple{runs, operations, fills};
  });
  module.def("watch_runs", &watch_runs, nb::arg("locate"));
  module.def("run_times", &run_times);
  nb::class_<Recipe>(module, "Recipe")
      .def(
          "__init__",
          [](Recipe* recipe, nb::handle function, const std::string& label,
             const std::string& kinds, std::tuple<std::size_t, std::size_t, std::size_t> counts,
             nb::handle keywords, bool may_warn, bool brings, bool reads_many, bool converts,
             bool is_sized, bool orders, bool changes) {
            const auto [least, most, arrays] = counts;
            const auto given = brings       ? GivenElements::BROUGHT
                               : reads_many ? GivenElements::HERE
                                            : GivenElements::FEW;

            new (recipe) Recipe{function.inc_ref().ptr(),
                                label,
                                kinds,
                                least,
                                most,
                                arrays,
                                keywords.inc_ref().ptr(),
                                may_warn,
                                given,
                                converts,
                                is_sized,
                                orders,
                                changes};
          },
          nb::arg("function"), nb::arg("label"), nb::arg("kinds"), nb::arg("counts"),
          nb::arg("keywords"), nb::arg("may_warn"), nb::arg("brings"), nb::arg("reads_many"),
          nb::arg("converts"), nb::arg("is_sized"), nb::arg("orders"), nb::arg("changes"));
  module.def("front", &new_front, nb::arg("way"), nb::arg("arrays"), nb::arg("extra").none(),
             nb::arg("names").none(), nb::arg("learn"), nb::arg("otherwise"));
  module.def(
      "know_blas",
      [](const std::vector<std::uintptr_t>& routines, int processors) {
        know_blas({routines.at(0), routines.at(1), routines.at(2), routines.at(3), routines.at(4),
                   routines.at(5), processors});
      },
      nb::arg("routines"), nb::arg("processors"));
  module.def("know_numpy", [](const nb::tuple& known) {
    const auto at = [&](std::size_t place) { return nb::object{known[place]}.ptr(); };

    know_numpy({at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9), at(10)});
  });
  module.def("know_arrays", &know, nb::arg("classes"), nb::arg("library"));
  module.def("know_settings", &know_settings, nb::arg("looks"), nb::arg("warns"));
  module.def(
      "know_waiting",
      [](const nb::tuple& classes, nb::handle at_once, nb::handle constant,
         const nb::tuple& assigned, const nb::tuple& shapes) {
        know_waiting({classes[0].ptr(), classes[1].ptr(), classes[2].ptr(), classes[3].ptr(),
                      at_once.ptr(), constant.ptr(), assigned[0].ptr(), assigned[1].ptr(),
                      shapes[0].ptr(), shapes[1].ptr()});
      },
      nb::arg("classes"), nb::arg("at_once"), nb::arg("constant"), nb::arg("assigned"),
      nb::arg("shapes"));
  module.def(
      "know_parts",
      [](nb::handle part_of, nb::handle function) {
        know_part(part_of.ptr());
        know_new_arrays(function);
      },
      nb::arg("part_of"), nb::arg("function"));
  module.def("take_operators", &take_operators, nb::arg("functions"));
  module.def(
      "know_window",
      [](nb::handle window, nb::handle queue, nb::handle policy, nb::handle state_type,
         nb::handle queue_type) {
        know_window(window.ptr(), queue.ptr(), policy.ptr(), state_type.ptr(), queue_type.ptr());
      },
      nb::arg("window"), nb::arg("queue"), nb::arg("policy"), nb::arg("state_type"),
      nb::arg("queue_type"));
  module.def("note_window", &note, nb::arg("key"), nb::arg("operations"), nb::arg("layouts"),
             nb::arg("shapes"), nb::arg("arguments"), nb::arg("privileges"), nb::arg("program"),
             nb::arg("constants"), nb::arg("scalars"), nb::arg("temporaries"),
             nb::arg("most_bytes"), nb::arg("takes_long"), nb::arg("note"));
  module.def("knows_window", &knows_window);
  module.def("repeat_window", &repeat_window, nb::arg("state"), nb::arg("following"));
  module.def("forget_windows", &forget_windows);
  module.def(
      "know_keys",
      [](nb::handle state_type, nb::handle place, nb::handle dtypes, nb::handle new_view,
         long single, long undefined) {
        know_keys({state_type.ptr(), place.ptr(), dtypes.ptr(), new_view.ptr(), single, undefined});
      },
      nb::arg("state_type"), nb::arg("place"), nb::arg("dtypes"), nb::arg("new_view"),
      nb::arg("single"), nb::arg("undefined"));
  module.def(
      "know_stores",
      [](nb::handle root, nb::handle view, nb::handle layout, std::int64_t most_bytes) {
        know_stores({root.ptr(), view.ptr(), layout.ptr(), most_bytes});
      },
      nb::arg("root"), nb::arg("view"), nb::arg("layout"), nb::arg("most_bytes"));
}

}  // namespace legate_diffuse
