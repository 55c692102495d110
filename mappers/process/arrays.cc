// SPDX-License-Identifier: Apache-2.0

#include "process/arrays.h"

#include <nanobind/nanobind.h>

#include <stdexcept>

#include "process/window.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Never destroyed: arrays may outlive the interpreter.
ArrayFields* known_fields = nullptr;

// What the doctor is set to where nobody has set it.
PyObject* unset = nullptr;

// Attributes of objects without slots.
struct Names {
  PyObject* const thunk = PyUnicode_InternFromString("_thunk");
  PyObject* const data = PyUnicode_InternFromString("_legate_data");
  PyObject* const writeable = PyUnicode_InternFromString("_writeable");
  PyObject* const base = PyUnicode_InternFromString("base");
  PyObject* const dtype = PyUnicode_InternFromString("dtype");
  PyObject* const library = PyUnicode_InternFromString("library");
  PyObject* const user_value = PyUnicode_InternFromString("_user_value");
};

const Names& names() {
  static const auto* const instance = new Names;
  return *instance;
}

PyObject* object(PyTypeObject* type) {
  return reinterpret_cast<PyObject*>(type);
}

// A new object of a class, whose slots are not set.
nb::object allocate(PyTypeObject* type) {
  auto made = nb::steal(type->tp_alloc(type, 0));

  if (!made.is_valid()) throw nb::python_error();
  return made;
}

void give(const nb::object& owner, const Field& field, PyObject* value) {
  Py_XINCREF(value);
  field.set(owner.ptr(), value);
}

void give(const nb::object& owner, PyObject* name, PyObject* value) {
  if (PyObject_SetAttr(owner.ptr(), name, value) != 0) throw nb::python_error();
}

}  // namespace

ArrayFields::ArrayFields(const ArrayClasses& known)
    : classes{known},
      store_owner{object(known.store), "_owner"},
      store_view{object(known.store), "_view"},
      view_shape{object(known.view), "shape"},
      view_derived{object(known.view), "derived"},
      view_real{object(known.view), "real"},
      view_handle{object(known.view), "_handle"},
      view_moves{object(known.view), "_moves"},
      layout_shape{object(known.layout), "shape"},
      layout_volume{object(known.layout), "volume"},
      layout_dense{object(known.layout), "dense"},
      root_dtype{object(known.root), "dtype"},
      root_owner{object(known.root), "owner"},
      root_shape{object(known.root), "shape"},
      root_volume{object(known.root), "volume"} {
  for (const auto* const name :
       {"_handle", "constant", "constant_bytes", "dtype", "escaped", "fusable", "held", "initial",
        "legate", "lent", "moves", "real", "shared", "shared_future", "spare", "type", "version"}) {
    copied.emplace_back(object(known.root), name);
  }
}

void know_arrays(const ArrayClasses& classes) {
  unset = PyObject_GetAttr(classes.doctor, names().user_value);
  if (!unset) throw nb::python_error();
  for (auto* const each :
       {object(classes.ndarray), object(classes.thunk), object(classes.store), object(classes.view),
        object(classes.root), object(classes.layout), classes.library, classes.doctor}) {
    Py_INCREF(each);
  }
  known_fields = new ArrayFields{classes};
}

const ArrayFields& array_fields() {
  if (!known_fields) throw std::logic_error{"the classes of arrays are not known yet"};
  return *known_fields;
}

bool arrays_are_ready() {
  if (!known_fields || !may_run_at_once()) return false;

  const auto doctor = nb::steal(PyObject_GetAttr(known_fields->classes.doctor, names().user_value));

  if (!doctor.is_valid()) PyErr_Clear();
  return doctor.ptr() == unset || doctor.ptr() == Py_False;
}

nb::object view_of(PyObject* array) {
  const auto& known = array_fields();

  if (Py_TYPE(array) != known.classes.ndarray) return {};

  const auto thunk = nb::steal(PyObject_GetAttr(array, names().thunk));

  if (!thunk.is_valid() || Py_TYPE(thunk.ptr()) != known.classes.thunk) {
    PyErr_Clear();
    return {};
  }

  const auto base = nb::steal(PyObject_GetAttr(thunk.ptr(), names().base));

  if (!base.is_valid() || Py_TYPE(base.ptr()) != known.classes.store) {
    PyErr_Clear();
    return {};
  }
  return nb::borrow(known.store_view.of(base.ptr()));
}

bool is_writeable(PyObject* array) {
  const auto flag = nb::steal(PyObject_GetAttr(array, names().writeable));

  if (!flag.is_valid()) PyErr_Clear();
  return flag.ptr() == Py_True;
}

NewArray::NewArray(const Signature& signature, PyObject* layout) {
  const auto& known = array_fields();
  const auto& classes = known.classes;
  const auto& fields = store_fields();
  const Form form{fields.layout_form.of(layout)};
  const auto root = allocate(classes.root);
  const auto store = allocate(classes.store);
  const auto thunk = allocate(classes.thunk);
  const auto owner = nb::steal(PyBaseObject_Type.tp_alloc(&PyBaseObject_Type, 0));
  const auto derived = nb::steal(PyDict_New());
  const auto zero = nb::steal(PyLong_FromLong(0));

  view = allocate(classes.view);
  array = allocate(classes.ndarray);
  for (const auto& field : known.copied) give(root, field, field.of(signature.prototype));
  give(root, known.root_owner, owner.ptr());
  give(root, known.root_shape, known.layout_shape.of(layout));
  give(root, known.root_volume, known.layout_volume.of(layout));
  give(root, fields.scalar_storage, form.volume == 1 ? Py_True : Py_False);
  give(root, fields.small, Py_None);
  give(view, fields.view_root, root.ptr());
  give(view, fields.view_layout, layout);
  give(view, known.view_shape, known.layout_shape.of(layout));
  give(view, known.view_derived, derived.ptr());
  give(view, known.view_real, Py_None);
  give(view, known.view_handle, zero.ptr());
  give(view, known.view_moves, zero.ptr());
  give(store, known.store_owner, owner.ptr());
  give(store, known.store_view, view.ptr());
  give(thunk, names().library, classes.library);
  give(thunk, names().dtype, signature.dtype);
  give(thunk, names().base, store.ptr());
  give(array, names().thunk, thunk.ptr());
  give(array, names().data, Py_None);
  give(array, names().writeable, Py_True);
}

}  // namespace legate_diffuse
