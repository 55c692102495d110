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

bool is_one_call(const NestAtOnce& nest, const LocalOperands& found) {
  return nest.kernel->reductions.empty() && nest.kernel->code->indices == 0 &&
         nest.scalars.size() <= MOST && nest.arguments.size() <= MOST &&
         std::none_of(nest.arguments.begin(), nest.arguments.end(),
                      [&](auto number) { return found[number].constant != nullptr; });
}

}  // namespace

SingleElements::Key::Key(const std::array<const void*, MOST_OPERANDS + 1>& all,
                         const std::array<PyObject*, MOST_OPERANDS>& dtypes, std::size_t count)
    : dtypes{dtypes},
      count{count},
      same{(all[1] && all[1] == all[2] ? 1 : 0) | (all[0] && all[0] == all[1] ? 2 : 0) |
           (all[0] && all[0] == all[2] ? 4 : 0)} {}

const SingleElements::Known* SingleElements::find(const Key& key) const {
  const auto found = std::find(keys_.begin(), keys_.end(), key);

  return found == keys_.end() ? nullptr : &known_[static_cast<std::size_t>(found - keys_.begin())];
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

  const Key key{places, dtypes, count};
  const auto* const before = find(key);

  if (before && before->nest.kernel->is_ready()) return;

  const auto* const nest = signature.operation->only_nest(found);

  if (!nest || !is_one_call(*nest, found)) return;

  // a layout is kept as long as the process
  Known known{signature, *nest, Py_NewRef(found[0].layout)};

  if (before) {  // its kernel was forgotten, or is compiled now
    known_[static_cast<std::size_t>(before - known_.data())] = std::move(known);
  } else {
    keys_.push_back(key);
    known_.push_back(std::move(known));
  }
}

PyObject* SingleElements::apply(PyObject* out, PyObject* const* operands, std::size_t count) {
  std::array<const void*, MOST_OPERANDS + 1> arrays{out == Py_None ? nullptr : out};
  std::array<PyObject*, MOST_OPERANDS> dtypes{};
  std::array<const char*, MOST_OPERANDS + 1> pointers;
  std::array<ScalarBlock, MOST_OPERANDS> numbers;

  for (std::size_t index = 0; index < count; ++index) {
    if (is_number(operands[index])) continue;

    const auto [pointer, dtype] = only_element(operands[index]);

    if (!pointer) return nullptr;
    arrays[index + 1] = operands[index];
    dtypes[index] = dtype;
    pointers[index + 1] = pointer;
  }

  const auto* const found = find({arrays, dtypes, count});

  if (!found || !found->nest.kernel->is_ready()) return nullptr;

  const auto& [signature, nest, layout] = *found;

  for (std::size_t index = 0; index < count; ++index) {
    if (dtypes[index]) continue;
    numbers[index] = {};
    if (!convert(operands[index], signature.types[index], numbers[index].bytes.data()))
      return nullptr;
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
  std::array<ScalarBlock, MOST> scalars;
  std::array<char*, MOST> arguments;
  static constexpr std::array<std::int64_t, 2 * MOST> STRIDES{};

  if (!arrays[0]) thunk->reset(signature);
  thunk->elements.reserve();
  pointers[0] = thunk->elements.own_elements();
  for (std::size_t index = 0; index < nest.scalars.size(); ++index) {
    const auto source = nest.scalars[index];

    if (source > 0) {
      scalars[index] = numbers[source - 1];
    } else {
      const auto* const end = signature.scalars.data() + signature.scalars.size();

      std::memcpy(scalars[index].bytes.data(),
                  end + source * static_cast<std::int64_t>(SCALAR_SIZE), SCALAR_SIZE);
    }
  }
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
