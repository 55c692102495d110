// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

namespace legate_diffuse {

// Sets bytes to 0. What is more than caches hold bypasses them, as nobody finds it there.
void clear_memory(void* memory, std::size_t num_bytes);

// Copies bytes to a place that has none of them, likewise.
void copy_memory(void* to, const void* from, std::size_t num_bytes);

}  // namespace legate_diffuse
