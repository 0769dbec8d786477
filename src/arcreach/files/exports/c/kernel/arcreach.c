/* Checks of targets, verdicts by forward kinematics, and the functions of arcreach.h around one method. */
#include "arcreach.h"

#include "arcreach_math.h"
#include "arcreach_chain.h"

#define ROTATION_TOLERANCE R(1e-5)
/* Rounding of the forward kinematics, as a share of the length and in radians. */
#define NOISE (AR_DOUBLE ? R(0.0) : R(8e-7))

static void copy(const real *from, real *to, int count) {
  while (count-- > 0) to[count] = from[count];
}

/* The target seen from where the chain begins to move. */
static void to_front(const real *position, const real *rotation, real *goal) {
#if AR_HAS_FRONT
  const real *f = AR_FRONT;
  const real x = position[0] - f[3], y = position[1] - f[7], z = position[2] - f[11];
  int i, k;
  for (i = 0; i < 3; i++) {
    for (k = 0; k < 3; k++)
      goal[3 * i + k] = f[i] * rotation[k] + f[4 + i] * rotation[3 + k] + f[8 + i] * rotation[6 + k];
    goal[9 + i] = f[i] * x + f[4 + i] * y + f[8 + i] * z;
  }
#else
  copy(rotation, goal, 9);
  copy(position, goal + 9, 3);
#endif
}

/* The tip seen from the base, in place of where the chain begins to move. */
static motion from_base(motion tip) {
#if AR_HAS_FRONT
  return after_fixed(AR_FRONT, tip);
#else
  return tip;
#endif
}

/* How far a matrix is from a rotation: two rows unit and orthogonal, the third their product; 1 where not finite. */
static real rotation_defect(const real *r) {
  real d[6], worst = 0;
  int i;
  d[0] = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] - 1;
  d[1] = r[3] * r[3] + r[4] * r[4] + r[5] * r[5] - 1;
  d[2] = r[0] * r[3] + r[1] * r[4] + r[2] * r[5];
  d[3] = r[1] * r[5] - r[2] * r[4] - r[6];
  d[4] = r[2] * r[3] - r[0] * r[5] - r[7];
  d[5] = r[0] * r[4] - r[1] * r[3] - r[8];
  for (i = 0; i < 6; i++) {
    if (!(real_abs(d[i]) < 1)) return 1;
    worst = real_max(worst, real_abs(d[i]));
  }
  return worst;
}

/* Write the target as goal[12], seen from where the chain begins to move; return whether it is accepted. */
static int read_target(const ar_target *target, real *goal) {
  real rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, largest = 0, size;
  int i;
  for (i = 0; i < 3; i++)
    if (!(real_abs(target->position[i]) <= AR_FARTHEST)) return 0;
  if (target->mode == AR_AXIS) {
    for (i = 0; i < 3; i++) {
      if (!(real_abs(target->axis[i]) <= LARGEST)) return 0;
      largest = real_max(largest, real_abs(target->axis[i]));
    }
    if (!(largest > 1 / LARGEST)) return 0;
    /* Scaled first: the square of a very small or very large number is lost. */
    for (i = 0; i < 3; i++) rotation[3 * i + 2] = target->axis[i] / largest;
    size = real_sqrt(rotation[2] * rotation[2] + rotation[5] * rotation[5] + rotation[8] * rotation[8]);
    for (i = 0; i < 3; i++) rotation[3 * i + 2] /= size;
  } else if (target->mode == AR_ROTATION) {
    for (i = 0; i < 9; i++) rotation[i] = target->rotation[i];
    if (!(rotation_defect(rotation) <= ROTATION_TOLERANCE)) return 0;
  } else if (target->mode != AR_POSITION) {
    return 0;
  }
  to_front(target->position, rotation, goal);
  return 1;
}

/* Write the nearest configuration inside the limits. */
static void clip(const real *from, real *q) {
  real v[AR_VARIABLES];
  int i;
  to_variables(from, v);
  for (i = 0; i < AR_ELEMENTS; i++) project(&AR_ELEMENT[i], v + AR_ELEMENT[i].variable);
  to_coordinates(v, q);
  unwind(from, q);
}

/* Tolerances reduced by rounding errors, so that a target that counts as reached is reached. */
static real strict_position_tol(const ar_solver *s) { return s->position_tol - NOISE * AR_LENGTH; }
static real strict_angle_tol(const ar_solver *s) { return s->angle_tol - NOISE; }

/* Write the errors of q[AR_DOF] against the target, by forward kinematics from the coordinates. */
static void measure(const ar_solver *s, const real *q, real *position_error, real *angle_error) {
  real v[AR_VARIABLES], e[6];
  motion tip;
  to_variables(q, v);
  tip = chain_pass(v, s->mode, 1, 0);
  *position_error = real_sqrt(residual(tip, s->goal, s->mode, 1, e, angle_error));
}

/* The status from the errors, whatever the method claims; a target beyond the reach is out of reach. */
static int verdict(const ar_solver *s, int claimed, real position_error, real angle_error) {
  if (position_error <= strict_position_tol(s) && angle_error <= strict_angle_tol(s)) return AR_REACHED;
  if (s->away > AR_REACH + s->position_tol) return AR_OUT_OF_REACH;
  return claimed == AR_REACHED ? AR_STALLED : claimed;
}

/* A method begins with method_begin, goes on with method_step, which returns AR_WORKING or its status, and writes
   its best configuration so far with method_answer. */
#include AR_METHOD_FILE

int ar_begin(ar_solver *s, const ar_target *target, const ar_real *start, const ar_options *options) {
  int i;
  s->status = AR_BAD_TARGET;
  if (!read_target(target, s->goal)) return s->status;
  s->away = real_sqrt(s->goal[9] * s->goal[9] + s->goal[10] * s->goal[10] + s->goal[11] * s->goal[11]);
  s->mode = target->mode;
  s->position_tol = options ? options->position_tol : AR_POSITION_TOL;
  s->angle_tol = options ? options->angle_tol : AR_ANGLE_TOL;
  s->max_steps = options ? options->max_steps : AR_MAX_STEPS;
  s->status = AR_BAD_OPTIONS;
  if (!(s->position_tol >= AR_LEAST_POSITION_TOL && s->position_tol <= LARGEST)) return s->status;
  if (!(s->angle_tol >= AR_LEAST_ANGLE_TOL && s->angle_tol <= LARGEST)) return s->status;
  if (s->max_steps < 1) return s->status;
  s->started = start != 0;
  s->status = AR_BAD_START;
  if (start) {
    for (i = 0; i < AR_DOF; i++)
      if (!(real_abs(start[i]) <= LARGEST_ANGLE)) return s->status;
    clip(start, s->q);
  }
  s->steps = 0;
  s->status = AR_WORKING;
  method_begin(s);
  return s->status;
}

int ar_step(ar_solver *s, int32_t steps) {
  while (s->status == AR_WORKING && steps-- > 0) {
    const int claimed = method_step(s);
    if (claimed != AR_WORKING) {
      real q[AR_DOF];
      method_answer(s, q);
      measure(s, q, &s->position_error, &s->angle_error);
      copy(q, s->q, AR_DOF);
      s->status = verdict(s, claimed, s->position_error, s->angle_error);
    }
  }
  return s->status;
}

void ar_answer(const ar_solver *s, ar_real *q, ar_result *result) {
  ar_result found;
  if (s->status < AR_WORKING) {
    return;
  }
  found.status = s->status;
  found.steps = s->steps;
  found.position_error = s->position_error;
  found.angle_error = s->angle_error;
  if (s->status == AR_WORKING) {
    method_answer(s, q);
    measure(s, q, &found.position_error, &found.angle_error);
  } else {
    copy(s->q, q, AR_DOF);
  }
  if (result) *result = found;
}

int ar_solve(ar_solver *s, const ar_target *target, const ar_real *start, const ar_options *options, ar_real *q,
             ar_result *result) {
  ar_begin(s, target, start, options);
  while (ar_step(s, INT32_MAX) == AR_WORKING) {
  }
  ar_answer(s, q, result);
  return s->status;
}

void ar_forward(const ar_real *q, ar_real pose[3][4]) {
  real v[AR_VARIABLES];
  motion tip;
  int i;
  to_variables(q, v);
  tip = from_base(chain_pass(v, AR_POSITION, 0, 0));
  for (i = 0; i < 3; i++) {
    const row r = i == 0 ? tip.x : i == 1 ? tip.y : tip.z;
    pose[i][0] = r.a;
    pose[i][1] = r.b;
    pose[i][2] = r.c;
    pose[i][3] = r.d;
  }
}

void ar_jacobian(const ar_real *q, ar_real jacobian[6][AR_DOF]) {
  real v[AR_VARIABLES], J[AR_VARIABLES][6];
  motion tip;
  int i, k, r;
  to_variables(q, v);
  tip = from_base(chain_pass(v, AR_ROTATION, 1, J));
  for (i = 0; i < AR_ELEMENTS; i++) {
    const ar_element *m = &AR_ELEMENT[i];
#if AR_BENDING
    if (BENDS(m)) {
      const ar_bend *b = &AR_BENDS[m->extra];
      if (!PLANAR(m)) {
        /* From the bend vector to bend and direction. */
        real s, c, *x = J[m->variable], *y = J[m->variable + 1];
        sincos_of(q[m->coordinate + 1], &s, &c);
        for (r = 0; r < 6; r++) {
          const real along = c * x[r] + s * y[r];
          y[r] = q[m->coordinate] * (c * y[r] - s * x[r]);
          x[r] = along;
        }
      }
      for (r = 0; STRETCHES(b) && r < 6; r++) J[m->variable + m->width - 1][r] /= b->stretch;
    }
#endif
    for (k = 0; k < m->width; k++) {
      const real *j = J[m->variable + k];
      /* A bend in one plane has its length two coordinates on. */
      const int c = m->coordinate + (PLANAR(m) ? 2 * k : k);
      for (r = 0; r < 6; r += 3) {
        jacobian[r][c] = tip.x.a * j[r] + tip.x.b * j[r + 1] + tip.x.c * j[r + 2];
        jacobian[r + 1][c] = tip.y.a * j[r] + tip.y.b * j[r + 1] + tip.y.c * j[r + 2];
        jacobian[r + 2][c] = tip.z.a * j[r] + tip.z.b * j[r + 1] + tip.z.c * j[r + 2];
      }
    }
  }
}
