// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <vector>

#include "gpu/driver.h"
#include "gpu/gpu_kernel.h"
#include "gpu/grid.h"
#include "program/bases.h"
#include "program/program.h"

namespace legate_diffuse {

// Memory of the device for the reductions of nests that run one after the other: see
// `partial_bytes`. The tickets are zero while no nest runs.
struct FoldMemory {
  Driver::Address partials;
  Driver::Address tickets;
};

// The memory that nests of a program need for their reductions, in bytes; 0 if none reduces.
std::int64_t fold_bytes(const std::vector<ParsedNest>& nests);

// The same memory, zeroed where it must be, in `memory` of that size.
FoldMemory prepare_folds(char* memory, Driver::Stream stream);

// Launches loop nests on the stream of a task, one after the other.
class NestLauncher {
 public:
  NestLauncher(const std::vector<Base>& bases, std::size_t num_arguments, const FoldMemory& folds,
               Driver::Stream stream)
      : bases_{bases, num_arguments}, folds_{folds}, stream_{stream} {}

  void run(const ParsedNest& nest);

  // Runs all nests of a program.
  void run(const Program& program);

 private:
  Bases bases_;
  FoldMemory folds_;
  Driver::Stream stream_;
  GridNest nest_;
  std::vector<ScalarBlock> scalars_;
};

}  // namespace legate_diffuse
