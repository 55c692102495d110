// SPDX-License-Identifier: Apache-2.0

#include "process/window.h"

#include "process/fields.h"

namespace legate_diffuse {

namespace {

struct Window {
  Window(PyObject* window, PyObject* queue, PyObject* state_type, PyObject* queue_type)
      : object{window},
        queue{queue},
        thread{PyThread_get_thread_ident()},
        runs_at_once{reinterpret_cast<PyObject*>(Py_TYPE(window)), "runs_at_once"},
        state{reinterpret_cast<PyObject*>(Py_TYPE(window)), "state"},
        recording{state_type, "recording"},
        rest{state_type, "rest"},
        roots{state_type, "roots"},
        head{queue_type, "head"} {
    Py_INCREF(window);
    Py_INCREF(queue);
  }

  PyObject* object;
  PyObject* queue;
  unsigned long thread;
  Field runs_at_once, state, recording, rest, roots, head;
};

// Never destroyed: arrays may outlive the interpreter.
Window* window = nullptr;

}  // namespace

void know_window(PyObject* object, PyObject* queue, PyObject* state_type, PyObject* queue_type) {
  window = new Window{object, queue, state_type, queue_type};
}

bool may_run_at_once() {
  if (!window) return false;

  auto* const state = window->state.of(window->object);

  return window->runs_at_once.of(window->object) == Py_True &&
         window->recording.of(state) == Py_False && window->head.of(window->queue) == Py_None &&
         PyTuple_GET_SIZE(window->rest.of(state)) == 0 &&
         PyThread_get_thread_ident() == window->thread;
}

bool is_waited_for(PyObject* root) {
  auto* const roots = window->roots.of(window->state.of(window->object));

  return PyDict_GET_SIZE(roots) > 0 && PyDict_Contains(roots, root) != 0;
}

}  // namespace legate_diffuse
