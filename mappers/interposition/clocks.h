// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

// What the library of clocks (clocks.cc) offers to the rest, found with dlsym().
extern "C" {

// Calls `visit` for each name and provenance of tasks: how long their bodies took in all, and how
// many there were. The strings stay valid.
void legate_diffuse_clocks_visit(void (*visit)(void* data, const char* name, const char* provenance,
                                               std::int64_t nanoseconds, std::int64_t calls),
                                 void* data);
}
