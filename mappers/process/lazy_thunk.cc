// SPDX-License-Identifier: Apache-2.0

#include "process/lazy_thunk.h"

#include <array>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/given.h"
#include "process/guard.h"
#include "process/objects.h"
#include "process/part.h"
#include "process/spare_arrays.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// Never destroyed: arrays may outlive the interpreter.
PyObject* part_of_thunk = nullptr;
PyObject* new_empty = nullptr;

// Memory of those that are gone: parts of arrays come and go all the time.
std::array<LazyThunk*, 16> free_thunks{};
std::size_t num_free = 0;

void destroy(PyObject* object) {
  auto* const lazy = reinterpret_cast<LazyThunk*>(object);
  auto* const type = Py_TYPE(object);

  forget_thunk(lazy);
  if (lazy->view) Py_DECREF(lazy->dtype);
  Py_XDECREF(lazy->view);
  Py_XDECREF(lazy->owner);
  Py_XDECREF(lazy->key);
  Py_XDECREF(lazy->layout);
  if (lazy->prototype) lazy->elements.~SmallArray();
  if (num_free < free_thunks.size()) {
    free_thunks[num_free++] = lazy;
  } else {
    PyObject_Free(object);
  }
  Py_DECREF(type);
}

void give(const nb::object& owner, const Field& field, PyObject* value) {
  Py_XINCREF(value);
  field.set(owner.ptr(), value);
}

// What Python's code does when an attribute is set is not for these.
void give(PyObject* owner, PyObject* name, PyObject* value) {
  if (PyObject_GenericSetAttr(owner, name, value) != 0) throw nb::python_error();
}

void give_lazy_thunk(PyObject* array, const nb::object& lazy) {
  give(array, names().lazy_thunk, lazy.ptr());
  note_thunk(array, lazy_thunk(lazy.ptr()));
}

// One that has no elements of its own.
nb::object new_lazy_thunk(PyObject* dtype) {
  auto* const lazy =
      num_free > 0 ? reinterpret_cast<LazyThunk*>(PyObject_Init(
                         reinterpret_cast<PyObject*>(free_thunks[--num_free]), lazy_thunk_type))
                   : PyObject_New(LazyThunk, lazy_thunk_type);

  if (!lazy) throw nb::python_error();
  lazy->dtype = dtype;
  lazy->view = lazy->owner = lazy->key = lazy->prototype = lazy->layout = nullptr;
  lazy->is_empty = lazy->is_made = false;
  lazy->array = nullptr;
  return nb::steal(reinterpret_cast<PyObject*>(lazy));
}

std::pair<nb::object, LazyThunk*> new_part(Stores part) {
  auto array = new_object(array_fields().classes.ndarray);
  const auto thunk = new_lazy_thunk(part.dtype.release().ptr());
  auto* const lazy = lazy_thunk(thunk.ptr());

  lazy->view = part.view.release().ptr();
  lazy->owner = part.owner.release().ptr();
  give_lazy_thunk(array.ptr(), thunk);
  return {std::move(array), lazy};
}

nb::object new_thunk(const Stores& stores) {
  const auto& known = array_fields();
  const auto store = new_uncollected(known.classes.store);
  auto thunk = new_object(known.classes.thunk);

  give(store, known.store_owner, stores.owner.ptr());
  give(store, known.store_view, stores.view.ptr());
  give(thunk.ptr(), names().library, known.classes.library);
  give(thunk.ptr(), names().dtype, stores.dtype.ptr());
  give(thunk.ptr(), names().base, store.ptr());
  return thunk;
}

// What is behind a part of an array. Its view is made when it is asked for first.
Stores stores_of_part(LazyThunk& lazy) {
  if (lazy.key) {
    Stores whole{nb::borrow(lazy.view), nb::borrow(lazy.owner), nb::borrow(lazy.dtype)};
    const auto key = nb::borrow(lazy.key);

    if (auto* const outer = lazy_thunk(lazy.view)) whole.view = stores_of_part(*outer).view;

    auto view = find_part(whole, key.ptr()).view;

    if (!view.is_valid()) view = nb::handle{part_of_thunk}(new_thunk(whole), key);

    // unless a finalizer has come, and done so
    if (lazy.key) {
      // what shows no elements may be an array of its own
      auto owner =
          nb::borrow(array_fields().root_owner.of(store_fields().view_root.of(view.ptr())));
      const auto owner_before = nb::steal(std::exchange(lazy.owner, owner.release().ptr()));
      const auto before = nb::steal(std::exchange(lazy.view, view.release().ptr()));
      const auto key_before = nb::steal(std::exchange(lazy.key, nullptr));
    }
  }
  return {nb::borrow(lazy.view), nb::borrow(lazy.owner), nb::borrow(lazy.dtype)};
}

// Lets it show what is behind a thunk.
void show(LazyThunk& lazy, const Stores& stores) {
  const auto view = nb::steal(std::exchange(lazy.view, nb::object{stores.view}.release().ptr()));
  const auto owner = nb::steal(std::exchange(lazy.owner, nb::object{stores.owner}.release().ptr()));
  const auto dtype = nb::steal(view.is_valid() ? lazy.dtype : nullptr);

  lazy.dtype = nb::object{stores.dtype}.release().ptr();
}

// Makes the thunk of an array. A finalizer that comes meanwhile may do so as well.
nb::object make_thunk(PyObject* array, LazyThunk& lazy) {
  nb::object small;
  Stores stores;

  if (lazy.view) {
    stores = stores_of_part(lazy);
  } else if (lazy.is_empty && !lazy.elements.is_valid()) {
    const auto& extents = lazy.elements.shape().extents;
    const auto shape = tuple_of(extents.data(), static_cast<std::int64_t>(extents.size()));

    small = nb::none();
    stores = stores_of(
        nb::handle{new_empty}(shape, nb::handle{array_fields().root_dtype.of(lazy.prototype)})
            .ptr());
  } else {
    small = lazy.elements.num_bytes() == 0 ? nb::none() : new_small_array(lazy.elements.shape());
    stores = new_stores(lazy.prototype, lazy.layout, lazy.dtype, small.ptr());
  }

  const auto thunk = new_thunk(stores);

  if (!lazy.is_made) {
    forget_spare(array);
    give(array, names().thunk, thunk.ptr());
    lazy.is_made = true;
    if (!lazy.view) {
      if (!small.is_none()) nb::inst_ptr<SmallArray>(small)->take(lazy.elements);
      Py_CLEAR(lazy.layout);
      show(lazy, stores);
    }
  }
  return nb::steal(PyObject_GetAttr(array, names().thunk));
}

// The class's `_thunk`, which an array's own one hides.
PyObject* get_thunk(PyObject* descriptor, PyObject* array, PyObject*) {
  if (!array || array == Py_None) return Py_NewRef(descriptor);

  const auto found = nb::steal(PyObject_GetAttr(array, names().lazy_thunk));

  if (!found.is_valid()) return nullptr;
  return guard([&] { return make_thunk(array, *lazy_thunk(found.ptr())).release().ptr(); });
}

PyTypeObject* new_type(const char* name, std::size_t size, std::vector<PyType_Slot> slots) {
  slots.push_back({0, nullptr});

  PyType_Spec spec{name, static_cast<int>(size), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  auto* const made = PyType_FromSpec(&spec);

  if (!made) throw nb::python_error();
  return reinterpret_cast<PyTypeObject*>(made);
}

}  // namespace

// Never destroyed: arrays may outlive the interpreter.
PyTypeObject* lazy_thunk_type = nullptr;

void know_lazy_thunks() {
  auto* const array_type = reinterpret_cast<PyObject*>(array_fields().classes.ndarray);
  auto* const descriptor_type = new_type("legate_diffuse._native.ThunkOfArray", sizeof(PyObject),
                                         {{Py_tp_descr_get, reinterpret_cast<void*>(get_thunk)}});

  lazy_thunk_type = new_type("legate_diffuse._native.LazyThunk", sizeof(LazyThunk),
                             {{Py_tp_dealloc, reinterpret_cast<void*>(destroy)}});
  if (PyObject_SetAttr(array_type, names().thunk, new_object(descriptor_type).ptr()) != 0) {
    throw nb::python_error();
  }
  watch_attributes(array_fields().classes.ndarray, array_fields().classes.thunk);
  // CPython gives room for an attribute that one of the first objects of a class has
  give_lazy_thunk(new_object(array_fields().classes.ndarray).ptr(), new_lazy_thunk(nullptr));
}

void LazyThunk::reset(const Signature& signature) {
  prototype = signature.prototype;
  dtype = signature.dtype;
  elements.forget();
}

LazyThunk* find_thunk(PyObject* array) {
  if (!is_array(array)) return nullptr;

  auto lazy = find_attribute(array, names().lazy_thunk);
  auto* found = lazy.is_valid() ? lazy_thunk(lazy.ptr()) : nullptr;

  if (found && !found->is_made) {
    note_thunk(array, found);
    return found;
  }

  const auto [thunk, store] = find_plain(array);

  if (!store.is_valid()) return nullptr;

  const Stores stores{nb::borrow(array_fields().store_view.of(store.ptr())),
                      nb::borrow(array_fields().store_owner.of(store.ptr())),
                      find_attribute(thunk.ptr(), names().dtype)};

  if (!found) {
    lazy = new_lazy_thunk(nullptr);
    found = lazy_thunk(lazy.ptr());
    found->is_made = true;
  }
  show(*found, stores);
  give_lazy_thunk(array, lazy);
  return found;
}

Stores stores_of(PyObject* array) {
  const auto lazy = nb::borrow(reinterpret_cast<PyObject*>(thunk_of(array)));

  if (!lazy.is_valid()) return {};
  if (!lazy_thunk(lazy.ptr())->view) make_thunk(array, *lazy_thunk(lazy.ptr()));
  return stores_of_part(*lazy_thunk(lazy.ptr()));
}

Stores stores_to_index(PyObject* array) {
  auto* const lazy = thunk_of(array);

  if (!lazy || !lazy->view) return stores_of(array);
  return {nb::borrow(lazy->key ? reinterpret_cast<PyObject*>(lazy) : lazy->view),
          nb::borrow(lazy->owner), nb::borrow(lazy->dtype)};
}

nb::object new_small_array(const RootShape& shape) {
  auto made = nb::inst_alloc(nb::type<SmallArray>());

  new (nb::inst_ptr<SmallArray>(made)) SmallArray{shape};
  nb::inst_mark_ready(made);
  return made;
}

nb::object new_array(Stores part) {
  return new_part(std::move(part)).first;
}

nb::object new_array(Stores part, PyObject* key, const LocalOperand& shown) {
  auto [array, lazy] = new_part(std::move(part));

  shown.form.write_to(lazy->words);
  lazy->key = Py_NewRef(key);
  return std::move(array);
}

void know_part(PyObject* part_of) {
  part_of_thunk = Py_NewRef(part_of);
}

void know_empty(PyObject* empty) {
  new_empty = Py_NewRef(empty);
}

nb::object new_object(PyTypeObject* type) {
  static auto* const no_arguments = PyTuple_New(0);
  // CPython 3.11 gives room for attributes only here, and else makes a dictionary for them
  auto made = owned(PyBaseObject_Type.tp_new(type, no_arguments, nullptr));
  return made;
}

nb::object new_uncollected(PyTypeObject* type) {
  auto made = new_object(type);

  PyObject_GC_UnTrack(made.ptr());
  return made;
}

nb::object new_view(PyObject* root, PyObject* layout) {
  const auto& known = array_fields();
  auto view = new_uncollected(known.classes.view);
  const auto derived = nb::steal(PyDict_New());
  const auto zero = nb::steal(PyLong_FromLong(0));

  give(view, store_fields().view_root, root);
  give(view, store_fields().view_layout, layout);
  give(view, known.view_shape, known.layout_shape.of(layout));
  give(view, known.view_derived, derived.ptr());
  give(view, known.view_real, Py_None);
  give(view, known.view_handle, zero.ptr());
  give(view, known.view_moves, zero.ptr());
  return view;
}

Stores new_stores(PyObject* prototype, PyObject* layout, PyObject* dtype, PyObject* small) {
  const auto& known = array_fields();
  const auto& fields = store_fields();
  const auto root = new_uncollected(known.classes.root);
  const auto owner = nb::steal(PyBaseObject_Type.tp_alloc(&PyBaseObject_Type, 0));

  for (const auto& field : known.copied) give(root, field, field.of(prototype));
  give(root, known.root_owner, owner.ptr());
  give(root, known.root_shape, known.layout_shape.of(layout));
  give(root, known.root_volume, known.layout_volume.of(layout));
  give(root, fields.scalar_storage,
       Form{fields.layout_form.of(layout)}.volume == 1 ? Py_True : Py_False);
  give(root, fields.small, small);
  return {new_view(root.ptr(), layout), owner, nb::borrow(dtype)};
}

NewArray::NewArray(const Signature& signature, PyObject* layout)
    : NewArray{take_spare(array_fields().root_dtype.of(signature.prototype), layout)} {
  if (is_spare) {
    lazy_thunk(view.ptr())->reset(signature);
    return;
  }

  const Form form{store_fields().layout_form.of(layout)};

  array = new_object(array_fields().classes.ndarray);

  view = new_lazy_thunk(signature.dtype);

  auto* const thunk = lazy_thunk(view.ptr());

  new (&thunk->elements)
      SmallArray{RootShape{{form.extents, form.extents + form.dim}, signature.itemsize}};
  thunk->prototype = signature.prototype;
  thunk->layout = Py_NewRef(layout);
  give_lazy_thunk(array.ptr(), view);
  keep(array.ptr(), thunk);
}

bool NewArray::is_here(LocalOperand& target) const {
  return arrays_are_ready() && target.is_here(view.ptr(), true);
}

}  // namespace legate_diffuse
