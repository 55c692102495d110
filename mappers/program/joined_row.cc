// SPDX-License-Identifier: Apache-2.0

#include "program/joined_row.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "program/elements.h"
#include "program/loops.h"

namespace legate_diffuse {

namespace {

// Copies elements between a buffer and memory, which starts at a position of some loops.
template <bool IN, std::size_t SIZE, typename Position>
void copy(char* buffer, char* memory, std::size_t dim, const Position& extents,
          const Position& strides, Position at, std::int64_t count) {
  const auto inner = dim - 1;

  while (count > 0) {
    const auto run = std::min(extents[inner] - at[inner], count);

    for (std::int64_t index = 0; index < run; ++index) {
      std::memcpy(IN ? buffer : memory, IN ? memory : buffer, SIZE);
      buffer += SIZE;
      memory += strides[inner];
    }
    count -= run;
    at[inner] += run;
    for (auto d = inner; d > 0 && at[d] == extents[d]; --d) {
      memory += strides[d - 1] - extents[d] * strides[d];
      at[d] = 0;
      ++at[d - 1];
    }
  }
}

template <bool IN, typename... Rest>
void copy(std::int64_t itemsize, Rest... rest) {
  switch (itemsize) {
    case 1:
      return copy<IN, 1>(rest...);
    case 2:
      return copy<IN, 2>(rest...);
    case 4:
      return copy<IN, 4>(rest...);
    case 8:
      return copy<IN, 8>(rest...);
    default:
      return copy<IN, 16>(rest...);
  }
}

// The loops that a kernel can run along as a row: its points update elements of their own, or all
// of them update one.
std::vector<bool> loops_of_row(const KernelCode& code, const JoinedRow::Extents& extents,
                               const JoinedRow::Strides& strides, bool updates) {
  std::vector<bool> joined(extents.size(), true);

  for (std::size_t index = 0; index < strides.size(); ++index) {
    const auto flags = code.arguments[index].flags;

    for (std::size_t d = 0; d < extents.size(); ++d) {
      const auto stands = strides[index][d] == 0;

      if ((flags & KernelArgument::INVARIANT) != 0 && !stands) joined[d] = false;
      if ((flags & KernelArgument::UPDATED) != 0 && stands == updates) joined[d] = false;
    }
  }
  return joined;
}

std::int64_t num_points(const JoinedRow::Extents& extents, const std::vector<bool>& joined) {
  std::int64_t points = 1;

  for (std::size_t d = 0; d < extents.size(); ++d) points *= joined[d] ? extents[d] : 1;
  return points;
}

// Leaves the longest of some loops.
std::vector<bool> longest(const JoinedRow::Extents& extents, const std::vector<bool>& joined) {
  std::vector<bool> left(extents.size());
  auto found = extents.size();

  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (joined[d] && (found == extents.size() || extents[d] > extents[found])) found = d;
  }
  if (found < extents.size()) left[found] = true;
  return left;
}

}  // namespace

bool JoinedRow::prepare(const KernelCode& code, const Extents& extents, const Strides& strides,
                        std::int64_t least) {
  // small arrays come here with every operation
  if (std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>{}) <
      least) {
    return false;
  }

  const auto folding = loops_of_row(code, extents, strides, false);
  const auto updating = loops_of_row(code, extents, strides, true);
  const auto updates = num_points(extents, updating) > num_points(extents, folding);
  auto joined = updates ? updating : folding;

  // an index of a point grows in equal steps
  if (code.indices != 0) joined = longest(extents, joined);
  if (num_points(extents, joined) < least) return false;

  add_loops(extents, joined);
  arguments_.clear();
  for (std::size_t index = 0; index < strides.size(); ++index) {
    add_argument(code.arguments[index], strides[index], joined, updates);
  }
  choose_chunk(code.lanes);
  choose_turns();
  memory_.resize(strides.size());
  passed_.resize(strides.size());
  buffers_.resize(strides.size());
  return true;
}

void JoinedRow::add_loops(const Extents& extents, const std::vector<bool>& joined) {
  row_dim_ = turns_dim_ = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (joined[d]) {
      row_extents_[row_dim_++] = extents[d];
    } else {
      turns_[turns_dim_++] = extents[d];
    }
  }
  num_points_ = num_points(extents, joined);
}

void JoinedRow::add_argument(const KernelArgument& argument, const std::int64_t* strides,
                             const std::vector<bool>& joined, bool updates) {
  auto flags = argument.flags;
  auto& added = arguments_.emplace_back();
  std::size_t row = 0, turn = 0;

  for (std::size_t d = 0; d < joined.size(); ++d) {
    (joined[d] ? added.along_row[row++] : added.along_turns[turn++]) = strides[d];
  }
  if ((flags & KernelArgument::UPDATED) != 0) {
    flags = updates ? KernelArgument::READ | KernelArgument::WRITE : KernelArgument::INVARIANT;
  }
  const auto stands = (flags & KernelArgument::INVARIANT) != 0;
  const auto is_memory = (flags & KernelArgument::INDEX) == 0;
  const auto is_in_order = are_in_order(static_cast<std::int64_t>(row), row_extents_.data(),
                                        added.along_row.data(), argument.itemsize);

  added.itemsize = argument.itemsize;
  added.is_packed = is_memory && !stands && !is_in_order;
  added.step = added.is_packed ? argument.itemsize : added.along_row[row - 1];
  added.reads = (flags & KernelArgument::READ) != 0;
  added.writes = (flags & KernelArgument::WRITE) != 0;
}

// After how many points an argument's elements come again; the number of points if they never do.
std::int64_t JoinedRow::period_of(const Argument& argument) const {
  auto points = num_points_;

  for (std::size_t d = 0; d < row_dim_ && argument.along_row[d] == 0; ++d) {
    points /= row_extents_[d];
  }
  return points;
}

// Chunks are whole periods, and whole vectors if that is possible.
void JoinedRow::choose_chunk(std::int64_t lanes) {
  std::int64_t whole = 1;

  for (auto& argument : arguments_) {
    const auto period = period_of(argument);
    const auto both = std::lcm(whole, std::min(period, CHUNK + 1));

    argument.is_constant = argument.is_packed && !argument.writes && both <= CHUNK;
    if (argument.is_constant) whole = both;
  }
  if (std::lcm(whole, lanes) <= CHUNK) whole = std::lcm(whole, lanes);
  chunk_ = CHUNK / whole * whole;
}

// A loop along which no buffer moves is the kernel's own.
void JoinedRow::choose_turns() {
  const auto moves = [&](const Argument& argument, std::size_t dim) {
    return argument.is_packed && argument.along_turns[dim] != 0;
  };

  kernel_turns_ = 1;
  kernel_strides_.assign(2 * arguments_.size(), 0);
  if (turns_dim_ > 0 &&
      std::none_of(arguments_.begin(), arguments_.end(),
                   [&](const auto& argument) { return moves(argument, turns_dim_ - 1); })) {
    kernel_turns_ = turns_[--turns_dim_];
  }
  for (std::size_t index = 0; index < arguments_.size(); ++index) {
    auto& argument = arguments_[index];
    const auto& along_turns = argument.along_turns;

    if (kernel_turns_ > 1) kernel_strides_[2 * index] = along_turns[turns_dim_];
    kernel_strides_[2 * index + 1] = argument.step;
    argument.takes_turns = std::any_of(along_turns.begin(), along_turns.begin() + turns_dim_,
                                       [](auto stride) { return stride != 0; });
    argument.is_constant = argument.is_constant && !argument.takes_turns;
  }
}

void JoinedRow::run(const KernelCode& code, char* const* pointers, const char* scalars) {
  for (std::int64_t first = 0; first < num_points_; first += chunk_) {
    const auto points = std::min(chunk_, num_points_ - first);
    auto left = first;

    for (auto d = row_dim_; d-- > 0; left /= row_extents_[d]) start_[d] = left % row_extents_[d];
    for (std::size_t index = 0; index < arguments_.size(); ++index) {
      const auto& argument = arguments_[index];

      memory_[index] =
          pointers[index] + std::inner_product(start_.begin(), start_.begin() + row_dim_,
                                               argument.along_row.begin(), std::int64_t{0});
      passed_[index] = argument.is_packed ? buffers_[index].data() : memory_[index];
      if (!argument.takes_turns && !(argument.is_constant && first > 0)) pack(index, points);
    }
    run_turns(code, points, scalars);
    for (std::size_t index = 0; index < arguments_.size(); ++index) {
      if (!arguments_[index].takes_turns) unpack(index, points);
    }
  }
}

void JoinedRow::run_turns(const KernelCode& code, std::int64_t points, const char* scalars) {
  const std::array<std::int64_t, 3> extents{kernel_turns_, points, 0};
  Position turn{};

  do {
    for (std::size_t index = 0; index < arguments_.size(); ++index) {
      if (!arguments_[index].takes_turns) continue;
      if (!arguments_[index].is_packed) passed_[index] = memory_[index];
      pack(index, points);
    }
    legate_diffuse_run_rows(&code, passed_.data(), kernel_strides_.data(), extents.data(), scalars);
    for (std::size_t index = 0; index < arguments_.size(); ++index) {
      if (arguments_[index].takes_turns) unpack(index, points);
    }
  } while (next_position(turn, turns_dim_, turns_,
                         [&](std::size_t dim, std::int64_t steps) { advance(dim, steps); }));
}

void JoinedRow::advance(std::size_t dim, std::int64_t turns) {
  for (std::size_t index = 0; index < arguments_.size(); ++index) {
    memory_[index] += turns * arguments_[index].along_turns[dim];
  }
}

void JoinedRow::pack(std::size_t number, std::int64_t points) {
  const auto& argument = arguments_[number];

  if (!argument.is_packed || !argument.reads) return;
  copy<true>(argument.itemsize, buffers_[number].data(), memory_[number], row_dim_, row_extents_,
             argument.along_row, start_, points);
}

void JoinedRow::unpack(std::size_t number, std::int64_t points) {
  const auto& argument = arguments_[number];

  if (!argument.is_packed || !argument.writes) return;
  copy<false>(argument.itemsize, buffers_[number].data(), memory_[number], row_dim_, row_extents_,
              argument.along_row, start_, points);
}

}  // namespace legate_diffuse
