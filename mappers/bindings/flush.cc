// SPDX-License-Identifier: Apache-2.0

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "interposition/net.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Owned; null when no callback is set. Written and read with the GIL held.
PyObject* flush_callable = nullptr;

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

// The native caller has no use for the exception that is set: it's raised when the caller has
// returned to Python.
void keep_exception(PyObject* callable) {
  PyObject *type, *value, *traceback;

  if (kept_exception || Py_AddPendingCall(raise_kept_exception, nullptr) != 0) {
    PyErr_WriteUnraisable(callable);
    return;
  }
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  kept_exception = value;
}

// Python objects that were dropped on other threads than the window's. Read and written with the
// GIL held.
std::vector<PyObject*>& dropped_elsewhere() {
  static auto* const objects = new std::vector<PyObject*>;
  return *objects;
}

std::thread::id window_thread;

// Runs on Python's main thread, where Python goes on.
int drop_what_was_dropped_elsewhere(void*) {
  for (auto* const object : std::exchange(dropped_elsewhere(), {})) Py_DECREF(object);
  return 0;
}

// Keeps a Python object whose last reference must go on the window's thread: Legate allows no other
// thread to drop its stores.
class Keeper {
 public:
  explicit Keeper(nb::object kept) : kept_{std::move(kept)} {}
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  ~Keeper() {
    if (std::this_thread::get_id() == window_thread) return;
    dropped_elsewhere().push_back(kept_.release().ptr());
    // If Python has no place for another call, the next one that is dropped asks again.
    Py_AddPendingCall(drop_what_was_dropped_elsewhere, nullptr);
  }

 private:
  nb::object kept_;
};

void call_flush_callable() {
  if (!Py_IsInitialized()) return;

  const auto gil = PyGILState_Ensure();

  // The caller may be propagating a Python exception, which is none of the callable's.
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
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

  window_thread = std::this_thread::get_id();
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
  nb::class_<Keeper>(module, "Keeper").def(nb::init<nb::object>());
  module.def("missing_symbol", &missing_symbol);
  module.def("set_flush_callback", &set_flush_callback, nb::arg("callback").none());
  module.def("set_pending", &set_pending, nb::arg("flag"));
}

}  // namespace legate_diffuse
