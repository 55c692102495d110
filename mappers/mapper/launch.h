// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <cstdint>
#include <vector>

#include "mapper/arguments.h"
#include "program/program.h"
#include "program/schedule.h"
#include "program/scratch_plan.h"

namespace legate_diffuse {

// The task body and the mapper get what they need as one Legate scalar: this header, the
// offsets of the scratch buffers, the schedule, the program, and one privilege for each argument.
struct LaunchHeader {
  std::int64_t partitioned;
  std::int64_t num_arguments;
  std::int64_t num_scratch;
  std::int64_t num_bands;
  std::int64_t num_words;
  std::int64_t scratch_size;
  // Of memory for reductions on a GPU.
  std::int64_t fold_size;
  std::int64_t scratch_in_store;  // on a GPU: not in its pool
  Sharing sharing;
};

// What a task on one point does with its program.
struct Execution {
  Schedule schedule;
  ScratchPlan plan;
  bool scratch_in_store{};
  Sharing sharing{1, 0};
};

legate::Scalar pack_launch(const std::vector<Access>& arguments,
                           const std::vector<std::int64_t>& program, bool partitioned,
                           const Execution& execution, std::int64_t fold_size);

// A launch as a task reads it.
struct Launch {
  // `packed` must outlive this.
  explicit Launch(const legate::Scalar& packed);

  // What is packed before the program, which follows: the offsets of the scratch buffers, and then
  // the schedule.
  const std::int64_t* take_offsets(Words& words) const { return words.take(header.num_scratch); }
  Schedule take_schedule(Words& words) const;

  [[nodiscard]] bool is_tiled() const;

  LaunchHeader header{};
  std::vector<std::int64_t> words;
  const Privilege* privileges;
};

}  // namespace legate_diffuse
