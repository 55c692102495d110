// SPDX-License-Identifier: Apache-2.0

#include "program/operators.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
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

constexpr auto ADD = [](auto a, auto b) {
  return static_cast<decltype(a)>(wrapping(a) + wrapping(b));
};
constexpr auto SUBTRACT = [](auto a, auto b) {
  return static_cast<decltype(a)>(wrapping(a) - wrapping(b));
};
constexpr auto MULTIPLY = [](auto a, auto b) {
  return static_cast<decltype(a)>(wrapping(a) * wrapping(b));
};
constexpr auto NEGATE = [](auto a) {
  using T = decltype(a);

  if constexpr (IS_FLOAT<T>) return -a;
  return static_cast<T>(typename Wrapping<T>::Type{0} - wrapping(a));
};
constexpr auto NOT = [](auto a) {
  if constexpr (std::is_same_v<decltype(a), Flag>) {
    return !static_cast<bool>(a);
  } else {
    return static_cast<decltype(a)>(~a);
  }
};
constexpr auto SHIFT_LEFT = [](auto a, auto b) {
  return static_cast<decltype(a)>(wrapping(a) << b);
};
constexpr auto SHIFT_RIGHT = [](auto a, auto b) { return static_cast<decltype(a)>(a >> b); };
constexpr auto QUOTIENT = [](auto a, auto b) {
  using T = decltype(a);

  if (b == 0) return T{0};
  return b == static_cast<T>(-1) && std::is_signed_v<T> ? NEGATE(a) : static_cast<T>(a / b);
};
constexpr auto REMAINDER = [](auto a, auto b) {
  using T = decltype(a);

  if (b == 0 || (b == static_cast<T>(-1) && std::is_signed_v<T>)) return T{0};
  return static_cast<T>(a % b);
};
// Of an element and a new value, as Legion's reductions.
constexpr auto LEAST = [](auto old, auto value) { return value < old ? value : old; };
constexpr auto GREATEST = [](auto old, auto value) { return value > old ? value : old; };
constexpr auto COPY_SIGN = [](auto a, auto b) { return std::copysign(a, b); };
constexpr auto SQUARE_ROOT = [](auto a) { return std::sqrt(a); };
constexpr auto FLOOR = [](auto a) { return std::floor(a); };
constexpr auto CEILING = [](auto a) { return std::ceil(a); };
constexpr auto TRUNCATE = [](auto a) { return std::trunc(a); };
constexpr auto ROUND_TO_EVEN = [](auto a) { return std::nearbyint(a); };
constexpr auto ROUND = [](auto a) { return std::round(a); };
constexpr auto ABSOLUTE = [](auto a) { return std::fabs(a); };
constexpr auto SIGN_BIT = [](auto a) { return std::signbit(a); };
constexpr auto MULTIPLY_ADD = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
constexpr auto SELECT = [](Flag mask, auto a, auto b) { return mask ? a : b; };
constexpr auto JOIN = [](auto real, auto imaginary) { return std::complex{real, imaginary}; };
constexpr auto REAL_PART = [](auto a) { return a.real(); };
constexpr auto IMAGINARY_PART = [](auto a) { return a.imag(); };
constexpr std::divides<> DIVIDE{};
constexpr std::equal_to<> EQUAL{};
constexpr std::not_equal_to<> NOT_EQUAL{};
constexpr std::less<> LESS{};
constexpr std::less_equal<> LESS_EQUAL{};
constexpr std::greater<> GREATER{};
constexpr std::greater_equal<> GREATER_EQUAL{};
constexpr std::bit_and<> AND{};
constexpr std::bit_or<> OR{};
constexpr std::bit_xor<> XOR{};

template <typename T>
constexpr Convert<T> CONVERT{};

template <const auto& APPLY, typename R, typename T>
void unary(char* out, const char* const* operands, std::int64_t count) {
  auto* const results = reinterpret_cast<R*>(out);
  const auto* const a = reinterpret_cast<const T*>(operands[0]);

#pragma GCC ivdep
  for (std::int64_t n = 0; n < count; ++n) results[n] = APPLY(a[n]);
}

template <const auto& APPLY, typename R, typename T>
void binary(char* out, const char* const* operands, std::int64_t count) {
  auto* const results = reinterpret_cast<R*>(out);
  const auto* const a = reinterpret_cast<const T*>(operands[0]);
  const auto* const b = reinterpret_cast<const T*>(operands[1]);

#pragma GCC ivdep
  for (std::int64_t n = 0; n < count; ++n) results[n] = APPLY(a[n], b[n]);
}

template <const auto& APPLY, typename T, typename First = T>
void ternary(char* out, const char* const* operands, std::int64_t count) {
  auto* const results = reinterpret_cast<T*>(out);
  const auto* const a = reinterpret_cast<const First*>(operands[0]);
  const auto* const b = reinterpret_cast<const T*>(operands[1]);
  const auto* const c = reinterpret_cast<const T*>(operands[2]);

#pragma GCC ivdep
  for (std::int64_t n = 0; n < count; ++n) results[n] = APPLY(a[n], b[n], c[n]);
}

template <typename T>
Operator comparison(std::string_view name) {
  if (name == "eq") return binary<EQUAL, Flag, T>;
  if (name == "ne") return binary<NOT_EQUAL, Flag, T>;
  if (name == "lt") return binary<LESS, Flag, T>;
  if (name == "le") return binary<LESS_EQUAL, Flag, T>;
  if (name == "gt") return binary<GREATER, Flag, T>;
  return name == "ge" ? binary<GREATER_EQUAL, Flag, T> : nullptr;
}

template <typename T>
Operator bitwise(std::string_view name) {
  if (name == "and") return binary<AND, T, T>;
  if (name == "or") return binary<OR, T, T>;
  if (name == "xor") return binary<XOR, T, T>;
  return name == "not" ? unary<NOT, T, T> : nullptr;
}

template <typename T>
Operator arithmetic(std::string_view name) {
  if (name == "add") return binary<ADD, T, T>;
  if (name == "sub") return binary<SUBTRACT, T, T>;
  if (name == "mul") return binary<MULTIPLY, T, T>;
  if (name == "neg") return unary<NEGATE, T, T>;
  if (name == "min") return binary<LEAST, T, T>;
  return name == "max" ? binary<GREATEST, T, T> : nullptr;
}

template <typename T>
Operator of_integers(std::string_view name) {
  if (name == "shl") return binary<SHIFT_LEFT, T, T>;
  if (name == "shr") return binary<SHIFT_RIGHT, T, T>;
  if (name == "quotient") return binary<QUOTIENT, T, T>;
  return name == "remainder" ? binary<REMAINDER, T, T> : nullptr;
}

template <typename T>
Operator of_floats(std::string_view name) {
  if (name == "div") return binary<DIVIDE, T, T>;
  if (name == "copysign") return binary<COPY_SIGN, T, T>;
  if (name == "sqrt") return unary<SQUARE_ROOT, T, T>;
  if (name == "floor") return unary<FLOOR, T, T>;
  if (name == "ceil") return unary<CEILING, T, T>;
  if (name == "trunc") return unary<TRUNCATE, T, T>;
  if (name == "rint") return unary<ROUND_TO_EVEN, T, T>;
  if (name == "round") return unary<ROUND, T, T>;
  if (name == "abs") return unary<ABSOLUTE, T, T>;
  if (name == "signbit") return unary<SIGN_BIT, Flag, T>;
  if (name == "complex") return binary<JOIN, std::complex<T>, T>;
  return name == "fma" ? ternary<MULTIPLY_ADD, T> : nullptr;
}

template <typename T>
Operator of_type(std::string_view name) {
  if (name == "select") return ternary<SELECT, T, Flag>;
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
  if (name == "real") return unary<REAL_PART, T, std::complex<T>>;
  if (name == "imag") return unary<IMAGINARY_PART, T, std::complex<T>>;
  return nullptr;
}

// What `visit` returns for a type; nothing for complex numbers, halves and others.
template <typename Result, typename Visit>
Result of_real(std::string_view dtype, const Visit& visit) {
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
  return dtype == "uint64" ? visit(Tag<std::uint64_t>{}) : Result{};
}

}  // namespace

Operator find_operator(std::string_view name, std::string_view operand, std::string_view result) {
  if (operand == "complex128") return of_complex<double>(name);
  if (operand == "complex64") return of_complex<float>(name);
  return of_real<Operator>(operand, [&](auto from) {
    using From = typename decltype(from)::Type;

    if (name != "cast") return of_type<From>(name);
    return of_real<Operator>(result, [](auto to) -> Operator {
      using To = typename decltype(to)::Type;

      return unary<CONVERT<To>, To, From>;
    });
  });
}

bool set_identity(std::string_view name, std::string_view dtype, char* value) {
  return of_real<bool>(dtype, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    auto identity = static_cast<T>(name == "mul" || name == "and");

    if constexpr (!std::is_same_v<T, Flag>) {
      if (name == "min") identity = std::numeric_limits<T>::max();
      if (name == "max") identity = std::numeric_limits<T>::lowest();
    }
    std::memcpy(value, &identity, sizeof identity);
    return true;
  });
}

std::int64_t size_of(std::string_view dtype) {
  if (dtype == "float16") return 2;
  if (dtype == "complex64") return 8;
  if (dtype == "complex128") return 16;
  return of_real<std::int64_t>(
      dtype, [](auto tag) -> std::int64_t { return sizeof(typename decltype(tag)::Type); });
}

}  // namespace legate_diffuse
