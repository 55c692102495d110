// SPDX-License-Identifier: Apache-2.0

#include "process/later.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/function.h"
#include "process/numbers.h"
#include "process/part.h"
#include "process/waiting.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// A view, repeated over a shape.
nb::object repeated(const nb::object& view, nb::handle shape) {
  auto* const own = array_fields().view_shape.of(view.ptr());

  if (are_equal(own, shape.ptr())) return view;
  if (PyTuple_GET_SIZE(own) > 0) return nb::handle{waiting_classes().repeated}(view, shape);

  static auto* const over = PyUnicode_InternFromString("over");
  auto* const layout = store_fields().view_layout.of(view.ptr());
  const auto made = owned(PyObject_CallMethodOneArg(layout, over, shape.ptr()));
  return through(view, made);
}

// The view of a number of Python's, of the type of a root, repeated over a shape; empty if there is
// none.
nb::object constant_over(PyObject* root, PyObject* number, nb::handle shape) {
  const auto found = nb::handle{waiting_classes().constant}(nb::handle{root}, nb::handle{number});

  return found.is_none() ? nb::object{} : repeated(found, shape);
}

// The shape of two together, of which the first may be missing; None if they do not fit.
nb::object common_shape(const nb::object& one, PyObject* other) {
  if (!one.is_valid() || are_equal(one.ptr(), other)) return nb::borrow(other);
  return nb::handle{waiting_classes().common_shape}(one, nb::handle{other});
}

// Whether two views of one root are known to share no element (`Layout.is_disjoint_from`).
bool share_nothing(PyObject* one, PyObject* other) {
  static auto* const is_disjoint_from = PyUnicode_InternFromString("is_disjoint_from");
  const auto& layout = store_fields().view_layout;
  const auto answer =
      owned(PyObject_CallMethodOneArg(layout.of(one), is_disjoint_from, layout.of(other)));

  return answer.is(Py_True);
}

// Whether a task that writes one view may read the other: they are the same, or share no storage.
bool may_write(PyObject* target, PyObject* source) {
  const auto& fields = store_fields();
  auto* const root = fields.view_root.of(target);
  auto* const other = fields.view_root.of(source);

  if (source == target) return true;
  if (root == other) return share_nothing(source, target);
  return fields.escaped.of(root) == Py_False || fields.escaped.of(other) == Py_False;
}

PyObject* type_of(const nb::object& view) {
  return store_fields().dtype.of(store_fields().view_root.of(view.ptr()));
}

Shape extents_of(const nb::object& view) {
  auto* const extents = array_fields().view_shape.of(view.ptr());
  Shape shape{PyTuple_GET_SIZE(extents), {}};

  for (Py_ssize_t d = 0; d < shape.dim; ++d) {
    shape.extents[d] = PyLong_AsLongLong(PyTuple_GET_ITEM(extents, d));
  }
  return shape;
}

// What there is for a type, or another key, in a dictionary of templates; null if there is none.
PyObject* template_for(PyObject* templates, PyObject* key) {
  auto* const found = PyDict_GetItemWithError(templates, key);

  if (PyErr_Occurred()) throw nb::python_error();
  return found == Py_None ? nullptr : found;
}

// The layout of a new array of the shape of a view, which remembers it (stores/form.py).
nb::object dense_like(const nb::object& view, PyObject* dense, const nb::object& shape) {
  const auto& known = array_fields();
  auto* const shown = store_fields().view_layout.of(view.ptr());

  if (known.layout_dense.of(shown) == Py_None) {
    known.layout_dense.set(shown, nb::handle{dense}(shape).release().ptr());
  }
  return nb::borrow(known.layout_dense.of(shown));
}

// Those of a new array for a result.
Stores stores_for(const Signature& signature, const nb::object& layout) {
  return new_stores(signature.prototype, layout.ptr(), signature.dtype, Py_None);
}

using Operands = std::array<Stores, MAX_OPERANDS>;
using Types = std::array<PyObject*, MAX_OPERANDS>;

// Lets operands repeat over a shape, and numbers be constants of the types of arrays beside them.
// Returns a view of the shape; empty if there is none of such a number.
nb::object repeat_all(const Signature& signature, PyObject* const* operands, const Types& dtypes,
                      std::size_t count, const nb::object& shape, Operands& stores) {
  nb::object like;

  for (std::size_t index = 0; index < count; ++index) {
    auto& view = stores[index].view;

    if (dtypes[index]) {
      like = view = repeated(view, shape);
      continue;
    }

    const auto* const model = std::find(dtypes.begin(), dtypes.end(), signature.dtypes[index]);

    if (model == dtypes.end()) return {};
    view = constant_over(store_fields().view_root.of(stores[model - dtypes.begin()].view.ptr()),
                         operands[index], shape);
    if (!view.is_valid()) return {};
  }
  return like;
}

}  // namespace

PyObject* Function::apply_later(PyObject* out, PyObject* const* operands, std::size_t count) const {
  if (reduces_ || !may_wait()) Py_RETURN_NONE;

  Operands stores;
  Types dtypes{};
  nb::object shape;

  for (std::size_t index = 0; index < count; ++index) {
    if (is_any_number(operands[index])) {
      if (!takes_numbers_) Py_RETURN_NONE;
      continue;
    }
    stores[index] = stores_of(operands[index]);
    if (!stores[index].view.is_valid()) Py_RETURN_NONE;
    shape = common_shape(shape, array_fields().view_shape.of(stores[index].view.ptr()));
    if (shape.is_none()) Py_RETURN_NONE;
    dtypes[index] = type_of(stores[index].view);
  }

  const auto* const signature = shape.is_valid() ? find(dtypes.data(), count) : nullptr;
  const auto like =
      signature ? repeat_all(*signature, operands, dtypes, count, shape, stores) : nb::object{};

  if (!like.is_valid()) Py_RETURN_NONE;

  nb::object array;
  Stores target;

  if (out == Py_None) {
    target = stores_for(*signature, dense_like(like, dense_, shape));
    array = new_array(target);
  } else {
    target = stores_of(out);
    if (!target.view.is_valid() || !is_writeable(out) ||
        type_of(target.view) != array_fields().root_dtype.of(signature->prototype)) {
      Py_RETURN_NONE;
    }
    array = nb::borrow(out);
  }

  nb::list views;

  views.append(target.view);
  for (std::size_t index = 0; index < count; ++index) {
    if (!may_write(target.view.ptr(), stores[index].view.ptr())) Py_RETURN_NONE;
    views.append(stores[index].view);
  }
  if (!let_wait(signature->task_template, views)) Py_RETURN_NONE;
  return array.release().ptr();
}

PyObject* read_later(const Function& function, const Stores& part) {
  if (!arrays_are_ready() || !may_wait()) Py_RETURN_NONE;

  const auto* const signature = function.find({type_of(part.view)});

  if (!signature) Py_RETURN_NONE;

  const auto target = stores_for(*signature, function.new_layout(nullptr, 0));
  auto array = new_array(target);
  nb::list views;

  // the result comes last
  views.append(part.view);
  views.append(target.view);
  if (!let_wait(signature->task_template, views)) Py_RETURN_NONE;
  return array.release().ptr();
}

PyObject* reduce_later(const Function& function, PyObject* templates, PyObject* array,
                       PyObject* axis) {
  if (!arrays_are_ready() || !may_wait()) Py_RETURN_NONE;

  const auto source = stores_of(array).view;

  if (!source.is_valid()) Py_RETURN_NONE;

  const auto& fields = store_fields();
  auto* const root = fields.view_root.of(source.ptr());
  auto* const dtype = fields.dtype.of(root);
  const auto* const signature = function.find({dtype});
  const auto shape = nb::borrow(array_fields().view_shape.of(source.ptr()));
  const auto extent = [&](Py_ssize_t d) {
    return PyLong_AsLongLong(PyTuple_GET_ITEM(shape.ptr(), d));
  };
  const auto dim = PyTuple_GET_SIZE(shape.ptr());
  const auto reduces_all = axis == Py_None;
  const auto along = reduces_all ? 0 : axis_from(axis, dim);
  Shape result;

  if (!signature || !along || fields.scalar_storage.of(root) != Py_False) Py_RETURN_NONE;
  for (Py_ssize_t d = 0; d < dim && !reduces_all; ++d) {
    if (d != *along) result.extents[result.dim++] = extent(d);
  }

  const auto volume =
      PyLong_AsLongLong(array_fields().layout_volume.of(fields.view_layout.of(source.ptr())));

  // the original copies single elements, and refuses to reduce none
  if (volume < 2 || (!reduces_all && result.volume() < 2)) Py_RETURN_NONE;

  const nb::object which = reduces_all ? shape : nb::object{nb::int_{*along}};
  const auto key = owned(PyTuple_Pack(2, dtype, which.ptr()));
  const auto known = nb::borrow(template_for(templates, key.ptr()));

  if (!known.is_valid()) Py_RETURN_NONE;

  const auto layout = function.new_layout(result.extents.data(), result.dim);
  const auto target = stores_for(*signature, layout);
  auto made = new_array(target);
  const auto fill = nb::handle{waiting_classes().fill}(target.view, known[1]);
  nb::list views;

  if (reduces_all) {
    views.append(target.view);
    views.append(source);
  } else {
    const auto step = nb::make_tuple("promote", *along, extent(*along));

    views.append(source);
    views.append(through(target.view, layout.attr("derive")(step)));
  }
  if (!let_wait(nb::object{known[0]}.ptr(), views, fill.ptr())) Py_RETURN_NONE;
  return made.release().ptr();
}

PyObject* copy_later(const Function& function, PyObject* array) {
  if (!arrays_are_ready() || !may_wait()) Py_RETURN_NONE;

  const auto source = stores_of(array).view;

  if (!source.is_valid()) Py_RETURN_NONE;

  auto* const dtype = type_of(source);
  const auto* const signature = function.find({dtype});
  const auto shape = extents_of(source);

  // the original fills one element
  if (!signature || shape.volume() == 1) Py_RETURN_NONE;

  auto* const task_template = template_for(waiting_classes().copies, dtype);

  if (!task_template) Py_RETURN_NONE;

  const auto target = stores_for(*signature, function.new_layout(shape.extents.data(), shape.dim));
  auto made = new_array(target);
  nb::list views;

  views.append(target.view);
  views.append(source);
  if (!let_wait(task_template, views)) Py_RETURN_NONE;
  return made.release().ptr();
}

bool put_later(PyObject* array, PyObject* key, PyObject* value) {
  if (!arrays_are_ready() || !may_wait() || !is_writeable(array)) return false;

  const auto whole = stores_of(array);
  const auto target = find_part(whole, key).view;

  if (!target.is_valid()) return false;

  const auto& fields = store_fields();
  auto* const root = fields.view_root.of(target.ptr());
  auto* const dtype = fields.dtype.of(root);
  auto* const shape = array_fields().view_shape.of(target.ptr());
  const auto is_number = PyFloat_CheckExact(value) || PyLong_CheckExact(value);

  // of what becomes a number of another type Python may have to warn
  if (is_number && conversions_warn()) return false;

  auto source = is_number ? constant_over(root, value, nb::handle{shape}) : stores_of(value).view;

  if (!source.is_valid()) return false;

  const auto dim_of = [](const nb::object& view) {
    return PyTuple_GET_SIZE(array_fields().view_shape.of(view.ptr()));
  };
  const auto is_single = PyTuple_GET_SIZE(shape) == 0;
  auto* const other = fields.view_root.of(source.ptr());

  // the original refuses values with more dimensions than the array
  if (dim_of(source) > dim_of(whole.view) || fields.scalar_storage.of(root) != Py_False ||
      fields.dtype.of(other) != dtype) {
    return false;
  }
  if (!have_one_shape(source.ptr(), target.ptr())) {
    const auto common = common_shape(nb::borrow(shape), array_fields().view_shape.of(source.ptr()));

    if (is_single || root == other || !common.equal(nb::handle{shape})) return false;
    source = repeated(source, shape);
  }
  if ((is_single && root == other) || !may_write(target.ptr(), source.ptr())) return false;
  if (source.is(target)) return true;

  const auto& classes = waiting_classes();
  auto* const task_template = template_for(is_single ? classes.writes : classes.copies, dtype);

  if (!task_template) return false;

  nb::list views;

  views.append(target);
  views.append(source);
  return let_wait(task_template, views);
}

}  // namespace legate_diffuse
