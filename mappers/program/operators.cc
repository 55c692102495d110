// SPDX-License-Identifier: Apache-2.0

#include "program/operators.h"

#include <cmath>
#include <complex>
#include <functional>
#include <type_traits>

#include "program/conversions.h"

namespace legate_diffuse {

namespace {

template <typename T>
struct Tag {
  using Type = T;
};

// In which integers wrap around.
template <typename T, bool = IS_INTEGER<T>>
struct Wrapping {
  using Type = T;
};
template <typename T>
struct Wrapping<T, true> {
  using Type = std::conditional_t<(sizeof(T) < sizeof(std::uint32_t)), std::uint32_t,
                                  std::make_unsigned_t<T>>;
};

template <typename T>
typename Wrapping<T>::Type wrapping(T x) {
  return static_cast<typename Wrapping<T>::Type>(x);
}

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) + wrapping(b));
  }
};

struct Subtract {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) - wrapping(b));
  }
};

struct Multiply {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) * wrapping(b));
  }
};

struct Negate {
  template <typename T>
  T operator()(T a) const {
    if constexpr (IS_FLOAT<T>) return -a;
    return static_cast<T>(typename Wrapping<T>::Type{0} - wrapping(a));
  }
};

struct Not {
  template <typename T>
  T operator()(T a) const {
    if constexpr (std::is_same_v<T, Flag>) {
      return !static_cast<bool>(a);
    } else {
      return static_cast<T>(~a);
    }
  }
};

struct ShiftLeft {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) << b);
  }
};

struct ShiftRight {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a >> b);
  }
};

struct Quotient {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) return 0;
    return b == static_cast<T>(-1) && std::is_signed_v<T> ? Negate{}(a) : static_cast<T>(a / b);
  }
};

struct Remainder {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0 || (b == static_cast<T>(-1) && std::is_signed_v<T>)) return 0;
    return static_cast<T>(a % b);
  }
};

// Of an element and a new value, as Legion's reductions.
struct Least {
  template <typename T>
  T operator()(T old, T value) const {
    return value < old ? value : old;
  }
};

struct Greatest {
  template <typename T>
  T operator()(T old, T value) const {
    return value > old ? value : old;
  }
};

struct CopySign {
  template <typename T>
  T operator()(T a, T b) const {
    return std::copysign(a, b);
  }
};

struct SquareRoot {
  template <typename T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};

struct Floor {
  template <typename T>
  T operator()(T a) const {
    return std::floor(a);
  }
};

struct Ceiling {
  template <typename T>
  T operator()(T a) const {
    return std::ceil(a);
  }
};

struct Truncate {
  template <typename T>
  T operator()(T a) const {
    return std::trunc(a);
  }
};

struct RoundToEven {
  template <typename T>
  T operator()(T a) const {
    return std::nearbyint(a);
  }
};

struct Round {
  template <typename T>
  T operator()(T a) const {
    return std::round(a);
  }
};

struct Absolute {
  template <typename T>
  T operator()(T a) const {
    return std::fabs(a);
  }
};

struct SignBit {
  template <typename T>
  bool operator()(T a) const {
    return std::signbit(a);
  }
};

struct MultiplyAdd {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};

struct RealPart {
  template <typename T>
  T operator()(std::complex<T> a) const {
    return a.real();
  }
};

struct ImaginaryPart {
  template <typename T>
  T operator()(std::complex<T> a) const {
    return a.imag();
  }
};

template <typename F, typename R, typename T>
void unary(char* out, const char* const* operands, std::int64_t count) {
  auto* const results = reinterpret_cast<R*>(out);
  const auto* const a = reinterpret_cast<const T*>(operands[0]);

#pragma GCC ivdep
  for (std::int64_t n = 0; n < count; ++n) results[n] = F{}(a[n]);
}

template <typename F, typename R, typename T>
void binary(char* out, const char* const* operands, std::int64_t count) {
  auto* const results = reinterpret_cast<R*>(out);
  const auto* const a = reinterpret_cast<const T*>(operands[0]);
  const auto* const b = reinterpret_cast<const T*>(operands[1]);

#pragma GCC ivdep
  for (std::int64_t n = 0; n < count; ++n) results[n] = F{}(a[n], b[n]);
}

template <typename T>
void multiply_add(char* out, const char* const* operands, std::int64_t count) {
  auto* const results = reinterpret_cast<T*>(out);
  const auto* const a = reinterpret_cast<const T*>(operands[0]);
  const auto* const b = reinterpret_cast<const T*>(operands[1]);
  const auto* const c = reinterpret_cast<const T*>(operands[2]);

#pragma GCC ivdep
  for (std::int64_t n = 0; n < count; ++n) results[n] = MultiplyAdd{}(a[n], b[n], c[n]);
}

template <typename T>
void select(char* out, const char* const* operands, std::int64_t count) {
  auto* const results = reinterpret_cast<T*>(out);
  const auto* const mask = reinterpret_cast<const Flag*>(operands[0]);
  const auto* const a = reinterpret_cast<const T*>(operands[1]);
  const auto* const b = reinterpret_cast<const T*>(operands[2]);

#pragma GCC ivdep
  for (std::int64_t n = 0; n < count; ++n) results[n] = mask[n] ? a[n] : b[n];
}

template <typename T>
void join(char* out, const char* const* operands, std::int64_t count) {
  auto* const results = reinterpret_cast<std::complex<T>*>(out);
  const auto* const real = reinterpret_cast<const T*>(operands[0]);
  const auto* const imaginary = reinterpret_cast<const T*>(operands[1]);

  for (std::int64_t n = 0; n < count; ++n) results[n] = {real[n], imaginary[n]};
}

template <typename T>
Operator comparison(std::string_view name) {
  if (name == "eq") return binary<std::equal_to<>, Flag, T>;
  if (name == "ne") return binary<std::not_equal_to<>, Flag, T>;
  if (name == "lt") return binary<std::less<>, Flag, T>;
  if (name == "le") return binary<std::less_equal<>, Flag, T>;
  if (name == "gt") return binary<std::greater<>, Flag, T>;
  return name == "ge" ? binary<std::greater_equal<>, Flag, T> : nullptr;
}

template <typename T>
Operator bitwise(std::string_view name) {
  if (name == "and") return binary<std::bit_and<>, T, T>;
  if (name == "or") return binary<std::bit_or<>, T, T>;
  if (name == "xor") return binary<std::bit_xor<>, T, T>;
  return name == "not" ? unary<Not, T, T> : nullptr;
}

template <typename T>
Operator arithmetic(std::string_view name) {
  if (name == "add") return binary<Add, T, T>;
  if (name == "sub") return binary<Subtract, T, T>;
  if (name == "mul") return binary<Multiply, T, T>;
  if (name == "neg") return unary<Negate, T, T>;
  if (name == "min") return binary<Least, T, T>;
  return name == "max" ? binary<Greatest, T, T> : nullptr;
}

template <typename T>
Operator of_integers(std::string_view name) {
  if (name == "shl") return binary<ShiftLeft, T, T>;
  if (name == "shr") return binary<ShiftRight, T, T>;
  if (name == "quotient") return binary<Quotient, T, T>;
  return name == "remainder" ? binary<Remainder, T, T> : nullptr;
}

template <typename T>
Operator of_floats(std::string_view name) {
  if (name == "div") return binary<std::divides<>, T, T>;
  if (name == "copysign") return binary<CopySign, T, T>;
  if (name == "sqrt") return unary<SquareRoot, T, T>;
  if (name == "floor") return unary<Floor, T, T>;
  if (name == "ceil") return unary<Ceiling, T, T>;
  if (name == "trunc") return unary<Truncate, T, T>;
  if (name == "rint") return unary<RoundToEven, T, T>;
  if (name == "round") return unary<Round, T, T>;
  if (name == "abs") return unary<Absolute, T, T>;
  if (name == "signbit") return unary<SignBit, Flag, T>;
  if (name == "complex") return join<T>;
  return name == "fma" ? multiply_add<T> : nullptr;
}

template <typename T>
Operator of_type(std::string_view name) {
  if (name == "select") return select<T>;
  if (auto* const found = comparison<T>(name)) return found;
  if constexpr (!IS_FLOAT<T>) {
    if (auto* const found = bitwise<T>(name)) return found;
  }
  if constexpr (!std::is_same_v<T, Flag>) {
    if (auto* const found = arithmetic<T>(name)) return found;
  }
  if constexpr (IS_INTEGER<T>) return of_integers<T>(name);
  if constexpr (IS_FLOAT<T>) return of_floats<T>(name);
  return nullptr;
}

template <typename T>
Operator of_complex(std::string_view name) {
  if (name == "real") return unary<RealPart, T, std::complex<T>>;
  if (name == "imag") return unary<ImaginaryPart, T, std::complex<T>>;
  return nullptr;
}

// What `visit` returns for a type; null for complex numbers, halves and others.
template <typename Visit>
Operator of_real(std::string_view dtype, const Visit& visit) {
  if (dtype == "float64") return visit(Tag<double>{});
  if (dtype == "int64") return visit(Tag<std::int64_t>{});
  if (dtype == "bool") return visit(Tag<Flag>{});
  if (dtype == "float32") return visit(Tag<float>{});
  if (dtype == "int32") return visit(Tag<std::int32_t>{});
  if (dtype == "uint8") return visit(Tag<std::uint8_t>{});
  if (dtype == "int8") return visit(Tag<std::int8_t>{});
  if (dtype == "int16") return visit(Tag<std::int16_t>{});
  if (dtype == "uint16") return visit(Tag<std::uint16_t>{});
  if (dtype == "uint32") return visit(Tag<std::uint32_t>{});
  return dtype == "uint64" ? visit(Tag<std::uint64_t>{}) : nullptr;
}

}  // namespace

Operator find_operator(std::string_view name, std::string_view operand, std::string_view result) {
  if (operand == "complex128") return of_complex<double>(name);
  if (operand == "complex64") return of_complex<float>(name);
  return of_real(operand, [&](auto from) -> Operator {
    using From = typename decltype(from)::Type;

    if (name != "cast") return of_type<From>(name);
    return of_real(result, [](auto to) -> Operator {
      using To = typename decltype(to)::Type;

      return unary<Convert<To>, To, From>;
    });
  });
}

std::int64_t size_of(std::string_view dtype) {
  if (dtype == "bool" || dtype == "int8" || dtype == "uint8") return 1;
  if (dtype == "int16" || dtype == "uint16" || dtype == "float16") return 2;
  if (dtype == "int32" || dtype == "uint32" || dtype == "float32") return 4;
  if (dtype == "complex128") return 16;
  return dtype == "int64" || dtype == "uint64" || dtype == "float64" || dtype == "complex64" ? 8
                                                                                             : 0;
}

}  // namespace legate_diffuse
