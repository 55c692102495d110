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

RootShape shape_of(const Elements& elements) {
  RootShape shape{{}, elements.itemsize};

  for (std::int64_t d = 0; d < elements.dim; ++d) {
    shape.extents.push_back(elements.upper[d] - elements.lower[d] + 1);
  }
  return shape;
}

Base row_major(char* elements, std::int64_t itemsize, std::int64_t dim,
               const std::int64_t* extents) {
  return {elements, row_major_strides(dim, extents, itemsize)};
}

Bases::Row Bases::at_row(const Operand& operand, std::int64_t dim, std::int64_t row) const {
  const auto& base = of(operand);
  const auto moving = dim >= 0 ? operand.dims[dim] : -1;
  Row found{base.origin, INT64_MAX};

  for (std::int64_t d = 0; d < operand.root_dim; ++d) {
    auto place = operand.low[d] + (d == moving ? row : 0);

    if (d == 0 && base.circular.rows > 0) {
      const auto circular = base.circular.find(place);

      place = circular.row;
      if (moving == 0) found.left = circular.left;
    }
    found.address += place * base.strides[d];
  }
  return found;
}

void Bases::find_strides(const Operand& operand, std::int64_t dim, Nest::Strides& strides) const {
  const auto& base = of(operand);

  for (std::int64_t d = 0; d < dim; ++d) {
    strides[d] = operand.dims[d] >= 0 ? base.strides[operand.dims[d]] : 0;
  }
}

}  // namespace legate_diffuse
