// SPDX-License-Identifier: Apache-2.0

// Conjugate gradients, or BiCGSTAB, on an assembled matrix, as an expert writes them: three passes
// over the rows in an iteration, or five; threads have parts of the rows.
//
//   PROGRAM SOLVER FILE ROWS ELEMENTS CHECKED WARM_UP ITERATIONS
//
// SOLVER is cg or bicgstab. FILE holds where each row begins and ends, the columns, and the values.
// Prints one line of JSON: milliseconds for an iteration, for a product of matrix and vector, and
// the square of the residual after CHECKED iterations.

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  long first;
  long last;
} Row;

static const size_t HUGE_PAGE = 2 << 20;  // bytes

static Row* rows;
static long* columns;
static double* values;
static long count;

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

// Zeros, each thread's part of which it touches first.
static void* new_array(long elements, size_t size) {
  const size_t bytes = (elements * size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  char* const array = aligned_alloc(HUGE_PAGE, bytes);
  if (!array) fail("there is no memory for the arrays");
#pragma omp parallel for schedule(static)
  for (long i = 0; i < elements; ++i) memset(array + i * size, 0, size);
  return array;
}

static inline double row_of(long i, const double* x) {
  double sum = 0.0;
  for (long k = rows[i].first; k <= rows[i].last; ++k) sum += values[k] * x[columns[k]];
  return sum;
}

static void product(const double* x, double* y) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < count; ++i) y[i] = row_of(i, x);
}

// Goes on from a residual r with the sum of squares rho; returns the next one.
static double iterate(double* x, double* r, double* p, double* q, double rho) {
  double pq = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : pq)
  for (long i = 0; i < count; ++i) {
    q[i] = row_of(i, p);
    pq += p[i] * q[i];
  }
  const double alpha = rho / pq;
  double next = 0.0;
#pragma omp parallel for simd schedule(static) reduction(+ : next)
  for (long i = 0; i < count; ++i) {
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
    next += r[i] * r[i];
  }
  const double beta = next / rho;
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < count; ++i) p[i] = r[i] + beta * p[i];
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
  for (long i = 0; i < count; ++i) {
    v[i] = row_of(i, p);
    sum_v += v[i];
  }
  const double alpha = state->rho / sum_v;
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < count; ++i) s[i] = r[i] - alpha * v[i];
  double ts = 0.0, tt = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : ts, tt)
  for (long i = 0; i < count; ++i) {
    t[i] = row_of(i, s);
    ts += t[i] * s[i];
    tt += t[i] * t[i];
  }
  const double omega = ts / tt;
  double rho = 0.0;
#pragma omp parallel for simd schedule(static) reduction(+ : rho)
  for (long i = 0; i < count; ++i) {
    x[i] += alpha * p[i] + omega * s[i];
    r[i] = s[i] - omega * t[i];
    rho += r[i];
  }
  const double beta = rho / state->rho * (alpha / omega);
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < count; ++i) p[i] = r[i] + beta * (p[i] - omega * v[i]);
  state->rho = rho;
}

static double square(const double* r) {
  double sum = 0.0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
  for (long i = 0; i < count; ++i) sum += r[i] * r[i];
  return sum;
}

int main(int words, char** word) {
  if (words != 8) fail("expected 7 arguments");
  void (*const step)(State*) = strcmp(word[1], "cg") == 0 ? step_of_cg : step_of_bicgstab;
  FILE* const file = fopen(word[2], "rb");
  if (!file) fail("cannot open the matrix");
  count = atol(word[3]);
  const size_t elements = atol(word[4]);
  const long checked = atol(word[5]), warm_up = atol(word[6]), iterations = atol(word[7]);

  rows = new_array(count, sizeof(Row));
  columns = new_array((long)elements, sizeof(long));
  values = new_array((long)elements, sizeof(double));
  if (fread(rows, sizeof(Row), count, file) != (size_t)count ||
      fread(columns, sizeof(long), elements, file) != elements ||
      fread(values, sizeof(double), elements, file) != elements) {
    fail("cannot read the matrix");
  }
  fclose(file);

  double* array[6];
  for (int i = 0; i < 6; ++i) array[i] = new_array(count, sizeof(double));
  State state = {array[0], array[1], array[2], array[3], array[4], array[5], (double)count};
  double *const p = state.p, *const q = state.q;
  for (long i = 0; i < count; ++i) state.r[i] = p[i] = 1.0;
  for (long i = 0; i < checked; ++i) step(&state);
  const double residual = square(state.r);
  for (long i = checked; i < warm_up; ++i) step(&state);
  double start = omp_get_wtime();
  for (long i = 0; i < iterations; ++i) step(&state);
  const double iteration = (omp_get_wtime() - start) / iterations;

  start = omp_get_wtime();
  for (long i = 0; i < iterations; ++i) product(i % 2 ? q : p, i % 2 ? p : q);
  const double one = (omp_get_wtime() - start) / iterations;
  printf("{\"iteration_ms\": %.6f, \"product_ms\": %.6f, \"residual\": %.17g}\n", 1e3 * iteration,
         1e3 * one, residual);
  return 0;
}
