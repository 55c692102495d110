// SPDX-License-Identifier: Apache-2.0

#include "program/bases.h"

namespace legate_diffuse {

Base base_of(const Elements& elements) {
  Base base{elements.pointer, elements.strides};

  for (std::size_t d = 0; d < elements.lower.size(); ++d) {
    base.origin -= elements.lower[d] * elements.strides[d];
  }
  return base;
}

Base row_major(char* elements, std::int64_t itemsize, std::int64_t dim,
               const std::int64_t* extents) {
  return {elements, row_major_strides(dim, extents, itemsize)};
}

char* Bases::address(const Operand& operand) const {
  const auto& base = of(operand);
  auto* pointer = base.origin;

  for (std::int64_t d = 0; d < operand.root_dim; ++d) {
    const auto place =
        d == 0 && base.circular.rows > 0 ? base.circular.find(operand.low[d]).row : operand.low[d];

    pointer += place * base.strides[d];
  }
  return pointer;
}

Nest::Strides Bases::strides(const Operand& operand, std::int64_t dim) const {
  const auto& base = of(operand);
  Nest::Strides strides{};

  for (std::int64_t d = 0; d < dim; ++d) {
    strides[d] = operand.dims[d] >= 0 ? base.strides[operand.dims[d]] : 0;
  }
  return strides;
}

}  // namespace legate_diffuse
