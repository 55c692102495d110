// SPDX-License-Identifier: Apache-2.0
// The matrices, assembled.
#include "systems.h"

PetscErrorCode assembled_operator(Level* level, Mat* matrix) {
  PetscFunctionBeginUser;
  PetscCall(DMSetMatType(level->grid, MATAIJ));
  PetscCall(DMCreateMatrix(level->grid, matrix));
  for (PetscInt i = level->first; i < level->first + level->rows; ++i) {
    for (PetscInt j = 0; j < level->side; ++j) {
      const MatStencil row = {.i = j, .j = i};
      // entries outside of the grid are dropped
      const MatStencil columns[5] = {{.i = j, .j = i - 1},
                                     {.i = j - 1, .j = i},
                                     {.i = j, .j = i},
                                     {.i = j + 1, .j = i},
                                     {.i = j, .j = i + 1}};
      const PetscScalar values[5] = {-1.0, -1.0, 4.0, -1.0, -1.0};
      MatStencil inside[5];
      PetscScalar kept[5];
      PetscInt n = 0;
      for (PetscInt k = 0; k < 5; ++k) {
        const MatStencil c = columns[k];
        if (c.i < 0 || c.i >= level->side || c.j < 0 || c.j >= level->side) continue;
        inside[n] = c;
        kept[n++] = values[k];
      }
      PetscCall(MatSetValuesStencil(*matrix, 1, &row, n, inside, kept, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

// Writes the coarse points that a fine one lies at or between, and returns how many
// they are: point 2 k + 1 lies at k, point 2 k between k - 1 and k.
static PetscInt parents(PetscInt fine, PetscInt coarse_side, PetscInt coarse[2]) {
  PetscInt n = 0;
  if (fine % 2 == 1) {
    coarse[n++] = fine / 2;
    return n;
  }
  if (fine > 0) coarse[n++] = fine / 2 - 1;
  if (fine / 2 < coarse_side) coarse[n++] = fine / 2;
  return n;
}

PetscErrorCode assembled_interpolation(Level* coarse, Level* fine, Mat* matrix) {
  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, fine->rows * fine->side, coarse->rows * coarse->side,
                         PETSC_DETERMINE, PETSC_DETERMINE, 4, NULL, 4, NULL, matrix));
  for (PetscInt i = fine->first; i < fine->first + fine->rows; ++i) {
    PetscInt rows[2];
    const PetscInt row_count = parents(i, coarse->side, rows);
    for (PetscInt j = 0; j < fine->side; ++j) {
      const PetscInt row = i * fine->side + j;
      const PetscScalar weight = (i % 2 ? 1.0 : 0.5) * (j % 2 ? 1.0 : 0.5);
      PetscInt columns[2], points[4], n = 0;
      PetscScalar weights[4];
      const PetscInt column_count = parents(j, coarse->side, columns);
      for (PetscInt k = 0; k < row_count; ++k) {
        for (PetscInt l = 0; l < column_count; ++l) {
          weights[n] = weight;
          points[n++] = rows[k] * coarse->side + columns[l];
        }
      }
      PetscCall(MatSetValues(*matrix, 1, &row, n, points, weights, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}
