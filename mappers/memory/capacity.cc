// SPDX-License-Identifier: Apache-2.0

#include "memory/capacity.h"

#include <algorithm>

namespace legate_diffuse {

std::int64_t capacity_of(Realm::Memory::Kind kind) {
  Realm::Machine::MemoryQuery memories{Realm::Machine::get_machine()};
  std::int64_t largest = 0;

  for (const auto memory : memories.only_kind(kind).local_address_space()) {
    largest = std::max(largest, static_cast<std::int64_t>(memory.capacity()));
  }
  return largest;
}

}  // namespace legate_diffuse
