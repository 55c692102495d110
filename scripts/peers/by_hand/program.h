// SPDX-License-Identifier: Apache-2.0

// What the programs written by hand share. Each advances three square arrays of float64, stored row
// by row, as the program of the same name in scripts/apps does; main.c reads them, measures the
// time, and writes them.

#pragma once

#include <stddef.h>

enum { FIELDS = 3 };

// The arrays, all of side x side elements. A step may exchange them for others of the program.
typedef struct {
  long side;
  double* field[FIELDS];
} State;

// Returns the side of the arrays for a problem of a size.
long side_of(long size);

// Makes what the program needs beside its state. `sweeps` matters to channel_flow only.
void prepare(const State* state, long sweeps);

// Goes one step ahead in time. Called outside of parallel regions.
void step(State* state);

// Returns an array of zeros that starts on a huge page's border; ends the process if there is no
// memory for it.
double* new_array(size_t count);

// Returns dividend / divisor. The plain variant multiplies by the reciprocal, which callers compute
// once for many quotients; with -DEXACT it divides, as NumPy does, and has NumPy's bits.
static inline double quotient(double dividend, double divisor, double reciprocal) {
#ifdef EXACT
  (void)reciprocal;
  return dividend / divisor;
#else
  (void)divisor;
  return dividend * reciprocal;
#endif
}

static inline void exchange(double** one, double** other) {
  double* const kept = *one;
  *one = *other;
  *other = kept;
}
