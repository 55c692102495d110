// SPDX-License-Identifier: Apache-2.0

#include "process/reduction.h"

#include <nanobind/nanobind.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <cstring>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/extremes.h"
#include "process/numbers.h"
#include "process/runs.h"
#include "process/shown.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

using Axes = std::bitset<LEGATE_MAX_DIM>;

// One axis, or several in a tuple; none if they are others, or one comes twice.
Axes axes_from(PyObject* object, std::int64_t dim) {
  const auto is_tuple = PyTuple_CheckExact(object);
  Axes axes;

  for (Py_ssize_t at = 0; at < (is_tuple ? PyTuple_GET_SIZE(object) : 1); ++at) {
    const auto axis = axis_from(is_tuple ? PyTuple_GET_ITEM(object, at) : object, dim);

    if (!axis || axes.test(static_cast<std::size_t>(*axis))) return {};
    axes.set(static_cast<std::size_t>(*axis));
  }
  return axes;
}

}  // namespace

PyObject* reduce(const Function& function, PyObject* array, PyObject* axis, bool keeps) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  const auto view = view_of(array);
  LocalOperands found;
  auto& source = found[0];
  auto& result = found[1];

  if (!view.is_valid() || !source.is_here(view.ptr(), false, MOST_REDUCED)) Py_RETURN_NONE;

  const auto dim = source.form.dim;
  const auto along = axes_from(axis, dim);

  if (along.none()) Py_RETURN_NONE;

  const auto* const signature = function.find({source.dtype});
  const auto is_along = [&](std::int64_t d) { return along.test(static_cast<std::size_t>(d)); };
  Shape shape;
  std::array<std::int64_t, LEGATE_MAX_DIM> strides{};
  std::int64_t volume = 1;

  for (std::int64_t d = 0; d < dim; ++d) {
    if (!is_along(d) || keeps)
      shape.extents[shape.dim++] = is_along(d) ? 1 : source.form.extents[d];
  }
  for (std::int64_t d = dim; d-- > 0;) {
    if (is_along(d)) continue;
    strides[d] = volume;
    volume *= source.form.extents[d];
  }
  // the original copies single elements, and reduces nothing to identities
  if (!signature || volume < 2 || source.form.volume == 0) Py_RETURN_NONE;
  if (volume > MOST_RESULTS && source.form.volume > MOST_POINTS) Py_RETURN_NONE;

  NewArray made{*signature, function.new_layout(shape.extents.data(), shape.dim).ptr()};

  if (!made.is_here(result) || !source.is_here(view.ptr(), false, MOST_REDUCED)) {
    Py_RETURN_NONE;
  }
  result.small->fill(signature->identity.data());
  result.show(dim, source.form.extents, strides.data());
  if (signature->operation->run(store_fields(), found, nullptr, 0) != Answer::DONE) Py_RETURN_NONE;
  count_fill();
  return made.array.release().ptr();
}

PyObject* reduction(const Arguments& given) {
  auto* const keepdims = given[given.count - 1];
  const auto keeps = keepdims == Py_True;

  if (!is_array(given[0]) || !arrays_are_ready()) Py_RETURN_NONE;
  if (keepdims && !keeps && keepdims != Py_False) Py_RETURN_NONE;
  for (std::size_t at = 2; at + 1 < given.count; ++at) {
    if (given[at] && given[at] != Py_None) Py_RETURN_NONE;
  }

  const auto function = [&](Py_ssize_t at) {
    return nb::inst_ptr<Function>(nb::handle{PyTuple_GET_ITEM(given.extra, at)});
  };
  const auto reduce_all = [&] {
    return keeps ? Py_NewRef(Py_None) : function(0)->apply(Py_None, given.given, 1);
  };
  const auto takes_several = PyTuple_GET_ITEM(given.extra, 2) == Py_True;
  auto* const axis = given[1];

  if (!axis || axis == Py_None) return reduce_all();
  if (PyTuple_CheckExact(axis) && !takes_several) Py_RETURN_NONE;

  const auto shape = nb::steal(shape_of(given[0]));

  if (!shape.is_valid() || shape.is_none()) return nb::object{shape}.release().ptr();

  const auto dim = PyTuple_GET_SIZE(shape.ptr());
  const auto axes = axes_from(axis, dim);

  if (axes.none()) Py_RETURN_NONE;
  return static_cast<Py_ssize_t>(axes.count()) == dim ? reduce_all()
                                                      : reduce(*function(1), given[0], axis, keeps);
}

bool find_truth(const Signature& signature, LocalOperand& result, const LocalOperand& source) {
  if (signature.types.size() != 1 || signature.types[0] != NumberType::BOOL ||
      result.dtype != source.dtype || !source.is_in_order()) {
    return false;
  }

  // of all elements it is true, unless one of them is not set
  const auto are_all = signature.identity[0] != 0;
  Run run{signature.operation->name()};
  const auto* const flags = reinterpret_cast<const std::uint8_t*>(first_element(source));

  result.small->reserve();
  *result.small->own_elements() =
      has_flag(flags, source.form.volume, !are_all) ? !are_all : are_all;
  result.small->set_changed();
  signature.operation->count(run);
  return true;
}

}  // namespace legate_diffuse
