// SPDX-License-Identifier: Apache-2.0

// Conjugate gradients, or BiCGSTAB, on an assembled matrix, as an expert writes them: three passes
// over the rows in an iteration, or five; threads have parts of the rows.
//
//   PROGRAM SOLVER FILE CHECKED WARM_UP ITERATIONS
//
// SOLVER is cg or bicgstab. FILE holds the matrix. Prints one line of JSON: milliseconds for an
// iteration, for a product of matrix and vector, and the square of the residual after CHECKED
// iterations.

#include "rows.h"

static Matrix a;

// Goes on from a residual r with the sum of squares rho; returns the next one.
static double iterate(double* x, double* r, double* p, double* q, double rho) {
  double pq = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : pq)
  for (long i = 0; i < a.count; ++i) {
    q[i] = row_of(&a, i, p);
    pq += p[i] * q[i];
  }
  const double alpha = rho / pq;
  double next = 0.0;
#pragma omp parallel for simd schedule(static) reduction(+ : next)
  for (long i = 0; i < a.count; ++i) {
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
    next += r[i] * r[i];
  }
  const double beta = next / rho;
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < a.count; ++i) p[i] = r[i] + beta * p[i];
  return next;
}

typedef struct {
  double *x, *r, *p, *q, *s, *t;
  double rho;
} State;

static void step_of_cg(State* state) {
  state->rho = iterate(state->x, state->r, state->p, state->q, state->rho);
}

// The first residual, to which others are multiplied, is 1 everywhere.
static void step_of_bicgstab(State* state) {
  double *const x = state->x, *const r = state->r, *const p = state->p;
  double *const v = state->q, *const s = state->s, *const t = state->t;
  double sum_v = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : sum_v)
  for (long i = 0; i < a.count; ++i) {
    v[i] = row_of(&a, i, p);
    sum_v += v[i];
  }
  const double alpha = state->rho / sum_v;
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < a.count; ++i) s[i] = r[i] - alpha * v[i];
  double ts = 0.0, tt = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : ts, tt)
  for (long i = 0; i < a.count; ++i) {
    t[i] = row_of(&a, i, s);
    ts += t[i] * s[i];
    tt += t[i] * t[i];
  }
  const double omega = ts / tt;
  double rho = 0.0;
#pragma omp parallel for simd schedule(static) reduction(+ : rho)
  for (long i = 0; i < a.count; ++i) {
    x[i] += alpha * p[i] + omega * s[i];
    r[i] = s[i] - omega * t[i];
    rho += r[i];
  }
  const double beta = rho / state->rho * (alpha / omega);
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < a.count; ++i) p[i] = r[i] + beta * (p[i] - omega * v[i]);
  state->rho = rho;
}

static double square(const double* r, long count) {
  double sum = 0.0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
  for (long i = 0; i < count; ++i) sum += r[i] * r[i];
  return sum;
}

int main(int words, char** word) {
  if (words != 6) fail("expected 5 arguments");
  void (*const step)(State*) = strcmp(word[1], "cg") == 0 ? step_of_cg : step_of_bicgstab;
  FILE* const file = fopen(word[2], "rb");
  if (!file) fail("cannot open the matrix");
  const long checked = atol(word[3]), warm_up = atol(word[4]), iterations = atol(word[5]);
  a = read_matrix(file);
  fclose(file);

  double* array[6];
  for (int i = 0; i < 6; ++i) array[i] = new_array(a.count, sizeof(double));
  State state = {array[0], array[1], array[2], array[3], array[4], array[5], (double)a.count};
  for (long i = 0; i < a.count; ++i) state.r[i] = state.p[i] = 1.0;
  for (long i = 0; i < checked; ++i) step(&state);
  const double residual = square(state.r, a.count);
  for (long i = checked; i < warm_up; ++i) step(&state);
  const double start = omp_get_wtime();
  for (long i = 0; i < iterations; ++i) step(&state);
  const double iteration = 1e3 * (omp_get_wtime() - start) / iterations;
  print_times(iteration, time_products(&a, state.p, state.q, iterations), residual);
  return 0;
}
