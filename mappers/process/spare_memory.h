// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace legate_diffuse {

// Memory for arrays, which std::free can free. That of large arrays that are gone is kept for the
// next ones of their size: from the system it would have to be cleared first.
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
  static constexpr std::size_t SMALLEST = std::size_t{1} << 19;
  static constexpr std::size_t MOST = std::size_t{1} << 28;

  void* take(std::size_t num_bytes);

  std::mutex mutex_;
  std::vector<std::pair<std::size_t, void*>> memories_;
  std::size_t total_{};
};

}  // namespace legate_diffuse
