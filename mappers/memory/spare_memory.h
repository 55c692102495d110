// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace legate_diffuse {

// Memory for arrays and temporaries, which std::free can free. What was large is kept for the next
// that is as large: from the system it would have to be cleared first.
class SpareMemory {
 public:
  // Never destroyed, as arrays may outlive it.
  static SpareMemory& instance();

  // Whether memory of this size is kept.
  static bool takes(std::size_t num_bytes) { return num_bytes >= SMALLEST; }

  // Returns memory that is not set; null if there is none.
  [[nodiscard]] void* allocate(std::size_t num_bytes);

  // Takes back memory of this size.
  void free(void* memory, std::size_t num_bytes);

 private:
  static constexpr std::size_t SMALLEST = std::size_t{1} << 18;
  // What is kept in all: that much, or a share of the memory that Legate has for arrays.
  static constexpr std::size_t LEAST_KEPT = std::size_t{1} << 28;
  static constexpr std::int64_t SHARE_KEPT = 8;

  SpareMemory();

  void* take(std::size_t num_bytes);

  std::mutex mutex_;
  std::vector<std::pair<std::size_t, void*>> memories_;
  std::size_t total_{};
  std::size_t most_;
};

}  // namespace legate_diffuse
