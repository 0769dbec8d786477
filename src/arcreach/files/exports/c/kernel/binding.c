/* Loops over an exported solver, for arcreach.load_exported. */
#include "arcreach.c"

int arcreach_precision(void);
void arcreach_forward(long n, const ar_real *q, ar_real (*poses)[3][4]);
void arcreach_jacobian(long n, const ar_real *q, ar_real (*jacobians)[6][AR_DOF]);
void arcreach_solve(long n, int mode, const ar_real (*targets)[12], const ar_real *starts, const ar_real *tolerances,
                    int32_t max_steps, ar_real *q, int32_t *status, int32_t *steps);

int arcreach_precision(void) { return (int)sizeof(ar_real); }

void arcreach_forward(long n, const ar_real *q, ar_real (*poses)[3][4]) {
  long i;
  for (i = 0; i < n; i++) ar_forward(q + i * AR_DOF, poses[i]);
}

void arcreach_jacobian(long n, const ar_real *q, ar_real (*jacobians)[6][AR_DOF]) {
  long i;
  for (i = 0; i < n; i++) ar_jacobian(q + i * AR_DOF, jacobians[i]);
}

/* Targets are the rows of Python: rotation, of which an axis is the third column, then position. */
void arcreach_solve(long n, int mode, const ar_real (*targets)[12], const ar_real *starts, const ar_real *tolerances,
                    int32_t max_steps, ar_real *q, int32_t *status, int32_t *steps) {
  ar_solver solver;
  ar_options options;
  long i;
  int k;
  options.position_tol = tolerances[0] < 0 ? AR_POSITION_TOL : tolerances[0];
  options.angle_tol = tolerances[1] < 0 ? AR_ANGLE_TOL : tolerances[1];
  options.max_steps = max_steps < 0 ? AR_MAX_STEPS : max_steps;
  for (i = 0; i < n; i++) {
    ar_target target;
    ar_result result = {0, 0, 0, 0};
    target.mode = mode;
    for (k = 0; k < 9; k++) target.rotation[k] = targets[i][k];
    for (k = 0; k < 3; k++) target.axis[k] = targets[i][3 * k + 2];
    for (k = 0; k < 3; k++) target.position[k] = targets[i][9 + k];
    status[i] = ar_solve(&solver, &target, starts ? starts + i * AR_DOF : 0, &options, q + i * AR_DOF, &result);
    steps[i] = result.steps;
  }
}

#ifdef AR_TENDONS
void arcreach_pulls(long n, const ar_real *q, ar_real *pulls);

void arcreach_pulls(long n, const ar_real *q, ar_real *pulls) {
  long i;
  for (i = 0; i < n; i++) ar_pulls(q + i * AR_DOF, pulls + i * AR_TENDONS);
}

#if AR_PARALLEL
void arcreach_from_pulls(long n, const ar_real *pulls, ar_real *q);

void arcreach_from_pulls(long n, const ar_real *pulls, ar_real *q) {
  long i;
  for (i = 0; i < n; i++) ar_from_pulls(pulls + i * AR_TENDONS, q + i * AR_DOF);
}
#endif
#endif
