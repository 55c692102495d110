// SPDX-License-Identifier: Apache-2.0

#include "program/elements.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "memory/past_caches.h"

namespace legate_diffuse {

namespace {

char* zero_dim_pointer(const legate::PhysicalStore& store) {
  // get_inline_allocation() throws for a 0-d store that is a region without transforms; Legate
  // backs such a store by a 1-d region of one element.
  if (store.is_future() || store.transformed()) {
    return static_cast<char*>(store.get_inline_allocation().ptr);
  }
  const auto* pointer = store.is_readable() ? store.read_accessor<std::int8_t, 1, false>().ptr(0)
                                            : store.write_accessor<std::int8_t, 1, false>().ptr(0);
  return const_cast<char*>(reinterpret_cast<const char*>(pointer));
}

// Copies elements of SIZE bytes along one dimension.
template <std::int64_t SIZE>
void copy_row(char* to, std::int64_t to_stride, const char* from, std::int64_t from_stride,
              std::int64_t count) {
  // a store of known distance is one instruction, and several of them one of a vector's
  if (to_stride == SIZE && from_stride == -SIZE) {
    for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * SIZE, from - i * SIZE, SIZE);
  } else if (to_stride == SIZE) {
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * SIZE, from + i * from_stride, SIZE);
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(to + i * to_stride, from + i * from_stride, SIZE);
    }
  }
}

// The same along two dimensions.
template <std::int64_t SIZE>
void copy_block(char* to, const std::int64_t* to_strides, const char* from,
                const std::int64_t* from_strides, const std::int64_t* extents) {
  for (std::int64_t i = 0; i < extents[0]; ++i) {
    copy_row<SIZE>(to + i * to_strides[0], to_strides[1], from + i * from_strides[0],
                   from_strides[1], extents[1]);
  }
}

// Copies along two dimensions of which the source has the first in its lines of the cache: block by
// block, so that a line is read once.
template <std::int64_t SIZE>
void copy_across(char* to, const std::int64_t* to_strides, const char* from,
                 const std::int64_t* from_strides, const std::int64_t* extents) {
  constexpr std::int64_t BLOCK = 32;

  for (std::int64_t i = 0; i < extents[0]; i += BLOCK) {
    for (std::int64_t j = 0; j < extents[1]; j += BLOCK) {
      const std::array block{std::min(BLOCK, extents[0] - i), std::min(BLOCK, extents[1] - j)};

      copy_block<SIZE>(to + i * to_strides[0] + j * to_strides[1], to_strides,
                       from + i * from_strides[0] + j * from_strides[1], from_strides,
                       block.data());
    }
  }
}

// Copies along two dimensions of which the last one is short: block by block of the first one.
template <std::int64_t SIZE>
void copy_short_rows(char* to, const std::int64_t* to_strides, const char* from,
                     const std::int64_t* from_strides, const std::int64_t* extents) {
  constexpr std::int64_t BLOCK = 256;

  for (std::int64_t i = 0; i < extents[0]; i += BLOCK) {
    for (std::int64_t j = 0; j < extents[1]; ++j) {
      copy_row<SIZE>(to + i * to_strides[0] + j * to_strides[1], to_strides[0],
                     from + i * from_strides[0] + j * from_strides[1], from_strides[0],
                     std::min(BLOCK, extents[0] - i));
    }
  }
}

// Along one or two dimensions.
template <std::int64_t SIZE>
void copy_few_dims(char* to, const std::int64_t* to_strides, const char* from,
                   const std::int64_t* from_strides, std::int64_t dim,
                   const std::int64_t* extents) {
  // to begin a row takes as long as to copy so many elements
  constexpr std::int64_t SHORT = 8;

  if (dim == 1) {
    copy_row<SIZE>(to, *to_strides, from, *from_strides, *extents);
  } else if (extents[1] < SHORT && extents[0] > extents[1]) {
    copy_short_rows<SIZE>(to, to_strides, from, from_strides, extents);
  } else if (extents[0] >= SHORT && std::abs(from_strides[0]) < std::abs(from_strides[1])) {
    copy_across<SIZE>(to, to_strides, from, from_strides, extents);
  } else if (to_strides[1] == SIZE && from_strides[1] == SIZE) {
    for (std::int64_t i = 0; i < extents[0]; ++i) {
      copy_memory(to + i * to_strides[0], from + i * from_strides[0],
                  static_cast<std::size_t>(SIZE * extents[1]));
    }
  } else {
    copy_block<SIZE>(to, to_strides, from, from_strides, extents);
  }
}

// Along dimensions of which none is left that `merge_dims` takes away.
void copy_merged(char* to, const std::int64_t* to_strides, const char* from,
                 const std::int64_t* from_strides, std::int64_t dim, const std::int64_t* extents,
                 std::size_t itemsize) {
  const auto size = static_cast<std::int64_t>(itemsize);

  if (dim == 0) {
    std::memcpy(to, from, itemsize);
  } else if (dim == 1 && *to_strides == size && *from_strides == size) {
    copy_memory(to, from, itemsize * static_cast<std::size_t>(*extents));
  } else if (dim <= 2 && size == 8) {
    copy_few_dims<8>(to, to_strides, from, from_strides, dim, extents);
  } else if (dim <= 2 && size == 4) {
    copy_few_dims<4>(to, to_strides, from, from_strides, dim, extents);
  } else if (dim <= 2 && size == 1) {
    copy_few_dims<1>(to, to_strides, from, from_strides, dim, extents);
  } else if (dim <= 2 && size == 16) {
    copy_few_dims<16>(to, to_strides, from, from_strides, dim, extents);
  } else {
    for (std::int64_t i = 0; i < *extents; ++i) {
      copy_merged(to + i * *to_strides, to_strides + 1, from + i * *from_strides, from_strides + 1,
                  dim - 1, extents + 1, itemsize);
    }
  }
}

}  // namespace

std::int64_t merge_dims(std::int64_t dim, std::int64_t* extents, std::int64_t* to,
                        std::int64_t* from) {
  std::int64_t last = 0;

  for (std::int64_t d = 1; d < dim; ++d) {
    const auto extent = extents[d];

    if (extent == 1) continue;

    const bool goes_on = to[last] == to[d] * extent && from[last] == from[d] * extent;

    if (!goes_on && extents[last] != 1) ++last;
    extents[last] = goes_on ? extents[last] * extent : extent;
    to[last] = to[d];
    from[last] = from[d];
  }
  return dim == 0 ? 0 : last + 1;
}

void copy_elements(char* to, const std::int64_t* to_strides, const char* from,
                   const std::int64_t* from_strides, std::int64_t dim, const std::int64_t* extents,
                   std::size_t itemsize) {
  if (dim < 2) return copy_merged(to, to_strides, from, from_strides, dim, extents, itemsize);

  Nest::Strides count, target, source;

  std::copy_n(extents, dim, count.begin());
  std::copy_n(to_strides, dim, target.begin());
  std::copy_n(from_strides, dim, source.begin());
  dim = merge_dims(dim, count.data(), target.data(), source.data());
  copy_merged(to, target.data(), from, source.data(), dim, count.data(), itemsize);
}

std::optional<Elements> find_elements(const legate::PhysicalStore& store) {
  const auto dim = store.dim();
  Elements elements;

  elements.dim = dim;
  elements.is_future = store.is_future();
  elements.itemsize = static_cast<std::int64_t>(store.type().size());
  if (dim == 0) {
    elements.pointer = zero_dim_pointer(store);
    return elements;
  }

  const auto domain = store.domain();

  // Legate backs a store without elements by one of another dimensionality.
  if (domain.get_dim() != dim || domain.empty()) return std::nullopt;
  for (std::int32_t index = 0; index < dim; ++index) {
    elements.lower[index] = domain.lo()[index];
    elements.upper[index] = domain.hi()[index];
  }

  const auto allocation = store.get_inline_allocation();

  elements.pointer = static_cast<char*>(allocation.ptr);
  // A future holds one element, whatever the shape of the view.
  if (!elements.is_future) {
    for (std::int32_t index = 0; index < dim; ++index) {
      elements.strides[index] = static_cast<std::int64_t>(allocation.strides[index]);
    }
  }
  return elements;
}

}  // namespace legate_diffuse
