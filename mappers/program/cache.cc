// SPDX-License-Identifier: Apache-2.0

#include "program/cache.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace legate_diffuse {

namespace {

std::int64_t size_of(int level, std::int64_t otherwise) {
  const auto bytes = sysconf(level);

  return bytes > 0 ? bytes : otherwise;
}

std::atomic<std::int64_t>& cache_size() {
  static std::atomic<std::int64_t> size{size_of(_SC_LEVEL2_CACHE_SIZE, std::int64_t{1} << 20)};
  return size;
}

// What else a kernel touches, and what is fetched ahead, takes a third.
std::atomic<std::int64_t>& nearest_size() {
  static std::atomic<std::int64_t> size{size_of(_SC_LEVEL1_DCACHE_SIZE, std::int64_t{1} << 15) / 3 *
                                        2};
  return size;
}

}  // namespace

std::int64_t cache_bytes() {
  return cache_size();
}

std::int64_t nearest_cache_bytes() {
  return std::min(nearest_size().load(), cache_bytes());
}

std::int64_t set_cache_bytes(std::int64_t bytes) {
  return cache_size().exchange(bytes);
}

std::int64_t set_nearest_cache_bytes(std::int64_t bytes) {
  return nearest_size().exchange(bytes);
}

}  // namespace legate_diffuse
