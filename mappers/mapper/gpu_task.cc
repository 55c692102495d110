// SPDX-License-Identifier: Apache-2.0

#include "mapper/gpu_task.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "gpu/driver.h"
#include "gpu/nest_launcher.h"
#include "mapper/arguments.h"
#include "mapper/scratch.h"
#include "mapper/tile_task.h"
#include "program/bases.h"
#include "program/scratch_plan.h"
#include "threads/program_runner.h"
#include "versions.h"

namespace legate_diffuse {

namespace {

// The memory of the GPU that a task takes from its pool: that for reductions, and after it that of
// scratch buffers.
class PoolMemory {
 public:
  PoolMemory(std::int64_t fold_size, std::int64_t scratch_size) : fold_size_{fold_size} {
    if (fold_size + scratch_size == 0) return;
    const auto buffer = legate::create_buffer<char>(size(fold_size, scratch_size),
                                                    legate::Memory::Kind::GPU_FB_MEM);
    begin_ = aligned(buffer.ptr(0));
  }

  static std::size_t size(std::int64_t fold_size, std::int64_t scratch_size) {
    if (fold_size + scratch_size == 0) return 0;
    return fold_size + scratch_size + SCRATCH_ALIGNMENT;
  }

  [[nodiscard]] char* folds() const { return fold_size_ > 0 ? begin_ : nullptr; }
  [[nodiscard]] char* scratch() const { return begin_ + fold_size_; }

 private:
  std::int64_t fold_size_;
  char* begin_{};
};

static_assert(TICKET_BYTES % SCRATCH_ALIGNMENT == 0);

using Arguments = std::vector<std::optional<Elements>>;

void launch_tile(const Launch& launch, const Arguments& arguments, Driver::Stream stream) {
  TiledProgram tiled{{launch.words.data(), launch.words.size()}, arguments.size()};
  const auto& leader = arguments[tiled.tiling().leader];

  if (!leader) return;
  const auto program = tiled.restrict_to(leader->lower, leader->upper);
  const auto plan = place_scratch(program.buffers, {});
  const PoolMemory memory{launch.header.fold_size, plan.size};
  auto bases = tiled.bases(arguments);

  add_scratch(program, {}, plan, memory.scratch(), bases);
  NestLauncher launcher{bases, arguments.size(), prepare_folds(memory.folds(), stream), stream};
  launcher.run(program);
}

void launch_whole(const legate::TaskContext& context, const Launch& launch,
                  const Arguments& arguments, Driver::Stream stream) {
  const auto& header = launch.header;
  const auto is_in_pool = header.scratch_in_store == 0;
  Words words{launch.words.data(), launch.words.size()};
  Program program{words};
  const PoolMemory memory{header.fold_size, is_in_pool ? header.scratch_size : 0};
  std::vector<Base> bases;

  // No nest touches an argument without elements.
  for (const auto& argument : arguments) bases.push_back(argument ? base_of(*argument) : Base{});
  add_scratch(program, {}, place_scratch(program.buffers, {}),
              is_in_pool ? memory.scratch() : scratch_in_store(context), bases);
  NestLauncher launcher{bases, arguments.size(), prepare_folds(memory.folds(), stream), stream};
  if (header.partitioned != 0) {
    auto& nest = program.nests.front();

    if (const auto tile = find_tile(arguments, launch.privileges, nest.head)) {
      nest.restrict_to(*tile);
      launcher.run(nest);
    }
    return;
  }
  launcher.run(program);
}

// The store of an argument, as the mapper knows it.
legate::mapping::Store store_of(const Launch& launch, const legate::mapping::Task& task,
                                std::size_t index) {
  const auto before = [&](auto&& uses) {
    return std::count_if(launch.privileges, launch.privileges + index, uses);
  };
  const auto privilege = launch.privileges[index];

  if (reduces(privilege)) return task.reduction(before(reduces)).data();
  if (writes(privilege)) return task.output(before(writes)).data();
  return task.input(before(reads)).data();
}

// The bytes of the scratch buffers of the tile that a task runs.
std::int64_t tile_scratch_bytes(const Launch& launch, const legate::mapping::Task& task) {
  TiledProgram tiled{{launch.words.data(), launch.words.size()},
                     static_cast<std::size_t>(launch.header.num_arguments)};
  const auto& tiling = tiled.tiling();
  const auto domain = store_of(launch, task, tiling.leader).domain();
  Nest::Strides lower{};
  Nest::Strides upper{};

  if (domain.get_dim() != tiling.rank || domain.empty()) return 0;
  for (std::int64_t d = 0; d < tiling.rank; ++d) {
    lower[d] = domain.lo()[static_cast<int>(d)];
    upper[d] = domain.hi()[static_cast<int>(d)];
  }
  return place_scratch(tiled.restrict_to(lower, upper).buffers, {}).size;
}

}  // namespace

void run_program_on_gpu(const legate::TaskContext& context) noexcept {
  const auto packed = context.scalar(0);
  const Launch launch{packed};
  auto* const stream = context.get_task_stream();

  try {
    const auto arguments =
        find_arguments(context, launch.privileges, launch.header.num_arguments,
                       [&](char* to, const char* from, std::size_t size) {
                         check(driver(),
                               driver().copy(reinterpret_cast<Driver::Address>(to),
                                             reinterpret_cast<Driver::Address>(from), size, stream),
                               "cuMemcpyAsync");
                       });

    if (launch.is_tiled()) {
      launch_tile(launch, arguments, stream);
    } else {
      launch_whole(context, launch, arguments, stream);
    }
  } catch (const DriverError& error) {
    end_program("a GPU does not run what it is given", error);
  }
}

std::optional<std::size_t> gpu_pool_size(const Launch& launch, const legate::mapping::Task& task) {
  const auto& header = launch.header;

  if (launch.is_tiled()) {
    return PoolMemory::size(header.fold_size, tile_scratch_bytes(launch, task));
  }
  if (header.scratch_in_store != 0) return PoolMemory::size(header.fold_size, 0);
  if (header.scratch_size > MAX_SCRATCH_IN_POOL) return std::nullopt;
  return PoolMemory::size(header.fold_size, header.scratch_size);
}

}  // namespace legate_diffuse
