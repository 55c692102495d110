// SPDX-License-Identifier: Apache-2.0

#include "threads/runner.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace legate_diffuse {

void Partials::reset(const Kernel& kernel, std::int64_t num_helpers) {
  num_reductions_ = kernel.reductions.size();
  values_.resize(num_helpers * num_reductions_);

  auto value = values_.begin();
  for (std::int64_t helper = 0; helper < num_helpers; ++helper) {
    for (const auto& reduction : kernel.reductions) {
      const auto& identity = reduction.identity.bytes;

      std::copy(identity.begin(), identity.end(), (value++)->bytes.begin());
    }
  }
}

char* Partials::of_thread(std::int64_t thread) {
  if (thread == 0 || values_.empty()) return nullptr;
  return values_[(thread - 1) * num_reductions_].bytes.data();
}

void Partials::combine(std::size_t reduction, const Reduction& how, char* target) {
  const auto num_helpers = static_cast<std::int64_t>(values_.size() / num_reductions_);
  const std::array<std::int64_t, 3> extents{1, num_helpers, 1};
  const std::array<std::int64_t, 4> strides{0, 0, 0,
                                            static_cast<std::int64_t>(SIZE * num_reductions_)};
  const std::array<char*, 2> pointers{target, values_[reduction].bytes.data()};

  legate_diffuse_run_rows(find_kernel(how.combine)->code, pointers.data(), strides.data(),
                          extents.data(), nullptr);
}

void Runner::run(const ParsedNest& nest, const Kernel& kernel, Rows rows, std::int64_t unread,
                 char* partials) {
  once_.num_rows = 0;
  run(nest, kernel, rows, unread, partials, once_);
}

void Runner::run(const ParsedNest& nest, const Kernel& kernel, Rows rows, std::int64_t unread,
                 char* partials, PreparedNest& prepared) {
  const auto& [head, operands] = nest;
  const auto* const values = scalars(head);

  while (rows.count > 0) {
    const auto count = find_rows(nest, rows);

    if (count != prepared.num_rows || kernel.code->indices != 0) {
      prepare(nest, kernel, {rows.dim, rows.first, count}, unread, prepared);
    }
    for (std::size_t index = 0; index < operands.size(); ++index) {
      prepared.loops.set_pointer(index, addresses_[index]);
    }
    if (partials) {
      for (std::size_t index = 0; index < kernel.reductions.size(); ++index) {
        const auto argument = kernel.reductions[index].argument;

        if (!operands[argument].stands(head.dim)) continue;
        prepared.loops.set_pointer(argument, Partials::of_reduction(partials, index));
      }
    }
    prepared.loops.run_prepared(kernel, values, kernel.clock);
    rows.first += count;
    rows.count -= count;
  }
}

// Finds the addresses of a nest's operands in its first row, and how many of the rows lie one after
// the other in all of its circular buffers.
std::int64_t Runner::find_rows(const ParsedNest& nest, const Rows& rows) {
  auto count = rows.count;

  addresses_.resize(nest.operands.size());
  for (std::size_t index = 0; index < nest.operands.size(); ++index) {
    const auto row = bases_.at_row(nest.operands[index], rows.dim, rows.first);

    addresses_[index] = row.address;
    count = std::min(count, row.left);
  }
  return count;
}

void Runner::prepare(const ParsedNest& nest, const Kernel& kernel, const Rows& rows,
                     std::int64_t unread, PreparedNest& prepared) const {
  const auto& [head, operands] = nest;
  auto& loops = prepared.loops;

  loops.reset(operands.size());
  loops.set_unread(unread);
  for (std::int64_t d = 0; d < head.dim; ++d) {
    if (d == rows.dim) {
      loops.add_dim(rows.count, head.first[d] + rows.first);
    } else {
      loops.add_dim(head.extents[d], head.first[d]);
    }
  }
  for (std::size_t index = 0; index < operands.size(); ++index) {
    bases_.find_strides(operands[index], head.dim, loops.strides(index));
  }
  loops.prepare(kernel);
  prepared.num_rows = rows.count;
}

const char* Runner::scalars(const NestHead& head) {
  scalars_.resize(head.num_scalars);
  if (!scalars_.empty()) {
    std::memcpy(scalars_.data(), head.scalars, scalars_.size() * sizeof(ScalarBlock));
  }
  return reinterpret_cast<const char*>(scalars_.data());
}

}  // namespace legate_diffuse
