// SPDX-License-Identifier: Apache-2.0

// Conjugate gradients on an assembled matrix, as an expert writes them: three passes over the rows
// in an iteration, threads have parts of the rows.
//
//   PROGRAM FILE ROWS ELEMENTS WARM_UP ITERATIONS
//
// FILE holds where each row begins and ends, the columns, and the values. Prints one line of JSON:
// milliseconds for an iteration, for a product of matrix and vector, and the last residual.

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

int main(int words, char** word) {
  if (words != 6) fail("expected 5 arguments");
  FILE* const file = fopen(word[1], "rb");
  if (!file) fail("cannot open the matrix");
  count = atol(word[2]);
  const size_t elements = atol(word[3]);
  const long warm_up = atol(word[4]), iterations = atol(word[5]);

  rows = new_array(count, sizeof(Row));
  columns = new_array((long)elements, sizeof(long));
  values = new_array((long)elements, sizeof(double));
  if (fread(rows, sizeof(Row), count, file) != (size_t)count ||
      fread(columns, sizeof(long), elements, file) != elements ||
      fread(values, sizeof(double), elements, file) != elements) {
    fail("cannot read the matrix");
  }
  fclose(file);

  double* const x = new_array(count, sizeof(double));
  double* const r = new_array(count, sizeof(double));
  double* const p = new_array(count, sizeof(double));
  double* const q = new_array(count, sizeof(double));
  for (long i = 0; i < count; ++i) r[i] = p[i] = 1.0;
  double rho = (double)count;
  for (long i = 0; i < warm_up; ++i) rho = iterate(x, r, p, q, rho);
  double start = omp_get_wtime();
  for (long i = 0; i < iterations; ++i) rho = iterate(x, r, p, q, rho);
  const double iteration = (omp_get_wtime() - start) / iterations;

  start = omp_get_wtime();
  for (long i = 0; i < iterations; ++i) product(i % 2 ? q : p, i % 2 ? p : q);
  const double one = (omp_get_wtime() - start) / iterations;
  printf("{\"iteration_ms\": %.6f, \"product_ms\": %.6f, \"residual\": %.17g}\n", 1e3 * iteration,
         1e3 * one, rho);
  return 0;
}
