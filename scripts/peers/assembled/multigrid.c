// SPDX-License-Identifier: Apache-2.0

// V-cycles on assembled matrices: a step of weighted Jacobi before and after the coarser level's
// correction, and one on the coarsest level; loops over rows as an expert writes them.
//
//   PROGRAM SOLVER FILE CHECKED WARM_UP ITERATIONS
//
// FILE holds how many levels there are, and of each the matrix, and where there is a coarser one
// the matrices to it and from it. Prints one line of JSON: milliseconds for an iteration, for a
// product of the finest matrix and a vector, and the square of the residual after CHECKED
// iterations.

#include "rows.h"

static const double WEIGHT = 0.8;

typedef struct {
  Matrix a, down, up;
  double* weights;  // WEIGHT by the diagonal
  double *r, *x, *y, *residual;
} Level;

static Level* levels;
static long last;

// Puts an approximate solution for the right-hand side r into y.
static void cycle(long n) {
  Level* const level = &levels[n];
  const Matrix* const a = &level->a;
  const double *const w = level->weights, *const r = level->r;
  double *const x = level->x, *const y = level->y, *const residual = level->residual;
  if (n == last) {
#pragma omp parallel for simd schedule(static)
    for (long i = 0; i < a->count; ++i) y[i] = w[i] * r[i];
    return;
  }
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < a->count; ++i) x[i] = w[i] * r[i];
#pragma omp parallel for schedule(static)
  for (long i = 0; i < a->count; ++i) residual[i] = r[i] - row_of(a, i, x);
  product(&level->down, residual, level[1].r);
  cycle(n + 1);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < a->count; ++i) x[i] += row_of(&level->up, i, level[1].y);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < a->count; ++i) y[i] = x[i] + w[i] * (r[i] - row_of(a, i, x));
}

// Goes on from x, where the right-hand side is 1 everywhere; returns the square of the residual.
static double step(double* x) {
  const Matrix* const a = &levels[0].a;
  double *const r = levels[0].r, *const correction = levels[0].y;
  cycle(0);
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < a->count; ++i) x[i] += correction[i];
  double rho = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : rho)
  for (long i = 0; i < a->count; ++i) {
    r[i] = 1.0 - row_of(a, i, x);
    rho += r[i] * r[i];
  }
  return rho;
}

static Level read_level(FILE* file, int coarsest) {
  Level level = {.a = read_matrix(file)};
  if (!coarsest) {
    level.down = read_matrix(file);
    level.up = read_matrix(file);
  }
  const Matrix* const a = &level.a;
  double** const arrays[] = {&level.weights, &level.r, &level.x, &level.y, &level.residual};
  for (int i = 0; i < 5; ++i) *arrays[i] = new_array(a->count, sizeof(double));
  for (long i = 0; i < a->count; ++i) {
    for (long k = a->rows[i].first; k <= a->rows[i].last; ++k) {
      if (a->columns[k] == i) level.weights[i] = WEIGHT / a->values[k];
    }
  }
  return level;
}

int main(int words, char** word) {
  if (words != 6) fail("expected 5 arguments");
  FILE* const file = fopen(word[2], "rb");
  if (!file) fail("cannot open the matrices");
  const long checked = atol(word[3]), warm_up = atol(word[4]), iterations = atol(word[5]);
  long count;
  read_part(file, &count, sizeof(long), 1);
  levels = calloc(count, sizeof(Level));
  if (!levels) fail("there is no memory for the levels");
  last = count - 1;
  for (long n = 0; n < count; ++n) levels[n] = read_level(file, n == last);
  fclose(file);

  const Matrix* const a = &levels[0].a;
  double *const x = new_array(a->count, sizeof(double)), *const r = levels[0].r;
  for (long i = 0; i < a->count; ++i) r[i] = 1.0;
  double residual = 0.0;
  for (long i = 0; i < checked; ++i) residual = step(x);
  for (long i = checked; i < warm_up; ++i) step(x);
  const double start = omp_get_wtime();
  for (long i = 0; i < iterations; ++i) step(x);
  const double iteration = 1e3 * (omp_get_wtime() - start) / iterations;
  print_times(iteration, time_products(a, r, levels[0].residual, iterations), residual);
  return 0;
}
