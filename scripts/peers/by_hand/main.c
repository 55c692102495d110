// SPDX-License-Identifier: Apache-2.0

// Runs a program written by hand:
//
//   PROGRAM INPUT OUTPUT SIZE SWEEPS WARM_UP ITERATIONS BATCHES
//
// INPUT and OUTPUT hold the three arrays of its state, one after the other. WARM_UP steps are not
// measured; the times of BATCHES batches of ITERATIONS steps are printed as one line of JSON, in
// milliseconds for a step.

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

enum { ARGUMENTS = 8 };

static const size_t HUGE_PAGE = 2 << 20;  // bytes

static void fail(const char* what, const char* name) {
  fprintf(stderr, "%s %s\n", what, name);
  exit(1);
}

double* new_array(size_t count) {
  const size_t bytes = (count * sizeof(double) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  void* const array = aligned_alloc(HUGE_PAGE, bytes);
  if (!array) fail("there is no memory for", "the arrays");
  return memset(array, 0, bytes);
}

static void read_state(const char* name, State* state) {
  const size_t count = (size_t)state->side * state->side;
  FILE* const file = fopen(name, "rb");
  if (!file) fail("cannot open", name);
  for (int k = 0; k < FIELDS; ++k) {
    state->field[k] = new_array(count);
    if (fread(state->field[k], sizeof(double), count, file) != count) fail("cannot read", name);
  }
  fclose(file);
}

static void write_state(const char* name, const State* state) {
  const size_t count = (size_t)state->side * state->side;
  FILE* const file = fopen(name, "wb");
  if (!file) fail("cannot open", name);
  for (int k = 0; k < FIELDS; ++k) {
    if (fwrite(state->field[k], sizeof(double), count, file) != count) fail("cannot write", name);
  }
  if (fclose(file) != 0) fail("cannot write", name);
}

static void advance(State* state, long steps) {
  for (long i = 0; i < steps; ++i) step(state);
}

int main(int count, char** arguments) {
  if (count != ARGUMENTS) fail("expected 7 arguments for", arguments[0]);
  const char* const input = arguments[1];
  const char* const output = arguments[2];
  const long sweeps = atol(arguments[4]);
  const long warm_up = atol(arguments[5]);
  const long iterations = atol(arguments[6]);
  const long batches = atol(arguments[7]);
  State state = {.side = side_of(atol(arguments[3]))};

  read_state(input, &state);
  prepare(&state, sweeps);
  advance(&state, warm_up);
  printf("{\"iteration_ms\": [");
  for (long batch = 0; batch < batches; ++batch) {
    const double start = omp_get_wtime();
    advance(&state, iterations);
    printf("%s%.9g", batch > 0 ? ", " : "", (omp_get_wtime() - start) * 1e3 / iterations);
  }
  printf("]}\n");
  write_state(output, &state);
  return 0;
}
