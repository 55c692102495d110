// SPDX-License-Identifier: Apache-2.0

#include "process/numpy_memory.h"

#include <nanobind/nanobind.h>
#include <numpy/ndarraytypes.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>
#include <unordered_set>

#include "memory/past_caches.h"
#include "memory/spare_memory.h"
#include "process/numpy_api.h"

namespace nb = nanobind;

namespace legate_diffuse {

namespace {

// The large memory that NumPy has. It may be taken away: then NumPy frees it once in vain, maybe
// after somebody else has got it. Never destroyed, as arrays may outlive it.
class Blocks {
 public:
  static Blocks& instance() {
    static auto* const blocks = new Blocks;
    return *blocks;
  }

  void* allocate(std::size_t num_bytes) {
    auto* const memory = SpareMemory::instance().allocate(num_bytes);

    if (memory && SpareMemory::takes(num_bytes)) {
      const std::lock_guard<std::mutex> lock{mutex_};

      try {
        sizes_.emplace(memory, num_bytes);
      } catch (const std::bad_alloc&) {
        // which NumPy raises itself
        SpareMemory::instance().free(memory, num_bytes);
        return nullptr;
      }
    }
    return memory;
  }

  bool take(void* memory, std::size_t num_bytes) {
    const std::lock_guard<std::mutex> lock{mutex_};
    const auto found = sizes_.find(memory);

    if (found == sizes_.end() || found->second != num_bytes) return false;
    taken_.insert(memory);
    sizes_.erase(found);
    return true;
  }

  void* move(void* memory, std::size_t num_bytes) {
    const auto before = size_of(memory);

    if (before == 0) return std::realloc(memory, num_bytes);

    auto* const moved = allocate(num_bytes);

    if (!moved) return nullptr;
    std::memcpy(moved, memory, std::min(before, num_bytes));
    free(memory);
    return moved;
  }

  void free(void* memory) {
    auto size = std::size_t{0};

    {
      const std::lock_guard<std::mutex> lock{mutex_};

      if (const auto taken = taken_.find(memory); taken != taken_.end()) {
        taken_.erase(taken);
        return;
      }
      if (const auto found = sizes_.find(memory); found != sizes_.end()) {
        size = found->second;
        sizes_.erase(found);
      }
    }
    SpareMemory::instance().free(memory, size);
  }

 private:
  // 0 if it is not large.
  std::size_t size_of(void* memory) {
    const std::lock_guard<std::mutex> lock{mutex_};
    const auto found = sizes_.find(memory);

    return found == sizes_.end() ? 0 : found->second;
  }

  std::mutex mutex_;
  std::unordered_map<void*, std::size_t> sizes_;
  std::unordered_multiset<void*> taken_;
};

void* allocate(void* /*context*/, std::size_t num_bytes) {
  return Blocks::instance().allocate(num_bytes);
}

void* allocate_zeros(void* /*context*/, std::size_t count, std::size_t size) {
  const auto num_bytes = count * size;
  // the system has zeros already
  if (!SpareMemory::takes(num_bytes)) return std::calloc(count, size);

  auto* const memory = Blocks::instance().allocate(num_bytes);

  if (memory) clear_memory(memory, num_bytes);
  return memory;
}

void free_memory(void* /*context*/, void* memory, std::size_t /*num_bytes*/) {
  Blocks::instance().free(memory);
}

void* move(void* /*context*/, void* memory, std::size_t num_bytes) {
  return Blocks::instance().move(memory, num_bytes);
}

PyDataMem_Handler handler{
    "legate_diffuse", 1, {nullptr, &allocate, &allocate_zeros, &move, &free_memory}};

PyObject* our_handler() {
  static auto* const made = PyCapsule_New(&handler, "mem_handler", nullptr);

  if (!made) throw nb::python_error();
  return made;
}

}  // namespace

OwnMemory::OwnMemory() : before_{set_memory_handler(our_handler())} {
  if (!before_.is_valid()) throw nb::python_error();
}

OwnMemory::~OwnMemory() {
  const nb::error_scope raised;
  const auto ours = set_memory_handler(before_.ptr());

  if (!ours.is_valid()) PyErr_Clear();
}

PyObject* call_with_memory(PyObject* call) {
  const OwnMemory memory;

  return PyObject_CallNoArgs(call);
}

void* take_from_numpy(void* memory, std::size_t num_bytes) {
  return Blocks::instance().take(memory, num_bytes) ? memory : nullptr;
}

}  // namespace legate_diffuse
