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

}  // namespace

std::vector<SingleElements::Known>::const_iterator SingleElements::find(const Key& key) const {
  return std::find_if(known_.begin(), known_.end(),
                      [&](const auto& each) { return each.key == key; });
}

void SingleElements::add(const Signature& signature, const LocalOperands& found,
                         std::size_t count) {
  Key key{{}, count, count == 2 && found[1].root && found[1].root == found[2].root};

  for (std::size_t index = 0; index <= count; ++index) {
    const auto& one = found[index];

    if (!one.constant && (one.form.dim != 0 || !lazy_thunk(one.root))) return;
    if (index > 0) key.dtypes[index - 1] = one.constant ? nullptr : one.dtype;
  }

  const auto before = find(key);

  if (before != known_.end()) {
    if (before->nest.kernel->code) return;
    known_.erase(before);  // it was forgotten
  }

  const auto* const nest = signature.operation->only_nest(found);

  if (!nest || !is_one_call(*nest, found)) return;

  Known known{key, signature, {}, *nest};

  for (std::size_t index = 0; index < count; ++index) {
    known.types[index] = number_type(text_of(signature.dtypes[index]));
  }
  known_.push_back(std::move(known));
}

PyObject* SingleElements::apply(PyObject* const* operands, std::size_t count) {
  std::array<ScalarBlock, MOST_OPERANDS> numbers;
  std::array<char*, MOST_OPERANDS + 1> pointers{};
  PyObject* layout{};
  Key key{{}, count, count == 2 && operands[0] == operands[1]};

  for (std::size_t index = 0; index < count; ++index) {
    if (is_number(operands[index])) continue;

    auto* const thunk = thunk_of_whole(operands[index]);

    if (!thunk || !thunk->elements.is_valid() || !thunk->elements.shape().extents.empty()) {
      return nullptr;
    }
    key.dtypes[index] = array_fields().root_dtype.of(thunk->prototype);
    pointers[index + 1] = thunk->elements.elements();
    layout = thunk->layout;
  }

  const auto found = find(key);

  if (found == known_.end() || !found->nest.kernel->code) return nullptr;

  const auto& [_, signature, types, nest] = *found;

  for (std::size_t index = 0; index < count; ++index) {
    if (key.dtypes[index]) continue;
    numbers[index] = {};
    if (!convert(operands[index], types[index], numbers[index].bytes.data())) return nullptr;
  }

  auto result = nb::steal(take_spare(array_fields().root_dtype.of(signature.prototype), layout));

  if (!result.is_valid()) return nullptr;

  Run run{signature.operation->name()};
  auto& thunk = *kept_thunk(result.ptr());
  std::array<ScalarBlock, MOST> scalars;
  std::array<char*, MOST> arguments{};
  const std::array<std::int64_t, 2 * MOST> strides{};

  thunk.reset(signature);
  thunk.elements.reserve();
  pointers[0] = thunk.elements.elements();
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
  thunk.elements.set_changed();
  signature.operation->count(run);
  return result.release().ptr();
}

}  // namespace legate_diffuse
