// SPDX-License-Identifier: Apache-2.0

// A matrix in compressed rows; threads have parts of the rows.

#pragma once

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  long first;
  long last;
} Row;

typedef struct {
  long count;  // of rows
  Row* rows;
  long* columns;
  double* values;
} Matrix;

static const size_t HUGE_PAGE = 2 << 20;  // bytes

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

static void read_part(FILE* file, void* target, size_t size, long elements) {
  if (fread(target, size, elements, file) != (size_t)elements) fail("cannot read the matrix");
}

// How many rows and elements, where each row begins and ends, the columns, and the values.
static Matrix read_matrix(FILE* file) {
  long counts[2];
  read_part(file, counts, sizeof(long), 2);
  const Matrix a = {counts[0], new_array(counts[0], sizeof(Row)),
                    new_array(counts[1], sizeof(long)), new_array(counts[1], sizeof(double))};
  read_part(file, a.rows, sizeof(Row), counts[0]);
  read_part(file, a.columns, sizeof(long), counts[1]);
  read_part(file, a.values, sizeof(double), counts[1]);
  return a;
}

static inline double row_of(const Matrix* a, long i, const double* x) {
  double sum = 0.0;
  for (long k = a->rows[i].first; k <= a->rows[i].last; ++k) {
    sum += a->values[k] * x[a->columns[k]];
  }
  return sum;
}

static void product(const Matrix* a, const double* x, double* y) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < a->count; ++i) y[i] = row_of(a, i, x);
}

// Milliseconds for a product of two vectors that take turns.
static double time_products(const Matrix* a, double* p, double* q, long iterations) {
  const double start = omp_get_wtime();
  for (long i = 0; i < iterations; ++i) product(a, i % 2 ? q : p, i % 2 ? p : q);
  return 1e3 * (omp_get_wtime() - start) / iterations;
}

static void print_times(double iteration_ms, double product_ms, double residual) {
  printf("{\"iteration_ms\": %.6f, \"product_ms\": %.6f, \"residual\": %.17g}\n", iteration_ms,
         product_ms, residual);
}
