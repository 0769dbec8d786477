/* Finite rotations and displacements: distance, long axis and cross axis of the tool in turn, each by the best turn of
   one joint after another. */
#include "arcreach_joints.h"

#define SWEEPS 5 /* of one objective before the next has its turn */
#define NO_PROGRESS 100

/* Write the axes of the joints; return the motion of the tip. */
static motion rebuild(ar_solver *s) {
  motion m = IDENTITY;
  int i;
  for (i = 0; i < AR_ELEMENTS; i++) {
    turned(m, own_axis(&AR_ELEMENT[i]), s->axes[i]);
    m = past(m, &AR_ELEMENT[i], s->v[AR_ELEMENT[i].variable]);
  }
  return m;
}

/* Bring the tip nearer by every joint once, base to tip; return the motion of the tip. */
static motion position_sweep(ar_solver *s, motion tip) {
  real x[3] = {tip.x.d, tip.y.d, tip.z.d};
  motion m = IDENTITY;
  int i;
  for (i = 0; i < AR_ELEMENTS; i++) {
    const ar_element *element = &AR_ELEMENT[i];
    const real before = s->v[element->variable], point[3] = {m.x.d, m.y.d, m.z.d}, *goal = s->goal + 9;
    real axis[3], arm[3], link[3], terms[3] = {0, 0, 0}, value;
    turned(m, own_axis(element), axis);
    own_arm(element, before, link);
    turned(m, link, arm);
    if (element->kind == AR_SLIDE) {
      value = best_stroke(element, axis, x, goal, before);
    } else {
      add_position(element, point, axis, arm, x, goal, 1, terms);
      value = best_turn(element, terms, before);
    }
    carry(element, point, axis, arm, value - before, x);
    s->v[element->variable] = value;
    m = past(m, element, value);
  }
  return m;
}

/* Bring a direction of the tool nearer to the wanted one by every turning joint once, tip to base. */
static void axis_sweep(ar_solver *s, real *has, const real *wanted) {
  int i;
  for (i = AR_ELEMENTS - 1; i >= 0; i--) {
    const ar_element *element = &AR_ELEMENT[i];
    const real before = s->v[element->variable];
    real terms[3] = {0, 0, 0}, value, sine, cosine;
    if (!turns(element)) continue;
    add_terms(s->axes[i], has, wanted, 1, terms);
    value = best_turn(element, terms, before);
    sincos_of(value - before, &sine, &cosine);
    rotate(s->axes[i], sine, cosine, has);
    s->v[element->variable] = value;
  }
}

static real angle_between(const real *a, const real *b) {
  const real x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
  return atan2_of(real_sqrt(x * x + y * y + z * z), dot(a, b));
}

static void method_begin(ar_solver *s) {
  first_variables(s, s->v);
  copy(s->v, s->best_v, AR_VARIABLES);
  s->best = LARGEST;
  s->idle = 0;
}

/* One macro-iteration. */
static int method_step(ar_solver *s) {
  static const real tool[2][3] = {{0, 0, 1}, AR_CROSS_AXIS};
  const real position_tol = strict_position_tol(s), angle_tol = strict_angle_tol(s);
  /* Two axes that are both off by the tolerance may leave a turn of sqrt(2) times as much. */
  const real axis_tol = s->mode == AR_ROTATION ? R(0.70710678118654752440) * angle_tol : angle_tol;
  const int objectives = s->mode == AR_ROTATION ? 2 : s->mode == AR_AXIS ? 1 : 0;
  motion tip = rebuild(s);
  real e[6], angle, now, distance = real_sqrt(residual(tip, s->goal, s->mode, 1, e, &angle));
  int i, sweep, r, reached = distance <= position_tol && angle <= angle_tol;
  now = distance / HALF_REACH + angle;
  s->idle++;
  if (now < s->best || reached) {
    s->best = now;
    s->idle = 0;
    copy(s->v, s->best_v, AR_VARIABLES);
  }
  if (reached) return AR_REACHED;
  if (s->idle >= NO_PROGRESS) return AR_STALLED;
  if (s->steps >= s->max_steps) return AR_ITERATION_LIMIT;
  s->steps++;
  for (sweep = 0; sweep < SWEEPS && distance > position_tol; sweep++) {
    tip = position_sweep(s, tip);
    distance = real_sqrt(residual(tip, s->goal, AR_POSITION, 1, e, &angle));
  }
  for (i = 0; i < objectives; i++) {
    real wanted[3], has[3];
    for (r = 0; r < 3; r++) wanted[r] = dot(s->goal + 3 * r, tool[i]);
    for (sweep = 0; sweep < SWEEPS; sweep++) {
      turned(rebuild(s), tool[i], has);
      if (angle_between(has, wanted) <= axis_tol) break;
      axis_sweep(s, has, wanted);
    }
  }
  return AR_WORKING;
}

static void method_answer(const ar_solver *s, real *q) { to_coordinates(s->best_v, q); }
