// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <immintrin.h>

#include <cstdint>
#include <type_traits>

namespace legate_diffuse {

// A truth value in memory: any byte but 0 is true.
struct Flag {
  Flag(bool value) : byte{static_cast<std::uint8_t>(value)} {}
  operator bool() const { return byte != 0; }

  std::uint8_t byte;
};

template <typename T>
constexpr bool IS_INTEGER = std::is_integral_v<T>;
template <typename T>
constexpr bool IS_FLOAT = std::is_floating_point_v<T>;

inline std::int32_t to_int32(double x) {
  return _mm_cvttsd_si32(_mm_set_sd(x));
}
inline std::int32_t to_int32(float x) {
  return _mm_cvttss_si32(_mm_set_ss(x));
}
inline std::int64_t to_int64(double x) {
  return _mm_cvttsd_si64(_mm_set_sd(x));
}
inline std::int64_t to_int64(float x) {
  return _mm_cvttss_si64(_mm_set_ss(x));
}

// See codegen/casts.py.
template <typename T>
struct Convert {
  template <typename S>
  T operator()(S x) const {
    if constexpr (std::is_same_v<T, Flag>) {
      return x != S{0};
    } else if constexpr (std::is_same_v<S, Flag>) {
      return static_cast<T>(static_cast<bool>(x));
    } else if constexpr (!IS_FLOAT<S> || IS_FLOAT<T>) {
      return static_cast<T>(x);
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      constexpr S HALF = 9223372036854775808.0;
      const auto high = static_cast<std::uint64_t>(to_int64(x - HALF)) ^ (std::uint64_t{1} << 63);

      return x >= HALF ? high : static_cast<std::uint64_t>(to_int64(x));
    } else if constexpr (sizeof(T) == 8 || std::is_same_v<T, std::uint32_t>) {
      return static_cast<T>(to_int64(x));
    } else {
      return static_cast<T>(to_int32(x));
    }
  }
};

}  // namespace legate_diffuse
