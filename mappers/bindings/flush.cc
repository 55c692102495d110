// SPDX-License-Identifier: Apache-2.0

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "interposition/net.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Owned; null when no callback is set. Written and read with the GIL held.
PyObject* flush_callable = nullptr;

// The thread that Legate and the window belong to: the one that has imported Legate, which may be
// another one than Python's main thread.
unsigned long window_thread = 0;
bool is_main_thread = false;

// Owned; an exception that waits to be raised. Written and read with the GIL held.
PyObject* kept_exception = nullptr;

// Runs on Python's main thread, where Python goes on.
int raise_kept_exception(void*) {
  auto* const exception = std::exchange(kept_exception, nullptr);

  if (!exception) return 0;
  Py_INCREF(Py_TYPE(exception));
  PyErr_Restore(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception,
                PyException_GetTraceback(exception));
  return -1;
}

PyObject* take_kept_exception(PyObject*, PyObject*) {
  if (auto* const exception = std::exchange(kept_exception, nullptr)) return exception;
  PyErr_SetString(PyExc_RuntimeError, "the exception was raised already");
  return nullptr;
}

// Lets Python raise an exception in the window's thread, where Python goes on. Of exceptions that
// are raised in another thread than the main one Python takes the class alone: this one's objects
// are the exception.
bool raise_in_thread(PyObject* exception) {
  static PyMethodDef method{"__new__", take_kept_exception, METH_VARARGS, nullptr};
  auto* const type = Py_TYPE(exception);
  const auto make = nb::steal(PyCFunction_New(&method, nullptr));
  const auto made =
      nb::steal(PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyType_Type), "s(O){sO}",
                                      type->tp_name, type, "__new__", make.ptr()));

  return made.is_valid() && PyThreadState_SetAsyncExc(window_thread, made.ptr()) == 1;
}

// The native caller has no use for the exception that is set: it's raised when the caller has
// returned to Python.
void keep_exception(PyObject* callable) {
  PyObject *type, *value, *traceback;

  if (kept_exception) {
    PyErr_WriteUnraisable(callable);
    return;
  }
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback) PyException_SetTraceback(value, traceback);
  kept_exception = Py_NewRef(value);
  if (is_main_thread ? Py_AddPendingCall(raise_kept_exception, nullptr) == 0
                     : raise_in_thread(value)) {
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return;
  }
  Py_CLEAR(kept_exception);
  PyErr_Restore(type, value, traceback);
  PyErr_WriteUnraisable(callable);
}

// Python objects that were dropped on other threads than the window's. Read and written with the
// GIL held.
std::vector<PyObject*>& dropped_elsewhere() {
  static auto* const objects = new std::vector<PyObject*>;
  return *objects;
}

bool is_on_window_thread() {
  return PyThread_get_thread_ident() == window_thread;
}

// On the window's thread: what was dropped elsewhere goes.
void drop_here() {
  if (dropped_elsewhere().empty()) return;
  for (auto* const object : std::exchange(dropped_elsewhere(), {})) Py_DECREF(object);
}

// Runs on Python's main thread, where Python goes on.
int drop_what_was_dropped_elsewhere(void*) {
  if (is_on_window_thread()) drop_here();
  return 0;
}

// A type of Legate's whose objects go on the window's thread, and what Python calls for that.
struct DroppedHere {
  PyTypeObject* type;
  destructor dealloc;
};

constexpr std::size_t MOST_TYPES = 8;
DroppedHere dropped_here[MOST_TYPES];

// Legate allows no other thread to drop its stores, but Python drops objects that are in a cycle
// on whichever thread it looks for cycles. One that goes on another thread stays, as no part of it
// is gone yet. Python lets its main thread know of it; another one looks when it drops an object
// itself, and where Legate is called.
template <std::size_t PLACE>
void drop(PyObject* object) {
  const auto& [type, dealloc] = dropped_here[PLACE];

  // What is derived from the type has lost its own part when it comes here.
  if (is_on_window_thread() || Py_TYPE(object) != type) {
    dealloc(object);
    drop_here();
    return;
  }
  Py_SET_REFCNT(object, 1);
  try {
    dropped_elsewhere().push_back(object);
  } catch (const std::bad_alloc&) {
    return;  // it stays
  }
  // If Python has no place for another call, the next one that is dropped asks again.
  Py_AddPendingCall(drop_what_was_dropped_elsewhere, nullptr);
}

template <std::size_t... PLACES>
void drop_on_window_thread(const std::vector<nb::type_object>& types,
                           std::index_sequence<PLACES...>) {
  constexpr destructor drops[] = {drop<PLACES>...};

  if (types.size() > MOST_TYPES) throw std::length_error{"types to drop on the window's thread"};
  for (std::size_t place = 0; place < types.size(); ++place) {
    auto* const type = reinterpret_cast<PyTypeObject*>(types[place].ptr());
    if (type->tp_dealloc == drops[place]) continue;
    dropped_here[place] = {type, type->tp_dealloc};
    type->tp_dealloc = drops[place];
  }
}

void call_flush_callable() {
  if (!Py_IsInitialized()) return;

  const auto gil = PyGILState_Ensure();

  // The caller may be propagating a Python exception, which is none of the callable's.
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (is_on_window_thread()) drop_here();
  if (auto* const callable = flush_callable) {
    Py_INCREF(callable);
    if (auto* const result = PyObject_CallNoArgs(callable)) {
      Py_DECREF(result);
    } else {
      keep_exception(callable);
    }
    Py_DECREF(callable);
  }
  PyErr_Restore(type, value, traceback);
  PyGILState_Release(gil);
}

void set_flush_callback(nb::object callable) {
  auto* const previous = flush_callable;

  window_thread = PyThread_get_thread_ident();
  is_main_thread =
      nb::cast<unsigned long>(
          nb::module_::import_("threading").attr("main_thread")().attr("ident")) == window_thread;
  flush_callable = callable.is_none() ? nullptr : callable.release().ptr();
  Py_XDECREF(previous);
  if (auto* const connect = find_in_net<decltype(legate_diffuse_net_set_callback)>(
          "legate_diffuse_net_set_callback")) {
    connect(flush_callable ? call_flush_callable : nullptr);
  }
}

std::optional<std::string> missing_symbol() {
  auto* const find =
      find_in_net<decltype(legate_diffuse_net_missing_symbol)>("legate_diffuse_net_missing_symbol");
  const auto* const name = find ? find() : nullptr;

  return name ? std::optional<std::string>{name} : std::nullopt;
}

void set_pending(bool pending) {
  static auto* const set =
      find_in_net<decltype(legate_diffuse_net_set_pending)>("legate_diffuse_net_set_pending");
  if (set) set(pending);
}

}  // namespace

void bind_flush(nb::module_& module) {
  module.def(
      "drop_on_window_thread",
      [](const std::vector<nb::type_object>& types) {
        drop_on_window_thread(types, std::make_index_sequence<MOST_TYPES>{});
      },
      nb::arg("types"));
  module.def("missing_symbol", &missing_symbol);
  module.def("set_flush_callback", &set_flush_callback, nb::arg("callback").none());
  module.def("set_pending", &set_pending, nb::arg("flag"));
}

}  // namespace legate_diffuse
