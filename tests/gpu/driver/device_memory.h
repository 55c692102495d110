// SPDX-License-Identifier: Apache-2.0

// Memory of the device, which only calls of the driver may touch: to whoever else does, the system
// sends SIGSEGV.

#pragma once

#include <cuda.h>

#include <cstddef>

namespace fake_driver {

// Returns memory that everybody may touch, null if there is not enough.
char* map_memory(std::size_t size);

// Makes memory the device's.
void guard_memory(char* memory, std::size_t size);

// Gives memory back; its size need not be known if it is the device's.
void unmap_memory(char* memory, std::size_t size);

// Memory of the device may be touched while one of these lives.
class Access {
 public:
  Access();
  ~Access();
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;
};

}  // namespace fake_driver
