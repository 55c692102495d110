// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace legate_diffuse {

// Moves on by one position of some loops, the outermost first; `advance` gets the number of each
// loop that is moved along, and the steps. False behind the last position, where the first one
// follows.
template <typename Position, typename Advance>
bool next_position(Position& at, std::size_t dim, const Position& extents, Advance&& advance) {
  for (; dim > 0; --dim) {
    if (++at[dim - 1] < extents[dim - 1]) {
      advance(dim - 1, 1);
      return true;
    }
    advance(dim - 1, 1 - extents[dim - 1]);
    at[dim - 1] = 0;
  }
  return false;
}

// The loops of a perfect nest over several arguments, the outermost one first, and the memory that
// they move along. MAX_DIM is the largest number of dimensions. Loops that are reset and used again
// keep their memory.
template <std::size_t MAX_DIM>
class Loops {
 public:
  using Strides = std::array<std::int64_t, MAX_DIM>;

  // Every argument has to be set before the nest runs.
  void reset(std::size_t num_arguments) {
    dim_ = 0;
    pointers_.resize(num_arguments);
    strides_.resize(num_arguments);
  }

  // The outermost dimension is added first; an extent is never negative. The index of the first
  // point along it is `first`.
  void add_dim(std::int64_t extent, std::int64_t first = 0) {
    extents_[dim_] = extent;
    firsts_[dim_++] = first;
  }

  // One byte stride for each dimension; 0 repeats the element (broadcast, or reduction).
  void set_argument(std::size_t index, char* pointer, const Strides& strides) {
    pointers_[index] = pointer;
    strides_[index] = strides;
  }

  void set_pointer(std::size_t index, char* pointer) { pointers_[index] = pointer; }

  // Those of dimensions that the nest lacks do not matter.
  [[nodiscard]] Strides& strides(std::size_t index) { return strides_[index]; }

 protected:
  [[nodiscard]] bool has_points() const {
    return std::all_of(extents_.begin(), extents_.begin() + dim_,
                       [](auto extent) { return extent > 0; });
  }

  // Leaves as few loops as possible: they follow the memory of the leader, and those are merged
  // whose memory goes on in equal steps. Which loops these are follows from extents and strides
  // alone. The indices that the kernel uses become arguments, in the order of the bits: see
  // KernelCode.
  void simplify(std::int64_t indices) {
    add_indices(indices);
    drop_unit_dims();
    if (dim_ > 1) {
      order_dims(leader());
      merge_dims();
    }
  }

  std::size_t dim_{};
  std::array<std::int64_t, MAX_DIM> extents_{};
  std::vector<char*> pointers_;
  std::vector<Strides> strides_;

 private:
  void swap_dims(std::size_t a, std::size_t b) {
    std::swap(extents_[a], extents_[b]);
    for (auto& strides : strides_) std::swap(strides[a], strides[b]);
  }

  // Along dimensions that the nest lacks the index is 0.
  void add_indices(std::int64_t indices) {
    for (std::size_t from_last = 0; indices >> from_last != 0; ++from_last) {
      if ((indices >> from_last & 1) == 0) continue;
      Strides strides{};
      std::int64_t first = 0;

      if (from_last < dim_) {
        strides[dim_ - 1 - from_last] = 1;
        first = firsts_[dim_ - 1 - from_last];
      }
      pointers_.push_back(reinterpret_cast<char*>(first));
      strides_.push_back(strides);
    }
  }

  void copy_dim(std::size_t from, std::size_t to) {
    extents_[to] = extents_[from];
    for (auto& strides : strides_) strides[to] = strides[from];
  }

  void drop_unit_dims() {
    std::size_t kept = 0;
    for (std::size_t dim = 0; dim < dim_; ++dim) {
      if (extents_[dim] == 1) continue;
      if (kept != dim) copy_dim(dim, kept);
      ++kept;
    }
    dim_ = kept;
  }

  // The first of the arguments that move along most dimensions. Arguments that are written come
  // first, and move along all dimensions, unless they are reduced to: then what is read decides.
  [[nodiscard]] std::size_t leader() const {
    std::size_t found = 0;
    std::size_t most = 0;
    for (std::size_t index = 0; index < strides_.size() && most < dim_; ++index) {
      std::size_t moves = 0;
      for (std::size_t dim = 0; dim < dim_; ++dim) moves += strides_[index][dim] != 0 ? 1 : 0;
      if (moves > most) {
        found = index;
        most = moves;
      }
    }
    return found;
  }

  // By decreasing stride of the leader, so that the innermost loop runs along its memory. Stable.
  void order_dims(std::size_t leader) {
    const auto& strides = strides_[leader];
    for (std::size_t end = 1; end < dim_; ++end) {
      for (auto dim = end; dim > 0 && std::abs(strides[dim - 1]) < std::abs(strides[dim]); --dim) {
        swap_dims(dim - 1, dim);
      }
    }
  }

  [[nodiscard]] bool contiguous(std::size_t outer, std::size_t inner) const {
    for (const auto& strides : strides_) {
      if (strides[outer] != strides[inner] * extents_[inner]) return false;
    }
    return true;
  }

  // Two neighbouring loops are one where every argument's memory goes on in equal steps.
  void merge_dims() {
    std::size_t last = 0;
    for (std::size_t dim = 1; dim < dim_; ++dim) {
      if (contiguous(last, dim)) {
        const auto outer_extent = extents_[last];
        copy_dim(dim, last);
        extents_[last] *= outer_extent;
      } else if (++last != dim) {
        copy_dim(dim, last);
      }
    }
    dim_ = last + 1;
  }

  std::array<std::int64_t, MAX_DIM> firsts_{};
};

}  // namespace legate_diffuse
