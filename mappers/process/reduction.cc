// SPDX-License-Identifier: Apache-2.0

#include "process/reduction.h"

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/extremes.h"
#include "process/numbers.h"
#include "process/runs.h"

namespace legate_diffuse {

PyObject* reduce(const Function& function, PyObject* array, PyObject* axis, bool keeps) {
  if (!arrays_are_ready()) Py_RETURN_NONE;

  const auto view = view_of(array);
  LocalOperands found;
  auto& source = found[0];
  auto& result = found[1];

  if (!view.is_valid() || !source.is_here(view.ptr(), false, MOST_REDUCED)) Py_RETURN_NONE;

  const auto dim = source.form.dim;
  const auto along = axis_from(axis, dim);

  if (!along) Py_RETURN_NONE;

  const auto* const signature = function.find({source.dtype});
  Shape shape;
  std::array<std::int64_t, LEGATE_MAX_DIM> strides{};
  std::int64_t volume = 1;

  for (std::int64_t d = 0; d < dim; ++d) {
    if (d != *along || keeps) shape.extents[shape.dim++] = d == *along ? 1 : source.form.extents[d];
  }
  for (std::int64_t d = dim; d-- > 0;) {
    if (d == *along) continue;
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
