// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <cstdint>

namespace legate_diffuse {

// A task on a GPU has scratch memory up to this size in its pool.
constexpr std::int64_t MAX_SCRATCH_IN_POOL = 4 * 1024 * 1024;

// The store in which a task on a GPU that is submitted next has its scratch memory: its last
// output. Null if it needs none, or has a buffer that Legate makes for it. Tasks on CPUs have
// memory of the process.
const legate::LogicalStore* find_scratch_store(std::int64_t size);

// The first place from an address on where scratch memory may begin.
char* aligned(void* pointer);

// In a task that has such a store: the first byte.
char* scratch_in_store(const legate::TaskContext& context);

// The memory that Legate has for arrays where kernels run, in bytes.
std::int64_t memory_of_kernels();

}  // namespace legate_diffuse
