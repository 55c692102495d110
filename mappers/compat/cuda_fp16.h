// SPDX-License-Identifier: Apache-2.0

// Stands in for the CUDA toolkit's header of this name, so that Legate's public headers compile on
// a machine without the toolkit. Half-precision values only pass through; nothing here computes
// with them, so size and layout are all that has to agree.

#pragma once

#include <cstdint>

#define __CUDA_FP16_TYPES_EXIST__

struct __half_raw {
  std::uint16_t x;
};

struct __half {
  std::uint16_t bits;

  __half() = default;
  __half(float value);
  explicit __half(double value);
  __half(const __half_raw& raw) : bits{raw.x} {}
  operator float() const;
};

__half operator+(const __half&, const __half&);
__half operator-(const __half&, const __half&);
__half operator*(const __half&, const __half&);
__half operator/(const __half&, const __half&);
__half operator-(const __half&);
bool operator<(const __half&, const __half&);
bool operator>(const __half&, const __half&);
bool operator==(const __half&, const __half&);
