// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "program/kernel_table.h"
#include "program/stopwatch.h"

namespace legate_diffuse {

// A perfect loop nest over several arguments, and the reduction of its dimensions to the two that a
// kernel runs over. MAX_DIM is the largest number of dimensions. A nest that is reset and used
// again keeps its memory.
template <std::size_t MAX_DIM>
class LoopNest {
 public:
  using Strides = std::array<std::int64_t, MAX_DIM>;

  // Every argument has to be set before the nest runs.
  void reset(std::size_t num_arguments) {
    dim_ = 0;
    unread_ = -1;
    pointers_.resize(num_arguments);
    strides_.resize(num_arguments);
    kernel_strides_.resize(2 * num_arguments);
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

  // For how many points results are written before any of them is read, by this nest and others of
  // which it is a part; those of this one, if it isn't set.
  void set_unread(std::int64_t points) { unread_ = points; }

  void move_argument(std::size_t index, std::int64_t bytes) { pointers_[index] += bytes; }

  // Runs the kernel over every point once. Any order is right, because each point writes elements
  // of its own, or combines values in an order that is free. The order follows from the extents and
  // strides alone, and suits the argument that `leader` returns. The time counts on the clock.
  void run(const Kernel& kernel, const char* scalars, Clock* clock) {
    for (std::size_t dim = 0; dim < dim_; ++dim) {
      if (extents_[dim] <= 0) return;
    }
    const Stopwatch stopwatch{clock};

    if (unread_ < 0) {
      unread_ = std::accumulate(extents_.begin(), extents_.begin() + dim_, std::int64_t{1},
                                std::multiplies<>{});
    }
    add_indices(kernel.code->indices);
    drop_unit_dims();
    if (dim_ > 1) {
      order_dims(leader());
      merge_dims();
    }
    if (dim_ > 1 && !suits(kernel) && move_longest_dim_in(kernel)) {
      call_in_parts(kernel, scalars);
    } else {
      call(kernel, scalars);
    }
  }

 private:
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
    kernel_strides_.resize(2 * pointers_.size());
  }

  void copy_dim(std::size_t from, std::size_t to) {
    extents_[to] = extents_[from];
    for (auto& strides : strides_) strides[to] = strides[from];
  }

  void swap_dims(std::size_t a, std::size_t b) {
    std::swap(extents_[a], extents_[b]);
    for (auto& strides : strides_) std::swap(strides[a], strides[b]);
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

  // Kernels are slow at short rows: a row takes 60 ns on Zen 5. Elements that are not contiguous
  // take 1 ns for each argument. A loop along which an argument moves that should repeat is slower
  // yet: 15 ns a point.
  static constexpr std::int64_t SHORT_LOOP = 16;
  // As many elements as kernels copy at a time, so that what they touch of a row stays in the
  // cache.
  static constexpr std::int64_t PART = 128;

  // Whether nothing moves along a loop that the kernel uses at one place, or reduces to.
  [[nodiscard]] bool repeats(const Kernel& kernel, std::size_t dim) const {
    for (std::size_t index = 0; index < strides_.size(); ++index) {
      if ((kernel.code->arguments[index].flags & KernelArgument::INVARIANT) != 0 &&
          strides_[index][dim] != 0) {
        return false;
      }
    }
    return true;
  }

  // Whether the innermost loop is one that the kernel is fast along.
  [[nodiscard]] bool suits(const Kernel& kernel) const {
    return extents_[dim_ - 1] >= SHORT_LOOP && repeats(kernel, dim_ - 1);
  }

  // Moves in the longest of the loops that suit the kernel better than the innermost one. Returns
  // false if there is none.
  bool move_longest_dim_in(const Kernel& kernel) {
    const auto least = repeats(kernel, dim_ - 1) ? 4 * SHORT_LOOP : std::int64_t{2};
    auto longest = dim_;

    for (std::size_t dim = 0; dim + 1 < dim_; ++dim) {
      if (extents_[dim] < least || !repeats(kernel, dim)) continue;
      if (longest == dim_ || extents_[dim] > extents_[longest]) longest = dim;
    }
    if (longest == dim_) return false;
    for (auto dim = longest; dim + 1 < dim_; ++dim) swap_dims(dim, dim + 1);
    return true;
  }

  void call_in_parts(const Kernel& kernel, const char* scalars) {
    const auto inner = dim_ - 1;
    const auto extent = extents_[inner];

    for (std::int64_t start = 0; start < extent; start += PART) {
      extents_[inner] = std::min(PART, extent - start);
      call(kernel, scalars);
      advance(inner, PART);
    }
  }

  // The two innermost loops are the kernel's; an odometer turns those outside of them.
  void call(const Kernel& kernel, const char* scalars) {
    const std::array<std::int64_t, 3> extents{dim_ > 1 ? extents_[dim_ - 2] : 1,
                                              dim_ > 0 ? extents_[dim_ - 1] : 1, unread_};
    for (std::size_t index = 0; index < pointers_.size(); ++index) {
      kernel_strides_[2 * index] = dim_ > 1 ? strides_[index][dim_ - 2] : 0;
      kernel_strides_[2 * index + 1] = dim_ > 0 ? strides_[index][dim_ - 1] : 0;
    }

    const auto outer_dim = dim_ > 2 ? dim_ - 2 : 0;
    Strides position{};
    while (true) {
      legate_diffuse_run_rows(kernel.code, pointers_.data(), kernel_strides_.data(), extents.data(),
                              scalars);
      auto dim = outer_dim;
      for (; dim > 0; --dim) {
        if (++position[dim - 1] < extents_[dim - 1]) {
          advance(dim - 1, 1);
          break;
        }
        advance(dim - 1, 1 - extents_[dim - 1]);
        position[dim - 1] = 0;
      }
      if (dim == 0) return;
    }
  }

  void advance(std::size_t dim, std::int64_t steps) {
    for (std::size_t index = 0; index < pointers_.size(); ++index) {
      pointers_[index] += steps * strides_[index][dim];
    }
  }

  std::size_t dim_{};
  std::int64_t unread_{};
  std::array<std::int64_t, MAX_DIM> extents_{};
  std::array<std::int64_t, MAX_DIM> firsts_{};
  std::vector<char*> pointers_;
  std::vector<Strides> strides_;
  std::vector<std::int64_t> kernel_strides_;
};

}  // namespace legate_diffuse
