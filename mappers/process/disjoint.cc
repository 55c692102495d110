// SPDX-License-Identifier: Apache-2.0

#include "process/disjoint.h"

#include <array>
#include <cstdint>
#include <vector>

namespace legate_diffuse {

namespace {

// The first and the last index of a view along each dimension of its root.
struct Box {
  std::array<std::int64_t, LEGATE_MAX_DIM> first, last;
};

// Finds the box of a view; false if it goes along several dimensions of the root at once.
bool find_box(const Form& form, const std::vector<std::int64_t>& extents, Box& box) {
  auto rest = form.offset;

  for (auto d = extents.size(); d-- > 0;) {
    box.first[d] = box.last[d] = rest % extents[d];
    rest /= extents[d];
  }
  for (std::int64_t along = 0; along < form.dim; ++along) {
    const auto step = form.strides[along];
    std::int64_t elements = 1;
    auto d = extents.size();

    if (form.extents[along] <= 1 || step == 0) continue;
    while (d > 0 && step >= elements * extents[d - 1]) elements *= extents[--d];
    if (d == 0 || step < 0 || step % elements != 0) return false;
    box.last[d - 1] += (form.extents[along] - 1) * (step / elements);
    if (box.last[d - 1] >= extents[d - 1]) return false;
  }
  return true;
}

}  // namespace

bool are_disjoint(const LocalOperand& one, const LocalOperand& other) {
  const auto& extents = one.small->shape().extents;
  Box a, b;

  if (one.form.volume == 0 || other.form.volume == 0) return true;
  if (!find_box(one.form, extents, a) || !find_box(other.form, extents, b)) return false;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (a.last[d] < b.first[d] || b.last[d] < a.first[d]) return true;
  }
  return false;
}

}  // namespace legate_diffuse
