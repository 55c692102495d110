// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <legate.h>

#include <cstdint>

namespace legate_diffuse {

// Where the scratch buffers of a task lie: in memory that each thread keeps, in a store that is the
// task's last output, or in a buffer that Legate makes for the task. No thread keeps memory of a
// GPU.
enum class ScratchPlace : std::int64_t { THREAD, STORE, BUFFER };

// Chosen when a task is submitted; `store` is null unless the place is a store.
struct ScratchChoice {
  ScratchPlace place;
  const legate::LogicalStore* store;
};

ScratchChoice choose_scratch(std::int64_t size);

// The first place from an address on where scratch memory may begin.
char* aligned(void* pointer);

// In a task on a CPU: the first byte of its scratch memory.
char* find_scratch(const legate::TaskContext& context, ScratchPlace place, std::int64_t size);

}  // namespace legate_diffuse
