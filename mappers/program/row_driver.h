// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace legate_diffuse {

// How a kernel's loop uses an argument.
struct KernelArgument {
  static constexpr std::int64_t READ = 1;
  static constexpr std::int64_t WRITE = 2;
  // It is used at its pointer only: its inner stride must be 0.
  static constexpr std::int64_t INVARIANT = 4;
  // It is no memory: its pointer is a number that grows by the strides.
  static constexpr std::int64_t INDEX = 8;
  // `update` reads and writes an element for each point; for `body` it is INVARIANT.
  static constexpr std::int64_t UPDATED = 16;

  std::int64_t itemsize;
  std::int64_t flags;
};

struct KernelCode;

// Computes at least one point of a row. What moves is contiguous; what is INVARIANT is used at its
// pointer. `strides` are those of the row driver. With `streams` the outputs lie on cache lines,
// and bypass the caches. `code` is what the loop belongs to.
using KernelLoop = void (*)(char* const* pointers, const char* scalars, std::int64_t points,
                            const std::int64_t* strides, bool streams, const KernelCode* code);

// The machine code of a kernel, as codegen/module.py lays it out.
struct KernelCode {
  KernelLoop body;
  // Runs instead where every UPDATED argument moves along the row; null if there is none.
  KernelLoop update;
  // Bit d is set if the kernel uses the index of a point along dimension d, counted from the last
  // one. Each index is one of the arguments, after the others and in the order of the bits: its
  // pointer is the index of the first point, and its strides say by how much the index grows.
  std::int64_t indices;
  // Points of a vector.
  std::int64_t lanes;
  // Limit to the points of a call: a multiple of the lanes.
  std::int64_t most_points;
  std::int64_t num_arguments;
  const KernelArgument* arguments;
};

}  // namespace legate_diffuse

extern "C" {

// Runs a kernel over a nest of two loops: extents[0] (outer) by extents[1] (inner) points.
// extents[2] is for how many points results are written, by this and other calls, before any of
// them is read: if they are more than caches hold, they bypass them. pointers[i] is the address of
// argument i's first element; strides[2 * i] and strides[2 * i + 1] are its byte strides in the
// outer and the inner loop. scalars holds one value every 16 bytes. Nothing throws.
void legate_diffuse_run_rows(const legate_diffuse::KernelCode* code, char* const* pointers,
                             const std::int64_t* strides, const std::int64_t* extents,
                             const char* scalars);
}
