// SPDX-License-Identifier: Apache-2.0

#include "mapper/program_task.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "gpu/nest_launcher.h"
#include "mapper/gpu_task.h"
#include "mapper/launch.h"
#include "mapper/library.h"
#include "mapper/scratch.h"
#include "mapper/tile_task.h"
#include "program/elements.h"
#include "program/kernel_table.h"
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

// How many points of a launch run on this node at a time.
std::int64_t tasks_beside(const legate::TaskContext& context) {
  const auto points = static_cast<std::int64_t>(context.get_launch_domain().get_volume());
  const auto processors =
      static_cast<std::int64_t>(context.machine().processor_range().per_node_count);

  return std::clamp(points, std::int64_t{1}, std::max(processors, std::int64_t{1}));
}

// The program was checked when it was submitted.
void run_launch(const legate::TaskContext& context) {
  const auto packed = context.scalar(0);
  Launch launch{packed};
  auto& header = launch.header;

  if (header.partitioned) header.sharing.num_tasks = tasks_beside(context);

  const auto arguments = find_arguments(
      context, launch.privileges, header.num_arguments,
      [](char* to, const char* from, std::size_t size) { std::memcpy(to, from, size); });
  Words words{launch.words.data(), launch.words.size()};

  if (launch.is_tiled()) {
    run_tile(words, arguments, header.sharing);
    return;
  }

  Program program{words};
  std::vector<Base> bases;
  std::vector<RootShape> shapes;

  // No nest touches an argument without elements.
  for (const auto& argument : arguments) {
    bases.push_back(argument ? base_of(*argument) : Base{});
    shapes.push_back(argument ? shape_of(*argument) : RootShape{});
  }
  if (header.partitioned == 0) {
    run_program(program, std::move(bases), shapes, header.sharing);
    return;
  }

  auto& nest = program.nests.front();

  if (const auto tile = find_tile(arguments, launch.privileges, nest.head)) {
    nest.restrict_to(*tile);
    TeamRunner{bases, arguments.size(), header.sharing}.run(nest);
  }
}

// Nothing in here may throw: an exception in a task body ends the process.
void run_program_task(const legate::TaskContext& context) noexcept {
  try {
    run_launch(context);
  } catch (const NoScratch& error) {
    // other points have no memory either, and must not say so again
    static std::mutex ending;
    const std::lock_guard lock{ending};

    std::fprintf(stderr, "legate_diffuse: %s\n", error.what());
    std::fflush(stderr);
    std::_Exit(EXIT_FAILURE);
  }
}

class ProgramTask : public legate::LegateTask<ProgramTask> {
 public:
  static void cpu_variant(legate::TaskContext context) { run_program_task(context); }
  static void omp_variant(legate::TaskContext context) { run_program_task(context); }
  static void gpu_variant(legate::TaskContext context) { run_program_on_gpu(context); }
};

std::int64_t folds_of(const Program& program) {
  return kernels_run_on_gpus() ? fold_bytes(program.nests) : 0;
}

// The memory for the scratch buffers of a program that runs on one point. On GPUs nests run one
// after the other.
std::int64_t scratch_of(const Program& program, const std::vector<RootShape>& shapes,
                        const Sharing& sharing) {
  return kernels_run_on_gpus() ? place_scratch(program.buffers, {}).size
                               : scratch_bytes(program, shapes, sharing);
}

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

// Lets Legate divide the arguments as the tiling says that the program begins with, or all alike.
void submit_divided(legate::LocalTaskID id, const std::vector<Access>& arguments,
                    const std::vector<std::int64_t>& program) {
  std::vector<TiledShape> shapes;
  std::vector<legate::Variable> partitions;
  std::vector<legate::Type> types;
  std::optional<Tiling> tiling;
  std::optional<Program> parsed;

  for (const auto& [store, privilege] : arguments) {
    types.push_back(store->type());
    shapes.push_back(
        {shape_of(*store), writes(privilege) || reduces(privilege), store->has_scalar_storage()});
  }
  if (is_tiled(program)) {
    std::tie(tiling, parsed) = check_tiled_program(program, shapes);
  } else {
    std::vector<std::size_t> dims;

    for (const auto& each : shapes) dims.push_back(each.shape.extents.size());
    parsed = check_partitioned_program({program.data(), program.size()}, dims);
  }

  LaunchHeader header{true};
  auto* const runtime = legate::Runtime::get_runtime();
  auto task = runtime->create_task(library(), id);

  for (const auto& argument : arguments) partitions.push_back(add_argument(task, argument));
  if (!needs_inline_execution(task)) {
    if (tiling) {
      divide(task, *tiling, shapes, *parsed, partitions, types);
    } else {
      for (std::size_t index = 1; index < partitions.size(); ++index) {
        task.add_constraint(legate::align(partitions.front(), partitions[index]));
      }
    }
  }
  header.fold_size = folds_of(*parsed);
  task.add_scalar_arg(pack_launch(arguments, program, header));
  runtime->submit(std::move(task));
}

void submit_whole(legate::LocalTaskID id, const std::vector<Access>& arguments,
                  const std::vector<std::int64_t>& program) {
  const auto shapes = shapes_of(arguments);
  const auto checked = check_program({program.data(), program.size()}, shapes);
  LaunchHeader header{false, current_sharing()};

  // A manual task with one point does not pass through Legate's partitioner: stores are passed as a
  // whole, and keep the partitions that they have.
  auto* const runtime = legate::Runtime::get_runtime();
  auto task = runtime->create_task(library(), id, {1});

  for (const auto& [store, privilege] : arguments) {
    if (reads(privilege)) task.add_input(*store);
    if (writes(privilege)) task.add_output(*store);
  }

  header.scratch_size = scratch_of(checked, shapes, header.sharing);
  header.fold_size = folds_of(checked);
  // throws where there is none, while the original tasks can still be run
  if (!kernels_run_on_gpus() && header.scratch_size > MAX_KEPT_SCRATCH) {
    const ThreadScratch first{header.scratch_size};
  }

  const auto* const scratch = find_scratch_store(header.scratch_size);

  header.scratch_in_store = scratch != nullptr;
  if (scratch) task.add_output(*scratch);
  task.add_scalar_arg(pack_launch(arguments, program, header));
  runtime->submit(std::move(task));
}

}  // namespace

void register_program_task(legate::Library library, legate::LocalTaskID id, std::string name) {
  // The device is not waited for after a task: what comes next is ordered by its stream.
  const auto options =
      legate::VariantOptions{}.with_has_allocations(true).with_elide_device_ctx_sync(true);

  register_task<ProgramTask>(library, legate::TaskConfig{id}.with_variant_options(options),
                             std::move(name));
}

std::optional<std::size_t> program_pool_size(const legate::mapping::Task& task,
                                             legate::mapping::StoreTarget memory) {
  if (!kernels_run_on_gpus() || memory != legate::mapping::StoreTarget::FBMEM) return 0;

  const auto packed = task.scalar(0);

  return gpu_pool_size(Launch{packed}, task);
}

std::int64_t scratch_bytes(const std::vector<RootShape>& shapes,
                           const std::vector<std::int64_t>& program) {
  return scratch_of(check_program({program.data(), program.size()}, shapes), shapes,
                    current_sharing());
}

void submit_program_task(legate::LocalTaskID id, const std::vector<Access>& arguments,
                         const std::vector<std::int64_t>& program, bool partitioned) {
  if (partitioned) {
    submit_divided(id, arguments, program);
  } else {
    submit_whole(id, arguments, program);
  }
}

}  // namespace legate_diffuse
