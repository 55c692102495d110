// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include <optional>

namespace legate_diffuse {

// The window in which operations wait (launch/window.py), the queue behind it, what says where it
// ends, and classes with slots. The thread that makes them known is the program's. References are
// kept.
struct WindowObjects {
  PyObject *window, *queue, *policy, *state_type, *queue_type;
};

void know_window(const WindowObjects& known);

// Whether the program may run operations now before those that wait, but for what they use.
bool may_run_at_once();

// Whether an operation that waits uses a root.
bool is_waited_for(PyObject* root);

// Whether the program may let one more operation wait.
bool takes_more();

// Lets a task of a kind, on a list of views, wait behind the others; false if a finalizer has begun
// another window meanwhile.
bool add_to_window(PyObject* task, PyObject* kind, PyObject* views);

// What waits, if it may be submitted now as a window by itself; else none. It borrows all of it.
struct WindowParts {
  PyObject *operations, *key;        // lists
  PyObject *views, *roots, *shapes;  // dictionaries of numbers
  PyObject* kept;                    // a set of roots that are used behind the window
};

std::optional<WindowParts> parts_of_window();

// Whether a state is the one in which operations wait.
bool is_recorded(PyObject* state);

// Lets another state take the place of what waits.
void begin_window(PyObject* state);

// Lets Python submit a task, or run it at once.
void submit_to_window(PyObject* task);

}  // namespace legate_diffuse
