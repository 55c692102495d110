// SPDX-License-Identifier: Apache-2.0

// scripts/apps/shallow_water.py as an expert writes it: one pass over the rows for each stage of
// Heun's method, in which the values on faces wait in buffers of one row; threads have parts of the
// rows. That file has the model.

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

#define GRAVITY 9.81
#define LIMITER 1.3
#define COURANT 0.25

// Cells around the square that repeat those of the opposite side.
enum { GHOSTS = 2 };

// The fields: depth, and momentum along x and y.
enum { DEPTH, X, Y };

// A row or an array for each of the fields. Where a direction is given, ALONG and ACROSS are the
// momenta along it and across it.
typedef struct {
  double* of[FIELDS];
} Water;
enum { ALONG = 1, ACROSS = 2 };

static Water predicted, rates, next;

static inline double lesser(double a, double b) {
  return a < b ? a : b;
}

static inline double greater(double a, double b) {
  return a > b ? a : b;
}

static Water new_water(size_t count) {
  Water water;
  for (int k = 0; k < FIELDS; ++k) water.of[k] = new_array(count);
  return water;
}

long side_of(long size) {
  return size + 2 * GHOSTS;
}

void prepare(const State* state, long sweeps) {
  const size_t count = (size_t)state->side * state->side;
  (void)sweeps;
  predicted = new_water(count);
  rates = new_water(count);
  next = new_water(count);
}

// The change over a cell, as the limiter allows it.
static inline double slope(double before, double here, double after) {
  const double backward = LIMITER * (here - before);
  const double central = 0.5 * (after - before);
  const double forward = LIMITER * (after - here);
  const double least = lesser(lesser(backward, central), forward);
  const double most = greater(greater(backward, central), forward);
  return greater(least, 0) + lesser(most, 0);
}

// The values of `count` cells on their lower and upper faces. `distance` is that of two neighbours
// in memory, along the direction of the faces' normals.
static void reconstruct(const double* cells, long distance, long count, double* lower,
                        double* upper) {
#pragma omp simd
  for (long j = 0; j < count; ++j) {
    const double here = cells[j];
    const double half = 0.5 * slope(cells[j - distance], here, cells[j + distance]);
    lower[j] = here - half;
    upper[j] = here + half;
  }
}

// Depth and momenta on one side of a face, or what goes through it.
typedef struct {
  double depth, along, across;
} Amounts;

static inline Amounts amounts_at(Water water, long j) {
  return (Amounts){water.of[DEPTH][j], water.of[ALONG][j], water.of[ACROSS][j]};
}

// The flux through faces between values on both their sides; returns the fastest wave.
static double flux(Water before, Water after, long count, Water through) {
  double top = 0;
#pragma omp simd reduction(max : top)
  for (long j = 0; j < count; ++j) {
    const Amounts q0 = amounts_at(before, j);
    const Amounts q1 = amounts_at(after, j);
    const double velocity0 = quotient(q0.along, q0.depth, 1 / q0.depth);
    const double velocity1 = quotient(q1.along, q1.depth, 1 / q1.depth);
    const double wave0 = sqrt(GRAVITY * q0.depth);
    const double wave1 = sqrt(GRAVITY * q1.depth);
    const double fastest = greater(greater(velocity0 + wave0, velocity1 + wave1), 0);
    const double slowest = lesser(lesser(velocity0 - wave0, velocity1 - wave1), 0);
    const double spread = fastest - slowest;
    const double over_spread = 1 / spread;
    const double product = fastest * slowest;
    const double pressure0 = 0.5 * GRAVITY * q0.depth * q0.depth;
    const double pressure1 = 0.5 * GRAVITY * q1.depth * q1.depth;
    const double depth = fastest * q0.along - slowest * q1.along + product * (q1.depth - q0.depth);
    const double along = fastest * (q0.along * velocity0 + pressure0) -
                         slowest * (q1.along * velocity1 + pressure1) +
                         product * (q1.along - q0.along);
    const double across = fastest * (q0.across * velocity0) - slowest * (q1.across * velocity1) +
                          product * (q1.across - q0.across);
    through.of[DEPTH][j] = quotient(depth, spread, over_spread);
    through.of[ALONG][j] = quotient(along, spread, over_spread);
    through.of[ACROSS][j] = quotient(across, spread, over_spread);
    top = greater(top, greater(fastest, -slowest));
  }
  return top;
}

// Buffers of one row that a thread needs. What goes along x lies between cells of a row; what goes
// along y lies below a row of cells (`south`) or above it (`north`).
typedef struct {
  Water west, east;    // values of a row's cells on these faces
  Water through_x;     // flux through them
  Water low, high;     // values of a row's cells on their faces along y
  Water high_before;   // those on the upper faces of the row before
  Water south, north;  // flux along y
  double* memory;
} Buffers;

enum { WATERS = 8, PADDING = 8 };

static Buffers new_buffers(long size) {
  const size_t length = (size_t)size + PADDING;
  Buffers buffers;
  Water* const waters[WATERS] = {&buffers.west,  &buffers.east, &buffers.through_x,
                                 &buffers.low,   &buffers.high, &buffers.high_before,
                                 &buffers.south, &buffers.north};
  buffers.memory = malloc(WATERS * FIELDS * length * sizeof(double));
  if (!buffers.memory) abort();
  double* row = buffers.memory;
  for (int i = 0; i < WATERS; ++i) {
    for (int k = 0; k < FIELDS; ++k, row += length) waters[i]->of[k] = row;
  }
  return buffers;
}

static inline void exchange_water(Water* one, Water* other) {
  for (int k = 0; k < FIELDS; ++k) exchange(&one->of[k], &other->of[k]);
}

// The same rows with the momenta in the order of the direction y.
static inline Water along_y(Water water) {
  return (Water){{water.of[DEPTH], water.of[Y], water.of[X]}};
}

// The same rows from their element `first` on.
static inline Water from(Water water, long first) {
  return (Water){{water.of[0] + first, water.of[1] + first, water.of[2] + first}};
}

// A stage of the method. `change` gets the rate of change of `here`; if there is a `start`, it gets
// the mean of that and of `here` after a step of `dt`, instead.
typedef struct {
  Water here;
  const Water* start;
  Water change;
  double dt;
} Stage;

// The change of a row of cells, of which the fluxes are known.
static void finish_row(Stage stage, const Buffers* buffers, long offset, long size) {
  const double width = 1.0 / size;
  const double over_width = 1 / width;
  for (int k = 0; k < FIELDS; ++k) {
    const double* const x = buffers->through_x.of[k];
    const double* const south = buffers->south.of[k];
    const double* const north = buffers->north.of[k];
    double* const change = stage.change.of[k] + offset;
    if (!stage.start) {
#pragma omp simd
      for (long j = 0; j < size; ++j) {
        change[j] = quotient(x[j] - x[j + 1] + south[j] - north[j], width, over_width);
      }
    } else {
      const double* const here = stage.here.of[k] + offset;
      const double* const start = stage.start->of[k] + offset;
#pragma omp simd
      for (long j = 0; j < size; ++j) {
        const double rate = quotient(x[j] - x[j + 1] + south[j] - north[j], width, over_width);
        change[j] = 0.5 * (start[j] + here[j] + stage.dt * rate);
      }
    }
  }
}

// A stage on the rows [first, end) of cells; returns the fastest wave.
static double stage_of_rows(Stage stage, long size, long first, long end) {
  const long side = size + 2 * GHOSTS;
  Buffers buffers = new_buffers(size);
  double top = 0;
  for (long row = first - 1; row <= end; ++row) {
    const long offset = (row + GHOSTS) * side + GHOSTS;
    for (int k = 0; k < FIELDS; ++k) {
      reconstruct(stage.here.of[k] + offset, side, size, buffers.low.of[k], buffers.high.of[k]);
    }
    if (row >= first) {
      top = greater(top, flux(along_y(buffers.high_before), along_y(buffers.low), size,
                              along_y(buffers.north)));
    }
    if (row > first) {
      const long before = offset - side;
      for (int k = 0; k < FIELDS; ++k) {
        reconstruct(stage.here.of[k] + before - 1, 1, size + 2, buffers.west.of[k],
                    buffers.east.of[k]);
      }
      top = greater(top, flux(buffers.east, from(buffers.west, 1), size + 1, buffers.through_x));
      finish_row(stage, &buffers, before, size);
    }
    exchange_water(&buffers.high_before, &buffers.high);
    exchange_water(&buffers.south, &buffers.north);
  }
  free(buffers.memory);
  return top;
}

static double run_stage(Stage stage, long size) {
  double top = 0;
#pragma omp parallel reduction(max : top)
  {
    const long thread = omp_get_thread_num();
    const long threads = omp_get_num_threads();
    top = stage_of_rows(stage, size, size * thread / threads, size * (thread + 1) / threads);
  }
  return top;
}

static void fill_ghosts(Water water, long size) {
  const long side = size + 2 * GHOSTS;
  const size_t bytes = GHOSTS * side * sizeof(double);
  for (int k = 0; k < FIELDS; ++k) {
    double* const q = water.of[k];
    memcpy(q, q + size * side, bytes);
    memcpy(q + (size + GHOSTS) * side, q + GHOSTS * side, bytes);
    for (long i = 0; i < side; ++i) {
      double* const row = q + i * side;
      memcpy(row, row + size, GHOSTS * sizeof(double));
      memcpy(row + size + GHOSTS, row + GHOSTS, GHOSTS * sizeof(double));
    }
  }
}

static void predict(Water water, double dt, long size) {
  const long side = size + 2 * GHOSTS;
#pragma omp parallel for schedule(static)
  for (long i = GHOSTS; i < size + GHOSTS; ++i) {
    for (int k = 0; k < FIELDS; ++k) {
      const double* const here = water.of[k] + i * side;
      const double* const rate = rates.of[k] + i * side;
      double* const ahead = predicted.of[k] + i * side;
#pragma omp simd
      for (long j = GHOSTS; j < size + GHOSTS; ++j) ahead[j] = here[j] + dt * rate[j];
    }
  }
  fill_ghosts(predicted, size);
}

void step(State* state) {
  const long size = state->side - 2 * GHOSTS;
  const double width = 1.0 / size;
  const Water water = {{state->field[DEPTH], state->field[X], state->field[Y]}};
  const double speed = run_stage((Stage){.here = water, .change = rates}, size);
  const double dt = COURANT * width / speed;

  predict(water, dt, size);
  run_stage((Stage){.here = predicted, .start = &water, .change = next, .dt = dt}, size);
  for (int k = 0; k < FIELDS; ++k) exchange(&state->field[k], &next.of[k]);
  fill_ghosts((Water){{state->field[DEPTH], state->field[X], state->field[Y]}}, size);
}
