// SPDX-License-Identifier: Apache-2.0

#include "mapper/tile_task.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <utility>

#include "threads/gathered_turns.h"
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

// What points compute beyond their tiles is at most half of what these have; or so little that it
// takes less time than another task.
constexpr std::int64_t FEW_ELEMENTS = std::int64_t{1} << 15;

// The moments of what has told otherwise.
class Far {
 public:
  void note(std::int64_t moment) {
    const std::lock_guard<std::mutex> guard{mutex_};

    moments_.push_back(moment);
    has_any_.store(true, std::memory_order_relaxed);
  }

  std::vector<std::int64_t> take() {
    // asked for each window
    if (!has_any_.load(std::memory_order_relaxed)) return {};

    const std::lock_guard<std::mutex> guard{mutex_};

    has_any_.store(false, std::memory_order_relaxed);
    return std::exchange(moments_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::int64_t> moments_;
  std::atomic<bool> has_any_{false};
};

Far& far() {
  static auto* const found = new Far;
  return *found;
}

void note_gathered(const Tiling& tiling, const Tile& tile, const std::vector<Interval>& told) {
  for (const auto& nest : tiling.nests) {
    const auto& part = nest.front();
    if (part.dim != TOLD) continue;

    const auto extent = told[part.reach.low].extent;
    const auto own = tile.extents[tiling.axes.front()];
    if (extent > FEW_ELEMENTS && extent > own + own / 2) far().note(part.reach.high);
  }
}

bool lies_together(const std::optional<Elements>& elements, std::int64_t itemsize) {
  return elements && elements->itemsize == itemsize && elements->strides[0] == itemsize;
}

Interval part_of(const std::optional<Elements>& elements) {
  return elements ? Interval{elements->lower[0], elements->upper[0] - elements->lower[0] + 1}
                  : Interval{0, 0};
}

// What a point gathers and computes again, where its columns can be looked through.
std::vector<GatheredBuffer> gathered_by(const Program& program, const Tiling& tiling,
                                        const std::vector<std::optional<Elements>>& arguments) {
  constexpr std::int64_t ROW_BYTES = 2 * sizeof(std::int64_t);
  std::vector<GatheredBuffer> found;
  auto words = program.nests;

  for (std::int64_t number = 0; number < program.num_nests; ++number) {
    const ParsedNest nest{words};
    const auto& part = tiling.nests[number].front();
    if (part.dim != TOLD) continue;

    const auto told = part.reach.low;
    const auto columns = tiling.arguments[told].teller;
    const auto rows = columns >= 0 ? tiling.arguments[columns].teller : NO_ARGUMENT;
    if (rows < 0 || nest.operands.front().base >= 0 ||
        !lies_together(arguments[columns], sizeof(std::int64_t)) ||
        !lies_together(arguments[rows], ROW_BYTES)) {
      continue;
    }
    const auto buffer = ~nest.operands.front().base;
    const auto own = tiling.buffers[buffer].front().reach.high;
    const auto has_own =
        own >= 0 && lies_together(arguments[own], program.buffers[buffer].itemsize);

    found.push_back({buffer, number, rows, columns, part.reach.high, part_of(arguments[columns]),
                     part_of(arguments[told]), has_own ? own : NO_ARGUMENT,
                     has_own ? part_of(arguments[own]) : Interval{0, 0}});
  }
  return found;
}

}  // namespace

std::vector<std::int64_t> take_far() {
  return far().take();
}

Program TiledProgram::restrict_to(const Nest::Strides& lower, const Nest::Strides& upper,
                                  const std::vector<Interval>& told) {
  Tile tile;

  for (std::int64_t d = 0; d < tiling_.rank; ++d) {
    tile.first[d] = lower[d];
    tile.extents[d] = std::max<std::int64_t>(upper[d] - lower[d] + 1, 0);
  }
  note_gathered(tiling_, tile, told);
  restrict_program(tiling_, tile, told, text_.data(), text_.size());
  Words words{text_.data(), text_.size()};
  return Program{words};
}

std::vector<Base> TiledProgram::bases(const std::vector<std::optional<Elements>>& arguments) const {
  std::vector<Base> found;

  for (std::size_t index = 0; index < arguments.size(); ++index) {
    found.push_back(arguments[index] ? base_of(*arguments[index], tiling_.arguments[index])
                                     : Base{});
  }
  return found;
}

std::vector<Interval> parts_of(const std::vector<std::optional<Elements>>& arguments) {
  std::vector<Interval> found;

  std::transform(arguments.begin(), arguments.end(), std::back_inserter(found), part_of);
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
  const auto program = tiled.restrict_to(leader->lower, leader->upper, parts_of(arguments));

  run_program(program, tiled.bases(arguments), shapes, sharing,
              gathered_by(program, tiled.tiling(), arguments));
}

namespace {

// Lets the points of a task have of an argument what lies within its reach of their tiles, which
// are those of the leader.
void constrain(legate::AutoTask& task, const Tiling& tiling, const std::vector<TiledShape>& shapes,
               const std::vector<legate::Variable>& partitions, std::size_t index) {
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
    task.add_constraint(legate::align(leader, partitions[index]));
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

// Whether points have many rows along the first axis, compared to what they need beyond them.
bool are_rows_enough(const Tiling& tiling, const std::vector<TiledShape>& shapes) {
  const auto num_points =
      static_cast<std::int64_t>(legate::Runtime::get_runtime()->get_machine().count());
  std::int64_t beyond = 1;

  for (const auto& argument : tiling.arguments) {
    beyond = std::max(beyond, argument.reach.front().high - argument.reach.front().low);
  }
  const auto rows = shapes[tiling.leader].shape.extents[tiling.axes.front()];

  return rows >= num_points * beyond * SMALL_SHARE && rows > undivided_extent();
}

}  // namespace

// Legate divides a store as the task before it has, and a new one along any dimension: tasks that
// read at a distance, whose arguments need not be divided alike, would take turns with tilings, and
// each would copy what it reads from one to the other. Rows are divided by all tasks that may.
void divide(legate::AutoTask& task, const Tiling& tiling, const std::vector<TiledShape>& shapes,
            const std::vector<legate::Variable>& partitions,
            const std::vector<legate::Type>& types) {
  const auto* const first = tiling.axes.data();
  const auto* const last = are_rows_enough(tiling, shapes) ? first + 1 : first + tiling.axes.size();
  std::vector<std::uint32_t> whole;

  for (std::int64_t d = 0; d < tiling.rank; ++d) {
    if (std::find(first, last, d) == last) {
      whole.push_back(static_cast<std::uint32_t>(d));
    }
  }
  if (!whole.empty()) {
    task.add_constraint(legate::broadcast(partitions[tiling.leader], whole));
  }
  for (std::size_t index = 0; index < shapes.size(); ++index) {
    if (static_cast<std::int64_t>(index) != tiling.leader &&
        tiling.arguments[index].teller == NEAR) {
      constrain(task, tiling, shapes, partitions, index);
    }
  }
  // Legate takes these in their order: what is told follows from what tells it
  for (std::size_t index = 0; index < shapes.size(); ++index) {
    if (tiling.arguments[index].teller != NEAR) gather(task, tiling, partitions, types, index);
  }
}

}  // namespace legate_diffuse
