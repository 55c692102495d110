// SPDX-License-Identifier: Apache-2.0
// The systems of equations of scripts/apps, for PETSc: the same unknowns, matrices
// and right-hand sides, row for row.
#pragma once

#include <petscdmda.h>

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
#error "PETSc has to be built for real numbers in double precision"
#endif

// One grid of side x side unknowns. Ranks own strips of whole rows, so that PETSc's
// numbering is the row-major one and the rows of a rank lie together in memory.
typedef struct {
  DM grid;
  PetscInt side;
  PetscInt first;  // row that this rank begins with
  PetscInt rows;   // rows of this rank, at least one
  PetscMPIInt above_rank, below_rank;
  // the rows next to this rank's own, each after an exchange; zeros at the edge
  PetscScalar *above, *below;
} Level;

// Fills levels[0 .. count-1], coarsest first; a level has 2 n + 1 points on a side
// where the coarser one has n. A coarse row and the fine rows around it have one
// owner, but for one fine row of the next rank.
PetscErrorCode make_levels(PetscInt side, PetscInt count, Level levels[]);
PetscErrorCode free_levels(PetscInt count, Level levels[]);

// Poisson's right-hand side as scripts/apps/poisson.py has it.
PetscErrorCode poisson_right(const Level* level, Vec* right);

// The five-point operator 4 u - (its neighbours), and the bilinear interpolation
// from a coarser grid, both as assembled AIJ matrices ...
PetscErrorCode assembled_operator(Level* level, Mat* matrix);
PetscErrorCode assembled_interpolation(Level* coarse, Level* fine, Mat* matrix);
// ... and as loops over the grids, without matrices.
PetscErrorCode stencil_operator(Level* level, Mat* matrix);
PetscErrorCode stencil_interpolation(Level* coarse, Level* fine, Mat* matrix);

// The dense system of scripts/apps/jacobi.py.
PetscErrorCode dense_system(PetscInt size, Mat* matrix, Vec* right);
