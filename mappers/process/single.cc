// SPDX-License-Identifier: Apache-2.0

#include "process/single.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "process/lazy_thunk.h"
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

// What is behind an array of a single element without dimensions that is no part of another one,
// and has no thunk yet; null for others.
LazyThunk* single_element(PyObject* array) {
  auto* const thunk = thunk_of(array);

  return thunk && !thunk->view && thunk->elements.shape().extents.empty() ? thunk : nullptr;
}

}  // namespace

SingleElements::Key::Key(const std::array<const void*, MOST_OPERANDS + 1>& all,
                         const std::array<PyObject*, MOST_OPERANDS>& dtypes, std::size_t count)
    : dtypes{dtypes},
      count{count},
      same{(all[1] && all[1] == all[2] ? 1 : 0) | (all[0] && all[0] == all[1] ? 2 : 0) |
           (all[0] && all[0] == all[2] ? 4 : 0)} {}

std::vector<SingleElements::Known>::const_iterator SingleElements::find(const Key& key) const {
  return std::find_if(known_.begin(), known_.end(),
                      [&](const auto& each) { return each.key == key; });
}

void SingleElements::add(const Signature& signature, const LocalOperands& found,
                         std::size_t count) {
  std::array<const void*, MOST_OPERANDS + 1> roots{};
  std::array<PyObject*, MOST_OPERANDS> dtypes{};

  for (std::size_t index = 0; index <= count; ++index) {
    const auto& one = found[index];

    if (!one.constant && (one.form.dim != 0 || !lazy_thunk(one.root))) return;
    roots[index] = one.root;
    if (index > 0) dtypes[index - 1] = one.dtype;
  }

  const Key key{roots, dtypes, count};
  const auto before = find(key);

  if (before != known_.end()) {
    if (before->nest.kernel->code) return;
    known_.erase(before);  // it was forgotten
  }

  const auto* const nest = signature.operation->only_nest(found);

  if (!nest || !is_one_call(*nest, found)) return;

  known_.push_back({key, signature, *nest});
}

PyObject* SingleElements::apply(PyObject* out, PyObject* const* operands, std::size_t count) {
  std::array<const void*, MOST_OPERANDS + 1> arrays{out == Py_None ? nullptr : out};
  std::array<PyObject*, MOST_OPERANDS> dtypes{};
  std::array<char*, MOST_OPERANDS + 1> pointers;
  std::array<ScalarBlock, MOST_OPERANDS> numbers;
  PyObject* layout{};

  for (std::size_t index = 0; index < count; ++index) {
    if (is_number(operands[index])) continue;

    auto* const thunk = single_element(operands[index]);

    if (!thunk || !thunk->elements.is_valid()) return nullptr;
    arrays[index + 1] = operands[index];
    dtypes[index] = array_fields().root_dtype.of(thunk->prototype);
    pointers[index + 1] = thunk->elements.elements();
    layout = thunk->layout;
  }

  const auto found = find({arrays, dtypes, count});

  if (found == known_.end() || !found->nest.kernel->code) return nullptr;

  const auto& [_, signature, nest] = *found;

  for (std::size_t index = 0; index < count; ++index) {
    if (dtypes[index]) continue;
    numbers[index] = {};
    if (!convert(operands[index], signature.types[index], numbers[index].bytes.data()))
      return nullptr;
  }

  auto* const dtype = array_fields().root_dtype.of(signature.prototype);
  auto result = arrays[0] ? nb::borrow(out) : nb::steal(take_spare(dtype, layout));
  auto* const thunk = result.is_valid() ? single_element(result.ptr()) : nullptr;

  if (!thunk || array_fields().root_dtype.of(thunk->prototype) != dtype ||
      (arrays[0] && !is_writeable(out))) {
    return nullptr;
  }

  Run run{signature.operation->name()};
  std::array<ScalarBlock, MOST> scalars;
  std::array<char*, MOST> arguments;
  const std::array<std::int64_t, 2 * MOST> strides{};

  if (!arrays[0]) thunk->reset(signature);
  thunk->elements.reserve();
  pointers[0] = thunk->elements.elements();
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
    arguments[index] = pointers[nest.arguments[index]];
  }
  nest.kernel->code->body(arguments.data(), scalars[0].bytes.data(), 1, strides.data(), false);
  thunk->elements.set_changed();
  signature.operation->count(run);
  return result.release().ptr();
}

}  // namespace legate_diffuse
