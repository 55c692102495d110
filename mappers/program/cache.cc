// SPDX-License-Identifier: Apache-2.0

#include "program/cache.h"

#include <unistd.h>

#include <atomic>

namespace legate_diffuse {

namespace {

std::int64_t second_level_cache() {
  const auto bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);

  return bytes > 0 ? bytes : std::int64_t{1} << 20;
}

std::atomic<std::int64_t>& cache_size() {
  static std::atomic<std::int64_t> size{second_level_cache()};
  return size;
}

}  // namespace

std::int64_t cache_bytes() {
  return cache_size();
}

std::int64_t set_cache_bytes(std::int64_t bytes) {
  return cache_size().exchange(bytes);
}

}  // namespace legate_diffuse
