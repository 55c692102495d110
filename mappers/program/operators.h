// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

namespace legate_diffuse {

// Computes so many elements. `out` may be where an operand is.
using Operator = void (*)(char* out, const char* const* operands, std::int64_t count);

// The operator of kernel/operators.py, or of kernel/reductions.py, that gives elements of type
// `result` from operands of type `operand` (of a `select` that of the last one). Its results have
// the bits of those of compiled kernels. Null if there is none here.
Operator find_operator(std::string_view name, std::string_view operand, std::string_view result);

// Writes what changes nothing beside an element that an operator combines with it, from which
// Legion's reductions start (kernel/reductions.py). False for complex numbers and halves.
bool set_identity(std::string_view name, std::string_view dtype, char* value);

// The bytes of an element, 0 if there is no such type.
std::int64_t size_of(std::string_view dtype);

}  // namespace legate_diffuse
