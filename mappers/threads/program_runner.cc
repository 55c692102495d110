// SPDX-License-Identifier: Apache-2.0

#include "threads/program_runner.h"

#include <algorithm>
#include <cstdlib>

#include "memory/spare_memory.h"

namespace legate_diffuse {

namespace {

using Memory = std::unique_ptr<char, void (*)(void*)>;

Memory allocate(std::int64_t size) {
  Memory memory{static_cast<char*>(std::aligned_alloc(SCRATCH_ALIGNMENT, size)), &std::free};

  if (!memory) throw NoScratch{size};
  return memory;
}

char* kept_scratch(std::int64_t size) {
  constexpr std::int64_t LEAST = 4 * 1024 * 1024;
  thread_local Memory memory{nullptr, &std::free};
  thread_local std::int64_t kept = 0;

  if (size > kept) {
    memory.reset();
    kept = 0;
    size = std::max(size, LEAST);
    memory = allocate(size);
    kept = size;
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

void run_nests(const std::vector<ParsedNest>& nests, const Schedule& schedule, TeamRunner& runner) {
  if (schedule.bands.empty()) {
    for (const auto& nest : nests) runner.run(nest);
  }
  std::int64_t first = 0;
  for (const auto& band : schedule.bands) {
    const auto end = first + band.num_nests;

    if (band.block > 0) {
      runner.run_band(nests, schedule, band, first);
    } else {
      for (auto nest = first; nest < end; ++nest) runner.run(nests[nest]);
    }
    first = end;
  }
}

}  // namespace

NoScratch::NoScratch(std::int64_t num_bytes) {
  constexpr std::int64_t MIB = 1024 * 1024;

  sentence_ = "the system has no " + std::to_string((num_bytes + MIB - 1) / MIB) +
              " MiB for the temporaries of a fused task, which lie beside Legate's memory; leave "
              "it more with a smaller --sysmem";
}

ThreadScratch::ThreadScratch(std::int64_t size) {
  if (size > MAX_KEPT_SCRATCH) {
    memory_ = static_cast<char*>(SpareMemory::instance().allocate(size));
    if (!memory_) throw NoScratch{size};
    given_back_ = size;
  } else if (size > 0) {
    memory_ = kept_scratch(size);
  }
}

ThreadScratch::~ThreadScratch() {
  if (given_back_ > 0) SpareMemory::instance().free(memory_, given_back_);
}

void add_scratch(const Program& program, const Schedule& schedule, const ScratchPlan& plan,
                 char* scratch, std::vector<Base>& bases) {
  for (std::size_t index = 0; index < program.buffers.size(); ++index) {
    const auto& buffer = program.buffers[index];
    auto& base = bases.emplace_back(
        row_major(scratch + plan.offsets[index], buffer.itemsize, buffer.dim, buffer.extents));

    if (!schedule.circular.empty()) base.circular = schedule.circular[index];
  }
}

std::int64_t scratch_bytes(const Program& program, const std::vector<RootShape>& shapes,
                           const Sharing& sharing) {
  if (program.buffers.empty()) return 0;
  return place_scratch(program.buffers, schedule_of(program, shapes, sharing)).size;
}

void run_program(const Program& program, std::vector<Base> bases,
                 const std::vector<RootShape>& shapes, const Sharing& sharing) {
  const auto num_arguments = bases.size();
  const auto schedule = schedule_of(program, shapes, sharing);
  const auto plan = place_scratch(program.buffers, schedule);
  const ThreadScratch scratch{plan.size};

  add_scratch(program, schedule, plan, scratch.get(), bases);
  TeamRunner runner{bases, num_arguments, sharing};

  run_nests(program.nests, schedule, runner);
}

}  // namespace legate_diffuse
