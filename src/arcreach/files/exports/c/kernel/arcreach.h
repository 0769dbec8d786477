/* Kinematics of one robot in C99: no heap, no libc beyond memcpy and memset, fixed sizes.
   Lengths are in metres, angles in radians. The robot is in arcreach_robot.h. */
#ifndef ARCREACH_H
#define ARCREACH_H

#include <stdint.h>

#include "arcreach_robot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a solve ended, with the numbers of Python's Status; below 0: not ended, or not begun because of bad input. */
enum {
  AR_REACHED = 0,
  AR_STALLED = 1,
  AR_ITERATION_LIMIT = 2,
  AR_OUT_OF_REACH = 4,
  AR_WORKING = -1,
  AR_BAD_TARGET = -2,  /* not finite, farther than AR_FARTHEST, a zero axis, or not a rotation */
  AR_BAD_START = -3,   /* a coordinate is not finite */
  AR_BAD_OPTIONS = -4  /* a tolerance below the precision of ar_real, or no steps */
};

/* Kinds of targets. */
enum { AR_POSITION, AR_AXIS, AR_ROTATION };

typedef struct {
  int mode;            /* AR_POSITION, AR_AXIS or AR_ROTATION */
  ar_real position[3]; /* in the base frame */
  ar_real axis[3];     /* AR_AXIS: direction of the tip's z axis, of any length but zero */
  ar_real rotation[9]; /* AR_ROTATION: row by row */
} ar_target;

typedef struct {
  ar_real position_tol; /* at least AR_LEAST_POSITION_TOL */
  ar_real angle_tol;    /* at least AR_LEAST_ANGLE_TOL */
  int32_t max_steps;    /* of all restarts together */
} ar_options;

typedef struct {
  int status;
  int32_t steps;
  ar_real position_error, angle_error; /* of the answer, by forward kinematics */
} ar_result;

/* The state of a solve between two steps; several may exist. Its fields are private. */
typedef struct {
  int mode, status;
  int32_t steps, max_steps;
  ar_real goal[12], away, position_tol, angle_tol, position_error, angle_error;
  ar_real q[AR_DOF]; /* the start, then the answer */
  int started;
#include AR_STATE_FILE
} ar_solver;

/* Begin a solve. start[AR_DOF] and options may be null. Returns AR_WORKING, or a status below it for bad input. */
int ar_begin(ar_solver *solver, const ar_target *target, const ar_real *start, const ar_options *options);

/* Continue for at most `steps` steps; returns AR_WORKING, or the final status. */
int ar_step(ar_solver *solver, int32_t steps);

/* Write the best configuration found so far, q[AR_DOF], always within the limits; result may be null. */
void ar_answer(const ar_solver *solver, ar_real *q, ar_result *result);

/* Solve to the end. Bad input leaves q unchanged. */
int ar_solve(ar_solver *solver, const ar_target *target, const ar_real *start, const ar_options *options, ar_real *q,
             ar_result *result);

/* Pose of the tip of q[AR_DOF] in the base frame: rotation and position, three rows of four. */
void ar_forward(const ar_real *q, ar_real pose[3][4]);

/* Jacobian at q[AR_DOF]: linear rows, then angular, base frame. */
void ar_jacobian(const ar_real *q, ar_real jacobian[6][AR_DOF]);

#ifdef __cplusplus
}
#endif
#endif
