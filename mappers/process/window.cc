// SPDX-License-Identifier: Apache-2.0

#include "process/window.h"

#include <nanobind/nanobind.h>

#include "process/fields.h"
#include "process/record.h"
#include "process/runs.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

struct Window {
  explicit Window(const WindowObjects& known)
      : object{known.window},
        queue{known.queue},
        policy{known.policy},
        thread{__builtin_thread_pointer()},
        runs_at_once{reinterpret_cast<PyObject*>(Py_TYPE(known.window)), "runs_at_once"},
        state{reinterpret_cast<PyObject*>(Py_TYPE(known.window)), "state"},
        recording{known.state_type, "recording"},
        ended{known.state_type, "ended"},
        count{known.state_type, "count"},
        rest{known.state_type, "rest"},
        roots{known.state_type, "roots"},
        carried{known.state_type, "carried"},
        kept{known.state_type, "kept"},
        operations{known.state_type, "operations"},
        key{known.state_type, "key"},
        views{known.state_type, "views"},
        shapes{known.state_type, "shapes"},
        head{known.queue_type, "head"} {}

  PyObject* object;
  PyObject* queue;
  PyObject* policy;
  const void* thread;  // its own address: to ask for its number takes longer
  Field runs_at_once, state, recording, ended, count, rest, roots, carried, kept, operations, key,
      views, shapes, head;
  PyObject* const begin = PyUnicode_InternFromString("begin");
  PyObject* const submit = PyUnicode_InternFromString("submit");
  PyObject* const lengths = PyUnicode_InternFromString("lengths");
  PyObject* const capacity = PyUnicode_InternFromString("capacity");
  PyObject* const end_where_full = PyUnicode_InternFromString("end_where_full");
};

// Never destroyed: arrays may outlive the interpreter.
Window* window = nullptr;

template <typename... Objects>
void call(PyObject* object, PyObject* method, Objects*... arguments) {
  if (!nb::steal(PyObject_CallMethodObjArgs(object, method, arguments..., nullptr)).is_valid()) {
    throw nb::python_error();
  }
}

// As in launch/policy.py.
constexpr Py_ssize_t MANY_SHORT = 32;

// Whether a window of so many operations may end there (`WindowPolicy.end_where_full`).
bool may_end_window(Py_ssize_t count, const nb::int_& number) {
  const nb::handle policy{window->policy};
  const auto attribute = [&](PyObject* name) { return policy.attr(nb::handle{name}); };
  const nb::object lengths{attribute(window->lengths)}, capacity{attribute(window->capacity)};

  return count % MANY_SHORT == 0 || count >= PyLong_AsSsize_t(capacity.ptr()) ||
         (PySet_GET_SIZE(lengths.ptr()) > 0 && PySet_Contains(lengths.ptr(), number.ptr()) != 0);
}

// Whether what waits may be submitted now: the program asks, and nothing is under way.
bool may_be_submitted() {
  return window->runs_at_once.of(window->object) == Py_True &&
         window->recording.of(window->state.of(window->object)) == Py_False &&
         window->head.of(window->queue) == Py_None && __builtin_thread_pointer() == window->thread;
}

}  // namespace

void know_window(const WindowObjects& known) {
  window = new Window{known};
}

bool may_run_at_once() {
  return window && may_be_submitted() &&
         PyTuple_GET_SIZE(window->rest.of(window->state.of(window->object))) == 0;
}

bool is_waited_for(PyObject* root) {
  auto* const roots = window->roots.of(window->state.of(window->object));

  return PyDict_GET_SIZE(roots) > 0 && PyDict_Contains(roots, root) != 0;
}

bool takes_more() {
  if (!may_run_at_once()) return false;

  auto* const state = window->state.of(window->object);

  return window->ended.of(state) == Py_False;
}

// As `LaunchWindow._record` does.
bool add_to_window(PyObject* task, PyObject* kind, PyObject* views) {
  const auto state = nb::borrow(window->state.of(window->object));

  window->recording.set(state.ptr(), Py_NewRef(Py_True));

  const auto before = PyLong_AsSsize_t(window->count.of(state.ptr()));

  if (before == 0) call(window->object, window->begin, state.ptr());
  record(state.ptr(), task, kind, views);

  const auto count = nb::int_{before + 1};

  if (window->state.of(window->object) != state.ptr()) return false;
  window->count.set(state.ptr(), Py_NewRef(count.ptr()));
  window->recording.set(state.ptr(), Py_NewRef(Py_False));
  count_waiting();
  if (may_end_window(before + 1, count)) {
    call(window->policy, window->end_where_full, state.ptr(), count.ptr());
  }
  return true;
}

std::optional<WindowParts> parts_of_window() {
  if (!window || !may_be_submitted()) return {};

  auto* const state = window->state.of(window->object);

  if (PyLong_AsLong(window->carried.of(state)) != 0 ||
      PyList_GET_SIZE(window->operations.of(state)) == 0) {
    return {};
  }
  return WindowParts{window->operations.of(state), window->key.of(state),
                     window->views.of(state),      window->roots.of(state),
                     window->shapes.of(state),     window->kept.of(state)};
}

bool is_recorded(PyObject* state) {
  return window && window->state.of(window->object) == state;
}

void begin_window(PyObject* state) {
  window->state.set(window->object, Py_NewRef(state));
}

void submit_to_window(PyObject* task) {
  call(window->object, window->submit, task);
}

}  // namespace legate_diffuse
