// SPDX-License-Identifier: Apache-2.0

#include "device_memory.h"

#include <sys/mman.h>

#include <map>
#include <mutex>

namespace fake_driver {

namespace {

struct Device {
  std::mutex mutex;
  std::map<char*, std::size_t> sizes;
  int accesses{};

  void protect(int how) {
    for (const auto& [memory, size] : sizes) mprotect(memory, size, how);
  }
};

// Never destroyed: the process frees memory when it ends.
Device& device() {
  static auto* const instance = new Device;
  return *instance;
}

}  // namespace

char* map_memory(std::size_t size) {
  auto* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

void guard_memory(char* memory, std::size_t size) {
  const std::lock_guard lock{device().mutex};

  device().sizes[memory] = size;
  if (device().accesses == 0) mprotect(memory, size, PROT_NONE);
}

void unmap_memory(char* memory, std::size_t size) {
  const std::lock_guard lock{device().mutex};
  const auto found = device().sizes.find(memory);

  if (found != device().sizes.end()) {
    size = found->second;
    device().sizes.erase(found);
  }
  munmap(memory, size);
}

Access::Access() {
  const std::lock_guard lock{device().mutex};

  if (device().accesses++ == 0) device().protect(PROT_READ | PROT_WRITE);
}

Access::~Access() {
  const std::lock_guard lock{device().mutex};

  if (--device().accesses == 0) device().protect(PROT_NONE);
}

}  // namespace fake_driver
