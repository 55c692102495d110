// SPDX-License-Identifier: Apache-2.0

#include "process/spare_arrays.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "process/arrays.h"
#include "process/guard.h"
#include "process/lazy_thunk.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// An expression has two or three temporaries, a step of a loop a few more.
constexpr std::size_t MOST = 16;
// The memory of a larger array is worth more to others.
constexpr std::size_t MOST_BYTES = std::size_t{1} << 15;

// Apart, as arrays are searched for time and again. Both are owned, and never destroyed: arrays may
// outlive the interpreter. The first places are taken.
std::array<PyObject*, MOST> arrays{};
std::array<LazyThunk*, MOST> thunks{};
std::size_t num_kept = 0;
// Where the last one was found, and which one goes next where all places are taken.
std::size_t last = 0;
std::size_t oldest = 0;

void forget_thunks() {
  for (const auto& each : all_noted) {
    if (each.thunk) forget_thunk(each.thunk);
  }
}

bool has_read_only = false;

// The references to an array that is kept, and is nobody else's.
constexpr Py_ssize_t OWN_REFERENCES = 1;
// Those to its thunk: the array's own, too.
constexpr Py_ssize_t REFERENCES_TO_THUNK = 2;

// Takes the references over.
void put(std::size_t place, PyObject* array, LazyThunk* thunk) {
  const auto before = nb::steal(std::exchange(arrays[place], array));
  const auto thunk_before =
      nb::steal(reinterpret_cast<PyObject*>(std::exchange(thunks[place], thunk)));
  // a finalizer may come
}

bool has_weak_references(PyObject* array) {
  const auto offset = Py_TYPE(array)->tp_weaklistoffset;

  return offset != 0 && *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(array) + offset);
}

// Tells an array's class and its lazy thunk from what else it refers to, with 0. The dictionary of
// its attributes, which it gets when somebody asks for it, may hold the thunk alone.
int is_more(PyObject* object, void* lazy) {
  if (object == lazy || PyType_Check(object)) return 0;
  if (!PyDict_CheckExact(object) || Py_REFCNT(object) != OWN_REFERENCES) return 1;
  return PyDict_GET_SIZE(object) == 1 && PyDict_GetItemWithError(object, names().lazy_thunk) == lazy
             ? 0
             : 1;
}

// Whether an array has other attributes, which may be set without the class: vars(a)["x"] = 1.
bool has_attributes(PyObject* array, LazyThunk* thunk) {
  return Py_TYPE(array)->tp_traverse(array, &is_more, thunk) != 0;
}

// Sets an attribute of an array, or deletes it. What is behind the array may be another one then.
void note_change_of_array(PyObject* array, PyObject* name, PyObject* value) {
  if (name == names().writeable && value != Py_True) has_read_only = true;
  forget_spare(array);
  if (name != names().thunk) return;
  if (auto* const thunk = noted_thunk(array)) forget_thunk(thunk);
  if (find_attribute(array, names().lazy_thunk).is_valid() &&
      PyObject_GenericSetAttr(array, names().lazy_thunk, nullptr) != 0) {
    throw nb::python_error();
  }
}

// Which arrays it is behind is not known.
void note_change_of_thunk(PyObject* thunk, PyObject* name, PyObject* /*value*/) {
  if (name == names().base && find_attribute(thunk, name).is_valid()) forget_thunks();
}

using NoteChange = void (*)(PyObject*, PyObject*, PyObject*);

template <NoteChange NOTE>
PyObject* set(PyObject* object, PyObject* name, PyObject* value) {
  return guard([&]() -> PyObject* {
    NOTE(object, name, value);
    if (PyObject_GenericSetAttr(object, name, value) != 0) return nullptr;
    Py_RETURN_NONE;
  });
}

template <NoteChange NOTE>
PyObject* set_attribute(PyObject* object, PyObject* const* arguments, Py_ssize_t count) {
  if (count == 2) return set<NOTE>(object, arguments[0], arguments[1]);
  return PyErr_Format(PyExc_TypeError, "expected 2 arguments, got %zd", count);
}

template <NoteChange NOTE>
PyObject* delete_attribute(PyObject* object, PyObject* name) {
  return set<NOTE>(object, name, nullptr);
}

// They are methods, as if the class had them in Python: with the slot alone, `object`'s method
// would refuse to be called through super() (CPython, Objects/typeobject.c, hackcheck).
template <NoteChange NOTE>
void watch(PyTypeObject* type) {
  static std::array<PyMethodDef, 2> methods{
      {{"__setattr__", fast(set_attribute<NOTE>), METH_FASTCALL, nullptr},
       {"__delattr__", delete_attribute<NOTE>, METH_O, nullptr}}};

  for (auto& each : methods) {
    const auto method = nb::steal(PyDescr_NewMethod(type, &each));

    if (!method.is_valid() || PyObject_SetAttrString(reinterpret_cast<PyObject*>(type),
                                                     each.ml_name, method.ptr()) != 0) {
      throw nb::python_error();
    }
  }
}

}  // namespace

void watch_attributes(PyTypeObject* ndarray, PyTypeObject* thunk) {
  watch<note_change_of_array>(ndarray);
  watch<note_change_of_thunk>(thunk);
}

void keep(PyObject* array, LazyThunk* thunk) {
  if (thunk->elements.num_bytes() > MOST_BYTES) return;

  Py_INCREF(array);
  Py_INCREF(thunk);
  if (num_kept < MOST) {
    put(num_kept++, array, thunk);
  } else {
    put(oldest, array, thunk);
    oldest = (oldest + 1) % MOST;
  }
}

void forget_spare(PyObject* array) {
  auto* const end = arrays.begin() + num_kept;
  auto* const found = std::find(arrays.begin(), end, array);

  if (found == end) return;
  --num_kept;
  std::swap(*found, arrays[num_kept]);
  std::swap(thunks[static_cast<std::size_t>(found - arrays.begin())], thunks[num_kept]);
  put(num_kept, nullptr, nullptr);
}

std::array<Noted, std::size_t{1} << NOTED_BITS> all_noted{};

void note_thunk(PyObject* array, LazyThunk* thunk) {
  auto& place = noted_at(array);

  if (place.thunk) forget_thunk(place.thunk);
  forget_thunk(thunk);
  place = {array, thunk};
  thunk->array = array;
}

void forget_thunk(LazyThunk* thunk) {
  if (thunk->array) noted_at(thunk->array) = {};
  thunk->array = nullptr;
}

bool all_are_writeable() {
  return !has_read_only;
}

Noted take_spare(PyObject* dtype, PyObject* layout) {
  for (std::size_t steps = 0, place = last; steps < num_kept; ++steps, ++place) {
    if (place >= num_kept) place = 0;

    auto* const array = arrays[place];

    if (Py_REFCNT(array) != OWN_REFERENCES || Py_REFCNT(thunks[place]) != REFERENCES_TO_THUNK ||
        thunks[place]->layout != layout ||
        array_fields().root_dtype.of(thunks[place]->prototype) != dtype ||
        has_weak_references(array) || has_attributes(array, thunks[place])) {
      continue;
    }
    last = place;
    return {Py_NewRef(array), thunks[place]};
  }
  return {};
}

}  // namespace legate_diffuse
