// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace legate_diffuse {

// Bytes of cache that loops are blocked for; 0 if they are not to be. The size of a core's
// second-level cache, unless it was set.
std::int64_t cache_bytes();
// The bytes of it that are nearest to the core, in which rows stay if they are short: two thirds of
// the first level's, unless they were set. At most as many.
std::int64_t nearest_cache_bytes();
// These return what it was before.
std::int64_t set_cache_bytes(std::int64_t bytes);
std::int64_t set_nearest_cache_bytes(std::int64_t bytes);

}  // namespace legate_diffuse
