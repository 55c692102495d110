// SPDX-License-Identifier: Apache-2.0

// NumPy's arrays in one piece of memory that a device reads and writes at the addresses that the
// process has, so that tests for an emulator run on a device.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

namespace {

constexpr std::size_t ALIGNMENT = 64;

// Blocks of powers of two, which are given back to blocks of their size.
class Arena {
 public:
  void set(char* memory, std::size_t size) {
    next_ = memory;
    end_ = memory + size;
  }

  void* take(std::size_t size) {
    const std::lock_guard lock{mutex_};
    const auto number = class_of(size);
    auto& spare = spare_[number];

    if (!spare.empty()) {
      auto* const found = spare.back();

      spare.pop_back();
      return found;
    }
    const auto whole = (std::size_t{1} << number) + ALIGNMENT;
    if (whole > static_cast<std::size_t>(end_ - next_)) return nullptr;
    auto* const header = next_;

    next_ += whole;
    std::memcpy(header, &number, sizeof(number));
    return header + ALIGNMENT;
  }

  void give(void* memory) {
    const std::lock_guard lock{mutex_};

    if (memory) spare_[number_of(memory)].push_back(memory);
  }

  static std::size_t room(void* memory) { return std::size_t{1} << number_of(memory); }

 private:
  static std::size_t class_of(std::size_t size) {
    std::size_t number = 6;

    while ((std::size_t{1} << number) < size) ++number;
    return number;
  }
  static std::size_t number_of(void* memory) {
    std::size_t number = 0;

    std::memcpy(&number, static_cast<char*>(memory) - ALIGNMENT, sizeof(number));
    return number;
  }

  std::mutex mutex_;
  char* next_{};
  char* end_{};
  std::array<std::vector<void*>, 48> spare_;
};

Arena& arena() {
  static auto* const instance = new Arena;
  return *instance;
}

void* take(void*, std::size_t size) {
  return arena().take(size);
}

void* take_zeros(void*, std::size_t count, std::size_t size) {
  auto* const memory = arena().take(count * size);

  if (memory) std::memset(memory, 0, count * size);
  return memory;
}

void* resize(void*, void* memory, std::size_t size) {
  auto* const larger = arena().take(size);

  if (larger && memory) {
    const auto room = Arena::room(memory);

    std::memcpy(larger, memory, room < size ? room : size);
    arena().give(memory);
  }
  return larger;
}

void give(void*, void* memory, std::size_t) {
  arena().give(memory);
}

// PyDataMem_Handler of NumPy's C interface.
struct Handler {
  char name[127];
  std::uint8_t version;
  void* context;
  void* (*malloc)(void*, std::size_t);
  void* (*calloc)(void*, std::size_t, std::size_t);
  void* (*realloc)(void*, void*, std::size_t);
  void (*free)(void*, void*, std::size_t);
};

Handler handler{"device_arena", 1, nullptr, take, take_zeros, resize, give};

}  // namespace

extern "C" void* arena_handler(char* memory, std::size_t size) {
  arena().set(memory, size);
  return &handler;
}
