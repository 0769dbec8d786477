/* An exported solver as a WebAssembly module: the page writes into and reads from the buffers below. */
#include "arcreach.c"

ar_real *page_target(void);
ar_real *page_start(void);
ar_real *page_q(void);
ar_real *page_errors(void);
int page_solve(int mode, int started, double position_tol, double angle_tol);
int page_steps(void);

static ar_solver solver;
static ar_result result;
static ar_real target[12], start[AR_DOF], q[AR_DOF], errors[2];

/* Target: rotation row by row, then position. */
ar_real *page_target(void) { return target; }
ar_real *page_start(void) { return start; }
ar_real *page_q(void) { return q; }
/* Position and angle error of the answer. */
ar_real *page_errors(void) { return errors; }
int page_steps(void) { return (int)result.steps; }

int page_solve(int mode, int started, double position_tol, double angle_tol) {
  ar_target wanted;
  ar_options options;
  int k, status;
  options.position_tol = (ar_real)position_tol;
  options.angle_tol = (ar_real)angle_tol;
  options.max_steps = AR_MAX_STEPS;
  wanted.mode = mode;
  for (k = 0; k < 9; k++) wanted.rotation[k] = target[k];
  for (k = 0; k < 3; k++) wanted.axis[k] = target[3 * k + 2];
  for (k = 0; k < 3; k++) wanted.position[k] = target[9 + k];
  status = ar_solve(&solver, &wanted, started ? start : 0, &options, q, &result);
  errors[0] = result.position_error;
  errors[1] = result.angle_error;
  return status;
}

