/* Cyclic coordinate descent: joint after joint, tip to base, is set to its best value in closed form. */
#include "arcreach_joints.h"

#define TURN_WEIGHT R(0.1) /* of an axis against the square of the distance in units of half the reach */
/* The search ends if this many sweeps reduce the misfit by less than this share. */
#define WINDOW 50
#define LEAST_GAIN R(0.02)

/* Write point, axis and arm of every joint; return the motion of the tip. */
static motion joint_vectors(ar_solver *s) {
  motion m = IDENTITY;
  real arm[3];
  int i;
  for (i = 0; i < AR_ELEMENTS; i++) {
    const ar_element *element = &AR_ELEMENT[i];
    const real value = s->v[element->variable];
    s->points[i][0] = m.x.d;
    s->points[i][1] = m.y.d;
    s->points[i][2] = m.z.d;
    turned(m, own_axis(element), s->axes[i]);
    own_arm(element, value, arm);
    turned(m, arm, s->arms[AR_HAS_SWING ? i : 0]);
    m = past(m, element, value);
  }
  return m;
}

static void method_begin(ar_solver *s) {
  first_variables(s, s->v);
  s->earlier = LARGEST;
}

static int method_step(ar_solver *s) {
  const real per_square = 1 / (HALF_REACH * HALF_REACH), *goal = s->goal + 9;
  const int first = s->mode == AR_AXIS ? 2 : s->mode == AR_POSITION ? 3 : 0; /* of the axes asked for */
  const motion m = joint_vectors(s);
  real tip[4][3] = {{m.x.a, m.y.a, m.z.a}, {m.x.b, m.y.b, m.z.b}, {m.x.c, m.y.c, m.z.c}, {m.x.d, m.y.d, m.z.d}};
  real e[6], angle, misfit;
  int i, k, r;
  misfit = residual(m, s->goal, s->mode, 1, e, &angle);
  if (real_sqrt(misfit) <= strict_position_tol(s) && angle <= strict_angle_tol(s)) return AR_REACHED;
  if (s->steps >= s->max_steps) return AR_ITERATION_LIMIT;
  if (s->steps % WINDOW == 0) {
    misfit *= per_square;
    for (k = first; k < 3; k++)
      for (r = 0; r < 3; r++)
        misfit += TURN_WEIGHT * (tip[k][r] - s->goal[3 * r + k]) * (tip[k][r] - s->goal[3 * r + k]);
    if (!(misfit <= (1 - LEAST_GAIN) * s->earlier)) return AR_STALLED;
    s->earlier = misfit;
  }
  for (i = AR_ELEMENTS - 1; i >= 0; i--) {
    const ar_element *element = &AR_ELEMENT[i];
    const real *point = s->points[i], *axis = s->axes[i], *arm = s->arms[AR_HAS_SWING ? i : 0];
    const real before = s->v[element->variable];
    real value, terms[3] = {0, 0, 0}, wanted[3], sine, cosine;
    if (element->kind == AR_SLIDE) {
      value = best_stroke(element, axis, tip[3], goal, before);
    } else {
      add_position(element, point, axis, arm, tip[3], goal, per_square, terms);
      for (k = first; k < 3 && turns(element); k++) {
        for (r = 0; r < 3; r++) wanted[r] = s->goal[3 * r + k];
        add_terms(axis, tip[k], wanted, TURN_WEIGHT, terms);
      }
      value = best_turn(element, terms, before);
    }
    carry(element, point, axis, arm, value - before, tip[3]);
    if (turns(element)) {
      sincos_of(value - before, &sine, &cosine);
      for (k = 0; k < 3; k++) rotate(axis, sine, cosine, tip[k]);
    }
    s->v[element->variable] = value;
  }
  s->steps++;
  return AR_WORKING;
}

static void method_answer(const ar_solver *s, real *q) { to_coordinates(s->v, q); }
