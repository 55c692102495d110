// SPDX-License-Identifier: Apache-2.0

#include "process/function.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "process/element.h"
#include "process/numbers.h"
#include "process/runs.h"

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

bool repeat_over(const Shape& shape, LocalOperand& operand) {
  if (shape.is_of(operand.form)) return true;
  return operand.broadcast(shape.extents.data(), shape.dim);
}

}  // namespace

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
  if (!arrays_are_ready() || count + 1 > MAX_OPERANDS) Py_RETURN_NONE;

  std::array<nb::object, MAX_OPERANDS> views;
  std::array<PyObject*, MAX_OPERANDS> dtypes{};
  std::array<ScalarBlock, MAX_OPERANDS> numbers;
  LocalOperands found;

  // the result comes first
  for (std::size_t index = 0; index < count; ++index) {
    auto& one = found[index + (reduces_ ? 2 : 1)];

    if (is_number(operands[index])) {
      if (!takes_numbers_) Py_RETURN_NONE;
      one.constant = numbers[index].bytes.data();
      continue;
    }
    views[index + 1] = view_of(operands[index]);
    if (!views[index + 1].is_valid() || !one.is_here(views[index + 1].ptr(), false)) {
      Py_RETURN_NONE;
    }
    dtypes[index] = one.dtype;
  }

  // the type of numbers alone is Python's affair
  if (std::none_of(dtypes.begin(), dtypes.end(), [](auto* dtype) { return dtype != nullptr; })) {
    Py_RETURN_NONE;
  }

  const auto* const signature = find(dtypes, count);
  const std::size_t first = reduces_ ? 2 : 1;
  Shape shape;

  if (!signature) Py_RETURN_NONE;
  for (std::size_t index = 0; index < count; ++index) {
    if (dtypes[index]) {
      if (!shape.add(found[index + first].form)) Py_RETURN_NONE;
      continue;
    }
    numbers[index] = {};
    if (!convert(operands[index], text_of(signature->dtypes[index]), numbers[index].bytes.data())) {
      Py_RETURN_NONE;
    }
  }
  // the original copies single elements, and refuses to reduce none
  if (reduces_ && found[first].form.volume < 2) Py_RETURN_NONE;

  nb::object array;

  if (out == Py_None) {
    const auto layout = dense_layout(shape, found, first, count);

    if (!layout.is_valid()) Py_RETURN_NONE;

    NewArray made{*signature, layout.ptr()};

    array = std::move(made.array);
    views[0] = std::move(made.view);
  } else {
    views[0] = view_of(out);
    if (!views[0].is_valid() || !is_writeable(out)) Py_RETURN_NONE;
    array = nb::borrow(out);
  }
  // a finalizer may have come while objects were made
  if (!arrays_are_ready()) Py_RETURN_NONE;
  for (std::size_t index = 0; index < first; ++index) {
    if (!found[index].is_here(views[0].ptr(), true)) Py_RETURN_NONE;
  }
  for (std::size_t index = 0; index < count; ++index) {
    auto& one = found[index + first];

    if (one.constant) continue;
    if (!one.is_here(views[index + 1].ptr(), false) || !repeat_over(shape, one)) Py_RETURN_NONE;
  }
  if (!(reduces_ || shape.is_of(found[0].form)) ||
      found[0].dtype != array_fields().root_dtype.of(signature->prototype)) {
    Py_RETURN_NONE;
  }
  if (out == Py_None && !reduces_) found[0].small->reserve();
  if (signature->operation->run(store_fields(), found, signature->scalars.data(),
                                signature->scalars.size() / SCALAR_SIZE) != Answer::DONE) {
    Py_RETURN_NONE;
  }
  return array.release().ptr();
}

// The layout of a new result; empty if it is not small.
nb::object Function::dense_layout(const Shape& shape, const LocalOperands& operands,
                                  std::size_t first, std::size_t count) const {
  for (auto index = first; index < first + count; ++index) {
    const auto& one = operands[index];

    if (one.small && !reduces_ && shape.is_of(one.form)) {
      return nb::borrow(array_fields().layout_dense.of(one.layout));
    }
  }

  return new_layout(shape.extents.data(), reduces_ ? 0 : shape.dim);
}

nb::object Function::new_layout(const std::int64_t* extents, std::int64_t dim) const {
  const auto shape = nb::steal(PyTuple_New(dim));

  if (!shape.is_valid()) throw nb::python_error();
  for (std::int64_t d = 0; d < dim; ++d) {
    PyTuple_SET_ITEM(shape.ptr(), d, PyLong_FromLongLong(extents[d]));
  }
  return nb::handle{dense_}(shape);
}

PyObject* Function::fill(PyObject* dtype, PyObject* layout, PyObject* number) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  std::array<PyObject*, MAX_OPERANDS> dtypes{dtype};
  LocalOperand target;
  ScalarBlock value{};
  const auto* const signature = find(dtypes, 1);

  if (!signature || !convert(number, text_of(dtype), value.bytes.data())) Py_RETURN_NONE;

  NewArray made{*signature, layout};

  if (!made.is_here(target)) Py_RETURN_NONE;

  Run run;

  target.small->fill(value.bytes.data());
  run.done("fill", 1, 1);
  return made.array.release().ptr();
}

PyObject* Function::take(PyObject* dtype, PyObject* layout, PyObject* bytes,
                         const std::string& name) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  LocalOperand target;
  const auto* const signature = find({dtype}, 1);

  if (!signature) Py_RETURN_NONE;

  NewArray made{*signature, layout};

  if (!made.is_here(target) ||
      static_cast<std::size_t>(PyBytes_GET_SIZE(bytes)) != target.small->num_bytes()) {
    Py_RETURN_NONE;
  }

  Run run;

  target.small->reserve();
  std::memcpy(target.small->elements(), PyBytes_AS_STRING(bytes), target.small->num_bytes());
  target.small->set_changed();
  if (!name.empty()) run.done(name.c_str());
  return made.array.release().ptr();
}

PyObject* Function::get(PyObject* array, PyObject* key) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  const auto view = view_of(array);
  LocalOperand operand;
  std::array<PyObject*, MAX_OPERANDS> dtypes{};

  if (!view.is_valid() || !find_element(view.ptr(), key, false, operand)) Py_RETURN_NONE;
  dtypes[0] = operand.dtype;

  const auto* const signature = find(dtypes, 1);

  if (!signature) Py_RETURN_NONE;

  NewArray made{*signature, nb::handle{dense_}(nb::tuple{}).ptr()};
  LocalOperand target;

  if (!made.is_here(target)) Py_RETURN_NONE;

  const auto* const element = find_element(view.ptr(), key, false, operand);

  if (!element) Py_RETURN_NONE;
  std::memcpy(target.small->elements(), element, signature->itemsize);
  target.small->set_changed();
  Run{}.done("read");
  return made.array.release().ptr();
}

}  // namespace legate_diffuse
