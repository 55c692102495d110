// SPDX-License-Identifier: Apache-2.0

#include "process/waiting.h"

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/runs.h"
#include "process/window.h"
#include "program/kernel_table.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

struct Waiting {
  explicit Waiting(const WaitingClasses& known)
      : classes{known},
        task_kind{known.task, "kind"},
        task_provenance{known.task, "provenance_"},
        task_template{known.task, "template"},
        task_views{known.task, "views"},
        kind{known.task_template, "kind"},
        privileges{known.task_template, "privileges"},
        template_fill_kind{known.task_template, "fill_kind"},
        covered{known.kind, "covered"},
        pointwise{known.kind, "pointwise"},
        fill_kind{known.fill, "kind"},
        fill_views{known.fill, "views"},
        fill_value{known.fill, "value"},
        filled{reinterpret_cast<PyObject*>(Py_TYPE(known.at_once)), "filled"} {}

  WaitingClasses classes;
  Field task_kind, task_provenance, task_template, task_views;
  Field kind, privileges, template_fill_kind, covered, pointwise, fill_kind, fill_views, fill_value,
      filled;
  PyObject* const nowhere = PyUnicode_InternFromString("");
};

// Never destroyed: arrays may outlive the interpreter.
Waiting* waiting = nullptr;

// As in ir/privilege.py.
constexpr long READ = 1;

bool is_of(PyObject* object, PyObject* type) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object)) == type;
}

bool changes(PyObject* privileges, std::size_t position) {
  return PyLong_AsLong(PyList_GET_ITEM(privileges, position)) != READ;
}

// Whether a view may be an argument of a task that waits.
bool is_plain(PyObject* view, bool changed) {
  const auto& fields = store_fields();
  auto* const root = fields.view_root.of(view);

  return fields.fusable.of(root) == Py_True && fields.shared.of(root) == Py_False &&
         !(changed && fields.initial.of(root) != Py_None);
}

std::int64_t volume_of(PyObject* view) {
  return PyLong_AsLongLong(array_fields().layout_volume.of(store_fields().view_layout.of(view)));
}

// Whether so few elements change that the operation may read many.
bool has_few_elements(PyObject* view) {
  auto* const root = store_fields().view_root.of(view);

  return volume_of(view) <= 1 ||
         PyLong_AsLongLong(array_fields().root_volume.of(root)) <= MOST_RESULTS;
}

// Whether an operation on views cannot run at once (`AtOnce.take` in launch/at_once.py).
bool has_to_wait(const nb::list& views, PyObject* privileges) {
  auto most = MOST_REDUCED;

  for (std::size_t index = 0; index < views.size(); ++index) {
    if (changes(privileges, index) && !has_few_elements(views[index].ptr())) most = MOST_LOOPED;
  }
  for (std::size_t index = 0; index < views.size(); ++index) {
    const auto view = views[index];
    auto* const dtype = store_fields().dtype.of(store_fields().view_root.of(view.ptr()));

    if (!are_few(volume_of(view.ptr()), dtype, most) ||
        LocalOperand{}.look(store_fields(), view.ptr(), changes(privileges, index), most) ==
            Answer::IMPOSSIBLE) {
      return true;
    }
  }
  return false;
}

}  // namespace

void know_waiting(const WaitingClasses& classes) {
  waiting = new Waiting{classes};
}

bool may_wait() {
  // a task may fill and reduce at once (`LaunchWindow.submit`)
  return waiting && takes_more() && waiting->filled.of(waiting->classes.at_once) == Py_None;
}

bool let_wait(PyObject* task_template, const nb::list& views, PyObject* fill) {
  if (!may_wait()) return false;

  const auto& fields = store_fields();
  const auto& known = *waiting;
  auto* const kind = known.kind.of(task_template);
  auto* const privileges = known.privileges.of(task_template);
  const auto count = views.size();

  if (kind == Py_None || static_cast<std::size_t>(PyList_GET_SIZE(privileges)) != count) {
    return false;
  }
  if (fill != Py_None) {
    auto* const fill_kind = known.template_fill_kind.of(task_template);

    if (fill_kind == Py_None) return false;
    known.fill_kind.set(fill, Py_NewRef(fill_kind));
  }

  const auto has_one_shape = known.pointwise.of(kind) == Py_True;
  for (std::size_t index = 0; index < count; ++index) {
    const auto view = views[index].ptr();
    const auto changed = changes(privileges, index);

    if (!is_plain(view, changed) || (has_one_shape && !have_one_shape(view, views[0].ptr()))) {
      return false;
    }
  }
  // only what a kernel expresses can run at once; a finalizer may have come while objects were made
  if ((known.covered.of(kind) == Py_True && !has_to_wait(views, privileges)) || !may_wait()) {
    return false;
  }

  const auto task = new_uncollected(reinterpret_cast<PyTypeObject*>(known.classes.task));

  PyObject_GC_UnTrack(views.ptr());

  known.task_kind.set(task.ptr(), Py_NewRef(kind));
  known.task_provenance.set(task.ptr(), Py_NewRef(known.nowhere));
  known.task_template.set(task.ptr(), Py_NewRef(task_template));
  known.task_views.set(task.ptr(), nb::object{views}.release().ptr());
  if (!may_wait()) return false;
  if (fill != Py_None) {
    auto* const target = PyList_GET_ITEM(known.fill_views.of(fill), 0);

    note_new_version(fields, fields.view_root.of(target));
    if (!add_to_window(fill, known.fill_kind.of(fill), known.fill_views.of(fill))) return false;
    count_waiting_fill();
  }
  for (std::size_t index = 0; index < count; ++index) {
    if (changes(privileges, index))
      note_new_version(fields, fields.view_root.of(views[index].ptr()));
  }
  if (may_wait() && add_to_window(task.ptr(), kind, known.task_views.of(task.ptr()))) return true;
  if (fill == Py_None) return false;
  // the fill was the last operation of its window
  submit_to_window(task.ptr());
  return true;
}

PyObject* template_of(PyObject* operation) {
  const auto is_task = waiting && is_of(operation, waiting->classes.task);

  return is_task ? waiting->task_template.of(operation) : nullptr;
}

PyObject* fill_value_of(PyObject* operation) {
  const auto is_fill = waiting && is_of(operation, waiting->classes.fill);

  return is_fill ? waiting->fill_value.of(operation) : nullptr;
}

const WaitingClasses& waiting_classes() {
  return waiting->classes;
}

bool have_one_shape(PyObject* view, PyObject* other) {
  return are_equal(array_fields().view_shape.of(view), array_fields().view_shape.of(other));
}

bool are_equal(PyObject* shape, PyObject* other) {
  if (shape == other) return true;

  const auto answer = PyObject_RichCompareBool(shape, other, Py_EQ);

  if (answer < 0) throw nb::python_error();
  return answer == 1;
}

}  // namespace legate_diffuse
