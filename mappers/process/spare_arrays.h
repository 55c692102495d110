// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Python.h>

namespace legate_diffuse {

struct LazyThunk;

// Arrays of few elements with lazy thunks are kept alive for a while, and used again as new ones
// when nobody else holds them: to make such an array takes longer than most operations on it. One
// whose attributes somebody sets is kept no longer. Used with the GIL held.

// Lets arrays of a class be kept from now on.
void keep_arrays_of(PyTypeObject* ndarray);

// Keeps an array of few elements.
void keep(PyObject* array, LazyThunk* thunk);

// The lazy thunk of an array that is kept; null if it is not.
LazyThunk* kept_thunk(PyObject* array);

// Takes note of the lazy thunk of an array whose elements are asked for one by one, until the thunk
// is gone: it goes before the array does.
void see(PyObject* array, LazyThunk* thunk);
void unsee(const LazyThunk* thunk);

// The lazy thunk that belongs to an array; null if nobody took note.
LazyThunk* seen_thunk(PyObject* array);

// Whether no array was made read-only.
bool all_are_writeable();

// A new reference to an array with elements of the given type and with the given layout, which
// nobody else holds; null if there is none. Its elements have the values that they had.
PyObject* take_spare(PyObject* dtype, PyObject* layout);

}  // namespace legate_diffuse
