// SPDX-License-Identifier: Apache-2.0

#include "program/tiling.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace legate_diffuse {

namespace {

Reach take_reach(Words& words) {
  const auto* const ends = words.take(2);

  return {ends[0], ends[1]};
}

std::vector<Part> take_parts(Words& words, std::size_t num_axes) {
  std::vector<Part> parts;

  for (std::size_t axis = 0; axis < num_axes; ++axis) {
    const auto dim = words.take();
    parts.push_back({dim, take_reach(words)});
  }
  return parts;
}

std::int64_t take_count(Words& words) {
  const auto count = words.take();

  require(count >= 0, "a count is negative");
  return count;
}

}  // namespace

Tiling::Tiling(Words& words, std::size_t num_arguments) {
  require(words.take() == TILED, "a program has no tiling");
  leader = words.take();
  rank = words.take();
  const auto num_axes = take_count(words);
  const auto* const begin = words.take(num_axes);
  axes.assign(begin, begin + num_axes);
  const auto num_buffers = take_count(words);
  const auto num_nests = take_count(words);

  for (std::size_t index = 0; index < num_arguments; ++index) {
    const auto teller = words.take();
    const auto root_dim = words.take();
    auto& argument =
        arguments.emplace_back(TiledArgument{teller, root_dim, words.take(root_dim), {}});

    for (std::int64_t axis = 0; axis < num_axes; ++axis) {
      argument.reach.push_back(take_reach(words));
    }
  }
  for (std::int64_t index = 0; index < num_buffers; ++index) {
    buffers.push_back(take_parts(words, axes.size()));
  }
  for (std::int64_t index = 0; index < num_nests; ++index) {
    nests.push_back(take_parts(words, axes.size()));
  }
}

bool is_tiled(const std::vector<std::int64_t>& text) {
  return !text.empty() && text.front() == TILED;
}

namespace {

// Sums of some of them do not overflow.
constexpr std::int64_t MAX_REACH = std::int64_t{1} << 48;

bool is_small(const Reach& reach) {
  return -MAX_REACH <= reach.low && reach.low <= MAX_REACH && -MAX_REACH <= reach.high &&
         reach.high <= MAX_REACH;
}

// Whether an argument that is not used near the tiles, but as its teller says, may be used so.
bool is_told(const Tiling& tiling, const std::vector<TiledShape>& arguments, std::size_t index) {
  const auto teller = tiling.arguments[index].teller;

  if (index == static_cast<std::size_t>(tiling.leader) || arguments[index].writes) return false;
  if (teller == ALL) return true;
  return teller >= 0 && teller < static_cast<std::int64_t>(index) && tiling.rank == 1 &&
         !arguments[index].is_scalar && !arguments[teller].is_scalar && !arguments[teller].writes;
}

void check_tiling(const Tiling& tiling, const std::vector<TiledShape>& arguments) {
  const auto& axes = tiling.axes;

  require(tiling.leader >= 0 && tiling.leader < static_cast<std::int64_t>(arguments.size()) &&
              !arguments[tiling.leader].is_scalar,
          "a program's tiles are those of an argument that it lacks");
  require(!axes.empty() && axes.front() >= 0 && axes.back() < tiling.rank &&
              std::adjacent_find(axes.begin(), axes.end(), std::greater_equal<>{}) == axes.end(),
          "the axes of tiles are not dimensions");
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const auto& argument = tiling.arguments[index];
    const auto& passed = arguments[index];

    require(static_cast<std::int64_t>(passed.shape.extents.size()) == tiling.rank,
            "an argument has another dimensionality than its leader");
    for (std::int64_t d = 0; d < argument.root_dim; ++d) {
      require(argument.dims[d] >= 0 && argument.dims[d] < tiling.rank &&
                  (d == 0 || argument.dims[d] > argument.dims[d - 1]),
              "an argument lacks a dimension of its root");
    }
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      const auto& reach = argument.reach[axis];

      require(is_small(reach), "a reach is too large");
      if (passed.writes) {
        require(reach.low == 0 && reach.high == 0, "a point writes beside its tile");
      }
      if (static_cast<std::int64_t>(index) == tiling.leader) {
        require(reach.low == 0 && reach.high == 0, "the points have other tiles of the leader");
      }
    }
    if (argument.teller != NEAR) {
      require(is_told(tiling, arguments, index), "what points have of an argument is not told");
    }
    // along what is no axis, a point has all of it
    for (const auto axis : axes) {
      require(passed.is_scalar || !passed.writes ||
                  passed.shape.extents[axis] <= arguments[tiling.leader].shape.extents[axis],
              "an argument is larger than all tiles");
    }
  }
  for (const auto* const parts : {&tiling.buffers, &tiling.nests}) {
    for (const auto& each : *parts) {
      for (const auto& part : each) {
        require(is_small(part.reach), "a reach is too large");
      }
    }
  }
}

// Along one axis: whether what a nest touches of a root lies in the part that is there of it, which
// is `there` of its dimension `root_dim`.
void check_reach(const NestHead& nest, const Operand& operand, const Part& part,
                 std::int64_t root_dim, const Reach& there) {
  require(part.dim != EVERYWHERE, "a nest that runs everywhere touches a part of a root");
  require(
      part.dim == GUARD
          ? std::find(operand.dims, operand.dims + nest.dim, root_dim) == operand.dims + nest.dim
          : part.dim >= 0 && part.dim < nest.dim && operand.dims[part.dim] == root_dim,
      "an operand does not move along with its nest");
  const auto low = operand.low[root_dim];
  require(part.reach.low + low >= there.low && part.reach.high + low <= there.high,
          "an operand leaves the part of its root that a point has");
}

}  // namespace

std::pair<Tiling, Program> check_tiled_program(const std::vector<std::int64_t>& text,
                                               const std::vector<TiledShape>& arguments) {
  Words words{text.data(), text.size()};
  Tiling tiling{words, arguments.size()};
  std::vector<RootShape> roots;

  check_tiling(tiling, arguments);
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const auto& [shape, writes, is_scalar] = arguments[index];
    const auto& argument = tiling.arguments[index];
    auto& root = roots.emplace_back(RootShape{{}, shape.itemsize});

    for (std::int64_t d = 0; d < argument.root_dim; ++d) {
      root.extents.push_back(shape.extents[argument.dims[d]]);
    }
  }
  auto program = check_program(words, roots);
  require(program.buffers.size() == tiling.buffers.size() &&
              program.nests.size() == tiling.nests.size(),
          "a tiling is not that of its program");
  for (std::size_t index = 0; index < program.buffers.size(); ++index) {
    for (const auto& part : tiling.buffers[index]) {
      require(part.dim < program.buffers[index].dim, "a scratch buffer lacks a dimension");
    }
  }
  for (std::size_t index = 0; index < tiling.nests.size(); ++index) {
    const auto& parts = tiling.nests[index];
    const auto& nest = program.nests[index];

    for (const auto& operand : nest.operands) {
      for (std::size_t axis = 0; axis < tiling.axes.size(); ++axis) {
        if (operand.base < 0) {
          const auto& buffer = tiling.buffers[~operand.base][axis];
          if (buffer.dim >= 0) {
            check_reach(nest.head, operand, parts[axis], buffer.dim, buffer.reach);
          }
          continue;
        }
        const auto& argument = tiling.arguments[operand.base];
        if (argument.teller != NEAR) {
          require(operand.stands(nest.head.dim),
                  "an operand moves along an argument of which points have other parts");
          continue;
        }
        const auto* const end = argument.dims + argument.root_dim;
        const auto* const found = std::find(argument.dims, end, tiling.axes[axis]);
        if (found != end) {
          check_reach(nest.head, operand, parts[axis], found - argument.dims, argument.reach[axis]);
        }
      }
    }
  }
  return {std::move(tiling), std::move(program)};
}

namespace {

struct Range {
  std::int64_t first;
  std::int64_t extent;
};

// What of the positions from 0 to an extent lies between two positions.
Range clip(std::int64_t begin, std::int64_t end, std::int64_t extent) {
  const auto first = std::clamp(begin, std::int64_t{0}, extent);

  return {first, std::max(std::min(end, extent) - first, std::int64_t{0})};
}

Range clip(const Part& part, const Tiling& tiling, const Tile& tile, std::size_t axis,
           std::int64_t extent) {
  const auto begin = tile.first[tiling.axes[axis]];
  const auto end = begin + tile.extents[tiling.axes[axis]];

  return clip(begin + part.reach.low, end + part.reach.high, extent);
}

}  // namespace

Program restrict_program(const Tiling& tiling, const Tile& tile, std::int64_t* words,
                         std::size_t num_words) {
  Words rest{words, num_words};
  const auto at = [&](const std::int64_t* word) { return words + (word - words); };
  Program program{rest};
  // of each scratch buffer where the part begins that is made
  std::vector<std::vector<std::int64_t>> origins;

  for (std::size_t index = 0; index < program.buffers.size(); ++index) {
    const auto& buffer = program.buffers[index];
    auto& origin = origins.emplace_back(buffer.dim);

    for (std::size_t axis = 0; axis < tiling.axes.size(); ++axis) {
      const auto& part = tiling.buffers[index][axis];
      if (part.dim < 0) continue;

      auto& extent = *at(buffer.extents + part.dim);
      const auto found = clip(part, tiling, tile, axis, extent);
      origin[part.dim] = found.first;
      extent = found.extent;
    }
  }
  for (std::size_t index = 0; index < tiling.nests.size(); ++index) {
    const auto& parts = tiling.nests[index];
    const auto& [head, operands] = program.nests[index];
    bool runs = true;

    for (std::size_t axis = 0; axis < tiling.axes.size(); ++axis) {
      const auto& part = parts[axis];

      if (part.dim == GUARD) {
        runs = runs && clip(part, tiling, tile, axis, 1).extent == 1;
      } else if (part.dim != EVERYWHERE) {
        auto& extent = *at(head.extents + part.dim);
        const auto found = clip(part, tiling, tile, axis, extent);
        *at(head.first + part.dim) = found.first;
        extent = found.extent;
      }
    }
    for (std::int64_t d = 0; d < head.dim && !runs; ++d) *at(head.extents + d) = 0;
    for (const auto& operand : operands) {
      auto* const low = at(operand.low);

      for (std::int64_t d = 0; d < head.dim; ++d) {
        if (operand.dims[d] >= 0) low[operand.dims[d]] += head.first[d];
      }
      if (operand.base >= 0) continue;
      for (std::int64_t d = 0; d < operand.root_dim; ++d) low[d] -= origins[~operand.base][d];
    }
  }
  return program;
}

}  // namespace legate_diffuse
