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

// Numbers of Python's and an operation's own, as its kernel takes them; false if Python must decide
// what becomes of one.
//
// A processor waits where it reads 16 bytes of which it wrote 8 just before, so that no number is
// copied after its conversion.
bool read_scalars(const Signature& signature, const NestAtOnce& nest, PyObject* const* operands,
                  std::array<ScalarBlock, MOST>& scalars) {
  const auto* const end = signature.scalars.data() + signature.scalars.size();

  for (std::size_t index = 0; index < nest.scalars.size(); ++index) {
    const auto source = nest.scalars[index];
    auto* const to = scalars[index].bytes.data();

    if (source > 0) {
      const auto number = static_cast<std::size_t>(source - 1);

      if (!convert(operands[number], signature.types[number], to)) return false;
    } else {
      std::memcpy(to, end + source * static_cast<std::int64_t>(SCALAR_SIZE), SCALAR_SIZE);
    }
  }
  return true;
}

// The array that an operation writes to.
class Result {
 public:
  // Takes `out`, or an array that is spare where that is null. False if there is none, or it is of
  // another type than the signature's.
  bool find(PyObject* out, const Signature& signature, PyObject* layout) {
    auto* const dtype = array_fields().root_dtype.of(signature.prototype);

    if (!out) {
      const auto [spare, thunk] = take_spare(dtype, layout);

      array_ = nb::steal(spare);
      thunk_ = thunk;
      if (thunk) thunk->reset(signature);
      return thunk;
    }
    if (!is_writeable(out)) return false;
    array_ = nb::borrow(out);
    thunk_ = single_element(out);
    if (thunk_) return array_fields().root_dtype.of(thunk_->prototype) == dtype;
    return is_element_to_change(out, view_) && view_.dtype == dtype;
  }

  // Whether it may share memory with operands before it is written to.
  [[nodiscard]] bool is_part() const { return !thunk_; }

  char* own_element() {
    if (is_part()) return first_own_element(view_);
    thunk_->elements.reserve();
    return thunk_->elements.own_elements();
  }

  PyObject* done() {
    if (is_part()) {
      note_change(store_fields(), view_);
    } else {
      thunk_->elements.set_changed();
    }
    return array_.release().ptr();
  }

 private:
  nb::object array_;
  LazyThunk* thunk_{};  // null for a part of an array
  LocalOperand view_;
};

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
  if (!found[0].layout) return;

  const auto pattern = pattern_of(places, count);
  const auto* const before = find(dtypes, pattern);

  if (before && before->nest.kernel->is_ready()) return;

  const auto* const nest = signature.operation->only_nest(found);

  if (!nest || !is_one_call(*nest, found, count)) return;

  // a layout is kept as long as the process
  Known known{signature, *nest, Py_NewRef(array_fields().layout_dense.of(found[0].layout))};

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
  std::array<ScalarBlock, MOST> scalars;
  Result result;

  if (!read_scalars(signature, nest, operands, scalars) ||
      !result.find(out == Py_None ? nullptr : out, signature, layout)) {
    return nullptr;
  }

  Run run{signature.operation->name()};
  std::array<char*, MOST> arguments;
  static constexpr std::array<std::int64_t, 2 * MOST> STRIDES{};

  pointers[0] = result.own_element();
  for (std::size_t index = 0; index < count && result.is_part(); ++index) {
    // it may have got other memory just now
    if (dtypes[index]) pointers[index + 1] = only_element(operands[index]).pointer;
  }
  for (std::size_t index = 0; index < nest.arguments.size(); ++index) {
    arguments[index] = const_cast<char*>(pointers[nest.arguments[index]]);
  }
  nest.kernel->code->body(arguments.data(), scalars[0].bytes.data(), 1, STRIDES.data(), false,
                          nest.kernel->code);
  signature.operation->count(run);
  return result.done();
}

}  // namespace legate_diffuse
