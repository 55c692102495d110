// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <realm.h>

#include <cstdint>

namespace legate_diffuse {

// The largest memory of a kind in which Legate makes arrays in this process, in bytes; 0 without
// any.
std::int64_t capacity_of(Realm::Memory::Kind kind);

}  // namespace legate_diffuse
