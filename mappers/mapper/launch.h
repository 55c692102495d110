// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <cstdint>
#include <vector>

#include "mapper/arguments.h"
#include "program/program.h"
#include "program/schedule.h"

namespace legate_diffuse {

// The task body and the mapper get what they need as one Legate scalar: this header, the program,
// and one privilege for each argument.
struct LaunchHeader {
  std::int64_t partitioned;
  Sharing sharing{1, 0};  // of a task on one point
  // On a GPU: the memory for scratch buffers, whether it is in a store and not in the task's pool,
  // and the memory for reductions.
  std::int64_t scratch_size{};
  std::int64_t scratch_in_store{};
  std::int64_t fold_size{};
  // Filled in when a launch is packed.
  std::int64_t num_arguments{};
  std::int64_t num_words{};
};

legate::Scalar pack_launch(const std::vector<Access>& arguments,
                           const std::vector<std::int64_t>& program, LaunchHeader header);

// A launch as a task reads it.
struct Launch {
  // `packed` must outlive this.
  explicit Launch(const legate::Scalar& packed);

  [[nodiscard]] bool is_tiled() const;

  LaunchHeader header{};
  std::vector<std::int64_t> words;
  const Privilege* privileges;
};

}  // namespace legate_diffuse
