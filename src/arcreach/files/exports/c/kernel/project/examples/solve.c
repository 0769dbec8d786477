/* Solve for a pose that the robot can reach, then for one that it cannot. */
#include <stdio.h>

#include "arcreach.h"

int main(void) {
  static ar_solver solver;
  ar_real q[AR_DOF] = {CONFIGURATION}, pose[3][4];
  ar_target target = {AR_POSITION, {0, 0, 0}, {0, 0, 1}, {0}};
  ar_result result;
  int i;

  ar_forward(q, pose);
  for (i = 0; i < 3; i++) target.position[i] = pose[i][3];
  ar_solve(&solver, &target, 0, 0, q, &result);
  printf("status %d after %ld steps, %g m off\n", result.status, (long)result.steps, (double)result.position_error);

  target.position[0] = 2 * AR_REACH + 1;
  printf("out of reach: status %d\n", ar_solve(&solver, &target, 0, 0, q, &result));
  return 0;
}
