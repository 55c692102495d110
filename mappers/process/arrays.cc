// SPDX-License-Identifier: Apache-2.0

#include "process/arrays.h"

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <utility>

#include "process/front.h"
#include "process/lazy_thunk.h"
#include "process/spare_arrays.h"
#include "process/window.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// See `know_settings`.
bool looks_at_calls = false;
bool warns_of_conversions = false;

PyObject* object(PyTypeObject* type) {
  return reinterpret_cast<PyObject*>(type);
}

}  // namespace

const ArrayFields* known_array_fields = nullptr;

ArrayFields::ArrayFields(const ArrayClasses& known)
    : classes{known},
      store_owner{object(known.store), "_owner"},
      store_view{object(known.store), "_view"},
      view_shape{object(known.view), "shape"},
      view_derived{object(known.view), "derived"},
      view_real{object(known.view), "real"},
      view_handle{object(known.view), "_handle"},
      view_moves{object(known.view), "_moves"},
      layout_indexed{object(known.layout), "indexed"},
      layout_points{object(known.layout), "points"},
      layout_shape{object(known.layout), "shape"},
      layout_volume{object(known.layout), "volume"},
      layout_dense{object(known.layout), "dense"},
      root_dtype{object(known.root), "dtype"},
      root_owner{object(known.root), "owner"},
      root_shape{object(known.root), "shape"},
      root_volume{object(known.root), "volume"} {
  for (const auto* const name :
       {"_handle", "_number", "constant", "constant_bytes", "dtype", "escaped", "forsaken",
        "fusable", "held",    "initial",  "legate",         "lent",  "mapped",  "moves",
        "places",  "real",    "shared",   "shared_future",  "spare", "type",    "version"}) {
    copied.emplace_back(object(known.root), name);
  }
}

const Names& names() {
  static const auto* const instance = new Names;
  return *instance;
}

void know_arrays(const ArrayClasses& classes) {
  known_array_fields = new ArrayFields{classes};
  know_lazy_thunks();
  know_fronts();
}

void know_settings(bool looks, bool warns) {
  looks_at_calls = looks;
  warns_of_conversions = warns;
}

bool conversions_warn() {
  return warns_of_conversions;
}

bool arrays_are_ready() {
  return !looks_at_calls && may_run_at_once();
}

PyObject* dtype_of(PyObject* array) {
  auto* shown = reinterpret_cast<PyObject*>(thunk_of(array));

  if (!shown) return nullptr;
  while (auto* const lazy = lazy_thunk(shown)) {
    if (!lazy->view) return array_fields().root_dtype.of(lazy->prototype);
    shown = lazy->view;
  }

  auto* const dtype = array_fields().root_dtype.of(store_fields().view_root.of(shown));

  // that of an array whose shape Legate does not know yet is none
  return dtype == Py_None ? nullptr : dtype;
}

PlainArray find_plain(PyObject* array) {
  auto thunk = find_attribute(array, names().thunk);

  if (!thunk.is_valid() || Py_TYPE(thunk.ptr()) != array_fields().classes.thunk) return {};

  auto store = find_attribute(thunk.ptr(), names().base);

  if (!store.is_valid() || Py_TYPE(store.ptr()) != array_fields().classes.store) return {};
  return {std::move(thunk), std::move(store)};
}

nb::object find_attribute(PyObject* object, PyObject* name) {
  PyObject* found{};

#if PY_VERSION_HEX >= 0x030d0000
  const auto result = PyObject_GetOptionalAttr(object, name, &found);
#else
  const auto result = _PyObject_LookupAttr(object, name, &found);
#endif
  if (result < 0) throw nb::python_error();
  return nb::steal(found);
}

bool is_writeable(PyObject* array) {
  if (all_are_writeable()) return true;

  const auto flag = nb::steal(PyObject_GetAttr(array, names().writeable));

  if (!flag.is_valid()) PyErr_Clear();
  return flag.ptr() == Py_True;
}

}  // namespace legate_diffuse
