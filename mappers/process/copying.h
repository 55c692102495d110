// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/function.h"
#include "process/guard.h"
#include "process/lazy_thunk.h"
#include "process/result.h"
#include "process/runs.h"
#include "threads/copying.h"

namespace legate_diffuse {

// To copy so many bytes takes longer than to let two arrays share them.
inline std::int64_t least_shared = 1 << 15;
constexpr std::int64_t LINE_BYTES = 64;

using Extents = std::array<std::int64_t, LEGATE_MAX_DIM>;

// Elements in row-major order: those of the array, or a copy.
template <typename T>
class InOrder {
 public:
  explicit InOrder(const LocalOperand& operand)
      : elements{reinterpret_cast<const T*>(first_element(operand))}, count{operand.form.volume} {
    if (operand.is_in_order() || count == 1) return;
    copy_.resize(static_cast<std::size_t>(count));
    operand.copy_to(reinterpret_cast<char*>(copy_.data()));
    elements = copy_.data();
  }

  const T* elements;
  std::int64_t count;

 private:
  std::vector<T> copy_;
};

// A source and a new array for its elements in some shape.
class Copying {
 public:
  explicit Copying(const char* name) : name_{name} {}

  // False if the elements of the array, at a basic index if one is given, are not here, or there
  // are none.
  bool look_at(PyObject* array, PyObject* key = nullptr) {
    view_ = view_of(array);
    key_ = key;
    return view_.is_valid() && look() && source.form.volume > 0;
  }

  // A new array whose elements `write` sets, of another type if a name is given; None if that is
  // left to Python, as `write` may find, too.
  template <typename Write>
  [[nodiscard]] PyObject* make(const Function& function, const Shape& shape, const Write& write,
                               std::string_view dtype = {}) {
    const auto* const signature =
        dtype.empty() ? function.find({source.dtype}) : function.find(dtype);

    return new_result(
        function, signature, shape.dim, shape.extents.data(), name_, [&] { return look(); },
        [&](char* to) {
          if constexpr (std::is_void_v<decltype(write(to))>) {
            write(to);
            return true;
          } else {
            return write(to);
          }
        });
  }

  // One of all elements in row-major order of the source.
  [[nodiscard]] PyObject* make(const Function& function, const Shape& shape) {
    return make(function, shape, [&](char* to) { source.copy_to(to); });
  }

  // The same, where it uses the memory of the source until either changes. None also if they
  // cannot, or it is better copied.
  [[nodiscard]] PyObject* share(const Function& function, const Shape& shape) {
    return share_by(function, shape, itemsize(), [&](SmallArray& elements) {
      return source.is_in_order() && elements.share(*source.small, from());
    });
  }

  // One of elements in another order: from one on that lies so many bytes behind the first, with
  // strides in bytes. Of many they are copied when somebody looks at them. If `adds_zero`, no zero
  // of theirs has a sign.
  [[nodiscard]] PyObject* reorder(const Function& function, const Shape& shape,
                                  std::int64_t distance, const Strides& strides,
                                  Precision adds_zero = Precision::NONE) {
    // a line of the caches is read for each element that has none beside it
    const auto step = std::abs(shape.dim > 0 ? strides[shape.dim - 1] : 0);
    const auto touched = std::clamp<std::int64_t>(step, itemsize(), LINE_BYTES);
    const auto share = [&](SmallArray& elements) {
      return elements.read_later(*source.small, from() + distance, strides.data(), adds_zero);
    };

    return made_or(share_by(function, shape, touched, share), [&]() -> PyObject* {
      if (shape.volume() > MOST_POINTS) Py_RETURN_NONE;
      return make(function, shape, [&](char* to) {
        copy_strided(to, from() + distance, strides.data(), shape.dim, shape.extents.data(),
                     itemsize(), adds_zero);
      });
    });
  }

  // That of the source.
  [[nodiscard]] Shape shape() const {
    Shape found{source.form.dim, {}};

    std::copy(source.form.extents, source.form.extents + found.dim, found.extents.begin());
    return found;
  }

  [[nodiscard]] std::int64_t itemsize() const { return source.small->shape().itemsize; }

  [[nodiscard]] const char* from() const { return first_element(source); }

  LocalOperand source;

 private:
  // A new array that shares memory with the source by `share`; None if it does not. To copy an
  // element would touch so many bytes.
  template <typename Share>
  [[nodiscard]] PyObject* share_by(const Function& function, const Shape& shape,
                                   std::int64_t touched, const Share& share) {
    const auto* const signature = function.find({source.dtype});

    if (!signature || shape.volume() * touched < least_shared) Py_RETURN_NONE;

    NewArray made{*signature, function.new_layout(shape.extents.data(), shape.dim).ptr()};
    auto& elements = lazy_thunk(made.view.ptr())->elements;

    if (!look() || !source.small->is_valid() || !share(elements) || !arrays_are_ready()) {
      Py_RETURN_NONE;
    }

    Run run{name_};

    elements.set_changed();
    run.done();
    return made.array.release().ptr();
  }

  bool look() { return source.is_in_process(view_.ptr(), false) && (!key_ || source.index(key_)); }

  const char* name_;
  PyObject* key_{};
  nanobind::object view_;
};

}  // namespace legate_diffuse
