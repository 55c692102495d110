// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "program/joined_row.h"
#include "program/kernel_table.h"
#include "program/loops.h"
#include "program/stopwatch.h"

namespace legate_diffuse {

// A perfect loop nest over several arguments, and the reduction of its dimensions to the two that a
// kernel runs over.
template <std::size_t MAX_DIM>
class LoopNest : public Loops<MAX_DIM> {
 public:
  void reset(std::size_t num_arguments) {
    Loops<MAX_DIM>::reset(num_arguments);
    unread_ = -1;
  }

  // For how many points results are written before any of them is read, by this nest and others of
  // which it is a part; those of this one, if it isn't set.
  void set_unread(std::int64_t points) { unread_ = points; }

  // Runs the kernel over every point once. Any order is right, because each point writes elements
  // of its own, or combines values in an order that is free. The order follows from the extents and
  // strides alone, and suits the argument that `leader` returns. The time counts on the clock.
  void run(const Kernel& kernel, const char* scalars, Clock* clock) {
    prepare(kernel);
    run_prepared(kernel, scalars, clock);
  }

  // Chooses the loops. After that the nest may run several times, with other pointers each time.
  void prepare(const Kernel& kernel) {
    is_empty_ = !this->has_points();
    if (is_empty_) return;
    if (unread_ < 0) {
      unread_ = std::accumulate(extents_.begin(), extents_.begin() + dim_, std::int64_t{1},
                                std::multiplies<>{});
    }
    this->simplify(kernel.code->indices);
    is_joined_ = dim_ > 1 && !suits(kernel) && joins(kernel);
    if (is_joined_) return;
    kernel_strides_.resize(2 * pointers_.size());
    for (std::size_t index = 0; index < pointers_.size(); ++index) {
      kernel_strides_[2 * index] = dim_ > 1 ? strides_[index][dim_ - 2] : 0;
      kernel_strides_[2 * index + 1] = dim_ > 0 ? strides_[index][dim_ - 1] : 0;
    }
  }

  void run_prepared(const Kernel& kernel, const char* scalars, Clock* clock) {
    if (is_empty_) return;
    const Stopwatch stopwatch{clock};

    if (is_joined_) {
      row_.run(*kernel.code, pointers_.data(), scalars);
    } else {
      call(kernel, scalars);
    }
  }

 private:
  using Loops<MAX_DIM>::dim_;
  using Loops<MAX_DIM>::extents_;
  using Loops<MAX_DIM>::pointers_;
  using Loops<MAX_DIM>::strides_;

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
    return extents_[dim_ - 1] >= JoinedRow::SHORT_LOOP && repeats(kernel, dim_ - 1);
  }

  // Whether loops that are joined suit the kernel better than the innermost one.
  bool joins(const Kernel& kernel) {
    static_assert(MAX_DIM <= JoinedRow::MAX_DIM);
    const auto least = repeats(kernel, dim_ - 1) ? 4 * JoinedRow::SHORT_LOOP : std::int64_t{2};
    JoinedRow::Strides strides;

    strides.reserve(strides_.size());
    for (const auto& each : strides_) strides.push_back(each.data());
    return row_.prepare(*kernel.code, {extents_.begin(), extents_.begin() + dim_}, strides, least);
  }

  // The two innermost loops are the kernel's; an odometer turns those outside of them.
  void call(const Kernel& kernel, const char* scalars) {
    const std::array<std::int64_t, 3> extents{dim_ > 1 ? extents_[dim_ - 2] : 1,
                                              dim_ > 0 ? extents_[dim_ - 1] : 1, unread_};
    const auto outer_dim = dim_ > 2 ? dim_ - 2 : 0;
    typename Loops<MAX_DIM>::Strides position{};
    do {
      legate_diffuse_run_rows(kernel.code, pointers_.data(), kernel_strides_.data(), extents.data(),
                              scalars);
    } while (next_position(position, outer_dim, extents_,
                           [&](std::size_t dim, std::int64_t steps) { advance(dim, steps); }));
  }

  void advance(std::size_t dim, std::int64_t steps) {
    for (std::size_t index = 0; index < pointers_.size(); ++index) {
      pointers_[index] += steps * strides_[index][dim];
    }
  }

  std::int64_t unread_{};
  bool is_empty_{};
  bool is_joined_{};
  JoinedRow row_;
  std::vector<std::int64_t> kernel_strides_;
};

}  // namespace legate_diffuse
