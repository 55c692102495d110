// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace legate_diffuse {

// Bytes of cache that loops are blocked for; 0 if they are not to be. The size of a core's
// second-level cache, unless it was set.
std::int64_t cache_bytes();
// Returns what it was before.
std::int64_t set_cache_bytes(std::int64_t bytes);

}  // namespace legate_diffuse
