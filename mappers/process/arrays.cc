// SPDX-License-Identifier: Apache-2.0

#include "process/arrays.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "program/kernel_table.h"

namespace nb = nanobind;

namespace legate_diffuse {

// The extents that operands have in common.
struct Shape {
  // Takes an operand in; false if that cannot be.
  bool add(const Form& form) {
    for (; dim < form.dim; ++dim) {
      std::copy_backward(extents.begin(), extents.begin() + dim, extents.begin() + dim + 1);
      extents[0] = 1;
    }
    for (std::int64_t d = 1; d <= form.dim; ++d) {
      const auto extent = form.extents[form.dim - d];

      if (extents[dim - d] == 1) extents[dim - d] = extent;
      if (extent != 1 && extent != extents[dim - d]) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_of(const Form& form) const {
    return dim == form.dim && std::equal(form.extents, form.extents + dim, extents.begin());
  }

  std::int64_t dim{};
  std::array<std::int64_t, LEGATE_MAX_DIM> extents{};
};

namespace {

// Every int up to this size is a float64.
constexpr std::int64_t EXACT = std::int64_t{1} << 53;

struct Known {
  Known(const ArrayClasses& known, PyObject* state_type, PyObject* queue_type)
      : classes{known},
        fields{object(known.root), object(known.view), object(known.layout), known.most_bytes},
        window_runs_at_once{object(Py_TYPE(known.window)), "runs_at_once"},
        window_state{object(Py_TYPE(known.window)), "state"},
        recording{state_type, "recording"},
        rest{state_type, "rest"},
        roots{state_type, "roots"},
        head{queue_type, "head"},
        store_owner{object(known.store), "_owner"},
        store_view{object(known.store), "_view"},
        view_shape{object(known.view), "shape"},
        view_derived{object(known.view), "derived"},
        view_real{object(known.view), "real"},
        view_handle{object(known.view), "_handle"},
        layout_shape{object(known.layout), "shape"},
        layout_volume{object(known.layout), "volume"},
        layout_dense{object(known.layout), "dense"},
        root_dtype{object(known.root), "dtype"},
        root_owner{object(known.root), "owner"},
        root_shape{object(known.root), "shape"},
        root_volume{object(known.root), "volume"},
        thread{PyThread_get_thread_ident()} {
    for (const auto* const name :
         {"_handle", "constant", "constant_bytes", "dtype", "escaped", "fusable", "held", "initial",
          "legate", "lent", "real", "shared", "shared_future", "type", "version"}) {
      copied.emplace_back(object(known.root), name);
    }
  }

  static PyObject* object(PyTypeObject* type) { return reinterpret_cast<PyObject*>(type); }

  // Whether an operation may run before those that wait, but for what they use.
  [[nodiscard]] bool is_ready() const {
    auto* const state = window_state.of(classes.window);

    return window_runs_at_once.of(classes.window) == Py_True && recording.of(state) == Py_False &&
           head.of(classes.queue) == Py_None && PyTuple_GET_SIZE(rest.of(state)) == 0 &&
           PyThread_get_thread_ident() == thread;
  }

  // As LocalOperand::look, but for roots that operations use that wait.
  [[nodiscard]] Answer look(LocalOperand& operand, PyObject* view, bool changes) const {
    const auto answer = operand.look(fields, view, changes);
    auto* const waiting = roots.of(window_state.of(classes.window));

    if (PyDict_GET_SIZE(waiting) > 0 && PyDict_Contains(waiting, operand.root) != 0) {
      return Answer::IMPOSSIBLE;
    }
    return answer;
  }

  ArrayClasses classes;
  StoreFields fields;
  Field window_runs_at_once, window_state, recording, rest, roots, head;
  Field store_owner, store_view;
  Field view_shape, view_derived, view_real, view_handle;
  Field layout_shape, layout_volume, layout_dense;
  Field root_dtype, root_owner, root_shape, root_volume;
  // those that a root has in common with its prototype
  std::vector<Field> copied;
  unsigned long thread;
  PyObject* const thunk_name = PyUnicode_InternFromString("_thunk");
  PyObject* const data_name = PyUnicode_InternFromString("_legate_data");
  PyObject* const writeable_name = PyUnicode_InternFromString("_writeable");
  PyObject* const base_name = PyUnicode_InternFromString("base");
  PyObject* const dtype_name = PyUnicode_InternFromString("dtype");
  PyObject* const library_name = PyUnicode_InternFromString("library");
};

// Never destroyed: arrays may outlive the interpreter.
Known* known = nullptr;

PyObject* give_none() {
  Py_RETURN_NONE;
}

// The view of a plain array; empty for others, and for objects that are no arrays.
nb::object view_of(PyObject* array) {
  if (Py_TYPE(array) != known->classes.ndarray) return {};

  const auto thunk = nb::steal(PyObject_GetAttr(array, known->thunk_name));

  if (!thunk.is_valid() || Py_TYPE(thunk.ptr()) != known->classes.thunk) {
    PyErr_Clear();
    return {};
  }

  const auto base = nb::steal(PyObject_GetAttr(thunk.ptr(), known->base_name));

  if (!base.is_valid() || Py_TYPE(base.ptr()) != known->classes.store) {
    PyErr_Clear();
    return {};
  }
  return nb::borrow(known->store_view.of(base.ptr()));
}

bool is_writeable(PyObject* array) {
  const auto flag = nb::steal(PyObject_GetAttr(array, known->writeable_name));

  if (!flag.is_valid()) PyErr_Clear();
  return flag.ptr() == Py_True;
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

// A new array and its view. Nothing was written to its elements yet.
struct NewArray {
  NewArray(const Signature& signature, PyObject* layout) {
    const auto& [classes, fields] = std::tie(known->classes, known->fields);
    const Form form{fields.layout_form.of(layout)};
    const auto root = allocate(classes.root);
    const auto store = allocate(classes.store);
    const auto thunk = allocate(classes.thunk);
    const auto owner = nb::steal(PyBaseObject_Type.tp_alloc(&PyBaseObject_Type, 0));
    const auto derived = nb::steal(PyDict_New());
    const auto zero = nb::steal(PyLong_FromLong(0));

    view = allocate(classes.view);
    array = allocate(classes.ndarray);
    for (const auto& field : known->copied) give(root, field, field.of(signature.prototype));
    give(root, known->root_owner, owner.ptr());
    give(root, known->root_shape, known->layout_shape.of(layout));
    give(root, known->root_volume, known->layout_volume.of(layout));
    give(root, fields.scalar_storage, form.volume == 1 ? Py_True : Py_False);
    give(root, fields.small, Py_None);
    give(view, fields.view_root, root.ptr());
    give(view, fields.view_layout, layout);
    give(view, known->view_shape, known->layout_shape.of(layout));
    give(view, known->view_derived, derived.ptr());
    give(view, known->view_real, Py_None);
    give(view, known->view_handle, zero.ptr());
    give(store, known->store_owner, owner.ptr());
    give(store, known->store_view, view.ptr());
    give(thunk, known->library_name, classes.library);
    give(thunk, known->dtype_name, signature.dtype);
    give(thunk, known->base_name, store.ptr());
    give(array, known->thunk_name, thunk.ptr());
    give(array, known->data_name, Py_None);
    give(array, known->writeable_name, Py_True);
  }

  nb::object array;
  nb::object view;
};

template <typename T>
bool put_value(T value, char* to) {
  std::memcpy(to, &value, sizeof(value));
  return true;
}

// Converts a number of Python's as NumPy does; false if Python must decide what becomes of it.
bool convert(PyObject* number, std::string_view dtype, char* to) {
  if (PyFloat_CheckExact(number)) {
    const auto value = PyFloat_AS_DOUBLE(number);

    if (std::isnan(value)) return false;
    if (dtype == "float64") return put_value(value, to);
    if (dtype == "float32") return put_value(static_cast<float>(value), to);
    return false;
  }
  if (!PyLong_CheckExact(number)) return false;

  int overflows{};
  const std::int64_t value = PyLong_AsLongLongAndOverflow(number, &overflows);

  if (overflows != 0) return false;
  if (dtype == "int64") return put_value(value, to);
  if (dtype == "int32" && static_cast<std::int32_t>(value) == value) {
    return put_value(static_cast<std::int32_t>(value), to);
  }
  if (value > EXACT || value < -EXACT) return false;
  if (dtype == "float64") return put_value(static_cast<double>(value), to);
  if (dtype == "float32") return put_value(static_cast<float>(value), to);
  return false;
}

std::string_view text_of(PyObject* dtype) {
  Py_ssize_t size{};
  const auto* const text = PyUnicode_AsUTF8AndSize(dtype, &size);

  if (!text) throw nb::python_error();
  return {text, static_cast<std::size_t>(size)};
}

bool is_number(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object);
}

bool repeat_over(const Shape& shape, LocalOperand& operand) {
  if (shape.is_of(operand.form)) return true;
  return operand.broadcast(shape.extents.data(), shape.dim);
}

// Where an index of integers leads to, in elements; none if it is another one.
std::optional<std::int64_t> offset_of(const Form& form, PyObject* key) {
  const auto is_tuple = PyTuple_CheckExact(key);
  const auto count = is_tuple ? PyTuple_GET_SIZE(key) : 1;
  auto offset = form.offset;

  if (count != form.dim) return {};
  for (Py_ssize_t d = 0; d < count; ++d) {
    auto* const part = is_tuple ? PyTuple_GET_ITEM(key, d) : key;

    if (!PyLong_CheckExact(part)) return {};

    int overflows{};
    std::int64_t index = PyLong_AsLongLongAndOverflow(part, &overflows);

    if (index < 0) index += form.extents[d];
    if (overflows != 0 || index < 0 || index >= form.extents[d]) return {};
    offset += index * form.strides[d];
  }
  return offset;
}

// Where an element of a view lies that is here; null if it is elsewhere or the index is not simple.
char* find_element(PyObject* view, PyObject* key, bool changes, LocalOperand& operand) {
  if (known->look(operand, view, changes) != Answer::DONE || !operand.small ||
      (!changes && !operand.small->is_valid())) {
    return nullptr;
  }

  const auto offset = offset_of(operand.form, key);

  if (!offset) return nullptr;
  return operand.small->elements() +
         (operand.repeats ? 0 : *offset * operand.small->shape().itemsize);
}

template <typename T>
T read(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace

void know_arrays(const ArrayClasses& classes, PyObject* state_type, PyObject* queue_type) {
  for (auto* const each :
       {Known::object(classes.ndarray), Known::object(classes.thunk), Known::object(classes.store),
        Known::object(classes.view), Known::object(classes.root), Known::object(classes.layout),
        classes.library, classes.window, classes.queue}) {
    Py_INCREF(each);
  }
  known = new Known{classes, state_type, queue_type};
}

const Signature* Function::find(const std::array<PyObject*, MAX_OPERANDS>& dtypes,
                                std::size_t count) const {
  for (const auto& signature : signatures_) {
    bool fits = signature.dtypes.size() == count;

    for (std::size_t index = 0; fits && index < count; ++index) {
      fits = !dtypes[index] || dtypes[index] == signature.dtypes[index];
    }
    if (fits) return &signature;
  }
  return nullptr;
}

PyObject* Function::apply(PyObject* out, PyObject* const* operands, std::size_t count) {
  if (!known || !known->is_ready() || count + 1 > MAX_OPERANDS) return give_none();

  std::array<nb::object, MAX_OPERANDS> views;
  std::array<PyObject*, MAX_OPERANDS> dtypes{};
  std::array<ScalarBlock, MAX_OPERANDS> numbers;
  LocalOperands found;

  // the result comes first
  for (std::size_t index = 0; index < count; ++index) {
    auto& one = found[index + (reduces_ ? 2 : 1)];

    if (is_number(operands[index])) {
      if (!takes_numbers_) return give_none();
      one.constant = numbers[index].bytes.data();
      continue;
    }
    views[index + 1] = view_of(operands[index]);
    if (!views[index + 1].is_valid() ||
        known->look(one, views[index + 1].ptr(), false) != Answer::DONE || !one.small) {
      return give_none();
    }
    dtypes[index] = known->root_dtype.of(one.root);
  }

  const auto* const signature = find(dtypes, count);
  const std::size_t first = reduces_ ? 2 : 1;
  Shape shape;

  if (!signature) return give_none();
  for (std::size_t index = 0; index < count; ++index) {
    if (dtypes[index]) {
      if (!shape.add(found[index + first].form)) return give_none();
      continue;
    }
    numbers[index] = {};
    if (!convert(operands[index], text_of(signature->dtypes[index]), numbers[index].bytes.data())) {
      return give_none();
    }
  }
  // the original copies single elements, and refuses to reduce none
  if (reduces_ && found[first].form.volume < 2) return give_none();

  nb::object array;

  if (out == Py_None) {
    const auto layout = dense_layout(shape, found, first, count);

    if (!layout.is_valid()) return give_none();

    NewArray made{*signature, layout.ptr()};

    array = std::move(made.array);
    views[0] = std::move(made.view);
  } else {
    views[0] = view_of(out);
    if (!views[0].is_valid() || !is_writeable(out)) return give_none();
    array = nb::borrow(out);
  }
  // a finalizer may have come while objects were made
  if (!known->is_ready()) return give_none();
  for (std::size_t index = 0; index < first; ++index) {
    if (known->look(found[index], views[0].ptr(), true) != Answer::DONE) return give_none();
  }
  for (std::size_t index = 0; index < count; ++index) {
    auto& one = found[index + first];

    if (one.constant) continue;
    if (known->look(one, views[index + 1].ptr(), false) != Answer::DONE ||
        !repeat_over(shape, one)) {
      return give_none();
    }
  }
  if (!(reduces_ || shape.is_of(found[0].form)) ||
      known->root_dtype.of(found[0].root) != known->root_dtype.of(signature->prototype) ||
      signature->operation->run(known->fields, found, signature->scalars.data(),
                                signature->scalars.size() / SCALAR_SIZE) != Answer::DONE) {
    return give_none();
  }
  return array.release().ptr();
}

// The layout of a new result; empty if it is not small.
nb::object Function::dense_layout(const Shape& shape, const LocalOperands& operands,
                                  std::size_t first, std::size_t count) const {
  const auto dim = reduces_ ? 0 : shape.dim;

  for (auto index = first; index < first + count; ++index) {
    const auto& one = operands[index];

    if (one.small && !reduces_ && shape.is_of(one.form)) {
      return nb::borrow(known->layout_dense.of(one.layout));
    }
  }

  const auto extents = nb::steal(PyTuple_New(dim));

  if (!extents.is_valid()) throw nb::python_error();
  for (std::int64_t d = 0; d < dim; ++d) {
    PyTuple_SET_ITEM(extents.ptr(), d, PyLong_FromLongLong(shape.extents[d]));
  }
  return nb::handle{dense_}(extents);
}

PyObject* Function::fill(PyObject* dtype, PyObject* layout, PyObject* number) {
  if (!known || !known->is_ready()) return give_none();

  std::array<PyObject*, MAX_OPERANDS> dtypes{dtype};
  LocalOperand target;
  ScalarBlock value{};
  const auto* const signature = find(dtypes, 1);

  if (!signature || !convert(number, text_of(dtype), value.bytes.data())) return give_none();

  NewArray made{*signature, layout};

  if (!known->is_ready() || known->look(target, made.view.ptr(), true) != Answer::DONE) {
    return give_none();
  }

  auto* const elements = target.small->elements();
  const auto itemsize = static_cast<std::size_t>(signature->itemsize);

  for (std::size_t at = 0; at < target.small->num_bytes(); at += itemsize) {
    std::memcpy(elements + at, value.bytes.data(), itemsize);
  }
  target.small->set_changed();
  total_runs.runs += 1, total_runs.operations += 1, total_runs.fills += 1;
  return made.array.release().ptr();
}

PyObject* Function::get(PyObject* array, PyObject* key) {
  if (!known || !known->is_ready()) return give_none();

  const auto view = view_of(array);
  LocalOperand operand;
  std::array<PyObject*, MAX_OPERANDS> dtypes{};

  if (!view.is_valid() || !find_element(view.ptr(), key, false, operand)) return give_none();
  dtypes[0] = known->root_dtype.of(operand.root);

  const auto* const signature = find(dtypes, 1);

  if (!signature) return give_none();

  NewArray made{*signature, nb::handle{dense_}(nb::tuple{}).ptr()};
  LocalOperand target;
  const auto* const element = find_element(view.ptr(), key, false, operand);

  if (!element || !known->is_ready() ||
      known->look(target, made.view.ptr(), true) != Answer::DONE) {
    return give_none();
  }
  std::memcpy(target.small->elements(), element, signature->itemsize);
  target.small->set_changed();
  total_runs.runs += 1, total_runs.operations += 1;
  return made.array.release().ptr();
}

bool put(PyObject* array, PyObject* key, PyObject* value) {
  if (!known || !known->is_ready()) return false;

  const auto view = view_of(array);
  LocalOperand target, source;
  ScalarBlock number{};

  if (!view.is_valid() || !is_writeable(array)) return false;

  auto* const element = find_element(view.ptr(), key, true, target);

  if (!element) return false;

  auto* const dtype = known->root_dtype.of(target.root);
  const auto itemsize = target.small->shape().itemsize;

  if (is_number(value)) {
    // cuPyNumeric warns of other conversions
    if (text_of(dtype) != (PyFloat_CheckExact(value) ? "float64" : "int64") ||
        !convert(value, text_of(dtype), number.bytes.data())) {
      return false;
    }
    std::memcpy(element, number.bytes.data(), itemsize);
  } else {
    const auto other = view_of(value);

    if (!other.is_valid() || known->look(source, other.ptr(), false) != Answer::DONE ||
        !source.small || !source.small->is_valid() || source.form.dim != 0 || !source.repeats ||
        known->root_dtype.of(source.root) != dtype) {
      return false;
    }
    std::memmove(element, source.small->elements(), itemsize);
  }
  note_change(known->fields, target);
  total_runs.runs += 1, total_runs.operations += 1;
  return true;
}

PyObject* value_of(PyObject* array) {
  if (!known || !known->is_ready()) return give_none();

  const auto view = view_of(array);
  LocalOperand operand;

  if (!view.is_valid() || known->look(operand, view.ptr(), false) != Answer::DONE ||
      !operand.small || !operand.small->is_valid() || operand.form.dim != 0) {
    return give_none();
  }

  const auto dtype = text_of(known->root_dtype.of(operand.root));
  const auto* const from =
      operand.small->elements() +
      (operand.repeats ? 0 : operand.form.offset * operand.small->shape().itemsize);

  if (dtype == "float64") return PyFloat_FromDouble(read<double>(from));
  if (dtype == "int64") return PyLong_FromLongLong(read<std::int64_t>(from));
  if (dtype == "bool") return PyBool_FromLong(read<bool>(from) ? 1 : 0);
  if (dtype == "float32") return PyFloat_FromDouble(read<float>(from));
  if (dtype == "int32") return PyLong_FromLong(read<std::int32_t>(from));
  return give_none();
}

}  // namespace legate_diffuse
