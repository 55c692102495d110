// SPDX-License-Identifier: Apache-2.0

#include "process/join.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "process/arrays.h"
#include "process/at_once.h"
#include "process/copying.h"
#include "process/numbers.h"
#include "process/objects.h"
#include "process/result.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// The places of more arrays are looked at by NumPy.
constexpr Py_ssize_t MOST_PARTS = 64;

struct Along {
  std::int64_t axis;
  bool is_new;
};

// Nothing if Python has to look.
std::optional<Along> along_of(Joining how, std::int64_t dim, PyObject* axis) {
  if (dim == 0) return {};
  if (how == Joining::VSTACK) return Along{0, dim == 1};
  if (how == Joining::HSTACK) return Along{dim == 1 ? 0 : 1, false};

  const auto is_new = how == Joining::STACK;
  const auto dims = dim + (is_new ? 1 : 0);
  const auto given = axis ? axis_from(axis, dims) : 0;

  if (!given || dims > LEGATE_MAX_DIM) return {};
  return Along{*given, is_new};
}

// The arrays that are joined.
class Parts {
 public:
  // False if there are others.
  bool take(const Items& items) {
    for (Py_ssize_t at = 0; at < items.size(); ++at) {
      if (!is_array(items[at])) return false;
      views_.push_back(view_of(items[at]));
      if (!views_.back().is_valid()) return false;
    }
    operands.resize(views_.size());
    return look();
  }

  // False if some are not here.
  bool look() {
    for (std::size_t at = 0; at < views_.size(); ++at) {
      if (!operands[at].is_here(views_[at].ptr(), false)) return false;
    }
    return true;
  }

  // The shape of all together; nothing if they do not fit.
  [[nodiscard]] std::optional<Shape> shape(const Along& along) const {
    const auto& first = operands.front().form;
    std::int64_t length = 0;

    for (const auto& each : operands) {
      if (each.dtype != operands.front().dtype || each.form.dim != first.dim ||
          each.form.volume == 0) {
        return {};
      }
      for (std::int64_t d = 0; d < first.dim; ++d) {
        const auto differs = each.form.extents[d] != first.extents[d];

        if (differs && (along.is_new || d != along.axis)) return {};
      }
      length += along.is_new ? 1 : each.form.extents[along.axis];
    }

    Shape found;

    for (std::int64_t d = 0; d < first.dim; ++d) {
      if (along.is_new && d == along.axis) found.extents[found.dim++] = length;
      found.extents[found.dim++] = !along.is_new && d == along.axis ? length : first.extents[d];
    }
    if (along.is_new && along.axis == first.dim) found.extents[found.dim++] = length;
    return found;
  }

  // Writes them to a new array of this shape.
  void copy(const Shape& shape, const Along& along, std::int64_t itemsize, char* to) const {
    const auto strides = row_major_strides(shape.dim, shape.extents.data(), itemsize);

    for (const auto& each : operands) {
      Extents extents{}, steps{};
      std::int64_t dim = 0;

      for (std::int64_t d = 0; d < shape.dim; ++d) {
        if (along.is_new && d == along.axis) continue;
        extents[dim] = each.form.extents[dim];
        steps[dim++] = strides[d];
      }
      copy_elements(to, steps.data(), first_element(each), each.byte_strides().data(), dim,
                    extents.data(), static_cast<std::size_t>(itemsize));
      to += strides[along.axis] * (along.is_new ? 1 : each.form.extents[along.axis]);
    }
  }

  std::vector<LocalOperand> operands;

 private:
  std::vector<nb::object> views_;
};

}  // namespace

PyObject* joined(const Function& function, Joining how, PyObject* parts, PyObject* axis) {
  const Items items{parts};
  Parts found;

  // of one array the original may make no other
  if (!arrays_are_ready() || !items.are_listed() || items.size() < 2 || items.size() > MOST_PARTS ||
      !found.take(items)) {
    Py_RETURN_NONE;
  }

  const auto along = along_of(how, found.operands.front().form.dim, axis);
  const auto shape = along ? found.shape(*along) : std::nullopt;

  if (!shape || shape->volume() > MOST_POINTS) Py_RETURN_NONE;

  const auto* const signature = function.find({found.operands.front().dtype});

  return new_result(
      function, signature, shape->dim, shape->extents.data(), "joining",
      [&] { return found.look(); },
      [&](char* to) {
        found.copy(*shape, *along, signature->itemsize, to);
        return true;
      });
}

}  // namespace legate_diffuse
