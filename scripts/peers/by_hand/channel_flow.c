// SPDX-License-Identifier: Apache-2.0

// scripts/apps/channel_flow.py as an expert writes it: one loop for each stage of a step, two
// buffers for what changes, threads that share the rows. That file has the model.
//
// Rows lie along x, which is periodic: the first and the last column are neighbours. The first and
// the last row are the walls.

#include <math.h>
#include <string.h>

#include "program.h"

#define DENSITY 1.0
#define VISCOSITY 0.1
#define FORCE 1.0
#define LENGTH 2.0

// Numbers that depend on the grid alone, in the model's units: `delta` is the grid's spacing, `dt`
// the length of a step in time. Names with `over` are reciprocals or quotients of these.
typedef struct {
  double delta, dt;
  double two_delta, over_two_delta, over_dt;
  double delta_squared, four_delta_squared, over_four_delta_squared, source_weight;
  double dt_over_delta, dt_over_delta_squared, pressure_weight;
} Scheme;

static Scheme scheme;
static long sweep_count;
static double* source;
static double *next_u, *next_v, *next_p;

long side_of(long size) {
  return size;
}

// pow as Python computes it; the compiler would make products of it, which may differ by a
// rounding.
static double power(double base, double exponent) {
  static double (*volatile const function)(double, double) = pow;
  return function(base, exponent);
}

static Scheme scheme_of(long side) {
  Scheme s = {.delta = LENGTH / (side - 1)};
  s.delta_squared = power(s.delta, 2);
  s.dt = 0.1 * s.delta_squared / VISCOSITY;
  s.two_delta = 2 * s.delta;
  s.over_two_delta = 1 / s.two_delta;
  s.over_dt = 1 / s.dt;
  s.four_delta_squared = 4 * s.delta_squared;
  s.over_four_delta_squared = 1 / s.four_delta_squared;
  s.source_weight = power(s.delta, 4) / s.four_delta_squared;
  s.dt_over_delta = s.dt / s.delta;
  s.dt_over_delta_squared = s.dt / s.delta_squared;
  s.pressure_weight = s.dt / (2 * DENSITY * s.delta);
  return s;
}

// The walls hold the fluid; what is there is not written again.
static void hold_at_walls(double* velocity, long side) {
  memset(velocity, 0, side * sizeof(double));
  memset(velocity + (side - 1) * side, 0, side * sizeof(double));
}

void prepare(const State* state, long sweeps) {
  const size_t count = (size_t)state->side * state->side;
  scheme = scheme_of(state->side);
  sweep_count = sweeps;
  hold_at_walls(state->field[0], state->side);
  hold_at_walls(state->field[1], state->side);
  source = new_array(count);
  next_u = new_array(count);
  next_v = new_array(count);
  next_p = new_array(count);
}

// A row of an array, and those beside it.
typedef struct {
  const double *south, *here, *north;
} Rows;

static inline Rows rows_at(const double* array, long row, long side) {
  const double* const here = array + row * side;
  return (Rows){here - side, here, here + side};
}

static inline double source_at(Rows u, Rows v, long j, long east, long west, Scheme s) {
  const double u_x = quotient(u.here[east] - u.here[west], s.two_delta, s.over_two_delta);
  const double u_y = quotient(u.north[j] - u.south[j], s.two_delta, s.over_two_delta);
  const double v_x = quotient(v.here[east] - v.here[west], s.two_delta, s.over_two_delta);
  const double v_y = quotient(v.north[j] - v.south[j], s.two_delta, s.over_two_delta);
  return DENSITY * (quotient(u_x + v_y, s.dt, s.over_dt) - u_x * u_x - 2 * u_y * v_x - v_y * v_y);
}

// The source of the pressure. This and the stages below are called by all threads of a team, which
// share the rows and wait for each other at the end.
static void compute_source(const double* u_array, const double* v_array, long side) {
  const Scheme s = scheme;
  const long last = side - 1;
#pragma omp for schedule(static)
  for (long i = 1; i < last; ++i) {
    const Rows u = rows_at(u_array, i, side);
    const Rows v = rows_at(v_array, i, side);
    double* const b = source + i * side;
    b[0] = source_at(u, v, 0, 1, last, s);
#pragma omp simd
    for (long j = 1; j < last; ++j) b[j] = source_at(u, v, j, j + 1, j - 1, s);
    b[last] = source_at(u, v, last, 0, last - 1, s);
  }
}

static inline double relaxed_at(Rows p, const double* b, long j, long east, long west, Scheme s) {
  const double across =
      (p.here[east] + p.here[west]) * s.delta_squared + (p.north[j] + p.south[j]) * s.delta_squared;
  return quotient(across, s.four_delta_squared, s.over_four_delta_squared) - s.source_weight * b[j];
}

// One sweep over the pressure. The walls take the values beside them.
static void relax(const double* old, double* relaxed, long side) {
  const Scheme s = scheme;
  const long last = side - 1;
#pragma omp for schedule(static)
  for (long i = 1; i < last; ++i) {
    const Rows p = rows_at(old, i, side);
    const double* const b = source + i * side;
    double* const row = relaxed + i * side;
    row[0] = relaxed_at(p, b, 0, 1, last, s);
#pragma omp simd
    for (long j = 1; j < last; ++j) row[j] = relaxed_at(p, b, j, j + 1, j - 1, s);
    row[last] = relaxed_at(p, b, last, 0, last - 1, s);
    if (i == 1) memcpy(row - side, row, side * sizeof(double));
    if (i == last - 1) memcpy(row + side, row, side * sizeof(double));
  }
}

// A velocity component `w` after convection by (u, v) and diffusion.
static inline double moved_at(Rows w, double u, double v, long j, long east, long west, Scheme s) {
  const double here = w.here[j];
  const double along = quotient(u * s.dt, s.delta, 1 / s.delta);
  const double across = quotient(v * s.dt, s.delta, 1 / s.delta);
  return here - along * (here - w.here[west]) - across * (here - w.south[j]) +
         VISCOSITY * (s.dt_over_delta_squared * (w.here[east] - 2 * here + w.here[west]) +
                      s.dt_over_delta_squared * (w.north[j] - 2 * here + w.south[j]));
}

static inline double moved_u_at(Rows u, Rows v, Rows p, long j, long east, long west, Scheme s) {
  return moved_at(u, u.here[j], v.here[j], j, east, west, s) -
         s.pressure_weight * (p.here[east] - p.here[west]) + FORCE * s.dt;
}

static inline double moved_v_at(Rows u, Rows v, Rows p, long j, long east, long west, Scheme s) {
  return moved_at(v, u.here[j], v.here[j], j, east, west, s) -
         s.pressure_weight * (p.north[j] - p.south[j]);
}

static void move(const double* u_array, const double* v_array, const double* p_array, long side) {
  const Scheme s = scheme;
  const long last = side - 1;
#pragma omp for schedule(static)
  for (long i = 1; i < last; ++i) {
    const Rows u = rows_at(u_array, i, side);
    const Rows v = rows_at(v_array, i, side);
    const Rows p = rows_at(p_array, i, side);
    double* const u_row = next_u + i * side;
    double* const v_row = next_v + i * side;
    u_row[0] = moved_u_at(u, v, p, 0, 1, last, s);
    v_row[0] = moved_v_at(u, v, p, 0, 1, last, s);
#pragma omp simd
    for (long j = 1; j < last; ++j) {
      u_row[j] = moved_u_at(u, v, p, j, j + 1, j - 1, s);
      v_row[j] = moved_v_at(u, v, p, j, j + 1, j - 1, s);
    }
    u_row[last] = moved_u_at(u, v, p, last, 0, last - 1, s);
    v_row[last] = moved_v_at(u, v, p, last, 0, last - 1, s);
  }
}

void step(State* state) {
  const long side = state->side;
  double** const u = &state->field[0];
  double** const v = &state->field[1];
  double** const p = &state->field[2];
#pragma omp parallel
  {
    double* old = *p;
    double* relaxed = next_p;
    compute_source(*u, *v, side);
    for (long sweep = 0; sweep < sweep_count; ++sweep) {
      relax(old, relaxed, side);
      exchange(&old, &relaxed);
    }
    move(*u, *v, old, side);
  }
  if (sweep_count % 2 == 1) exchange(p, &next_p);
  exchange(u, &next_u);
  exchange(v, &next_v);
}
