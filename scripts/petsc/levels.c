// SPDX-License-Identifier: Apache-2.0
#include "systems.h"

// How many of a level's rows each rank owns: an even share of the coarsest level's,
// and from there on the fine rows that a coarse row begins with.
static PetscInt first_row(PetscInt level, PetscInt coarsest, PetscMPIInt rank, PetscMPIInt ranks) {
  return (coarsest * rank / ranks) << level;
}

PetscErrorCode make_levels(PetscInt side, PetscInt count, Level levels[]) {
  PetscMPIInt rank, ranks;
  PetscInt* rows;
  const PetscInt coarsest = ((side + 1) >> (count - 1)) - 1;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscMalloc1(ranks, &rows));
  for (PetscInt i = 0; i < count; ++i) {
    Level* level = &levels[i];
    level->side = ((side + 1) >> (count - 1 - i)) - 1;
    for (PetscMPIInt r = 0; r < ranks; ++r) {
      const PetscInt end = r + 1 < ranks ? first_row(i, coarsest, r + 1, ranks) : level->side;
      rows[r] = end - first_row(i, coarsest, r, ranks);
    }
    level->first = first_row(i, coarsest, rank, ranks);
    level->rows = rows[rank];
    level->above_rank = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    level->below_rank = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    PetscCall(PetscCalloc2(level->side, &level->above, level->side, &level->below));
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR,
                           level->side, level->side, 1, ranks, 1, 1, NULL, rows, &level->grid));
    PetscCall(DMSetUp(level->grid));
  }
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(0);
}

PetscErrorCode free_levels(PetscInt count, Level levels[]) {
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < count; ++i) {
    PetscCall(PetscFree2(levels[i].above, levels[i].below));
    PetscCall(DMDestroy(&levels[i].grid));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode poisson_right(const Level* level, Vec* right) {
  const PetscInt side = level->side;
  const PetscReal cells = (PetscReal)(side + 1);
  PetscScalar* value;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(level->grid, right));
  PetscCall(VecGetArrayWrite(*right, &value));
  for (PetscInt i = 0; i < level->rows; ++i) {
    for (PetscInt j = 0; j < side; ++j) {
      const PetscReal x = (PetscReal)(j + 1) / cells;
      const PetscReal y = (PetscReal)(level->first + i + 1) / cells;
      value[i * side + j] = 2.0 * (x * (1.0 - x) + y * (1.0 - y)) / (cells * cells);
    }
  }
  PetscCall(VecRestoreArrayWrite(*right, &value));
  PetscFunctionReturn(0);
}
