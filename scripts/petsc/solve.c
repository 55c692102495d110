// SPDX-License-Identifier: Apache-2.0
// PETSc's side of scripts/compare_petsc.py. Solves one system a number of times, each
// time from 0 with a fixed number of iterations, and prints a line of JSON.
//
//   solve -method cg|bicgstab|multigrid|jacobi -form aij|stencil|dense -size N
//         -iterations N -batches N -last N -output FILE
//
// A batch is one solve of -iterations. A last one of -last iterations makes the
// solution that is written: doubles, the most significant byte first, row-major.
#include <petscksp.h>
#include <petsctime.h>
#include <string.h>

#include "systems.h"

#define MOST_LEVELS 32

typedef struct {
  char method[32], form[32], output[PETSC_MAX_PATH_LEN];
  PetscInt size, iterations, batches, last;
} Options;

typedef struct {
  Options options;
  PetscInt count;
  Level levels[MOST_LEVELS];
  Mat matrix;
  Vec right, x;
  KSP solver;
} Problem;

static PetscErrorCode read_options(Options* options) {
  PetscFunctionBeginUser;
  memset(options, 0, sizeof *options);
  const struct {
    const char* name;
    char* text;
    size_t length;
  } texts[] = {{"-method", options->method, sizeof options->method},
               {"-form", options->form, sizeof options->form},
               {"-output", options->output, sizeof options->output}};
  const struct {
    const char* name;
    PetscInt* number;
  } numbers[] = {{"-size", &options->size},
                 {"-iterations", &options->iterations},
                 {"-batches", &options->batches},
                 {"-last", &options->last}};
  PetscBool given;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    PetscCall(
        PetscOptionsGetString(NULL, NULL, texts[i].name, texts[i].text, texts[i].length, &given));
    PetscCheck(given, PETSC_COMM_WORLD, PETSC_ERR_USER, "%s is missing", texts[i].name);
  }
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    PetscCall(PetscOptionsGetInt(NULL, NULL, numbers[i].name, numbers[i].number, &given));
    PetscCheck(given && *numbers[i].number > 0, PETSC_COMM_WORLD, PETSC_ERR_USER,
               "%s needs a positive number", numbers[i].name);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode make_operator(const Options* options, Level* level, Mat* matrix) {
  PetscFunctionBeginUser;
  if (strcmp(options->form, "stencil") == 0)
    PetscCall(stencil_operator(level, matrix));
  else
    PetscCall(assembled_operator(level, matrix));
  PetscFunctionReturn(0);
}

// Makes a solver run exactly ``iterations``, without a norm of the residual.
static PetscErrorCode fix_iterations(KSP solver, PetscInt iterations) {
  PetscFunctionBeginUser;
  PetscCall(KSPSetNormType(solver, KSP_NORM_NONE));
  PetscCall(KSPSetConvergenceTest(solver, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetTolerances(solver, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, iterations));
  PetscFunctionReturn(0);
}

// Jacobi sweeps: Richardson's iteration, preconditioned by the diagonal.
static PetscErrorCode make_jacobi(KSP solver, Mat matrix, PetscReal weight, PetscInt sweeps) {
  PC diagonal;

  PetscFunctionBeginUser;
  PetscCall(KSPSetOperators(solver, matrix, matrix));
  PetscCall(KSPSetType(solver, KSPRICHARDSON));
  PetscCall(KSPRichardsonSetScale(solver, weight));
  PetscCall(fix_iterations(solver, sweeps));
  PetscCall(KSPGetPC(solver, &diagonal));
  PetscCall(PCSetType(diagonal, PCJACOBI));
  PetscFunctionReturn(0);
}

// The V-cycle of scripts/apps/multigrid.py. The weighted restriction and the operator
// keep it symmetric, so plain conjugate gradients make the flexible ones' iterates.
static PetscErrorCode make_cycle(Problem* problem, PC cycle) {
  const PetscReal weight = 0.8;
  const PetscInt sweeps = 2, coarsest_sweeps = 16;
  const PetscBool stencil = strcmp(problem->options.form, "stencil") == 0;

  PetscFunctionBeginUser;
  PetscCall(PCSetType(cycle, PCMG));
  PetscCall(PCMGSetLevels(cycle, problem->count, NULL));
  // so that the sweeps on the way down know that they begin with 0
  PetscCall(PCMGSetDistinctSmoothUp(cycle));
  for (PetscInt i = 0; i < problem->count; ++i) {
    KSP smoother;
    Mat matrix = problem->matrix, interpolation;
    if (i == problem->count - 1)
      PetscCall(PetscObjectReference((PetscObject)matrix));
    else
      PetscCall(make_operator(&problem->options, &problem->levels[i], &matrix));
    PetscCall(PCMGGetSmootherDown(cycle, i, &smoother));
    PetscCall(make_jacobi(smoother, matrix, weight, i ? sweeps : coarsest_sweeps));
    if (i) {
      Level *coarse = &problem->levels[i - 1], *fine = &problem->levels[i];
      PetscCall(PCMGGetSmootherUp(cycle, i, &smoother));
      PetscCall(make_jacobi(smoother, matrix, weight, sweeps));
      PetscCall(KSPSetInitialGuessNonzero(smoother, PETSC_TRUE));
      if (stencil)
        PetscCall(stencil_interpolation(coarse, fine, &interpolation));
      else
        PetscCall(assembled_interpolation(coarse, fine, &interpolation));
      PetscCall(PCMGSetInterpolation(cycle, i, interpolation));
      PetscCall(MatDestroy(&interpolation));
    }
    PetscCall(MatDestroy(&matrix));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode make_problem(Problem* problem) {
  const Options* options = &problem->options;
  PC preconditioner;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &problem->solver));
  if (strcmp(options->method, "jacobi") == 0) {
    PetscCall(dense_system(options->size, &problem->matrix, &problem->right));
    PetscCall(make_jacobi(problem->solver, problem->matrix, 1.0, options->iterations));
  } else {
    problem->count = 1;
    if (strcmp(options->method, "multigrid") == 0) {
      PetscInt side = options->size;
      while (side > 3 && side % 2 == 1) side /= 2, ++problem->count;
    }
    PetscCall(make_levels(options->size, problem->count, problem->levels));
    Level* finest = &problem->levels[problem->count - 1];
    PetscCall(make_operator(options, finest, &problem->matrix));
    PetscCall(poisson_right(finest, &problem->right));
    PetscCall(KSPSetOperators(problem->solver, problem->matrix, problem->matrix));
    PetscCall(KSPGetPC(problem->solver, &preconditioner));
    if (strcmp(options->method, "multigrid") == 0)
      PetscCall(make_cycle(problem, preconditioner));
    else
      PetscCall(PCSetType(preconditioner, PCNONE));
    PetscCall(
        KSPSetType(problem->solver, strcmp(options->method, "bicgstab") == 0 ? KSPBCGS : KSPCG));
  }
  PetscCall(VecDuplicate(problem->right, &problem->x));
  PetscCall(fix_iterations(problem->solver, options->iterations));
  PetscCall(KSPSetFromOptions(problem->solver));
  PetscCall(KSPSetUp(problem->solver));
  PetscFunctionReturn(0);
}

// Runs one solve from 0 and returns its milliseconds per iteration.
static PetscErrorCode solve(Problem* problem, PetscInt iterations, PetscReal* milliseconds) {
  PetscLogDouble start, end;
  PetscInt done;

  PetscFunctionBeginUser;
  PetscCall(fix_iterations(problem->solver, iterations));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&start));
  PetscCall(KSPSolve(problem->solver, problem->right, problem->x));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetIterationNumber(problem->solver, &done));
  PetscCheck(done == iterations, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED,
             "%" PetscInt_FMT " iterations instead of %" PetscInt_FMT, done, iterations);
  *milliseconds = (end - start) * 1e3 / iterations;
  PetscFunctionReturn(0);
}

static PetscErrorCode write_solution(const Problem* problem) {
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerCreate(PETSC_COMM_WORLD, &viewer));
  PetscCall(PetscViewerSetType(viewer, PETSCVIEWERBINARY));
  PetscCall(PetscViewerFileSetMode(viewer, FILE_MODE_WRITE));
  PetscCall(PetscViewerBinarySetSkipHeader(viewer, PETSC_TRUE));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(PetscViewerFileSetName(viewer, problem->options.output));
  PetscCall(VecView(problem->x, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

static PetscErrorCode report(const Problem* problem, const PetscReal* times) {
  PetscMPIInt ranks;
#if defined(PETSC_USE_DEBUG)
  const char* debug = "true";
#else
  const char* debug = "false";
#endif

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "{\"petsc\": \"%d.%d.%d\", \"debug\": %s, \"ranks\": %d, "
                        "\"iteration_ms\": [",
                        PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, debug,
                        ranks));
  for (PetscInt i = 0; i < problem->options.batches; ++i) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s%.9g", i ? ", " : "", (double)times[i]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "]}\n"));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Problem problem;
  PetscReal *times, unused;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  memset(&problem, 0, sizeof problem);
  PetscCall(read_options(&problem.options));
  PetscCall(make_problem(&problem));
  PetscCall(PetscMalloc1(problem.options.batches, &times));
  PetscCall(solve(&problem, problem.options.iterations, &unused));
  for (PetscInt i = 0; i < problem.options.batches; ++i) {
    PetscCall(solve(&problem, problem.options.iterations, &times[i]));
  }
  PetscCall(solve(&problem, problem.options.last, &unused));
  PetscCall(write_solution(&problem));
  PetscCall(report(&problem, times));
  PetscCall(PetscFree(times));
  PetscCall(KSPDestroy(&problem.solver));
  PetscCall(MatDestroy(&problem.matrix));
  PetscCall(VecDestroy(&problem.right));
  PetscCall(VecDestroy(&problem.x));
  PetscCall(free_levels(problem.count, problem.levels));
  PetscCall(PetscFinalize());
  return 0;
}
