// SPDX-License-Identifier: Apache-2.0

#include "memory/spare_memory.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>

#include "memory/capacity.h"
#include "memory/huge_pages.h"

namespace legate_diffuse {

namespace {

constexpr std::size_t LINE = 64;

}  // namespace

SpareMemory::SpareMemory()
    : most_{std::max(LEAST_KEPT, static_cast<std::size_t>(capacity_of(Realm::Memory::SYSTEM_MEM) /
                                                          SHARE_KEPT))} {}

SpareMemory& SpareMemory::instance() {
  static auto* const spare = new SpareMemory;
  return *spare;
}

void* SpareMemory::allocate(std::size_t num_bytes) {
  if (!takes(num_bytes)) return std::malloc(std::max<std::size_t>(num_bytes, 1));
  if (auto* const spare = take(num_bytes)) return spare;
  // vectors do not cross the lines of a cache
  auto* const memory = std::aligned_alloc(LINE, (num_bytes + LINE - 1) / LINE * LINE);

  if (memory) prefer_huge_pages(memory, num_bytes);
  return memory;
}

// Those that came first are freed if there are too many.
void SpareMemory::free(void* memory, std::size_t num_bytes) {
  if (!takes(num_bytes)) return std::free(memory);

  const std::lock_guard<std::mutex> lock{mutex_};

  try {
    memories_.emplace_back(num_bytes, memory);
  } catch (const std::bad_alloc&) {
    return std::free(memory);
  }
  total_ += num_bytes;
  while (total_ > most_) {
    total_ -= memories_.front().first;
    std::free(memories_.front().second);
    memories_.erase(memories_.begin());
  }
}

void* SpareMemory::take(std::size_t num_bytes) {
  const std::lock_guard<std::mutex> lock{mutex_};
  const auto found = std::find_if(memories_.rbegin(), memories_.rend(),
                                  [&](const auto& each) { return each.first == num_bytes; });

  if (found == memories_.rend()) return nullptr;

  auto* const memory = found->second;

  total_ -= num_bytes;
  memories_.erase(std::next(found).base());
  return memory;
}

}  // namespace legate_diffuse
