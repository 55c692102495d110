// SPDX-License-Identifier: Apache-2.0

#include "process/single.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "process/element.h"
#include "process/runs.h"
#include "process/spare_arrays.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// The scalars of a kernel, and its arguments.
constexpr std::size_t MOST = SingleElements::MOST_OPERANDS + 2;

// Whether a nest is one call of a kernel, which takes all numbers among the operands.
bool is_one_call(const NestAtOnce& nest, const LocalOperands& found, std::size_t count) {
  const auto is_scalar = [&](auto number) {
    return std::find(nest.scalars.begin(), nest.scalars.end(), number) != nest.scalars.end();
  };

  for (std::size_t index = 1; index <= count; ++index) {
    if (found[index].constant && !is_scalar(static_cast<std::int64_t>(index))) return false;
  }
  return nest.kernel->reductions.empty() && nest.kernel->code->indices == 0 &&
         nest.scalars.size() <= MOST && nest.arguments.size() <= MOST &&
         std::none_of(nest.arguments.begin(), nest.arguments.end(),
                      [&](auto number) { return found[number].constant != nullptr; });
}

}  // namespace

int SingleElements::pattern_of(const std::array<const void*, MOST_OPERANDS + 1>& all,
                               std::size_t count) {
  return (all[1] && all[1] == all[2] ? 1 : 0) | (all[0] && all[0] == all[1] ? 2 : 0) |
         (all[0] && all[0] == all[2] ? 4 : 0) | static_cast<int>(count << 3);
}

const SingleElements::Known* SingleElements::find(
    const std::array<PyObject*, MOST_OPERANDS>& dtypes, int pattern) const {
  for (std::size_t index = 0; index < keys_.size(); ++index) {
    const auto& key = keys_[index];

    if (key.pattern == pattern && key.dtypes[0] == dtypes[0] && key.dtypes[1] == dtypes[1])
      return &known_[index];
  }
  return nullptr;
}

void SingleElements::add(const Signature& signature, const LocalOperands& found,
                         std::size_t count) {
  std::array<const void*, MOST_OPERANDS + 1> places{};
  std::array<PyObject*, MOST_OPERANDS> dtypes{};

  for (std::size_t index = 0; index <= count; ++index) {
    const auto& one = found[index];

    // a constant array is no number
    if (one.constant ? one.dtype != nullptr : one.form.dim != 0) return;
    if (!one.constant) places[index] = first_element(one);
    if (index > 0) dtypes[index - 1] = one.dtype;
  }
  if (!lazy_thunk(found[0].root)) return;

  const auto pattern = pattern_of(places, count);
  const auto* const before = find(dtypes, pattern);

  if (before && before->nest.kernel->is_ready()) return;

  const auto* const nest = signature.operation->only_nest(found);

  if (!nest || !is_one_call(*nest, found, count)) return;

  // a layout is kept as long as the process
  Known known{signature, *nest, Py_NewRef(found[0].layout)};

  if (before) {  // its kernel was forgotten, or is compiled now
    known_[static_cast<std::size_t>(before - known_.data())] = std::move(known);
  } else {
    keys_.push_back({dtypes, pattern});
    known_.push_back(std::move(known));
  }
}

PyObject* SingleElements::apply(PyObject* out, PyObject* const* operands, std::size_t count) {
  std::array<const void*, MOST_OPERANDS + 1> arrays{out == Py_None ? nullptr : out};
  std::array<PyObject*, MOST_OPERANDS> dtypes{};
  std::array<const char*, MOST_OPERANDS + 1> pointers;

  for (std::size_t index = 0; index < count; ++index) {
    if (is_number(operands[index])) continue;

    const auto [pointer, dtype] = only_element(operands[index]);

    if (!pointer) return nullptr;
    arrays[index + 1] = operands[index];
    dtypes[index] = dtype;
    pointers[index + 1] = pointer;
  }

  const auto* const found = find(dtypes, pattern_of(arrays, count));

  if (!found || !found->nest.kernel->is_ready()) return nullptr;

  const auto& [signature, nest, layout] = *found;

  // A processor waits where it reads 16 bytes of which it wrote 8 just before, so that no number is
  // copied after its conversion.
  std::array<ScalarBlock, MOST> scalars;

  for (std::size_t index = 0; index < nest.scalars.size(); ++index) {
    const auto source = nest.scalars[index];
    auto* const to = scalars[index].bytes.data();

    if (source > 0) {
      const auto number = static_cast<std::size_t>(source - 1);

      if (!convert(operands[number], signature.types[number], to)) return nullptr;
    } else {
      const auto* const end = signature.scalars.data() + signature.scalars.size();

      std::memcpy(to, end + source * static_cast<std::int64_t>(SCALAR_SIZE), SCALAR_SIZE);
    }
  }

  auto* const dtype = array_fields().root_dtype.of(signature.prototype);
  const auto [array, thunk] =
      arrays[0] ? Noted{Py_NewRef(out), single_element(out)} : take_spare(dtype, layout);
  auto result = nb::steal(array);

  if (!thunk || array_fields().root_dtype.of(thunk->prototype) != dtype ||
      (arrays[0] && !is_writeable(out))) {
    return nullptr;
  }

  Run run{signature.operation->name()};
  std::array<char*, MOST> arguments;
  static constexpr std::array<std::int64_t, 2 * MOST> STRIDES{};

  if (!arrays[0]) thunk->reset(signature);
  thunk->elements.reserve();
  pointers[0] = thunk->elements.own_elements();
  for (std::size_t index = 0; index < nest.arguments.size(); ++index) {
    arguments[index] = const_cast<char*>(pointers[nest.arguments[index]]);
  }
  nest.kernel->code->body(arguments.data(), scalars[0].bytes.data(), 1, STRIDES.data(), false,
                          nest.kernel->code);
  thunk->elements.set_changed();
  signature.operation->count(run);
  return result.release().ptr();
}

}  // namespace legate_diffuse
