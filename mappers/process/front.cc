// SPDX-License-Identifier: Apache-2.0

#include "process/front.h"

#include <structmember.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "process/arrays.h"
#include "process/given.h"
#include "process/guard.h"
#include "process/numpy_api.h"
#include "process/part.h"
#include "process/ways.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// The parameters of a function at most.
constexpr std::size_t MOST_PARAMETERS = 6;

struct Front {
  PyObject_HEAD vectorcallfunc call;
  PyObject* attributes;
  Way way;
  const Function* function;
  PyObject *extra, *names, *learn, *otherwise;
  std::uint64_t arrays;  // a bit for the place of each argument that the original makes an array of
};

// Never destroyed: fronts are in classes and modules that live as long as the process.
PyTypeObject* front_type = nullptr;

using Given = std::array<PyObject*, MOST_PARAMETERS>;

// The place of a parameter; as many as there are if there is none of that name.
Py_ssize_t place_of(PyObject* names, PyObject* name) {
  const auto count = PyTuple_GET_SIZE(names);

  for (Py_ssize_t place = 0; place < count; ++place) {
    auto* const own = PyTuple_GET_ITEM(names, place);

    if (own == name || PyUnicode_Compare(own, name) == 0) return place;
  }
  return count;
}

// Puts arguments to the places of their parameters; false if they do not fit.
bool arrange(PyObject* names, PyObject* const* arguments, Py_ssize_t count, PyObject* named,
             Given& given) {
  if (count > PyTuple_GET_SIZE(names)) return false;
  std::copy(arguments, arguments + count, given.begin());
  for (Py_ssize_t index = 0; named && index < PyTuple_GET_SIZE(named); ++index) {
    const auto place = place_of(names, PyTuple_GET_ITEM(named, index));

    if (place == PyTuple_GET_SIZE(names) || given[static_cast<std::size_t>(place)]) return false;
    given[static_cast<std::size_t>(place)] = arguments[count + index];
  }
  return given[0] != nullptr;
}

PyObject* run(const Front& front, PyObject* const* arguments, Py_ssize_t count, PyObject* named) {
  Given given{};

  if (front.names == Py_None) {
    return front.way(
        {*front.function, front.extra, arguments, static_cast<std::size_t>(count), named});
  }
  if (!arrange(front.names, arguments, count, named, given)) Py_RETURN_NONE;
  return front.way({*front.function, front.extra, given.data(),
                    static_cast<std::size_t>(PyTuple_GET_SIZE(front.names)), nullptr});
}

bool learns(const Front& front, PyObject* const* arguments, Py_ssize_t count) {
  bool found = false;

  for (Py_ssize_t index = 0; index < count; ++index) {
    if (!is_array(arguments[index])) continue;

    const auto answer = owned(PyObject_CallOneArg(front.learn, arguments[index]));

    found = found || answer.is(nb::handle{Py_True});
  }
  return found;
}

// Arguments with the arrays that the original makes of some.
class Converted {
 public:
  // False if it makes none, or nothing is known of one.
  bool take(std::uint64_t places, PyObject* const* arguments, Py_ssize_t count, PyObject* named) {
    const auto num_names = named ? PyTuple_GET_SIZE(named) : 0;
    bool found = false;

    if (!arrays_are_ready() || static_cast<std::size_t>(count + num_names) > given_.size()) {
      return false;
    }
    std::copy(arguments, arguments + count + num_names, given_.begin());

    // beside an array a number is a constant of what is computed with that
    const auto has_elements = [](PyObject* argument) {
      return is_array(argument) || is_sequence(argument) || is_array_of_numpy(argument);
    };
    const auto has_array = std::any_of(arguments, arguments + count, has_elements);

    for (std::size_t place = 0; place < static_cast<std::size_t>(count); ++place) {
      auto*& argument = given_[place];

      if ((places >> place & 1) == 0 || argument == Py_None || is_array(argument) ||
          (has_array && !has_elements(argument))) {
        continue;
      }
      made_[place] = array_from(argument);
      if (!made_[place].is_valid()) continue;
      argument = made_[place].ptr();
      found = true;
    }
    return found;
  }

  [[nodiscard]] PyObject* const* get() const { return given_.data(); }

 private:
  static constexpr std::size_t MOST_ARGUMENTS = 2 * MOST_PARAMETERS;

  std::array<PyObject*, MOST_ARGUMENTS> given_{};
  std::array<nb::object, MOST_ARGUMENTS> made_;
};

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* named) {
  const auto& front = *reinterpret_cast<const Front*>(self);
  const auto count = PyVectorcall_NARGS(flags);
  // few calls need it
  std::optional<Converted> converted;
  const auto attempt = [&] { return run(front, arguments, count, named); };
  const auto attempt_again = [&]() -> PyObject* {
    if (!arrays_are_ready() || !learns(front, arguments, count)) Py_RETURN_NONE;
    return attempt();
  };

  auto* const made = guard([&] {
    return made_or(made_or(attempt(), attempt_again), [&]() -> PyObject* {
      if (front.arrays == 0 || !converted.emplace().take(front.arrays, arguments, count, named)) {
        converted.reset();
        Py_RETURN_NONE;
      }
      return run(front, converted->get(), count, named);
    });
  });

  if (made == Py_NotImplemented) {
    Py_DECREF(made);
    Py_RETURN_NONE;
  }
  return made_or(made, [&] {
    return converted ? PyObject_Vectorcall(front.otherwise, converted->get(),
                                           static_cast<std::size_t>(count), named)
                     : PyObject_Vectorcall(front.otherwise, arguments, flags, named);
  });
}

PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, object);
}

// By its name, as functions are pickled.
PyObject* reduce(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(self, "__qualname__");
}

}  // namespace

bool Arguments::end_at(std::size_t place) const {
  return std::all_of(given + place, given + count, [](auto* each) { return each == nullptr; });
}

void know_fronts() {
  static std::array<PyMemberDef, 3> members{
      {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Front, call), READONLY, nullptr},
       {"__dictoffset__", T_PYSSIZET, offsetof(Front, attributes), READONLY, nullptr},
       {}}};
  static std::array<PyMethodDef, 2> methods{{{"__reduce__", reduce, METH_NOARGS, nullptr}, {}}};
  static std::array<PyGetSetDef, 2> properties{
      {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {}}};
  std::array<PyType_Slot, 6> slots{{{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                    {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
                                    {Py_tp_members, members.data()},
                                    {Py_tp_methods, methods.data()},
                                    {Py_tp_getset, properties.data()},
                                    {0, nullptr}}};
  PyType_Spec spec{"legate_diffuse._native.Front", sizeof(Front), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                       Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
                   slots.data()};

  front_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!front_type) throw nb::python_error();
}

nb::object new_front(std::string_view way, nb::handle function, nb::handle extra, nb::handle names,
                     nb::handle learn, nb::handle otherwise, std::uint64_t arrays) {
  auto* const found = find_way(way);

  if (!found) throw std::invalid_argument{"no way is called " + std::string{way}};
  if (!names.is_none() &&
      static_cast<std::size_t>(PyTuple_GET_SIZE(names.ptr())) > MOST_PARAMETERS) {
    throw std::invalid_argument{"too many parameters"};
  }

  auto* const front = PyObject_New(Front, front_type);

  if (!front) throw nb::python_error();
  front->call = &call;
  front->attributes = nullptr;
  front->way = found;
  front->arrays = arrays;
  front->function = nb::inst_ptr<Function>(function.inc_ref());
  front->extra = extra.inc_ref().ptr();
  front->names = names.inc_ref().ptr();
  front->learn = learn.inc_ref().ptr();
  front->otherwise = otherwise.inc_ref().ptr();
  return nb::steal(reinterpret_cast<PyObject*>(front));
}

}  // namespace legate_diffuse
