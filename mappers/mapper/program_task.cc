// SPDX-License-Identifier: Apache-2.0

#include "mapper/program_task.h"

#include <realm.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "mapper/library.h"
#include "program/elements.h"
#include "program/kernel_table.h"
#include "program/program.h"
#include "program/schedule.h"
#include "threads/team.h"
#include "threads/team_runner.h"

namespace legate_diffuse {

namespace {

// Scratch memory up to this size is kept by each thread; more than that by a store.
constexpr std::int64_t MAX_KEPT_SCRATCH = 4 * 1024 * 1024;

// Where the scratch buffers of a task lie.
enum class ScratchPlace : std::int64_t { THREAD, STORE, BUFFER };

// A store that tasks use as scratch memory, one after the other. With a buffer that Legate makes
// for one task, the tasks after it are not mapped before it has run, which costs a millisecond or
// more. So only what would take a large share of the memory is in such buffers.
class ScratchStore {
 public:
  static ScratchStore& instance() {
    static auto* const store = new ScratchStore;
    return *store;
  }

  // Returns a store of at least `size` bytes, or null if a buffer should be made.
  const legate::LogicalStore* find(std::int64_t size) {
    if (size > largest_) return nullptr;
    if (size > size_ || is_idle(size)) {
      const auto extent = static_cast<std::uint64_t>(size);

      store_ = legate::Runtime::get_runtime()->create_store(legate::Shape{extent}, legate::uint8());
      size_ = size;
    }
    return &*store_;
  }

  // Called where a task needs none.
  void skip() {
    if (size_ > 0 && is_idle(0)) drop();
  }

  void drop() {
    store_.reset();
    size_ = 0;
  }

 private:
  static constexpr int PATIENCE = 64;       // tasks that use less than half of the store
  static constexpr std::int64_t SHARE = 8;  // of the memory, which a store may take

  ScratchStore() {
    const auto memories = Realm::Machine::MemoryQuery{Realm::Machine::get_machine()}
                              .only_kind(Realm::Memory::SYSTEM_MEM)
                              .local_address_space();
    if (const auto memory = memories.first(); memory.exists()) {
      largest_ = static_cast<std::int64_t>(memory.capacity()) / SHARE;
    }
    legate::register_shutdown_callback([]() noexcept { instance().drop(); });
  }

  bool is_idle(std::int64_t size) {
    idle_ = size < size_ / 2 ? idle_ + 1 : 0;
    if (idle_ < PATIENCE) return false;
    idle_ = 0;
    return true;
  }

  std::optional<legate::LogicalStore> store_;
  std::int64_t size_{};
  std::int64_t largest_{};
  int idle_{};
};

// The task body and the mapper get what they need as one Legate scalar: this header, the
// offsets of the scratch buffers, the schedule, the program, and one privilege for each argument.
struct LaunchHeader {
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
  for (const auto& [num_nests, block, tiled] : schedule.bands) {
    words.insert(words.end(), {num_nests, block, tiled});
  }
  for (const auto* const part : {&schedule.row_dims, &schedule.shifts, &schedule.begins,
                                 &schedule.ends, &schedule.circular_rows}) {
    words.insert(words.end(), part->begin(), part->end());
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
    const auto& band =
        schedule.bands.emplace_back(Band{words.take(), words.take(), words.take() != 0});
    num_nests += band.num_nests;
  }
  if (num_bands > 0) {
    schedule.row_dims = take(num_nests);
    schedule.shifts = take(num_nests);
    schedule.begins = take(num_nests);
    schedule.ends = take(num_nests);
    schedule.circular_rows = take(num_scratch);
  }
  return schedule;
}

std::vector<std::uint8_t> pack_launch(const std::vector<Access>& arguments,
                                      const std::vector<std::int64_t>& program,
                                      const Schedule& schedule, const ScratchPlan& plan,
                                      ScratchPlace place, const Sharing& sharing) {
  auto words = plan.offsets;
  const auto schedule_words = pack_schedule(schedule);

  words.insert(words.end(), schedule_words.begin(), schedule_words.end());
  words.insert(words.end(), program.begin(), program.end());

  const LaunchHeader header{static_cast<std::int64_t>(arguments.size()),
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
  return buffer;
}

Base base_of(const Elements& elements) {
  Base base{elements.pointer, elements.strides};

  for (std::size_t d = 0; d < elements.lower.size(); ++d) {
    base.origin -= elements.lower[d] * elements.strides[d];
  }
  return base;
}

Base base_of(const Scratch& scratch, char* pointer) {
  Base base{pointer, {}};
  auto stride = scratch.itemsize;

  for (auto d = scratch.dim; d-- > 0;) {
    base.strides[d] = stride;
    stride *= scratch.extents[d];
  }
  return base;
}

std::vector<Base> find_arguments(const legate::TaskContext& context, std::size_t count,
                                 const std::uint8_t* privileges) {
  std::vector<Base> bases(count);
  std::uint32_t num_inputs = 0;
  std::uint32_t num_outputs = 0;

  for (std::size_t index = 0; index < count; ++index) {
    const auto privilege = privileges[index];
    const auto input =
        reads(privilege) ? context.input(num_inputs++).data() : legate::PhysicalStore{nullptr};
    const auto store = writes(privilege) ? context.output(num_outputs++).data() : input;
    const auto elements = find_elements(store);

    // No nest touches an argument without elements.
    if (!elements) continue;
    // The new value of a future does not lie where the old one does.
    if (privilege == READ_WRITE && elements->is_future) {
      std::memcpy(elements->pointer, find_elements(input)->pointer, store.type().size());
    }
    bases[index] = base_of(*elements);
  }
  return bases;
}

char* kept_scratch() {
  thread_local const std::unique_ptr<char, decltype(&std::free)> memory{
      static_cast<char*>(std::aligned_alloc(SCRATCH_ALIGNMENT, MAX_KEPT_SCRATCH)), &std::free};

  return memory.get();
}

// The first place from an address on where scratch memory may begin.
char* aligned(void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto over = address % SCRATCH_ALIGNMENT;

  return static_cast<char*>(pointer) + (over > 0 ? SCRATCH_ALIGNMENT - over : 0);
}

char* find_scratch(const legate::TaskContext& context, const LaunchHeader& header) {
  switch (header.scratch_place) {
    case ScratchPlace::THREAD:
      return header.scratch_size > 0 ? kept_scratch() : nullptr;
    // the last output
    case ScratchPlace::STORE:
      return aligned(find_elements(context.output(context.num_outputs() - 1).data())->pointer);
    // Legate's buffers have its default alignment.
    case ScratchPlace::BUFFER:
      break;
  }
  return aligned(legate::create_buffer<char>(header.scratch_size + SCRATCH_ALIGNMENT).ptr(0));
}

// Nothing in here may throw: an exception in a task body ends the process. The program was checked
// when it was submitted.
void run_program_task(const legate::TaskContext& context) noexcept {
  const auto packed = context.scalar(0);
  const auto* const bytes = static_cast<const std::uint8_t*>(packed.ptr());
  LaunchHeader header;

  // Legate packs scalars without regard to their alignment.
  std::memcpy(&header, bytes, sizeof(header));
  std::vector<std::int64_t> launch(header.num_words);
  const auto launch_bytes = launch.size() * sizeof(std::int64_t);
  std::memcpy(launch.data(), bytes + sizeof(header), launch_bytes);

  auto bases = find_arguments(context, header.num_arguments, bytes + sizeof(header) + launch_bytes);
  auto* const scratch = find_scratch(context, header);

  Words words{launch.data(), launch.size()};
  const auto* const offsets = words.take(header.num_scratch);
  const auto schedule = unpack_schedule(words, header.num_bands, header.num_scratch);
  const auto num_scratch = words.take();
  const auto num_nests = words.take();

  for (std::int64_t index = 0; index < num_scratch; ++index) {
    auto& base = bases.emplace_back(base_of(Scratch{words}, scratch + offsets[index]));
    if (!schedule.circular_rows.empty()) base.circular_rows = schedule.circular_rows[index];
  }
  TeamRunner runner{bases, static_cast<std::size_t>(header.num_arguments), header.sharing};
  if (schedule.bands.empty()) {
    for (std::int64_t nest = 0; nest < num_nests; ++nest) runner.run(words);
  }
  std::int64_t first = 0;
  for (const auto& band : schedule.bands) {
    if (band.block > 0) {
      runner.run_band(words, schedule, band, first);
    } else {
      for (std::int64_t nest = 0; nest < band.num_nests; ++nest) runner.run(words);
    }
    first += band.num_nests;
  }
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

}  // namespace

void register_program_task(legate::Library library, legate::LocalTaskID id, std::string name) {
  const auto options = legate::VariantOptions{}.with_has_allocations(true);

  register_task<ProgramTask>(std::move(library),
                             legate::TaskConfig{id}.with_variant_options(options), std::move(name));
}

bool program_allocates(const legate::Scalar& launch) {
  LaunchHeader header;

  std::memcpy(&header, launch.ptr(), sizeof(header));
  return header.scratch_place == ScratchPlace::BUFFER;
}

void submit_program_task(legate::LocalTaskID id, const std::vector<Access>& arguments,
                         const std::vector<std::int64_t>& program) {
  std::vector<RootShape> shapes(arguments.size());
  std::transform(arguments.begin(), arguments.end(), shapes.begin(),
                 [](const Access& access) { return shape_of(*access.store); });
  const auto checked = check_program({program.data(), program.size()}, shapes);
  const auto sharing = current_sharing();
  const auto schedule = make_schedule(checked, shapes, sharing);

  // A manual task with one point does not pass through Legate's partitioner: stores are passed as a
  // whole, and keep the partitions that they have.
  auto* const runtime = legate::Runtime::get_runtime();
  auto task = runtime->create_task(library(), id, {1});

  for (const auto& [store, privilege] : arguments) {
    if (reads(privilege)) task.add_input(*store);
    if (writes(privilege)) task.add_output(*store);
  }

  const auto plan = place_scratch(checked.buffers, schedule);
  auto place = ScratchPlace::THREAD;
  if (plan.size <= MAX_KEPT_SCRATCH) {
    ScratchStore::instance().skip();
  } else if (const auto* const store =
                 ScratchStore::instance().find(plan.size + SCRATCH_ALIGNMENT)) {
    task.add_output(*store);
    place = ScratchPlace::STORE;
  } else {
    place = ScratchPlace::BUFFER;
  }
  const auto launch = pack_launch(arguments, program, schedule, plan, place, sharing);

  task.add_scalar_arg(
      legate::Scalar{legate::Span<const std::uint8_t>{launch.data(), launch.size()}});
  runtime->submit(std::move(task));
}

}  // namespace legate_diffuse
