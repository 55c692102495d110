// SPDX-License-Identifier: Apache-2.0

#include "memory/past_caches.h"

#include <emmintrin.h>

#include <cstdint>
#include <cstring>

namespace legate_diffuse {

namespace {

// From so many bytes on. To clear 32 MB then takes 1.4 ms in place of 3.1 on a Xeon, to copy them
// 2.8 in place of 3.8: a line that is written in full need not be read first. The C library does so
// where the processor has no room, and counts all the room that others on the machine share.
constexpr std::size_t LEAST = std::size_t{1} << 23;
constexpr std::size_t LINE = 64;
constexpr std::size_t WORD = sizeof(__m128i);

std::size_t bytes_to_line(const void* memory) {
  return -reinterpret_cast<std::uintptr_t>(memory) % LINE;
}

}  // namespace

void clear_memory(void* memory, std::size_t num_bytes) {
  if (num_bytes < LEAST) {
    std::memset(memory, 0, num_bytes);
    return;
  }

  auto* to = static_cast<char*>(memory);
  auto* const end = to + num_bytes;
  const auto first = bytes_to_line(to);
  const auto zeros = _mm_setzero_si128();

  std::memset(to, 0, first);
  for (to += first; to + LINE <= end; to += LINE) {
    for (std::size_t at = 0; at < LINE; at += WORD) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), zeros);
    }
  }
  std::memset(to, 0, static_cast<std::size_t>(end - to));
  _mm_sfence();
}

void copy_memory(void* to, const void* from, std::size_t num_bytes) {
  if (num_bytes < LEAST) {
    std::memcpy(to, from, num_bytes);
    return;
  }

  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  auto* const end = target + num_bytes;
  const auto first = bytes_to_line(target);

  std::memcpy(target, source, first);
  for (target += first, source += first; target + LINE <= end; target += LINE, source += LINE) {
    for (std::size_t at = 0; at < LINE; at += WORD) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + at),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at)));
    }
  }
  std::memcpy(target, source, static_cast<std::size_t>(end - target));
  _mm_sfence();
}

}  // namespace legate_diffuse
