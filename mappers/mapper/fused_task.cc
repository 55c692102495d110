// SPDX-License-Identifier: Apache-2.0

#include "mapper/fused_task.h"

#include <legate.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mapper/library.h"
#include "program/elements.h"
#include "program/kernel_table.h"

namespace legate_diffuse {

namespace {

constexpr std::size_t round_up(std::size_t size) {
  return (size + SCALAR_SIZE - 1) / SCALAR_SIZE * SCALAR_SIZE;
}

// Beside the stores the task body gets what it needs as one Legate scalar: this header, one
// privilege for each argument, padding to SCALAR_SIZE, and the kernel's scalars.
struct LaunchHeader {
  std::uint32_t kernel;
  std::uint32_t num_arguments;
  // Of all arguments. Tiles may reach beyond them: Legate doesn't clip what it derives from a
  // partition that a task has chosen, as sorting does.
  Nest::Strides extents;
};

std::vector<std::uint8_t> pack_launch(std::uint32_t kernel, const std::vector<Access>& arguments,
                                      std::string_view scalars) {
  LaunchHeader header{kernel, static_cast<std::uint32_t>(arguments.size()), {}};
  const auto extents = arguments.front().store->extents();
  std::copy(extents.data().begin(), extents.data().end(), header.extents.begin());

  const auto scalars_offset = round_up(sizeof(header) + arguments.size());
  std::vector<std::uint8_t> buffer(scalars_offset + scalars.size());

  std::memcpy(buffer.data(), &header, sizeof(header));
  std::transform(arguments.begin(), arguments.end(), buffer.begin() + sizeof(header),
                 [](const Access& access) { return access.privilege; });
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
    extents = header.extents;
    privileges = bytes + sizeof(header);

    // Legate packs scalars without regard to the alignment that kernels rely on.
    const auto scalars_offset = round_up(sizeof(header) + num_arguments);
    scalars.resize((packed.size() - scalars_offset) / SCALAR_SIZE);
    std::memcpy(scalars.data(), bytes + scalars_offset, scalars.size() * SCALAR_SIZE);
  }

  const Kernel* kernel;
  std::size_t num_arguments;
  Nest::Strides extents;
  const std::uint8_t* privileges;
  std::vector<ScalarBlock> scalars;
};

// Runs the kernel over the points that all arguments cover. Nothing in here may throw: an
// exception in a task body ends the process.
void run_fused_task(legate::TaskContext context) noexcept {
  const Launch launch{context.scalar(0)};
  std::vector<Elements> arguments(launch.num_arguments);
  std::uint32_t num_inputs = 0;
  std::uint32_t num_outputs = 0;
  std::uint32_t num_reductions = 0;
  std::int32_t dim = 0;

  for (std::size_t index = 0; index < launch.num_arguments; ++index) {
    const auto privilege = launch.privileges[index];
    const auto input =
        reads(privilege) ? context.input(num_inputs++).data() : legate::PhysicalStore{nullptr};
    const auto store = reduces(privilege)  ? context.reduction(num_reductions++).data()
                       : writes(privilege) ? context.output(num_outputs++).data()
                                           : input;
    const auto elements = find_elements(store);

    if (!elements) return;
    // The new value of a future does not lie where the old one does.
    if (privilege == READ_WRITE && elements->is_future) {
      std::memcpy(elements->pointer, find_elements(input)->pointer, store.type().size());
    }
    arguments[index] = *elements;
    dim = std::max(dim, store.dim());
  }

  // Futures report the bounds of the whole array, and broadcast regions may do so: the bounds of
  // this point task are those of the first region that is written, or else of any region.
  const auto leader_rank = [&](std::size_t index) {
    return std::pair{arguments[index].is_future, !writes(launch.privileges[index])};
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

  for (std::int32_t index = 0; index < dim; ++index) {
    lower[index] = std::max<std::int64_t>(lower[index], 0);
    upper[index] = std::min(upper[index], launch.extents[index] - 1);
  }

  Nest nest;

  nest.reset(arguments.size());
  for (std::int32_t index = 0; index < dim; ++index) {
    nest.add_dim(std::max<std::int64_t>(upper[index] - lower[index] + 1, 0), lower[index]);
  }
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    auto* pointer = arguments[index].pointer;

    for (std::int32_t d = 0; d < dim; ++d) {
      pointer += (lower[d] - arguments[index].lower[d]) * arguments[index].strides[d];
    }
    nest.set_argument(index, pointer, arguments[index].strides);
  }
  nest.run(*launch.kernel, reinterpret_cast<const char*>(launch.scalars.data()));
}

class FusedTask : public legate::LegateTask<FusedTask> {
 public:
  static void cpu_variant(legate::TaskContext context) { run_fused_task(context); }
  static void omp_variant(legate::TaskContext context) { run_fused_task(context); }
};

}  // namespace

void register_fused_task(legate::Library library, legate::LocalTaskID id, std::string name) {
  register_task<FusedTask>(std::move(library), legate::TaskConfig{id}, std::move(name));
}

void submit_fused_task(legate::LocalTaskID id, std::uint32_t kernel,
                       const std::vector<Access>& arguments, std::string_view scalars) {
  auto* const runtime = legate::Runtime::get_runtime();
  auto task = runtime->create_task(library(), id);
  std::optional<legate::Variable> first;

  for (const auto& [store, privilege] : arguments) {
    const legate::LogicalArray array{*store};

    if (privilege == REDUCE + static_cast<Privilege>(legate::ReductionOpKind::OR) &&
        array.type().code() == legate::Type::Code::BOOL) {
      // Legion ends the process when it finds this one missing; addition of bools is the same.
      throw std::invalid_argument{"bools cannot be reduced with OR, use ADD"};
    }
    const auto partition = reduces(privilege) ? task.add_reduction(array, privilege - REDUCE)
                           : reads(privilege) ? task.add_input(array)
                                              : task.add_output(array);

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
