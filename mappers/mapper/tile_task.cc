// SPDX-License-Identifier: Apache-2.0

#include "mapper/tile_task.h"

#include <algorithm>

#include "mapper/guide.h"
#include "threads/program_runner.h"
#include "versions.h"

namespace legate_diffuse {

namespace {

// An argument of a tiled program, through the dimensions of its root.
Base base_of(const Elements& elements, const TiledArgument& argument) {
  auto base = base_of(elements);

  for (std::int64_t d = 0; d < argument.root_dim; ++d) {
    base.strides[d] = elements.strides[argument.dims[d]];
  }
  return base;
}

RootShape shape_of(const Elements& elements, const TiledArgument& argument) {
  RootShape shape{{}, elements.itemsize};

  for (std::int64_t d = 0; d < argument.root_dim; ++d) {
    const auto dim = argument.dims[d];
    shape.extents.push_back(elements.upper[dim] - elements.lower[dim] + 1);
  }
  return shape;
}

}  // namespace

Program TiledProgram::restrict_to(const Nest::Strides& lower, const Nest::Strides& upper) {
  Tile tile;

  for (std::int64_t d = 0; d < tiling_.rank; ++d) {
    tile.first[d] = lower[d];
    tile.extents[d] = std::max<std::int64_t>(upper[d] - lower[d] + 1, 0);
  }
  return restrict_program(tiling_, tile, text_.data(), text_.size());
}

std::vector<Base> TiledProgram::bases(const std::vector<std::optional<Elements>>& arguments) const {
  std::vector<Base> found;

  for (std::size_t index = 0; index < arguments.size(); ++index) {
    found.push_back(arguments[index] ? base_of(*arguments[index], tiling_.arguments[index])
                                     : Base{});
  }
  return found;
}

void run_tile(Words words, const std::vector<std::optional<Elements>>& arguments,
              const Sharing& sharing) {
  TiledProgram tiled{words, arguments.size()};
  const auto& leader = arguments[tiled.tiling().leader];
  std::vector<RootShape> shapes;

  if (!leader) return;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const auto& argument = tiled.tiling().arguments[index];

    shapes.push_back(arguments[index] ? shape_of(*arguments[index], argument)
                                      : RootShape{std::vector<std::int64_t>(argument.root_dim), 1});
  }
  const auto program = tiled.restrict_to(leader->lower, leader->upper);

  run_program(program, tiled.bases(arguments), shapes, sharing);
}

namespace {

// Lets the points of a task have of an argument what lies within its reach of their tiles, which
// are those of the leader. `align` lets them have the leader's tiles of it.
template <typename Align>
void constrain(legate::AutoTask& task, const Tiling& tiling, const std::vector<TiledShape>& shapes,
               const std::vector<legate::Variable>& partitions, std::size_t index,
               const Align& align) {
  const auto& leader = partitions[tiling.leader];
  const auto& extents = shapes[index].shape.extents;
  const auto& of_leader = shapes[tiling.leader].shape.extents;
  std::vector<std::uint64_t> low(tiling.rank);
  std::vector<std::uint64_t> high(tiling.rank);

  for (std::int64_t d = 0; d < tiling.rank; ++d) {
    // all of it, along what is no axis
    high[d] = static_cast<std::uint64_t>(std::max<std::int64_t>(extents[d] - of_leader[d], 0));
  }
  for (std::size_t axis = 0; axis < tiling.axes.size(); ++axis) {
    const auto& reach = tiling.arguments[index].reach[axis];
    low[tiling.axes[axis]] = static_cast<std::uint64_t>(std::max<std::int64_t>(-reach.low, 0));
    high[tiling.axes[axis]] = static_cast<std::uint64_t>(std::max<std::int64_t>(reach.high, 0));
  }
  const auto is_beside = [](std::uint64_t offset) { return offset > 0; };

  if (extents == of_leader && std::none_of(low.begin(), low.end(), is_beside) &&
      std::none_of(high.begin(), high.end(), is_beside)) {
    align(partitions[index]);
  } else {
    task.add_constraint(legate::bloat(leader, partitions[index], low, high));
  }
}

// Lets the points of a task have of an argument what the elements of another one tell, or all.
void gather(legate::AutoTask& task, const Tiling& tiling,
            const std::vector<legate::Variable>& partitions, const std::vector<legate::Type>& types,
            std::size_t index) {
  const auto teller = tiling.arguments[index].teller;

  if (teller == ALL) {
    task.add_constraint(legate::broadcast(partitions[index]));
    return;
  }
  // rows lie one behind the other
  const auto hint = types[teller].code() == legate::Type::Code::STRUCT
                        ? legate::ImageComputationHint::FIRST_LAST
                        : legate::ImageComputationHint::MIN_MAX;

  task.add_constraint(legate::image(partitions[teller], partitions[index], hint));
}

}  // namespace

namespace {

// What points compute and copy beyond their tiles is at most one part in so many of these.
constexpr std::int64_t SMALL_SHARE = 8;

// How many rows along the first axis the longest nest has.
std::int64_t rows_of_nests(const Tiling& tiling, const std::vector<ParsedNest>& nests) {
  std::int64_t rows = 0;

  for (std::size_t index = 0; index < nests.size(); ++index) {
    const auto dim = tiling.nests[index].front().dim;

    if (dim != EVERYWHERE) {
      rows = std::max(rows, dim == GUARD ? 1 : nests[index].head.extents[dim]);
    }
  }
  return rows;
}

// Whether points have many rows along the first axis, compared to what they need beyond them, and
// not one of them all that there is to do.
bool are_rows_enough(const Tiling& tiling, const std::vector<TiledShape>& shapes,
                     const Program& program) {
  const auto num_points =
      static_cast<std::int64_t>(legate::Runtime::get_runtime()->get_machine().count());
  std::int64_t beyond = 1;

  for (const auto& argument : tiling.arguments) {
    beyond = std::max(beyond, argument.reach.front().high - argument.reach.front().low);
  }
  const auto rows = shapes[tiling.leader].shape.extents[tiling.axes.front()];

  return rows >= num_points * beyond * SMALL_SHARE && rows > undivided_extent() &&
         rows_of_nests(tiling, program.nests) * num_points > rows;
}

// Leaves the leader in one piece along all dimensions but the first axes.
void keep_whole(legate::AutoTask& task, const legate::Variable& leader, const Tiling& tiling,
                std::size_t num_axes) {
  const auto* const first = tiling.axes.data();
  const auto* const last = first + num_axes;
  std::vector<std::uint32_t> whole;

  for (std::int64_t d = 0; d < tiling.rank; ++d) {
    if (std::find(first, last, d) == last) whole.push_back(static_cast<std::uint32_t>(d));
  }
  if (!whole.empty()) task.add_constraint(legate::broadcast(leader, whole));
}

}  // namespace

// Legate divides a store as the task before it has, and a new one along any dimension: tasks that
// read at a distance, whose arguments need not be divided alike, would take turns with tilings, and
// each would copy what it reads from one to the other. Rows are divided by all tasks that may, but
// for those that use few of them: for these it is best to leave arrays as they are divided.
void divide(legate::AutoTask& task, const Tiling& tiling, const std::vector<TiledShape>& shapes,
            const Program& program, const std::vector<legate::Variable>& partitions,
            const std::vector<legate::Type>& types) {
  const auto& leader = partitions[tiling.leader];
  const auto guide = tiling.axes.size() == 1
                         ? find_guide(shapes[tiling.leader].shape.extents, tiling.axes.front())
                         : std::nullopt;
  const auto of_guide = guide ? std::optional{task.add_input(guide->store)} : std::nullopt;
  const auto align = [&](const legate::Variable& partition) {
    task.add_constraint(guide ? legate::scale(guide->factors, *of_guide, partition)
                              : legate::align(leader, partition));
  };

  if (guide) {
    align(leader);
  } else {
    keep_whole(task, leader, tiling,
               are_rows_enough(tiling, shapes, program) ? 1 : tiling.axes.size());
  }
  for (std::size_t index = 0; index < shapes.size(); ++index) {
    if (static_cast<std::int64_t>(index) != tiling.leader &&
        tiling.arguments[index].teller == NEAR) {
      constrain(task, tiling, shapes, partitions, index, align);
    }
  }
  // Legate takes these in their order: what is told follows from what tells it
  for (std::size_t index = 0; index < shapes.size(); ++index) {
    if (tiling.arguments[index].teller != NEAR) gather(task, tiling, partitions, types, index);
  }
}

}  // namespace legate_diffuse
