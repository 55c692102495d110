// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/bases.h"
#include "program/elements.h"
#include "program/kernel_table.h"
#include "program/program.h"
#include "program/schedule.h"

namespace legate_diffuse {

// The rows of a nest run along one of its dimensions, or there is one row if `dim` is negative.
struct Rows {
  std::int64_t dim;
  std::int64_t first;
  std::int64_t count;
};

// Where all threads but the first reduce to, instead of a nest's operands of one element.
class Partials {
 public:
  void reset(const Kernel& kernel, std::int64_t num_helpers);

  // A line of a cache for each of the kernel's reductions; null for thread 0.
  char* of_thread(std::int64_t thread);

  static char* of_reduction(char* partials, std::size_t reduction) {
    return partials + reduction * SIZE;
  }

  // Combines what the threads have reduced to with `target`, in the threads' order.
  void combine(std::size_t reduction, const Reduction& how, char* target);

 private:
  static constexpr std::size_t SIZE = 64;

  struct alignas(SIZE) Partial {
    std::array<char, SIZE> bytes;
  };

  std::size_t num_reductions_{};
  std::vector<Partial> values_;  // by thread, and then by reduction
};

// The loops of a nest that runs on so many rows at a time, again and again.
struct PreparedNest {
  Nest loops;
  std::int64_t num_rows{};
};

// Runs loop nests, or some rows of them, in one thread. The memory is used again for each nest.
class Runner {
 public:
  Runner(const std::vector<Base>& bases, std::size_t num_arguments)
      : bases_{bases, num_arguments} {}

  // Reduces to `partials`, if they are not null, and not to operands of one element. `unread`: see
  // LoopNest. A nest that runs again in the same thread may be prepared.
  void run(const ParsedNest& nest, const Kernel& kernel, Rows rows, std::int64_t unread,
           char* partials = nullptr);
  void run(const ParsedNest& nest, const Kernel& kernel, Rows rows, std::int64_t unread,
           char* partials, PreparedNest& prepared);

  [[nodiscard]] const Bases& bases() const { return bases_; }

 private:
  [[nodiscard]] std::int64_t find_rows(const ParsedNest& nest, const Rows& rows);
  void prepare(const ParsedNest& nest, const Kernel& kernel, const Rows& rows, std::int64_t unread,
               PreparedNest& prepared) const;
  const char* scalars(const NestHead& head);

  Bases bases_;
  PreparedNest once_;
  std::vector<char*> addresses_;
  std::vector<ScalarBlock> scalars_;
};

}  // namespace legate_diffuse
