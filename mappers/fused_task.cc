// SPDX-License-Identifier: Apache-2.0

#include "fused_task.h"

#include <legate.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernel_table.h"
#include "loop_nest.h"
#include "mapper.h"

namespace legate_diffuse {

namespace {

using Nest = LoopNest<LEGATE_MAX_DIM>;

// Scalars are read in blocks of this size, aligned to it.
constexpr std::size_t SCALAR_SIZE = 16;

constexpr std::size_t round_up(std::size_t size) {
  return (size + SCALAR_SIZE - 1) / SCALAR_SIZE * SCALAR_SIZE;
}

// What the task body has to know beside the stores travels as one Legate scalar: this header, one
// privilege for each argument, padding to SCALAR_SIZE, and the kernel's scalars.
struct LaunchHeader {
  std::uint32_t kernel;
  std::uint32_t num_arguments;
};

std::vector<std::uint8_t> pack_launch(std::uint32_t kernel, const std::vector<Argument>& arguments,
                                      std::string_view scalars) {
  const LaunchHeader header{kernel, static_cast<std::uint32_t>(arguments.size())};
  const auto scalars_offset = round_up(sizeof(header) + arguments.size());
  std::vector<std::uint8_t> buffer(scalars_offset + scalars.size());

  std::memcpy(buffer.data(), &header, sizeof(header));
  std::transform(arguments.begin(), arguments.end(), buffer.begin() + sizeof(header),
                 [](const Argument& argument) { return argument.privilege; });
  std::copy(scalars.begin(), scalars.end(), buffer.begin() + scalars_offset);
  return buffer;
}

struct Launch {
  explicit Launch(const legate::Scalar& packed) {
    const auto* bytes = static_cast<const std::uint8_t*>(packed.ptr());
    LaunchHeader header;

    std::memcpy(&header, bytes, sizeof(header));
    kernel = find_kernel(header.kernel);
    if (!kernel) {
      std::fprintf(stderr, "legate_diffuse: kernel %u is not registered in this process\n",
                   header.kernel);
      std::abort();
    }
    num_arguments = header.num_arguments;
    privileges = bytes + sizeof(header);

    // Legate packs scalars without regard to the alignment that kernels rely on.
    const auto scalars_offset = round_up(sizeof(header) + num_arguments);
    scalars.resize((packed.size() - scalars_offset) / SCALAR_SIZE);
    std::memcpy(scalars.data(), bytes + scalars_offset, scalars.size() * SCALAR_SIZE);
  }

  struct alignas(SCALAR_SIZE) ScalarBlock {
    std::array<char, SCALAR_SIZE> bytes;
  };

  Kernel kernel;
  std::size_t num_arguments;
  const std::uint8_t* privileges;
  std::vector<ScalarBlock> scalars;
};

// One argument's elements in memory. `lower` is the point that `pointer` belongs to.
struct Elements {
  char* pointer{};
  Nest::Strides strides{};
  Nest::Strides lower{};
  Nest::Strides upper{};
  bool is_future{};
};

char* zero_dim_pointer(const legate::PhysicalStore& store) {
  // get_inline_allocation() throws for a 0-d store that is a region without transforms; Legate
  // backs such a store by a 1-d region of one element.
  if (store.is_future() || store.transformed()) {
    return static_cast<char*>(store.get_inline_allocation().ptr);
  }
  const auto* pointer = store.is_readable() ? store.read_accessor<std::int8_t, 1, false>().ptr(0)
                                            : store.write_accessor<std::int8_t, 1, false>().ptr(0);
  return const_cast<char*>(reinterpret_cast<const char*>(pointer));
}

// Empty when the argument has no elements here.
std::optional<Elements> find_elements(const legate::PhysicalStore& store) {
  const auto dim = store.dim();
  Elements elements;

  elements.is_future = store.is_future();
  if (dim == 0) {
    elements.pointer = zero_dim_pointer(store);
    return elements;
  }

  const auto domain = store.domain();

  // Legate backs a store without elements by one of another dimensionality.
  if (domain.get_dim() != dim || domain.empty()) return std::nullopt;
  for (std::int32_t index = 0; index < dim; ++index) {
    elements.lower[index] = domain.lo()[index];
    elements.upper[index] = domain.hi()[index];
  }

  const auto allocation = store.get_inline_allocation();

  elements.pointer = static_cast<char*>(allocation.ptr);
  // A future holds one element, whatever the shape of the view.
  if (!elements.is_future) {
    for (std::int32_t index = 0; index < dim; ++index) {
      elements.strides[index] = static_cast<std::int64_t>(allocation.strides[index]);
    }
  }
  return elements;
}

// Runs the kernel over the points that all arguments cover. Nothing in here may throw: an
// exception in a task body ends the process.
void run_fused_task(legate::TaskContext context) noexcept {
  const Launch launch{context.scalar(0)};
  std::vector<Elements> arguments(launch.num_arguments);
  std::uint32_t num_inputs = 0;
  std::uint32_t num_outputs = 0;
  std::int32_t dim = 0;

  for (std::size_t index = 0; index < launch.num_arguments; ++index) {
    const auto privilege = launch.privileges[index];
    const auto reads = (privilege & READ) != 0;
    const auto writes = (privilege & WRITE) != 0;
    const auto input = reads ? context.input(num_inputs++).data() : legate::PhysicalStore{nullptr};
    const auto store = writes ? context.output(num_outputs++).data() : input;
    const auto elements = find_elements(store);

    if (!elements) return;
    // The new value of a future lies apart from the old one.
    if (reads && writes && elements->is_future) {
      std::memcpy(elements->pointer, find_elements(input)->pointer, store.type().size());
    }
    arguments[index] = *elements;
    dim = std::max(dim, store.dim());
  }

  // Futures report the bounds of the whole array, and broadcast regions may do so: the bounds of
  // this point task are those of the first region that is written, or else of any region.
  const auto leader_rank = [&](std::size_t index) {
    return std::pair{arguments[index].is_future, (launch.privileges[index] & WRITE) == 0};
  };
  std::size_t leader = 0;
  for (std::size_t index = 1; index < arguments.size(); ++index) {
    if (leader_rank(index) < leader_rank(leader)) leader = index;
  }

  auto lower = arguments[leader].lower;
  auto upper = arguments[leader].upper;
  for (const auto& argument : arguments) {
    for (std::int32_t index = 0; index < dim && !argument.is_future; ++index) {
      lower[index] = std::max(lower[index], argument.lower[index]);
      upper[index] = std::min(upper[index], argument.upper[index]);
    }
  }

  Nest nest{arguments.size()};
  for (std::int32_t index = 0; index < dim; ++index) {
    nest.add_dim(std::max<std::int64_t>(upper[index] - lower[index] + 1, 0));
  }
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    auto* pointer = arguments[index].pointer;

    for (std::int32_t d = 0; d < dim; ++d) {
      pointer += (lower[d] - arguments[index].lower[d]) * arguments[index].strides[d];
    }
    nest.set_argument(index, pointer, arguments[index].strides);
  }
  nest.run(launch.kernel, leader, reinterpret_cast<const char*>(launch.scalars.data()));
}

class FusedTask : public legate::LegateTask<FusedTask> {
 public:
  static inline const auto TASK_CONFIG = legate::TaskConfig{legate::LocalTaskID{0}};

  static void cpu_variant(legate::TaskContext context) { run_fused_task(context); }
  static void omp_variant(legate::TaskContext context) { run_fused_task(context); }
};

std::optional<legate::Library>& library() {
  static std::optional<legate::Library> instance;
  return instance;
}

}  // namespace

void start_library() {
  if (library()) return;

  bool created = false;
  auto result = legate::Runtime::get_runtime()->find_or_create_library(
      "legate_diffuse", legate::ResourceConfig{1}, std::make_unique<Mapper>(), {}, &created);

  if (created) FusedTask::register_variants(result);
  library() = result;
}

void submit_fused_task(std::uint32_t kernel, const std::vector<Argument>& arguments,
                       std::string_view scalars) {
  auto* const runtime = legate::Runtime::get_runtime();
  auto task = runtime->create_task(library().value(), FusedTask::TASK_CONFIG.task_id());
  std::optional<legate::Variable> first;

  for (const auto& [store, privilege] : arguments) {
    const legate::LogicalArray array{*store};
    const auto partition = (privilege & READ) != 0 ? task.add_input(array) : task.add_output(array);

    if (privilege == READ_WRITE) task.add_output(array, partition);
    if (!first) {
      first = partition;
    } else if (!task.needs_inline_execution_()) {
      task.add_constraint(legate::align(*first, partition));
    }
  }

  const auto launch = pack_launch(kernel, arguments, scalars);

  task.add_scalar_arg(
      legate::Scalar{legate::Span<const std::uint8_t>{launch.data(), launch.size()}});
  runtime->submit(std::move(task));
}

}  // namespace legate_diffuse
