// SPDX-License-Identifier: Apache-2.0

#include "mapper/program_task.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include "mapper/library.h"
#include "mapper/scratch.h"
#include "mapper/tile_task.h"
#include "program/elements.h"
#include "program/program.h"
#include "program/schedule.h"
#include "program/scratch_plan.h"
#include "program/tiling.h"
#include "threads/program_runner.h"
#include "threads/team.h"
#include "threads/team_runner.h"
#include "versions.h"

namespace legate_diffuse {

namespace {

// The task body and the mapper get what they need as one Legate scalar: this header, the
// offsets of the scratch buffers, the schedule, the program, and one privilege for each argument.
struct LaunchHeader {
  std::int64_t partitioned;
  std::int64_t num_arguments;
  std::int64_t num_scratch;
  std::int64_t num_bands;
  std::int64_t num_words;
  std::int64_t scratch_size;
  ScratchPlace scratch_place;
  Sharing sharing;
};

// Words of a schedule: the bands, and for each nest and scratch buffer what it says of them.
std::vector<std::int64_t> pack_schedule(const Schedule& schedule) {
  std::vector<std::int64_t> words;

  if (schedule.bands.empty()) return words;
  for (const auto& [num_nests, block, num_tiles] : schedule.bands) {
    words.insert(words.end(), {num_nests, block, num_tiles});
  }
  for (const auto* const part : {&schedule.shifts, &schedule.begins, &schedule.ends}) {
    words.insert(words.end(), part->begin(), part->end());
  }
  for (const auto& [rows, num_tiles, tiled_rows, seam_begin, seam_rows] : schedule.circular) {
    words.insert(words.end(), {rows, num_tiles, tiled_rows, seam_begin, seam_rows});
  }
  return words;
}

Schedule unpack_schedule(Words& words, std::int64_t num_bands, std::int64_t num_scratch) {
  Schedule schedule;
  std::int64_t num_nests = 0;
  const auto take = [&](std::int64_t count) {
    const auto* const begin = words.take(count);
    return std::vector<std::int64_t>{begin, begin + count};
  };

  for (std::int64_t index = 0; index < num_bands; ++index) {
    const auto& band = schedule.bands.emplace_back(Band{words.take(), words.take(), words.take()});
    num_nests += band.num_nests;
  }
  if (num_bands > 0) {
    schedule.shifts = take(num_nests);
    schedule.begins = take(num_nests);
    schedule.ends = take(num_nests);
    for (std::int64_t index = 0; index < num_scratch; ++index) {
      schedule.circular.push_back(
          {words.take(), words.take(), words.take(), words.take(), words.take()});
    }
  }
  return schedule;
}

// What a task on one point does with its program.
struct Execution {
  Schedule schedule;
  ScratchPlan plan;
  ScratchPlace place{ScratchPlace::THREAD};
  Sharing sharing{1, 0};
};

legate::Scalar pack_launch(const std::vector<Access>& arguments,
                           const std::vector<std::int64_t>& program, bool partitioned,
                           const Execution& execution) {
  const auto& [schedule, plan, place, sharing] = execution;
  auto words = plan.offsets;
  const auto schedule_words = pack_schedule(schedule);

  words.insert(words.end(), schedule_words.begin(), schedule_words.end());
  words.insert(words.end(), program.begin(), program.end());

  const LaunchHeader header{partitioned,
                            static_cast<std::int64_t>(arguments.size()),
                            static_cast<std::int64_t>(plan.offsets.size()),
                            static_cast<std::int64_t>(schedule.bands.size()),
                            static_cast<std::int64_t>(words.size()),
                            plan.size,
                            place,
                            sharing};
  const auto privileges_offset = sizeof(header) + words.size() * sizeof(std::int64_t);
  std::vector<std::uint8_t> buffer(privileges_offset + arguments.size());

  std::memcpy(buffer.data(), &header, sizeof(header));
  std::memcpy(buffer.data() + sizeof(header), words.data(), words.size() * sizeof(std::int64_t));
  std::transform(arguments.begin(), arguments.end(), buffer.begin() + privileges_offset,
                 [](const Access& access) { return access.privilege; });
  return legate::Scalar{legate::Span<const std::uint8_t>{buffer.data(), buffer.size()}};
}

// How many points of a launch run on this node at a time.
std::int64_t tasks_beside(const legate::TaskContext& context) {
  const auto points = static_cast<std::int64_t>(context.get_launch_domain().get_volume());
  const auto processors =
      static_cast<std::int64_t>(context.machine().processor_range().per_node_count);

  return std::clamp(points, std::int64_t{1}, std::max(processors, std::int64_t{1}));
}

// Nothing in here may throw: an exception in a task body ends the process. The program was checked
// when it was submitted.
void run_program_task(const legate::TaskContext& context) noexcept {
  const auto packed = context.scalar(0);
  const auto* const bytes = static_cast<const std::uint8_t*>(packed.ptr());
  LaunchHeader header;

  // Legate packs scalars without regard to their alignment.
  std::memcpy(&header, bytes, sizeof(header));
  if (header.partitioned) header.sharing.num_tasks = tasks_beside(context);

  std::vector<std::int64_t> launch(header.num_words);
  const auto launch_bytes = launch.size() * sizeof(std::int64_t);
  std::memcpy(launch.data(), bytes + sizeof(header), launch_bytes);

  const auto* const privileges = bytes + sizeof(header) + launch_bytes;
  const auto arguments = find_arguments(context, privileges, header.num_arguments);
  auto* const scratch = find_scratch(context, header.scratch_place, header.scratch_size);

  if (header.partitioned && is_tiled(launch)) {
    run_tile({launch.data(), launch.size()}, arguments, header.sharing);
    return;
  }
  Words words{launch.data(), launch.size()};
  const auto* const offsets = words.take(header.num_scratch);
  const auto schedule = unpack_schedule(words, header.num_bands, header.num_scratch);
  const Program program{words};
  std::vector<Base> bases;

  // No nest touches an argument without elements.
  for (const auto& argument : arguments) bases.push_back(argument ? base_of(*argument) : Base{});
  for (std::size_t index = 0; index < program.buffers.size(); ++index) {
    const auto& buffer = program.buffers[index];
    auto& base = bases.emplace_back(
        row_major(scratch + offsets[index], buffer.itemsize, buffer.dim, buffer.extents));

    if (!schedule.circular.empty()) base.circular = schedule.circular[index];
  }
  TeamRunner runner{bases, arguments.size(), header.sharing};
  if (header.partitioned) {
    ParsedNest nest{words};

    if (const auto tile = find_tile(arguments, privileges, nest.head)) {
      nest.restrict_to(*tile);
      runner.run(nest);
    }
    return;
  }
  run_nests(words, program.num_nests, schedule, runner);
}

class ProgramTask : public legate::LegateTask<ProgramTask> {
 public:
  static void cpu_variant(legate::TaskContext context) { run_program_task(context); }
  static void omp_variant(legate::TaskContext context) { run_program_task(context); }
};

RootShape shape_of(const legate::LogicalStore& store) {
  const auto extents = store.extents();

  return {{extents.data().begin(), extents.data().end()}, store.type().size()};
}

std::vector<RootShape> shapes_of(const std::vector<Access>& arguments) {
  std::vector<RootShape> shapes(arguments.size());

  std::transform(arguments.begin(), arguments.end(), shapes.begin(),
                 [](const Access& access) { return shape_of(*access.store); });
  return shapes;
}

// Adds a store to a task. Each point reduces to an instance of its own, which Legate then combines
// with the value that the store had. A store that is passed twice is divided in two ways.
legate::Variable add_argument(legate::AutoTask& task, const Access& access) {
  const auto array = as_argument(*access.store);
  const auto privilege = access.privilege;

  if (privilege == REDUCE + static_cast<Privilege>(legate::ReductionOpKind::OR) &&
      array.type().code() == legate::Type::Code::BOOL) {
    // Legion ends the process when it finds this one missing; addition of bools is the same.
    throw std::invalid_argument{"bools cannot be reduced with OR, use ADD"};
  }
  const auto partition = reduces(privilege) ? task.add_reduction(array, privilege - REDUCE)
                         : reads(privilege) ? task.add_input(array, task.declare_partition())
                                            : task.add_output(array);

  if (privilege == READ_WRITE) task.add_output(array, partition);
  return partition;
}

void submit_tiled(legate::LocalTaskID id, const std::vector<Access>& arguments,
                  const std::vector<std::int64_t>& program) {
  std::vector<TiledShape> shapes;
  std::vector<legate::Variable> partitions;
  std::vector<legate::Type> types;

  for (const auto& [store, privilege] : arguments) {
    types.push_back(store->type());
    shapes.push_back(
        {shape_of(*store), writes(privilege) || reduces(privilege), store->has_scalar_storage()});
  }
  check_tiled_program(program, shapes);

  Words words{program.data(), program.size()};
  const Tiling tiling{words, arguments.size()};
  auto* const runtime = legate::Runtime::get_runtime();
  auto task = runtime->create_task(library(), id);

  for (const auto& argument : arguments) partitions.push_back(add_argument(task, argument));
  if (!needs_inline_execution(task)) divide(task, tiling, shapes, partitions, types);
  task.add_scalar_arg(pack_launch(arguments, program, true, {}));
  runtime->submit(std::move(task));
}

// Legate divides the arguments alike.
void submit_partitioned(legate::LocalTaskID id, const std::vector<Access>& arguments,
                        const std::vector<std::int64_t>& program) {
  std::vector<std::uint32_t> dims(arguments.size());
  std::transform(arguments.begin(), arguments.end(), dims.begin(),
                 [](const Access& access) { return access.store->dim(); });
  check_partitioned_program({program.data(), program.size()}, dims);

  auto* const runtime = legate::Runtime::get_runtime();
  auto task = runtime->create_task(library(), id);
  std::optional<legate::Variable> first;

  for (const auto& argument : arguments) {
    const auto partition = add_argument(task, argument);

    if (!first) {
      first = partition;
    } else if (!needs_inline_execution(task)) {
      task.add_constraint(legate::align(*first, partition));
    }
  }
  task.add_scalar_arg(pack_launch(arguments, program, true, {}));
  runtime->submit(std::move(task));
}

void submit_whole(legate::LocalTaskID id, const std::vector<Access>& arguments,
                  const std::vector<std::int64_t>& program) {
  const auto shapes = shapes_of(arguments);
  const auto checked = check_program({program.data(), program.size()}, shapes);
  Execution execution;

  execution.sharing = current_sharing();
  execution.schedule = make_schedule(checked, shapes, execution.sharing);
  execution.plan = place_scratch(checked.buffers, execution.schedule);

  // A manual task with one point does not pass through Legate's partitioner: stores are passed as a
  // whole, and keep the partitions that they have.
  auto* const runtime = legate::Runtime::get_runtime();
  auto task = runtime->create_task(library(), id, {1});

  for (const auto& [store, privilege] : arguments) {
    if (reads(privilege)) task.add_input(*store);
    if (writes(privilege)) task.add_output(*store);
  }

  const auto scratch = choose_scratch(execution.plan.size);

  execution.place = scratch.place;
  if (scratch.store) task.add_output(*scratch.store);
  task.add_scalar_arg(pack_launch(arguments, program, false, execution));
  runtime->submit(std::move(task));
}

}  // namespace

void register_program_task(legate::Library library, legate::LocalTaskID id, std::string name) {
  const auto options = legate::VariantOptions{}.with_has_allocations(true);

  register_task<ProgramTask>(library, legate::TaskConfig{id}.with_variant_options(options),
                             std::move(name));
}

bool program_allocates(const legate::Scalar& launch) {
  LaunchHeader header;

  std::memcpy(&header, launch.ptr(), sizeof(header));
  return header.scratch_place == ScratchPlace::BUFFER;
}

std::int64_t scratch_bytes(const std::vector<Access>& arguments,
                           const std::vector<std::int64_t>& program) {
  const auto shapes = shapes_of(arguments);
  const auto checked = check_program({program.data(), program.size()}, shapes);

  return place_scratch(checked.buffers, make_schedule(checked, shapes, current_sharing())).size;
}

void submit_program_task(legate::LocalTaskID id, const std::vector<Access>& arguments,
                         const std::vector<std::int64_t>& program, bool partitioned) {
  if (partitioned && is_tiled(program)) {
    submit_tiled(id, arguments, program);
  } else if (partitioned) {
    submit_partitioned(id, arguments, program);
  } else {
    submit_whole(id, arguments, program);
  }
}

}  // namespace legate_diffuse
