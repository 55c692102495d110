// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace legate_diffuse {

struct LazyThunk;

// Arrays of few elements with lazy thunks are kept alive for a while, and used again as new ones
// when nobody else holds them: to make such an array takes longer than most operations on it. One
// whose attributes somebody sets is kept no longer. Used with the GIL held.

// Takes note of attributes that are set from now on of arrays, and of their thunks.
void watch_attributes(PyTypeObject* ndarray, PyTypeObject* thunk);

// Keeps an array of few elements.
void keep(PyObject* array, LazyThunk* thunk);

// Keeps it no longer.
void forget_spare(PyObject* array);

// Arrays and what is behind them are noted here, so that nobody needs to look for an attribute.
// This keeps nothing alive: a lazy thunk goes before its array does. Some that came before are
// forgotten.
void note_thunk(PyObject* array, LazyThunk* thunk);
void forget_thunk(LazyThunk* thunk);

struct Noted {
  PyObject* array;
  LazyThunk* thunk;
};

// By their addresses, which a multiplication spreads (Knuth, The Art of Computer Programming, 6.4):
// two of a few arrays rarely meet in one place.
constexpr int NOTED_BITS = 12;
extern std::array<Noted, std::size_t{1} << NOTED_BITS> all_noted;

inline Noted& noted_at(const PyObject* array) {
  const auto spread = reinterpret_cast<std::uintptr_t>(array) * UINT64_C(0x9E3779B97F4A7C15);

  return all_noted[spread >> (64 - NOTED_BITS)];
}

// Null if it is not noted.
inline LazyThunk* noted_thunk(PyObject* array) {
  const auto& noted = noted_at(array);

  return noted.array == array ? noted.thunk : nullptr;
}

// Whether no array was made read-only.
bool all_are_writeable();

// A new reference to an array with elements of the given type and with the given layout, which
// nobody else holds; null if there is none. Its elements have the values that they had.
Noted take_spare(PyObject* dtype, PyObject* layout);

}  // namespace legate_diffuse
