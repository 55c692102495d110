// SPDX-License-Identifier: Apache-2.0

#include "process/extract.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <limits>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/element.h"
#include "process/given.h"
#include "process/numbers.h"
#include "process/numpy_api.h"
#include "process/runs.h"
#include "process/shown.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// The bytes of an element at most.
constexpr std::int64_t MOST_ITEMSIZE = 16;

// The bytes of a number in an array of a type: any type has a zero. False if it is left to Python.
bool read_number(PyObject* number, std::string_view dtype, ScalarBlock& value) {
  value = {};
  if (number == Py_True) return read_number(number_of(1), dtype, value);
  if (number == Py_False || integer_from(number) == 0) return true;
  if (!is_any_number(number)) return false;
  if (dtype == "bool") return integer_from(number) == 1 && (value.bytes[0] = 1);
  return convert(number, number_type(dtype), value.bytes.data());
}

PyObject* filled(const Function& function, const Signature* signature, PyObject* layout,
                 PyObject* number) {
  ScalarBlock value;

  if (!signature || !read_number(number, text_of(signature->dtypes[0]), value)) Py_RETURN_NONE;
  return function.fill(*signature, layout, value);
}

PyObject* empty(const Function& function, const Signature* signature, const std::int64_t* extents,
                std::int64_t dim) {
  if (!signature || !arrays_are_ready()) Py_RETURN_NONE;

  NewArray made{*signature, function.new_layout(extents, dim).ptr()};
  auto& thunk = *lazy_thunk(made.view.ptr());

  if (made.is_spare || thunk.elements.num_bytes() == 0) Py_RETURN_NONE;
  thunk.is_empty = true;
  return made.array.release().ptr();
}

}  // namespace

std::optional<Shape> new_shape(PyObject* shape, std::int64_t most) {
  const Items given{shape};
  Shape found{given.size(), {}};
  auto volume = std::int64_t{1};

  if (found.dim > LEGATE_MAX_DIM) return {};
  for (std::int64_t d = 0; d < found.dim; ++d) {
    const auto extent = bound_from(given[d]);

    if (!extent || *extent < 0 || __builtin_mul_overflow(volume, *extent, &volume)) return {};
    found.extents[d] = *extent;
  }
  if (volume > most) return {};
  return found;
}

PyObject* item(PyObject* array, PyObject* const* index, Py_ssize_t count) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  const auto view = view_of(array);
  LocalOperand operand;

  if (!view.is_valid() || !operand.is_in_process(view.ptr(), false) || !operand.small->is_valid() ||
      operand.form.volume == 0 || (count == 0 && operand.form.volume != 1)) {
    Py_RETURN_NONE;
  }

  const auto& form = operand.form;
  const auto strides = operand.byte_strides();
  const auto* element = first_element(operand);

  if (count == form.dim) {
    if (!operand.index_element(index)) Py_RETURN_NONE;
    element = first_element(operand);
  } else if (count == 1) {
    auto place = integer_from(index[0]);

    // the original knows what others are
    if (!place || *place < 0 || *place >= form.volume) Py_RETURN_NONE;
    for (auto d = form.dim; d-- > 0; *place /= form.extents[d]) {
      element += (*place % form.extents[d]) * strides[d];
    }
  } else if (count > 0) {
    Py_RETURN_NONE;
  }

  auto value = owned(number_from(number_type(operand.dtype), element));

  // that of a single element is no operation, as float() is none
  if (!value.is_none() && count > 0) Run{"read"}.done();
  return value.release().ptr();
}

PyObject* filled(const Function& function, PyObject* shape, std::string_view dtype,
                 PyObject* number) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  const auto found = new_shape(shape);

  if (!found) Py_RETURN_NONE;

  const auto layout = function.new_layout(found->extents.data(), found->dim);

  return filled(function, function.find(dtype), layout.ptr(), number);
}

PyObject* filled_like(const Function& function, PyObject* array, std::string_view dtype,
                      PyObject* number) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  const auto fill = [&](PyObject* own_dtype, const std::int64_t* extents, std::int64_t dim) {
    return filled(function, dtype.empty() ? function.find({own_dtype}) : function.find(dtype),
                  function.new_layout(extents, dim).ptr(), number);
  };

  if (is_array_of_numpy(array)) {
    const auto content = content_of(array);
    auto* const own_dtype = name_of(array);
    const auto is_taken = own_dtype && content.dim <= LEGATE_MAX_DIM &&
                          content.num_bytes() <= store_fields().most_bytes;

    return is_taken ? fill(own_dtype, content.extents, content.dim) : Py_NewRef(Py_None);
  }
  if (!is_array(array)) Py_RETURN_NONE;

  const auto view = view_of(array);
  LocalOperand like;

  if (!view.is_valid() || !like.is_here(view.ptr(), false)) Py_RETURN_NONE;
  return fill(like.dtype, like.form.extents, like.form.dim);
}

PyObject* empty(const Function& function, PyObject* shape, std::string_view dtype) {
  const auto found = new_shape(shape, std::numeric_limits<std::int64_t>::max() / MOST_ITEMSIZE);

  return found ? empty(function, function.find(dtype), found->extents.data(), found->dim)
               : Py_NewRef(Py_None);
}

PyObject* empty_like(const Function& function, PyObject* array, std::string_view dtype) {
  const auto view = view_of(array);
  LocalOperand like;

  if (!view.is_valid() || !like.shows(view.ptr())) Py_RETURN_NONE;
  return empty(function, dtype.empty() ? function.find({like.dtype}) : function.find(dtype),
               like.form.extents, like.form.dim);
}

}  // namespace legate_diffuse
