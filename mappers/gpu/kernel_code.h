// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "program/row_driver.h"

namespace legate_diffuse {

// A kernel for GPUs, as codegen/gpu/code.py lays it out. Its function has one parameter, a block of
// 64-bit words:
//
//   extent[LOOPS] rows slices stores partials tickets layout chunk
//   pointer[num_arguments] stride[num_arguments][LOOPS] padding scalar[num_scalars]
//
// Loops and strides begin with the inner loop, extents that are missing are 1. An index has its
// first value instead of a pointer. A word of padding makes the number of words even, and a scalar
// takes 16 bytes. `layout` is a GridLayout (grid.h), and `chunk` the rows that a thread takes one
// after the other.
//
// The code of a run (program.h) has one function, whose parameter is the number of rows, a word of
// padding, and such a block for each nest. There `rows` and `extent` are those of the points of one
// row; the last stride is that from row to row; and `slices` and `stores` are the nest's first row
// and where its rows end.
struct GpuKernelCode {
  static constexpr std::int64_t LOOPS = 6;
  // Words of a parameter block before the pointers, and those that the launch fills in.
  static constexpr std::int64_t HEAD = LOOPS + 7;
  static constexpr std::int64_t PARTIALS = LOOPS + 3;
  static constexpr std::int64_t TICKETS = LOOPS + 4;
  static constexpr std::int64_t LAYOUT = LOOPS + 5;
  static constexpr std::int64_t ROW_HEAD = 2;

  // What the driver loads.
  const void* image;
  std::int64_t image_bytes;
  const char* name;
  // Of a block: a power of two.
  std::int64_t threads;
  // The most threads of a block along the inner loop.
  std::int64_t block_x;
  // Points that a thread takes at a time where all memory is aligned and contiguous.
  std::int64_t lanes;
  // Whether it reduces.
  std::int64_t reduces;
  // Words of a partial result, of all arguments that are reduced to.
  std::int64_t partial_words;
  // With indices, which come after the others.
  std::int64_t num_arguments;
  std::int64_t num_scalars;
  // As in KernelCode.
  std::int64_t indices;
  // Those that are reduced to are UPDATED. Null for a run.
  const KernelArgument* arguments;
  // For each argument of each nest of a run the number of the memory of its own that it is a row
  // of, or -1.
  const std::int64_t* local;
  // How many points, or vectors of them, a thread reads before it computes the first of them: as
  // many blocks fewer run over the inner loop.
  std::int64_t groups;
};

// What a launch needs for its reductions at most: partial results, of blocks or, where it reduces
// to several elements, of threads beside each other; and tickets, which are zero when it begins.
constexpr std::int64_t MAX_BLOCKS = 1024;
constexpr std::int64_t COLUMNS = 32;
constexpr std::int64_t TICKET_BYTES = MAX_BLOCKS * 4;

constexpr std::int64_t partial_bytes(const GpuKernelCode& code, bool has_columns) {
  return MAX_BLOCKS * (has_columns ? COLUMNS : 1) * code.partial_words *
         static_cast<std::int64_t>(sizeof(std::int64_t));
}

}  // namespace legate_diffuse
