// SPDX-License-Identifier: Apache-2.0

#include "threads/program_runner.h"

#include <algorithm>
#include <cstdlib>

#include "program/scratch_plan.h"

namespace legate_diffuse {

namespace {

using Memory = std::unique_ptr<char, void (*)(void*)>;

Memory allocate(std::int64_t size) {
  Memory memory{static_cast<char*>(std::aligned_alloc(SCRATCH_ALIGNMENT, size)), &std::free};

  if (!memory) throw NoScratch{size};
  return memory;
}

char* kept_scratch(std::int64_t size) {
  thread_local Memory memory{nullptr, &std::free};
  thread_local std::int64_t kept = 0;

  if (size > kept) {
    memory.reset();
    kept = 0;
    memory = allocate(std::max(size, MAX_KEPT_SCRATCH));
    kept = std::max(size, MAX_KEPT_SCRATCH);
  }
  return memory.get();
}

Schedule schedule_of(const Program& program, const std::vector<RootShape>& arguments,
                     const Sharing& sharing) {
  try {
    return make_schedule(program, arguments, sharing);
  } catch (const InvalidProgram&) {
    // its nests run one after the other
    return {};
  }
}

void run_band(Words& words, const Schedule& schedule, const Band& band, std::int64_t first,
              TeamRunner& runner) {
  if (band.block > 0) {
    runner.run_band(words, schedule, band, first);
  } else {
    for (std::int64_t nest = 0; nest < band.num_nests; ++nest) runner.run(words);
  }
}

}  // namespace

ThreadScratch::ThreadScratch(std::int64_t size) : own_{nullptr, &std::free} {
  constexpr std::int64_t MOST = 128 * 1024 * 1024;

  if (size > MOST) {
    own_ = allocate(size);
  } else if (size > 0) {
    kept_ = kept_scratch(size);
  }
}

void add_scratch(const Program& program, const Schedule& schedule, const std::int64_t* offsets,
                 char* scratch, std::vector<Base>& bases) {
  for (std::size_t index = 0; index < program.buffers.size(); ++index) {
    const auto& buffer = program.buffers[index];
    auto& base = bases.emplace_back(
        row_major(scratch + offsets[index], buffer.itemsize, buffer.dim, buffer.extents));

    if (!schedule.circular.empty()) base.circular = schedule.circular[index];
  }
}

void run_nests(Words words, std::int64_t num_nests, const Schedule& schedule, TeamRunner& runner) {
  if (schedule.bands.empty()) {
    for (std::int64_t nest = 0; nest < num_nests; ++nest) runner.run(words);
  }
  std::int64_t first = 0;
  for (const auto& band : schedule.bands) {
    run_band(words, schedule, band, first, runner);
    first += band.num_nests;
  }
}

void run_program(const Program& program, std::vector<Base> bases,
                 const std::vector<RootShape>& shapes, const Sharing& sharing) {
  const auto num_arguments = bases.size();
  const auto schedule = schedule_of(program, shapes, sharing);
  const auto plan = place_scratch(program.buffers, schedule);
  const ThreadScratch scratch{plan.size};

  add_scratch(program, schedule, plan.offsets.data(), scratch.get(), bases);
  TeamRunner runner{bases, num_arguments, sharing};

  run_nests(program.nests, program.num_nests, schedule, runner);
}

}  // namespace legate_diffuse
