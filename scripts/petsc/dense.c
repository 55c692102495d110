// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "systems.h"

PetscErrorCode dense_system(PetscInt size, Mat* matrix, Vec* right) {
  PetscInt first, end, leading;
  PetscScalar* value;
  Vec solution;

  PetscFunctionBeginUser;
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, size, size, NULL, matrix));
  PetscCall(MatCreateVecs(*matrix, &solution, right));
  PetscCall(MatGetOwnershipRange(*matrix, &first, &end));
  PetscCall(MatDenseGetLDA(*matrix, &leading));
  PetscCall(MatDenseGetArrayWrite(*matrix, &value));
  for (PetscInt j = 0; j < size; ++j) {
    for (PetscInt i = first; i < end; ++i) {
      const PetscReal weight = fmod((PetscReal)(i * size + j) * 0.6180339887498949, 1.0) / size;
      const PetscReal diagonal = 2.0 + fmod((PetscReal)i * 0.4142135623730951, 1.0);
      value[j * leading + (i - first)] = i == j ? diagonal : weight;
    }
  }
  PetscCall(MatDenseRestoreArrayWrite(*matrix, &value));
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(VecGetArrayWrite(solution, &value));
  for (PetscInt i = first; i < end; ++i) {
    value[i - first] = 1.0 + fmod((PetscReal)i * 0.3027756377319946, 1.0);
  }
  PetscCall(VecRestoreArrayWrite(solution, &value));
  PetscCall(MatMult(*matrix, solution, *right));
  PetscCall(VecDestroy(&solution));
  PetscFunctionReturn(0);
}
