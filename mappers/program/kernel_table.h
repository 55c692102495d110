// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/stopwatch.h"

namespace legate_diffuse {

// One call runs a nest of two loops: extents[0] (outer) by extents[1] (inner) points. extents[2] is
// for how many points results are written, by this and other calls, before any of them is read: if
// they are more than caches hold, they bypass them.
// pointers[i] is the address of argument i's first element; strides[2 * i] and strides[2 * i + 1]
// are its byte strides in the outer and the inner loop. scalars holds one value every 16 bytes.
// Kernels don't throw and are called without the GIL, from any thread.
using KernelFunction = void (*)(char* const* pointers, const std::int64_t* strides,
                                const std::int64_t* extents, const char* scalars);

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

// Bit d of `indices` is set if the kernel uses the index of a point along dimension d, counted from
// the last one. Each index is one more argument, after the others and in the order of the bits: its
// pointer is the index of the first point, and its strides say by how much the index grows.
// `repeated` are the numbers of the arguments for which the kernel is slow unless their inner
// stride is 0: it reads them before the loop, or reduces to them. `clock`, which may be null, sums
// the time of all runs.
struct Kernel {
  KernelFunction function;
  std::uint32_t indices;
  std::vector<std::uint32_t> repeated;
  std::vector<Reduction> reductions;
  Clock* clock;
};

// The kernels of this process. A kernel has an id, because a task may run in another process than
// the one that submitted it, where the kernel has another address. Every rank registers the same
// kernels in the same order, and no id is used twice. The functions may be called from any thread
// at any time. A kernel stays where it is until it is forgotten, when no task needs it any more,
// and its clock stays; the result of `find_kernel` is null if none has this id.
std::uint32_t register_kernel(Kernel kernel);
void forget_kernel(std::uint32_t id);
const Kernel* find_kernel(std::uint32_t id);

// Nanoseconds on the clocks of all kernels, by id; 0 where there is no clock.
std::vector<std::int64_t> kernel_nanoseconds();

}  // namespace legate_diffuse
