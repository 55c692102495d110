// SPDX-License-Identifier: Apache-2.0

#include "process/function.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "process/disjoint.h"
#include "process/element.h"
#include "process/guard.h"
#include "process/numbers.h"
#include "process/operands.h"
#include "process/part.h"
#include "process/reduction.h"
#include "process/runs.h"
#include "process/spare_arrays.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// No function of NumPy's has more operands.
constexpr std::size_t MOST_GIVEN = 4;

struct KnownLayout {
  PyObject* layout{};
  std::int64_t dim{};
  std::array<std::int64_t, LEGATE_MAX_DIM> extents{};
};

// One of the layouts of new arrays of shapes that came last: a loop may have new extents each time.
KnownLayout& known_layout(std::uint64_t place) {
  static auto* const layouts = new std::array<KnownLayout, 4096>{};

  return (*layouts)[place % layouts->size()];
}

bool repeat_over(const Shape& shape, LocalOperand& operand) {
  if (shape.is_of(operand.form)) return true;
  return operand.broadcast(shape.extents.data(), shape.dim);
}

}  // namespace

const Signature* Function::find(PyObject* const* dtypes, std::size_t count) const {
  const auto fits = [&](const Signature& signature) {
    bool found = signature.dtypes.size() == count;

    for (std::size_t index = 0; found && index < count; ++index) {
      found = !dtypes[index] || dtypes[index] == signature.dtypes[index];
    }
    return found;
  };
  // of several that fit numbers, the first is meant
  const auto are_arrays =
      std::all_of(dtypes, dtypes + count, [](auto* each) { return each != nullptr; });

  if (are_arrays && last_found_ && fits(*last_found_)) return last_found_;

  const auto found = std::find_if(signatures_.begin(), signatures_.end(), fits);

  if (found == signatures_.end()) return nullptr;
  if (are_arrays) last_found_ = &*found;
  return &*found;
}

PyObject* Function::apply(PyObject* out, PyObject* const* operands, std::size_t count) {
  if (!arrays_are_ready() || count > MOST_GIVEN) Py_RETURN_NONE;

  const auto run = [&](PyObject* const* given) {
    if (multiply_ && are_products(given)) return apply_products(out, given[0], given[1]);

    auto* const written =
        made_or(apply_at_once(out, given, count), [&] { return apply_written(out, given, count); });
    auto* const made = made_or(written, [&] { return apply_mixed(out, given, count); });
    auto* const apart = made_or(made, [&] { return apply_apart(out, given, count); });

    return made_or(apart, [&] { return apply_later(out, given, count); });
  };

  if (!takes_numbers_ || reduces_ || PlainOperands::are_plain(operands, count)) {
    return run(operands);
  }
  return run(PlainOperands{operands, count}.get());
}

// Operands that are in this process, with the places of results before them.
struct Function::Given {
  std::array<nb::object, MOST_GIVEN + 1> views;
  std::array<ScalarBlock, MOST_GIVEN> numbers;
  LocalOperands found;
  Shape shape;
};

bool Function::may_be_read(LocalOperand& operand, PyObject* view) const {
  const auto most = reduces_ ? MOST_REDUCED : MOST_LOOPED;

  if (operand.look(store_fields(), view, false, most) != Answer::DONE) return false;
  if (operand.small || reduces_) return operand.small != nullptr;

  // a constant of more dimensions gives results its shape
  auto* const shape = array_fields().layout_shape.of(operand.layout);

  return PyTuple_Check(shape) && PyTuple_GET_SIZE(shape) == 0;
}

const Signature* Function::find(PyObject* const* operands, std::size_t count, std::size_t first,
                                Given& given) const {
  std::array<PyObject*, MAX_OPERANDS> dtypes;
  const auto end = dtypes.begin() + static_cast<std::ptrdiff_t>(count);

  for (std::size_t index = 0; index < count; ++index) {
    given.views[index + 1] = view_of(operands[index]);
  }
  // a finalizer may have come while objects were made
  if (!arrays_are_ready()) return nullptr;
  for (std::size_t index = 0; index < count; ++index) {
    auto& one = given.found[index + first];

    if (is_any_number(operands[index])) {
      if (!takes_numbers_) return nullptr;
      one.set_number(given.numbers[index].bytes.data());
      dtypes[index] = nullptr;
      continue;
    }

    const auto& view = given.views[index + 1];

    if (!view.is_valid() || !may_be_read(one, view.ptr())) return nullptr;
    dtypes[index] = one.dtype;
  }

  // the type of numbers alone is Python's affair
  if (std::none_of(dtypes.begin(), end, [](auto* dtype) { return dtype != nullptr; }))
    return nullptr;

  const auto* const signature = find(dtypes.data(), count);

  if (!signature) return nullptr;
  for (std::size_t index = 0; index < count; ++index) {
    if (dtypes[index]) {
      if (!given.shape.add(given.found[index + first].form)) return nullptr;
      continue;
    }

    auto& number = given.numbers[index];

    number = {};
    if (!convert(operands[index], signature->types[index], number.bytes.data())) return nullptr;
  }
  return signature;
}

PyObject* Function::apply_at_once(PyObject* out, PyObject* const* operands, std::size_t count) {
  const auto may_be_single = !reduces_ && takes_numbers_ && count <= SingleElements::MOST_OPERANDS;

  if (may_be_single) {
    if (auto* const made = singles_.apply(out, operands, count)) return made;
  }

  const std::size_t first = reduces_ ? 2 : 1;
  Given given;

  given.views[0] = view_of(out);

  const auto* const signature = find(operands, count, first, given);
  auto& [views, numbers, found, shape] = given;

  if (!signature) Py_RETURN_NONE;
  // the original copies single elements, and refuses to reduce none
  if (reduces_ && found[first].form.volume < 2) Py_RETURN_NONE;

  nb::object array;
  auto is_known = true;

  if (out == Py_None) {
    const auto layout = dense_layout(shape, found, first, count);

    if (!layout.is_valid()) Py_RETURN_NONE;

    NewArray made{*signature, layout.ptr()};

    array = std::move(made.array);
    views[0] = std::move(made.view);
    is_known = made.is_spare;
  } else {
    if (!views[0].is_valid() || !is_writeable(out)) Py_RETURN_NONE;
    array = nb::borrow(out);
  }
  // a finalizer may have come while objects were made
  if (!is_known && !arrays_are_ready()) Py_RETURN_NONE;
  for (std::size_t index = 0; index < first; ++index) {
    if (!found[index].is_here(views[0].ptr(), true)) Py_RETURN_NONE;
  }
  for (std::size_t index = 0; index < count; ++index) {
    auto& one = found[index + first];

    if (one.constant) continue;
    if (!(is_known || may_be_read(one, views[index + 1].ptr())) || !repeat_over(shape, one)) {
      Py_RETURN_NONE;
    }
  }
  if (!(reduces_ || shape.is_of(found[0].form)) ||
      found[0].dtype != array_fields().root_dtype.of(signature->prototype)) {
    Py_RETURN_NONE;
  }
  if (!reduces_ && found[0].form.volume == 0) {
    Run run{signature->operation->name()};

    note_change(store_fields(), found[0]);
    signature->operation->count(run);
    return array.release().ptr();
  }
  if (reduces_ && out == Py_None && find_truth(*signature, found[0], found[first])) {
    return array.release().ptr();
  }
  if (out == Py_None && !reduces_) found[0].small->reserve();
  if (signature->operation->run(store_fields(), found, signature->scalars.data(),
                                signature->scalars.size() / SCALAR_SIZE) != Answer::DONE) {
    Py_RETURN_NONE;
  }
  if (may_be_single) singles_.add(*signature, found, count);
  return array.release().ptr();
}

PyObject* Function::apply_apart(PyObject* out, PyObject* const* operands, std::size_t count) {
  const auto view = view_of(out);
  LocalOperand target, source;

  if (reduces_ || !view.is_valid() || !target.is_here(view.ptr(), true)) Py_RETURN_NONE;

  const auto overlaps = [&](PyObject* operand) {
    const auto other = view_of(operand);

    return other.is_valid() && source.is_here(other.ptr(), false) && source.root == target.root &&
           !source.is_same(target) && !are_disjoint(source, target);
  };

  if (std::none_of(operands, operands + count, overlaps)) Py_RETURN_NONE;

  auto made = nb::steal(apply_at_once(Py_None, operands, count));

  if (!made.is_valid() || made.is_none()) return made.release().ptr();

  const auto made_view = view_of(made.ptr());

  if (!made_view.is_valid() || !source.is_here(made_view.ptr(), false) ||
      !source.form.has_shape_of(target.form) || !put(out, Py_Ellipsis, made.ptr())) {
    Py_RETURN_NONE;
  }
  return nb::borrow(out).release().ptr();
}

// The layout of a new result; empty if it is not small.
nb::object Function::dense_layout(const Shape& shape, const LocalOperands& operands,
                                  std::size_t first, std::size_t count) const {
  for (auto index = first; index < first + count; ++index) {
    const auto& one = operands[index];

    if (one.small && one.layout && !reduces_ && shape.is_of(one.form)) {
      return nb::borrow(array_fields().layout_dense.of(one.layout));
    }
  }

  return new_layout(shape.extents.data(), reduces_ ? 0 : shape.dim);
}

PyObject* Function::get(PyObject* array, PyObject* key) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  const auto view = view_of(array);
  LocalOperand operand;
  const auto get_basic = [&]() -> PyObject* {
    if (!view.is_valid() || !operand.shows(view.ptr())) {
      return get_part_elsewhere(*this, array, key);
    }
    if (!operand.index(key)) Py_RETURN_NONE;
    if (operand.form.dim > 0) return get_part(array, key, operand);
    if (!operand.copied) Py_RETURN_NONE;
    return operand.is_in_process() ? get_element(view.ptr(), key, operand)
                                   : get_part_elsewhere(*this, array, key);
  };

  return made_or(get_basic(), [&] { return get_places(array, key); });
}

PyObject* Function::get_element(PyObject* view, PyObject* key, LocalOperand& operand) const {
  const auto* const signature = operand.small->is_valid() ? find({operand.dtype}) : nullptr;

  if (!signature) Py_RETURN_NONE;

  NewArray made{*signature, new_layout(nullptr, 0).ptr()};
  LocalOperand target;

  if (!made.is_spare &&
      !(made.is_here(target) && operand.is_in_process(view, false) && operand.index(key))) {
    Py_RETURN_NONE;
  }

  Run run{"read"};
  auto& elements = lazy_thunk(made.view.ptr())->elements;

  elements.reserve();
  std::memcpy(elements.own_elements(), first_element(operand), signature->itemsize);
  elements.set_changed();
  run.done();
  return made.array.release().ptr();
}

nb::object Function::new_layout(const std::int64_t* extents, std::int64_t dim) const {
  if (dim == 0 && single_) return nb::borrow(single_);

  std::uint64_t place = 0;

  for (std::int64_t d = 0; d < dim; ++d)
    place = place * 31 + static_cast<std::uint64_t>(extents[d]);

  auto& known = known_layout(place);

  if (known.layout && known.dim == dim && are_alike(extents, known.extents.data(), dim)) {
    return nb::borrow(known.layout);
  }

  auto layout = nb::handle{dense_}(tuple_of(extents, dim));

  // it is kept
  if (dim == 0) single_ = nb::object{layout}.release().ptr();

  const auto before = nb::steal(std::exchange(known.layout, nb::object{layout}.release().ptr()));

  known.dim = dim;
  std::copy(extents, extents + dim, known.extents.begin());
  return layout;
}

PyObject* Function::fill(const Signature& signature, PyObject* layout,
                         const ScalarBlock& value) const {
  LocalOperand target;
  NewArray made{signature, layout};

  if (!made.is_here(target)) Py_RETURN_NONE;

  Run run{"fill"};

  if (value.bytes == ScalarBlock{}.bytes) {
    target.small->clear();
  } else {
    target.small->fill(value.bytes.data());
  }
  run.done(1, 1);
  return made.array.release().ptr();
}

const Signature* Function::find(std::string_view dtype) const {
  const auto found = std::find_if(signatures_.begin(), signatures_.end(), [&](const auto& each) {
    return text_of(each.dtypes[0]) == dtype;
  });

  return found == signatures_.end() ? nullptr : &*found;
}

}  // namespace legate_diffuse
