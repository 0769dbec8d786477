/* One joint at a time: the turn or the stroke that brings the tip, or an axis of it, nearest to the goal.
   Vectors are in the frame where the chain begins to move. */
#ifndef ARCREACH_JOINTS_H
#define ARCREACH_JOINTS_H

/* Products below this share of |S|^2 + |K|^2 are rounding: S or K lies on the axis, and no turn is better. */
#define PARALLEL (AR_DOUBLE ? R(1e-14) : R(9.5e-7))
#define HALF_REACH (R(0.5) * AR_REACH)

static real dot(const real *a, const real *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* The motion m followed by the fixed motion f[12]. */
static row followed(row r, const real *f) {
  row n;
  n.a = r.a * f[0] + r.b * f[4] + r.c * f[8];
  n.b = r.a * f[1] + r.b * f[5] + r.c * f[9];
  n.c = r.a * f[2] + r.b * f[6] + r.c * f[10];
  n.d = r.a * f[3] + r.b * f[7] + r.c * f[11] + r.d;
  return n;
}

/* Rotate x about the unit vector u. */
static void rotate(const real *u, real s, real c, real *x) {
  const real along = (1 - c) * dot(u, x), a = x[0], b = x[1], d = x[2];
  x[0] = c * a + s * (u[1] * d - u[2] * b) + along * u[0];
  x[1] = c * b + s * (u[2] * a - u[0] * d) + along * u[1];
  x[2] = c * d + s * (u[0] * b - u[1] * a) + along * u[2];
}

static void turned(motion m, const real *x, real *out) {
  out[0] = m.x.a * x[0] + m.x.b * x[1] + m.x.c * x[2];
  out[1] = m.y.a * x[0] + m.y.b * x[1] + m.y.c * x[2];
  out[2] = m.z.a * x[0] + m.z.b * x[1] + m.z.c * x[2];
}

static int turns(const ar_element *m) { return !(AR_HAS_SLIDE || AR_HAS_SWING) || m->kind <= AR_TURN_Z; }

/* Axis of a joint in the frame before it. */
static const real *own_axis(const ar_element *m) {
  static const real axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
#if AR_HAS_SLIDE || AR_HAS_SWING
  if (!turns(m)) return AR_VECTORS[m->extra];
#endif
  return axes[m->kind];
}

/* The link of a parallelogram, swung, in the frame before it. */
static void own_arm(const ar_element *m, real value, real *arm) {
  arm[0] = arm[1] = arm[2] = 0;
#if AR_HAS_SWING
  if (m->kind == AR_SWING) {
    real s, c;
    sincos_of(value, &s, &c);
    copy(AR_VECTORS[m->extra] + 3, arm, 3);
    rotate(own_axis(m), s, c, arm);
  }
#else
  (void)m;
  (void)value;
#endif
}

/* The motion to the end of a joint and of what is fixed after it, from the motion before it. */
static motion past(motion before, const ar_element *m, real value) {
  motion after;
  real f[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  if (turns(m)) {
    const int i = (m->kind + 1) % 3, k = (m->kind + 2) % 3;
    real s, c;
    sincos_of(value, &s, &c);
    f[5 * i] = f[5 * k] = c;
    f[4 * i + k] = -s;
    f[4 * k + i] = s;
  } else {
    const real *u = own_axis(m);
    real arm[3];
    int i;
    own_arm(m, value, arm);
    for (i = 0; i < 3; i++) f[4 * i + 3] = m->kind == AR_SLIDE ? value * u[i] : arm[i];
  }
  after.x = followed(before.x, f);
  after.y = followed(before.y, f);
  after.z = followed(before.z, f);
  if (m->after != AR_NOTHING) {
    after.x = followed(after.x, AR_FIXED[m->fixed]);
    after.y = followed(after.y, AR_FIXED[m->fixed]);
    after.z = followed(after.z, AR_FIXED[m->fixed]);
  }
  return after;
}

/* Add weight * (a, b, |S|^2 + |K|^2) of S . K = a cos t + b sin t, t the turn of S about the axis. */
static void add_terms(const real *axis, const real *S, const real *K, real weight, real *terms) {
  terms[0] += weight * (dot(S, K) - dot(axis, S) * dot(axis, K));
  terms[1] += weight * (axis[0] * (S[1] * K[2] - S[2] * K[1]) + axis[1] * (S[2] * K[0] - S[0] * K[2]) +
                        axis[2] * (S[0] * K[1] - S[1] * K[0]));
  terms[2] += weight * (dot(S, S) + dot(K, K));
}

/* The coordinate within its limits at which a cos t + b sin t is largest, t counted from `value`. */
static real best_turn(const ar_element *m, const real *terms, real value) {
  const real a = terms[0], b = terms[1], noise = PARALLEL * terms[2];
  real wanted, other, s, c, at_lower, at_upper;
  if (!(a * a + b * b > noise * noise)) return value;
  wanted = value + atan2_of(b, a);
  if (wanted >= m->lower && wanted <= m->upper) return wanted;
  other = wanted > m->upper ? wanted - 2 * PI : wanted + 2 * PI;
  if (other >= m->lower && other <= m->upper) return other;
  /* The maximum is nowhere inside, so one of the ends is best. */
  sincos_of(m->lower - value, &s, &c);
  at_lower = a * c + b * s;
  sincos_of(m->upper - value, &s, &c);
  at_upper = a * c + b * s;
  return at_upper >= at_lower ? m->upper : m->lower;
}

/* Add the terms of bringing the tip, a point, to the goal; `arm` is that of a parallelogram. */
static void add_position(const ar_element *m, const real *point, const real *axis, const real *arm, const real *tip,
                         const real *goal, real weight, real *terms) {
  real S[3], K[3];
  int i;
  for (i = 0; i < 3; i++) {
    S[i] = m->kind == AR_SWING ? arm[i] : tip[i] - point[i];
    K[i] = m->kind == AR_SWING ? goal[i] - tip[i] + arm[i] : goal[i] - point[i];
  }
  add_terms(axis, S, K, weight, terms);
}

/* The stroke within its limits that brings the tip nearest to the goal. */
static real best_stroke(const ar_element *m, const real *axis, const real *tip, const real *goal, real value) {
  real away[3];
  int i;
  for (i = 0; i < 3; i++) away[i] = goal[i] - tip[i];
  return real_min(real_max(value + dot(axis, away), m->lower), m->upper);
}

/* Carry a point along when a joint's coordinate changes by `step`. */
static void carry(const ar_element *m, const real *point, const real *axis, const real *arm, real step, real *x) {
  real s, c, y[3];
  int i;
  if (m->kind == AR_SLIDE) {
    for (i = 0; i < 3; i++) x[i] += step * axis[i];
    return;
  }
  sincos_of(step, &s, &c);
  for (i = 0; i < 3; i++) y[i] = m->kind == AR_SWING ? arm[i] : x[i] - point[i];
  rotate(axis, s, c, y);
  for (i = 0; i < 3; i++) x[i] = m->kind == AR_SWING ? x[i] + y[i] - arm[i] : point[i] + y[i];
}

/* Where a solve begins: at the caller's start, or in the middle of the limits. */
static void first_variables(const ar_solver *s, real *v) {
  int i;
  if (s->started) {
    to_variables(s->q, v);
    return;
  }
  for (i = 0; i < AR_ELEMENTS; i++) v[AR_ELEMENT[i].variable] = R(0.5) * (AR_ELEMENT[i].lower + AR_ELEMENT[i].upper);
}

#endif
