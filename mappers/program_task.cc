// SPDX-License-Identifier: Apache-2.0

#include "program_task.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "elements.h"
#include "kernel_table.h"
#include "library.h"
#include "program.h"
#include "schedule.h"
#include "team.h"

namespace legate_diffuse {

namespace {

// Scratch memory up to this size is kept by each thread. More than that is Legate's, which lets the
// tasks that follow wait: a third of a millisecond, which is little beside the work on so much
// data.
constexpr std::int64_t MAX_KEPT_SCRATCH = 4 * 1024 * 1024;

// What the task body and the mapper have to know travels as one Legate scalar: this header, the
// offsets of the scratch buffers, the schedule, the program, and one privilege for each argument.
struct LaunchHeader {
  std::int64_t num_arguments;
  std::int64_t num_scratch;
  std::int64_t num_segments;
  std::int64_t num_words;
  std::int64_t scratch_size;
  Sharing sharing;
};

bool is_kept(std::int64_t scratch_size) {
  return scratch_size <= MAX_KEPT_SCRATCH;
}

// Words of a schedule: the segments, and for each nest and scratch buffer what it says of them.
std::vector<std::int64_t> pack_schedule(const Schedule& schedule) {
  std::vector<std::int64_t> words;

  if (schedule.segments.empty()) return words;
  for (const auto& [num_nests, block] : schedule.segments) {
    words.insert(words.end(), {num_nests, block});
  }
  for (const auto* const part : {&schedule.row_dims, &schedule.shifts, &schedule.rings}) {
    words.insert(words.end(), part->begin(), part->end());
  }
  return words;
}

Schedule unpack_schedule(Words& words, std::int64_t num_segments, std::int64_t num_scratch) {
  Schedule schedule;
  std::int64_t num_nests = 0;
  const auto take = [&](std::int64_t count) {
    const auto* const begin = words.take(count);
    return std::vector<std::int64_t>{begin, begin + count};
  };

  for (std::int64_t index = 0; index < num_segments; ++index) {
    const auto& segment = schedule.segments.emplace_back(Segment{words.take(), words.take()});
    num_nests += segment.num_nests;
  }
  if (num_segments > 0) {
    schedule.row_dims = take(num_nests);
    schedule.shifts = take(num_nests);
    schedule.rings = take(num_scratch);
  }
  return schedule;
}

std::vector<std::uint8_t> pack_launch(const std::vector<Argument>& arguments,
                                      const std::vector<std::int64_t>& program,
                                      const Schedule& schedule, const ScratchPlan& plan,
                                      const Sharing& sharing) {
  auto words = plan.offsets;
  const auto schedule_words = pack_schedule(schedule);

  words.insert(words.end(), schedule_words.begin(), schedule_words.end());
  words.insert(words.end(), program.begin(), program.end());

  const LaunchHeader header{static_cast<std::int64_t>(arguments.size()),
                            static_cast<std::int64_t>(plan.offsets.size()),
                            static_cast<std::int64_t>(schedule.segments.size()),
                            static_cast<std::int64_t>(words.size()),
                            plan.size,
                            sharing};
  const auto privileges_offset = sizeof(header) + words.size() * sizeof(std::int64_t);
  std::vector<std::uint8_t> buffer(privileges_offset + arguments.size());

  std::memcpy(buffer.data(), &header, sizeof(header));
  std::memcpy(buffer.data() + sizeof(header), words.data(), words.size() * sizeof(std::int64_t));
  std::transform(arguments.begin(), arguments.end(), buffer.begin() + privileges_offset,
                 [](const Argument& argument) { return argument.privilege; });
  return buffer;
}

// The memory of an argument or a scratch buffer: the address of the element with index 0 and the
// byte strides.
struct Root {
  char* origin{};
  Nest::Strides strides{};
  // Row i lies in the place of row i % ring, if it is not 0.
  std::int64_t ring{};
};

Root root_of(const Elements& elements) {
  Root root{elements.pointer, elements.strides};

  for (std::size_t d = 0; d < elements.lower.size(); ++d) {
    root.origin -= elements.lower[d] * elements.strides[d];
  }
  return root;
}

Root root_of(const Scratch& scratch, char* pointer) {
  Root root{pointer, {}};
  auto stride = scratch.itemsize;

  for (auto d = scratch.dim; d-- > 0;) {
    root.strides[d] = stride;
    stride *= scratch.extents[d];
  }
  return root;
}

std::vector<Root> find_arguments(const legate::TaskContext& context, std::size_t count,
                                 const std::uint8_t* privileges) {
  std::vector<Root> roots(count);
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
    // The new value of a future lies apart from the old one.
    if (privilege == READ_WRITE && elements->is_future) {
      std::memcpy(elements->pointer, find_elements(input)->pointer, store.type().size());
    }
    roots[index] = root_of(*elements);
  }
  return roots;
}

char* kept_scratch() {
  thread_local const std::unique_ptr<char, decltype(&std::free)> memory{
      static_cast<char*>(std::aligned_alloc(SCRATCH_ALIGNMENT, MAX_KEPT_SCRATCH)), &std::free};

  return memory.get();
}

char* allocate_scratch(std::int64_t size) {
  // Legate's buffers have its default alignment.
  auto room = static_cast<std::size_t>(size + SCRATCH_ALIGNMENT);
  void* pointer = legate::create_buffer<char>(room).ptr(0);

  return static_cast<char*>(std::align(SCRATCH_ALIGNMENT, size, pointer, room));
}

const Kernel& kernel_of(const NestHead& head) {
  const auto* const found = find_kernel(static_cast<std::uint32_t>(head.kernel));

  if (!found) {
    std::fprintf(stderr, "legate_diffuse: kernel %lld is not registered in this process\n",
                 static_cast<long long>(head.kernel));
    std::abort();
  }
  return *found;
}

// The rows of a nest run along one of its dimensions, or there is one row if `dim` is -1.
struct Rows {
  std::int64_t dim;
  std::int64_t first;
  std::int64_t count;
};

// Whether an operand is one element for all points of a nest.
bool is_one_element(const Operand& operand, std::int64_t dim) {
  return std::all_of(operand.dims, operand.dims + dim, [](auto of_root) { return of_root < 0; });
}

// What a thread reduces to, in the place of a nest's operands of one element: one line of a cache
// for each of the kernel's reductions. Null if it reduces to the operands.
using Partials = char*;
constexpr std::int64_t PARTIAL_SIZE = 64;

// Runs loop nests, or some rows of them, in one thread. The memory is used again for each nest.
class Runner {
 public:
  explicit Runner(const std::vector<Root>& roots, std::size_t num_arguments)
      : roots_{roots}, num_arguments_{num_arguments} {}

  void run(Words& words) {
    const NestHead head{words};

    nest_.reset(head.num_operands);
    for (std::int64_t d = 0; d < head.dim; ++d) nest_.add_dim(head.extents[d]);
    for (std::int64_t index = 0; index < head.num_operands; ++index) {
      set_operand(index, Operand{words, head.dim}, head.dim);
    }
    nest_.run(kernel_of(head), scalars(head));
  }

  void run(const ParsedNest& nest, const Kernel& kernel, Rows rows, Partials partials = nullptr) {
    const auto& [head, operands] = nest;

    while (rows.count > 0) {
      const auto count = rows_in_one_piece(nest, rows);

      nest_.reset(operands.size());
      for (std::int64_t d = 0; d < head.dim; ++d) {
        if (d == rows.dim) {
          nest_.add_dim(count, rows.first);
        } else {
          nest_.add_dim(head.extents[d]);
        }
      }
      for (std::size_t index = 0; index < operands.size(); ++index) {
        const auto& operand = operands[index];

        set_operand(index, operand, head.dim);
        if (rows.dim >= 0 && operand.dims[rows.dim] >= 0) {
          nest_.move_argument(index, row_offset(operand, rows));
        }
      }
      if (partials) {
        for (std::size_t index = 0; index < kernel.reductions.size(); ++index) {
          const auto argument = kernel.reductions[index].argument;

          if (!is_one_element(operands[argument], head.dim)) continue;
          nest_.set_argument(argument, partials + index * PARTIAL_SIZE, {});
        }
      }
      nest_.run(kernel, scalars(head));
      rows.first += count;
      rows.count -= count;
    }
  }

  // The address of an operand's first element.
  char* address(const Operand& operand) const {
    const auto& root = root_of(operand);
    auto* pointer = root.origin;

    for (std::int64_t d = 0; d < operand.root_dim; ++d) pointer += operand.low[d] * root.strides[d];
    return pointer;
  }

 private:
  const Root& root_of(const Operand& operand) const {
    return roots_[operand.base >= 0 ? operand.base
                                    : static_cast<std::int64_t>(num_arguments_) + ~operand.base];
  }

  void set_operand(std::size_t index, const Operand& operand, std::int64_t dim) {
    const auto& root = root_of(operand);
    Nest::Strides strides{};

    for (std::int64_t d = 0; d < dim; ++d) {
      strides[d] = operand.dims[d] >= 0 ? root.strides[operand.dims[d]] : 0;
    }
    nest_.set_argument(index, address(operand), strides);
  }

  // How many of the rows lie one after the other in all of a nest's rings.
  std::int64_t rows_in_one_piece(const ParsedNest& nest, const Rows& rows) const {
    auto count = rows.count;

    for (const auto& operand : nest.operands) {
      if (const auto ring = root_of(operand).ring; ring > 0) {
        count = std::min(count, ring - (operand.low[0] + rows.first) % ring);
      }
    }
    return count;
  }

  // The bytes from an operand's first row to another one. Rings are only those whose rows all their
  // nests run along.
  std::int64_t row_offset(const Operand& operand, const Rows& rows) const {
    const auto& root = root_of(operand);
    const auto low = operand.low[0];

    return (root.ring > 0 ? (low + rows.first) % root.ring - low : rows.first) *
           root.strides[operand.dims[rows.dim]];
  }

  const char* scalars(const NestHead& head) {
    scalars_.resize(head.num_scalars);
    std::memcpy(scalars_.data(), head.scalars, scalars_.size() * sizeof(ScalarBlock));
    return reinterpret_cast<const char*>(scalars_.data());
  }

  const std::vector<Root>& roots_;
  std::size_t num_arguments_;
  Nest nest_;
  std::vector<ScalarBlock> scalars_;
};

// Runs nests in several threads, which share the rows of each. Every thread reduces to values of
// its own, which are combined in the threads' order when all have come to the end of the nest: the
// result depends on the number of threads, and on nothing else.
class TeamRunner {
 public:
  TeamRunner(const std::vector<Root>& roots, std::size_t num_arguments, const Sharing& sharing)
      : runners_(sharing.num_threads, Runner{roots, num_arguments}),
        min_points_{sharing.min_points} {}

  void run(Words& words) {
    if (num_threads() == 1) {
      runners_[0].run(words);
      return;
    }
    const ParsedNest nest{words};
    run(nest, kernel_of(nest.head));
  }

  // Runs a whole nest.
  void run(const ParsedNest& nest, const Kernel& kernel) {
    const auto dim = longest_dim(nest, kernel);

    run(nest, kernel, {dim, 0, dim < 0 ? 1 : nest.head.extents[dim]});
  }

  void run(const ParsedNest& nest, const Kernel& kernel, const Rows& rows) {
    const auto num_parts = count_parts(nest, kernel, rows);

    if (num_parts < 2) {
      runners_[0].run(nest, kernel, rows);
      return;
    }
    reset_partials(kernel, num_parts - 1);
    Team::run(num_parts, [&](std::int64_t part) {
      const auto begin = rows.count * part / num_parts;
      const auto end = rows.count * (part + 1) / num_parts;

      runners_[part].run(nest, kernel, {rows.dim, rows.first + begin, end - begin},
                         part == 0 ? nullptr : partials_of(kernel, part - 1));
    });
    combine_partials(nest, kernel, num_parts - 1);
  }

  [[nodiscard]] std::int64_t num_threads() const {
    return static_cast<std::int64_t>(runners_.size());
  }

 private:
  // Whether threads may share the rows along a dimension: what they write lies apart, or they
  // reduce to one element.
  static bool is_shared(const ParsedNest& nest, const Kernel& kernel, std::int64_t dim) {
    const auto& [head, operands] = nest;

    for (std::int64_t index = 0; index < head.num_written; ++index) {
      const auto* const dims = operands[index].dims;
      const auto reduces =
          std::any_of(kernel.reductions.begin(), kernel.reductions.end(),
                      [&](const Reduction& reduction) { return reduction.argument == index; });

      if (dims[dim] < 0 && !(reduces && is_one_element(operands[index], head.dim))) {
        return false;
      }
    }
    return true;
  }

  // The outermost dimension that has rows enough for all threads, else the longest one; -1 if there
  // is none that they may share.
  std::int64_t longest_dim(const ParsedNest& nest, const Kernel& kernel) const {
    constexpr std::int64_t ENOUGH = 16;  // rows of a thread, so that they all have as much to do
    const auto* const extents = nest.head.extents;
    std::int64_t found = -1;

    if (num_threads() == 1) return found;
    for (std::int64_t dim = 0; dim < nest.head.dim; ++dim) {
      if (!is_shared(nest, kernel, dim)) continue;
      if (found < 0 || extents[dim] > extents[found]) found = dim;
      if (extents[dim] >= ENOUGH * num_threads()) break;
    }
    return found;
  }

  std::int64_t count_parts(const ParsedNest& nest, const Kernel& kernel, const Rows& rows) const {
    const auto& head = nest.head;

    if (num_threads() == 1 || rows.dim < 0 || !is_shared(nest, kernel, rows.dim)) return 1;

    auto points = rows.count;
    for (std::int64_t d = 0; d < head.dim; ++d) {
      if (d != rows.dim) points *= head.extents[d];
    }
    return std::min({num_threads(), rows.count, points / min_points_});
  }

  [[nodiscard]] Partials partials_of(const Kernel& kernel, std::int64_t helper) {
    return partials_[helper * kernel.reductions.size()].bytes.data();
  }

  void reset_partials(const Kernel& kernel, std::int64_t num_helpers) {
    partials_.resize(num_helpers * kernel.reductions.size());

    auto partial = partials_.begin();
    for (std::int64_t helper = 0; helper < num_helpers; ++helper) {
      for (const auto& [argument, combine, identity] : kernel.reductions) {
        std::copy(identity.bytes.begin(), identity.bytes.end(), (partial++)->bytes.begin());
      }
    }
  }

  void combine_partials(const ParsedNest& nest, const Kernel& kernel, std::int64_t num_helpers) {
    const std::array<std::int64_t, 2> extents{1, num_helpers};
    const std::array<std::int64_t, 4> strides{
        0, 0, 0, PARTIAL_SIZE * static_cast<std::int64_t>(kernel.reductions.size())};

    for (std::size_t index = 0; index < kernel.reductions.size(); ++index) {
      const auto& reduction = kernel.reductions[index];
      const auto& target = nest.operands[reduction.argument];
      if (!is_one_element(target, nest.head.dim)) continue;

      const auto* const combine = find_kernel(reduction.combine);
      const std::array<char*, 2> pointers{runners_[0].address(target),
                                          partials_[index].bytes.data()};

      combine->function(pointers.data(), strides.data(), extents.data(), nullptr);
    }
  }

  struct alignas(PARTIAL_SIZE) Partial {
    std::array<char, PARTIAL_SIZE> bytes;
  };

  std::vector<Runner> runners_;
  std::int64_t min_points_;
  std::vector<Partial> partials_;  // by helper, and then by reduction
};

// Runs the nests of a segment in turns; `first` is the number of the first one.
void run_blocked(TeamRunner& runner, Words& words, const Schedule& schedule, const Segment& segment,
                 std::int64_t first) {
  struct Part {
    ParsedNest nest;
    const Kernel& kernel;
    std::int64_t row_dim;
    std::int64_t num_rows;
    std::int64_t shift;
  };
  std::vector<Part> parts;
  auto start = INT64_MAX;
  auto end = INT64_MIN;

  for (auto number = first; number < first + segment.num_nests; ++number) {
    ParsedNest nest{words};
    const auto& kernel = kernel_of(nest.head);
    const auto row_dim = schedule.row_dims[number];
    const auto num_rows = row_dim < 0 ? 1 : nest.head.extents[row_dim];
    const auto shift = schedule.shifts[number];

    start = std::min(start, shift);
    end = std::max(end, shift + num_rows);
    parts.push_back({std::move(nest), kernel, row_dim, num_rows, shift});
  }
  for (auto time = start; time < end; time += segment.block) {
    for (const auto& part : parts) {
      const auto row = std::max(time - part.shift, std::int64_t{0});
      const auto row_end = std::min(time + segment.block - part.shift, part.num_rows);

      if (row >= row_end) continue;
      if (part.row_dim < 0) {
        runner.run(part.nest, part.kernel);
      } else {
        runner.run(part.nest, part.kernel, {part.row_dim, row, row_end - row});
      }
    }
  }
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

  auto roots = find_arguments(context, header.num_arguments, bytes + sizeof(header) + launch_bytes);
  auto* const scratch = header.scratch_size == 0       ? nullptr
                        : is_kept(header.scratch_size) ? kept_scratch()
                                                       : allocate_scratch(header.scratch_size);

  Words words{launch.data(), launch.size()};
  const auto* const offsets = words.take(header.num_scratch);
  const auto schedule = unpack_schedule(words, header.num_segments, header.num_scratch);
  const auto num_scratch = words.take();
  const auto num_nests = words.take();

  for (std::int64_t index = 0; index < num_scratch; ++index) {
    auto& root = roots.emplace_back(root_of(Scratch{words}, scratch + offsets[index]));
    if (!schedule.rings.empty()) root.ring = schedule.rings[index];
  }
  TeamRunner runner{roots, static_cast<std::size_t>(header.num_arguments), header.sharing};
  if (schedule.segments.empty()) {
    for (std::int64_t nest = 0; nest < num_nests; ++nest) runner.run(words);
  }
  std::int64_t first = 0;
  for (const auto& segment : schedule.segments) {
    if (segment.block > 0) {
      run_blocked(runner, words, schedule, segment, first);
    } else {
      for (std::int64_t nest = 0; nest < segment.num_nests; ++nest) runner.run(words);
    }
    first += segment.num_nests;
  }
}

class ProgramTask : public legate::LegateTask<ProgramTask> {
 public:
  static inline const auto TASK_CONFIG = legate::TaskConfig{PROGRAM_TASK}.with_variant_options(
      legate::VariantOptions{}.with_has_allocations(true));

  static void cpu_variant(legate::TaskContext context) { run_program_task(context); }
  static void omp_variant(legate::TaskContext context) { run_program_task(context); }
};

RootShape shape_of(const legate::LogicalStore& store) {
  const auto extents = store.extents();

  return {{extents.data().begin(), extents.data().end()}, store.type().size()};
}

}  // namespace

void register_program_task(const legate::Library& library) {
  ProgramTask::register_variants(library);
}

bool program_allocates(const legate::Scalar& launch) {
  LaunchHeader header;

  std::memcpy(&header, launch.ptr(), sizeof(header));
  return !is_kept(header.scratch_size);
}

void submit_program_task(const std::vector<Argument>& arguments,
                         const std::vector<std::int64_t>& program) {
  std::vector<RootShape> shapes(arguments.size());
  std::transform(arguments.begin(), arguments.end(), shapes.begin(),
                 [](const Argument& argument) { return shape_of(*argument.store); });
  const auto checked = check_program({program.data(), program.size()}, shapes);
  const auto sharing = current_sharing();
  const auto schedule = make_schedule(checked, shapes, sharing);

  // A manual task with one point does not pass through Legate's partitioner: stores are passed as a
  // whole, and keep the partitions that they have.
  auto* const runtime = legate::Runtime::get_runtime();
  auto task = runtime->create_task(library(), PROGRAM_TASK, {1});

  for (const auto& [store, privilege] : arguments) {
    if (reads(privilege)) task.add_input(*store);
    if (writes(privilege)) task.add_output(*store);
  }

  const auto launch =
      pack_launch(arguments, program, schedule, place_scratch(checked.buffers, schedule), sharing);

  task.add_scalar_arg(
      legate::Scalar{legate::Span<const std::uint8_t>{launch.data(), launch.size()}});
  runtime->submit(std::move(task));
}

}  // namespace legate_diffuse
