// SPDX-License-Identifier: Apache-2.0
// The matrices as loops. Only the rows next to a rank's own are copied (a DMDA's local
// vector would copy all of them), and they travel while the inner rows are computed.
#include "systems.h"

static PetscErrorCode begin_exchange(Level* level, const PetscScalar* x, MPI_Request requests[4]) {
  const PetscMPIInt n = (PetscMPIInt)level->side;
  const PetscScalar* last = x + (level->rows - 1) * level->side;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Irecv(level->above, n, MPIU_SCALAR, level->above_rank, 0, PETSC_COMM_WORLD,
                         &requests[0]));
  PetscCallMPI(MPI_Irecv(level->below, n, MPIU_SCALAR, level->below_rank, 1, PETSC_COMM_WORLD,
                         &requests[1]));
  PetscCallMPI(MPI_Isend(x, n, MPIU_SCALAR, level->above_rank, 1, PETSC_COMM_WORLD, &requests[2]));
  PetscCallMPI(
      MPI_Isend(last, n, MPIU_SCALAR, level->below_rank, 0, PETSC_COMM_WORLD, &requests[3]));
  PetscFunctionReturn(0);
}

// Returns a row by its number in the whole grid: own, or next to the own ones.
static const PetscScalar* row_of(const Level* level, const PetscScalar* x, PetscInt row) {
  if (row < level->first) return level->above;
  if (row >= level->first + level->rows) return level->below;
  return x + (row - level->first) * level->side;
}

static void five_points(PetscInt n, const PetscScalar* restrict above,
                        const PetscScalar* restrict here, const PetscScalar* restrict below,
                        PetscScalar* restrict result) {
  result[0] = 4.0 * here[0] - above[0] - below[0] - (n > 1 ? here[1] : 0.0);
  for (PetscInt j = 1; j < n - 1; ++j) {
    result[j] = 4.0 * here[j] - above[j] - below[j] - here[j - 1] - here[j + 1];
  }
  if (n > 1) result[n - 1] = 4.0 * here[n - 1] - above[n - 1] - below[n - 1] - here[n - 2];
}

static void operator_row(const Level* level, const PetscScalar* x, PetscInt local, PetscScalar* y) {
  const PetscInt row = level->first + local;
  five_points(level->side, row_of(level, x, row - 1), row_of(level, x, row),
              row_of(level, x, row + 1), y + local * level->side);
}

static PetscErrorCode operator_times(Mat matrix, Vec x, Vec y) {
  Level* level;
  const PetscScalar* in;
  PetscScalar* out;
  MPI_Request requests[4];

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(matrix, &level));
  PetscCall(VecGetArrayRead(x, &in));
  PetscCall(VecGetArrayWrite(y, &out));
  PetscCall(begin_exchange(level, in, requests));
  for (PetscInt i = 1; i < level->rows - 1; ++i) operator_row(level, in, i, out);
  PetscCallMPI(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  operator_row(level, in, 0, out);
  if (level->rows > 1) operator_row(level, in, level->rows - 1, out);
  PetscCall(VecRestoreArrayWrite(y, &out));
  PetscCall(VecRestoreArrayRead(x, &in));
  PetscFunctionReturn(0);
}

static PetscErrorCode operator_diagonal(Mat matrix, Vec diagonal) {
  PetscFunctionBeginUser;
  (void)matrix;
  PetscCall(VecSet(diagonal, 4.0));
  PetscFunctionReturn(0);
}

PetscErrorCode stencil_operator(Level* level, Mat* matrix) {
  const PetscInt points = level->rows * level->side;

  PetscFunctionBeginUser;
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, points, points, PETSC_DETERMINE, PETSC_DETERMINE,
                           level, matrix));
  PetscCall(MatShellSetOperation(*matrix, MATOP_MULT, (void (*)(void))operator_times));
  PetscCall(MatShellSetOperation(*matrix, MATOP_GET_DIAGONAL, (void (*)(void))operator_diagonal));
  PetscFunctionReturn(0);
}

typedef struct {
  Level *coarse, *fine;
} Transfer;

static PetscErrorCode wait_for_rows(Level* level, const PetscScalar* x) {
  MPI_Request requests[4];

  PetscFunctionBeginUser;
  PetscCall(begin_exchange(level, x, requests));
  PetscCallMPI(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  PetscFunctionReturn(0);
}

// result = from + the interpolation of x
static PetscErrorCode interpolate_and_add(Mat matrix, Vec x, Vec from, Vec result) {
  Transfer* transfer;
  const PetscScalar* in;
  PetscScalar* out;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(matrix, &transfer));
  if (from != result) PetscCall(VecCopy(from, result));
  const Level *coarse = transfer->coarse, *fine = transfer->fine;
  PetscCall(VecGetArrayRead(x, &in));
  PetscCall(VecGetArray(result, &out));
  PetscCall(wait_for_rows(transfer->coarse, in));
  for (PetscInt i = 0; i < fine->rows; ++i) {
    const PetscInt row = fine->first + i;
    const PetscScalar* restrict below = row_of(coarse, in, row / 2);
    const PetscScalar* restrict above = row % 2 ? below : row_of(coarse, in, row / 2 - 1);
    PetscScalar* restrict to = out + i * fine->side;
    PetscScalar left = 0.0;
    for (PetscInt j = 0; j < coarse->side; ++j) {
      const PetscScalar mean = 0.5 * (above[j] + below[j]);
      to[2 * j] += 0.5 * (left + mean);
      to[2 * j + 1] += mean;
      left = mean;
    }
    to[2 * coarse->side] += 0.5 * left;
  }
  PetscCall(VecRestoreArray(result, &out));
  PetscCall(VecRestoreArrayRead(x, &in));
  PetscFunctionReturn(0);
}

// the transpose of the interpolation: four times the full weighting
static PetscErrorCode restrict_residual(Mat matrix, Vec x, Vec y) {
  Transfer* transfer;
  const PetscScalar* in;
  PetscScalar* out;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(matrix, &transfer));
  const Level *coarse = transfer->coarse, *fine = transfer->fine;
  PetscCall(VecGetArrayRead(x, &in));
  PetscCall(VecGetArrayWrite(y, &out));
  PetscCall(wait_for_rows(transfer->fine, in));
  for (PetscInt i = 0; i < coarse->rows; ++i) {
    const PetscInt row = 2 * (coarse->first + i) + 1;
    const PetscScalar* restrict above = row_of(fine, in, row - 1);
    const PetscScalar* restrict here = row_of(fine, in, row);
    const PetscScalar* restrict below = row_of(fine, in, row + 1);
    PetscScalar* restrict to = out + i * coarse->side;
    for (PetscInt j = 0; j < coarse->side; ++j) {
      const PetscInt k = 2 * j + 1;
      to[j] = here[k] + 0.5 * (above[k] + below[k] + here[k - 1] + here[k + 1]) +
              0.25 * (above[k - 1] + above[k + 1] + below[k - 1] + below[k + 1]);
    }
  }
  PetscCall(VecRestoreArrayWrite(y, &out));
  PetscCall(VecRestoreArrayRead(x, &in));
  PetscFunctionReturn(0);
}

static PetscErrorCode free_transfer(Mat matrix) {
  Transfer* transfer;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(matrix, &transfer));
  PetscCall(PetscFree(transfer));
  PetscFunctionReturn(0);
}

PetscErrorCode stencil_interpolation(Level* coarse, Level* fine, Mat* matrix) {
  Transfer* transfer;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&transfer));
  transfer->coarse = coarse;
  transfer->fine = fine;
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, fine->rows * fine->side, coarse->rows * coarse->side,
                           PETSC_DETERMINE, PETSC_DETERMINE, transfer, matrix));
  PetscCall(MatShellSetOperation(*matrix, MATOP_MULT_ADD, (void (*)(void))interpolate_and_add));
  PetscCall(MatShellSetOperation(*matrix, MATOP_MULT_TRANSPOSE, (void (*)(void))restrict_residual));
  PetscCall(MatShellSetOperation(*matrix, MATOP_DESTROY, (void (*)(void))free_transfer));
  PetscFunctionReturn(0);
}
