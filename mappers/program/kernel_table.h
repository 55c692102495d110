// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "program/row_driver.h"
#include "program/stopwatch.h"

namespace legate_diffuse {

// Kernels read values in blocks of this size, aligned to it.
constexpr std::size_t SCALAR_SIZE = 16;

struct alignas(SCALAR_SIZE) ScalarBlock {
  std::array<char, SCALAR_SIZE> bytes;
};

// An argument that a kernel reduces to. `combine` is the id of the kernel that reduces its second
// argument to its first one with the same operator; `identity` is the value to start from.
struct Reduction {
  std::uint32_t argument;
  std::uint32_t combine;
  ScalarBlock identity;
};

class GpuKernel;
class Interpreter;

// Either `code` or `on_gpu` is null: the kernels of a process run on CPUs, or on GPUs. `clock`,
// which may be null, sums the time of all runs on CPUs. `interpreter` has the code if that is not
// compiled.
struct Kernel {
  const KernelCode* code;
  std::vector<Reduction> reductions;
  Clock* clock;
  std::shared_ptr<const GpuKernel> on_gpu;
  std::shared_ptr<const Interpreter> interpreter;

  // Whether it may run as it is. Else it was forgotten, or is to be compiled.
  [[nodiscard]] bool is_ready() const;
};

// The kernels of this process. A kernel has an id, because a task may run in another process than
// the one that submitted it, where the kernel has another address. Every rank registers the same
// kernels in the same order, and no id is used twice. The functions may be called from any thread
// at any time. A kernel stays where it is until it is forgotten, when no task needs it any more,
// and its clock stays; the result of `find_kernel` is null if none has this id.
std::uint32_t register_kernel(Kernel kernel);
void forget_kernel(std::uint32_t id);
const Kernel* find_kernel(std::uint32_t id);

// Whether the kernels of this process run on GPUs, which is said before there are any.
bool kernels_run_on_gpus();
void run_kernels_on_gpus();

// Nanoseconds on the clocks of all kernels, by id; 0 where there is no clock.
std::vector<std::int64_t> kernel_nanoseconds();

}  // namespace legate_diffuse
