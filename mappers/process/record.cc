// SPDX-License-Identifier: Apache-2.0

#include "process/record.h"

#include <nanobind/nanobind.h>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/fields.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

struct Slots {
  explicit Slots(const Keys& known)
      : keys{known},
        operations{known.state_type, "operations"},
        key{known.state_type, "key"},
        views{known.state_type, "views"},
        roots{known.state_type, "roots"},
        shapes{known.state_type, "shapes"},
        facts{known.state_type, "facts"},
        single_below{known.state_type, "single_below"},
        single{PyLong_AsLong(known.single)},
        undefined{PyLong_AsLong(known.undefined)} {}

  Keys keys;
  Field operations, key, views, roots, shapes, facts, single_below;
  long single, undefined;
  PyObject* const id = PyUnicode_InternFromString("id");
  PyObject* const placed = PyUnicode_InternFromString("placed");
  PyObject* const facts_of = PyUnicode_InternFromString("_facts_of");
  PyObject* const locate = PyUnicode_InternFromString("_locate");
};

// Never destroyed: arrays may outlive the interpreter.
const Slots* slots = nullptr;

// The value of a key; null if there is none.
PyObject* find(PyObject* dictionary, PyObject* key) {
  auto* const found = PyDict_GetItemWithError(dictionary, key);

  if (!found && PyErr_Occurred()) throw nb::python_error();
  return found;
}

// The next number, which a dictionary has from now on.
nb::object number_next(PyObject* dictionary, PyObject* key) {
  auto number = owned(PyLong_FromSsize_t(PyDict_GET_SIZE(dictionary)));

  if (PyDict_SetItem(dictionary, key, number.ptr()) != 0) throw nb::python_error();
  return number;
}

void append(PyObject* list, PyObject* object) {
  if (PyList_Append(list, object) != 0) throw nb::python_error();
}

// What is true of a root (`WindowState._facts_of`).
nb::object facts_of(PyObject* state, PyObject* root) {
  const auto& fields = store_fields();

  if (fields.constant.of(root) != Py_None || fields.scalar_storage.of(root) != Py_False ||
      fields.escaped.of(root) != Py_False || fields.shared.of(root) != Py_False) {
    return owned(PyObject_CallMethodOneArg(state, slots->facts_of, root));
  }

  const auto below = PyLong_AsLongLong(slots->single_below.of(state));
  const auto volume = PyLong_AsLongLong(array_fields().root_volume.of(root));

  return nb::int_{(volume < below ? slots->single : 0) |
                  (is_undefined(fields, root) ? slots->undefined : 0)};
}

// As `WindowState._describe`.
void describe(PyObject* state, PyObject* key, PyObject* view) {
  const auto& fields = store_fields();
  const auto& known = array_fields();
  auto* const root = fields.view_root.of(view);
  auto* const layout = fields.view_layout.of(view);
  auto* const shape = known.view_shape.of(view);
  auto placed = owned(PyObject_GetAttr(layout, slots->placed));

  if (placed.is_none()) {
    placed = nb::handle{slots->keys.place}(nb::handle{layout}, nb::handle{fields.shape.of(root)});
  }
  number_next(slots->views.of(state), view);
  append(key, slots->keys.new_view);

  auto* const roots = slots->roots.of(state);

  if (auto* const number = find(roots, root)) {
    append(key, number);
  } else {
    append(key, number_next(roots, root).ptr());

    const auto facts = facts_of(state, root);

    append(slots->facts.of(state), facts.ptr());
    append(key, owned(PyObject_GetItem(slots->keys.dtypes, fields.dtype.of(root))).ptr());
    append(key, facts.ptr());
  }

  auto* const shapes = slots->shapes.of(state);

  if (auto* const number = find(shapes, shape)) {
    append(key, number);
  } else {
    append(key, number_next(shapes, shape).ptr());
    append(key, known.layout_points.of(layout));
  }

  // outline, ranged, free
  auto* const* const parts = &PyTuple_GET_ITEM(placed.ptr(), 0);

  append(key, parts[0]);
  if (PyTuple_GET_SIZE(parts[1]) > 0 || PyTuple_GET_SIZE(parts[2]) > 0) {
    owned(PyObject_CallMethodObjArgs(state, slots->locate, root, placed.ptr(), nullptr));
  }
}

}  // namespace

void know_keys(const Keys& known) {
  slots = new Slots{known};
}

void record(PyObject* state, PyObject* operation, PyObject* kind, PyObject* views) {
  // a finalizer may come while objects are made
  const auto list = nb::borrow(slots->key.of(state));
  const auto numbers = nb::borrow(slots->views.of(state));
  auto* const key = list.ptr();

  append(key, owned(PyObject_GetAttr(kind, slots->id)).ptr());
  for (Py_ssize_t at = 0; at < PyList_GET_SIZE(views); ++at) {
    auto* const view = PyList_GET_ITEM(views, at);

    if (auto* const number = find(numbers.ptr(), view)) {
      append(key, number);
    } else {
      describe(state, key, view);
    }
  }
  append(slots->operations.of(state), operation);
}

}  // namespace legate_diffuse
