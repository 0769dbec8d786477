/* The chain: residual and Jacobian in solver variables, limits, and conversion between variables and coordinates.

   A joint's variable is its coordinate. A section has bend * (cos direction, sin direction) and the share of its
   stretch; a section that twists is a turn and a bend in one plane. Even entire functions of the bend are polynomials
   in x = AR_SCALE * bend^2 - 1: A = sin(bend) / bend, B = (1 - cos(bend)) / bend^2, C = (bend - sin(bend)) / bend^3,
   E = (A - 2 B) / bend^2; a section of unit length ends at (g bx, g by, Z), for one arc g = B and Z = A. */
#ifndef ARCREACH_CHAIN_H
#define ARCREACH_CHAIN_H

enum { AR_TURN_X, AR_TURN_Y, AR_TURN_Z, AR_SLIDE, AR_SWING, AR_BEND, AR_PLANAR };
enum { AR_NOTHING, AR_SHIFT, AR_MOTION };

/* A moving element; AR_FIXED[fixed] is the fixed motion from it to the next one. */
typedef struct {
  uint8_t kind, variable, width, coordinate;
  uint8_t after, fixed; /* AR_NOTHING, AR_SHIFT or AR_MOTION, and its row */
  uint8_t extra;        /* row of AR_VECTORS for a slide (axis) or a swing (axis, link), of AR_BENDS for a bend */
  uint8_t periodic;     /* a full turn changes nothing */
  ar_real lower, upper; /* limits of a joint, -LARGEST and LARGEST if continuous; of a section's varying length */
} ar_element;

/* A section: its length is length + share * stretch; `row` is that of its planar tip in AR_POLYNOMIALS, 0 for one arc. */
typedef struct {
  ar_real length, stretch, bend_max;
  ar_real unit, slope; /* unit of bends in a step; growth of the limit with the share, in that unit */
  uint8_t row;
} ar_bend;

#define AR_TABLES
#include "arcreach_robot.h"

/* Constants for most robots, so that the compiler drops code that they do not need. */
#define AR_BENDING (AR_HAS_BEND || AR_HAS_PLANAR)
#define BENDS(m) (AR_BENDING && (!AR_HAS_JOINT || (m)->kind >= AR_BEND))
#define PLANAR(m) (AR_HAS_PLANAR && (!AR_HAS_BEND || (m)->kind == AR_PLANAR))
#define STRETCHES(b) (AR_HAS_STRETCH && (b)->stretch > 0)
/* The bend of a section that stretches has the same limit at every length. */
#define UNCOUPLED(b) (AR_HAS_UNCOUPLED && STRETCHES(b) && (b)->slope <= 0)

#define SMALL_SINE (AR_DOUBLE ? R(1e-9) : R(1e-6)) /* below it angle / sine is 1 to the last bit */

/* Three rows of a motion: rotation and position. */
typedef struct { real a, b, c, d; } row;
typedef struct { row x, y, z; } motion;

static const motion IDENTITY = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};

static inline row mix(real f, row a, real g, row b) {
  row r;
  r.a = f * a.a + g * b.a;
  r.b = f * a.b + g * b.b;
  r.c = f * a.c + g * b.c;
  r.d = f * a.d + g * b.d;
  return r;
}

static inline row mix3(const real *f, motion m, real shift) {
  row r;
  r.a = f[0] * m.x.a + f[1] * m.y.a + f[2] * m.z.a;
  r.b = f[0] * m.x.b + f[1] * m.y.b + f[2] * m.z.b;
  r.c = f[0] * m.x.c + f[1] * m.y.c + f[2] * m.z.c;
  r.d = f[0] * m.x.d + f[1] * m.y.d + f[2] * m.z.d + shift;
  return r;
}

#if AR_HAS_MOTION || AR_HAS_FRONT
/* The fixed motion f[12], three rows of four, followed by m. */
static motion after_fixed(const real *f, motion m) {
  motion r;
  r.x = mix3(f, m, f[3]);
  r.y = mix3(f + 4, m, f[7]);
  r.z = mix3(f + 8, m, f[11]);
  return r;
}
#endif

/* Orientation rows of a column for the angular velocity (x, y, z) in the tip frame. */
static inline void turn_rows(real *j, int mode, real x, real y, real z) {
  j[3] = mode == AR_ROTATION ? x : mode == AR_AXIS ? y : 0; /* the tip's z axis moves at (y, -x, 0) */
  j[4] = mode == AR_ROTATION ? y : mode == AR_AXIS ? -x : 0;
  j[5] = mode == AR_ROTATION ? z : 0;
}

#if AR_HAS_TURN_X || AR_HAS_TURN_Y || AR_HAS_TURN_Z
/* Column of a turn about the axis whose row of the tip's motion is `axis`; a and b are the next two in cyclic order. */
static inline void turn_column(real *j, row a, row b, row axis, int mode, real weight) {
  j[0] = b.a * a.d - a.a * b.d;
  j[1] = b.b * a.d - a.b * b.d;
  j[2] = b.c * a.d - a.c * b.d;
  turn_rows(j, mode, weight * axis.a, weight * axis.b, weight * axis.c);
}
#endif

#if AR_BENDING || AR_HAS_SLIDE || AR_HAS_SWING
static inline void shift_column(real *j, motion tip, real x, real y, real z) {
  j[0] = tip.x.a * x + tip.y.a * y + tip.z.a * z;
  j[1] = tip.x.b * x + tip.y.b * y + tip.z.b * z;
  j[2] = tip.x.c * x + tip.y.c * y + tip.z.c * z;
  j[3] = j[4] = j[5] = 0;
}
#endif

#if AR_BENDING
static motion bend_step(const ar_element *m, const real *v, motion tip, real (*J)[6], int mode, real weight) {
  const ar_bend *b = &AR_BENDS[m->extra];
  const int k = m->variable;
  const real bx = v[k], by = PLANAR(m) ? 0 : v[k + 1], xx = bx * bx, yy = by * by, xy = bx * by;
  const real S = STRETCHES(b) ? b->length + b->stretch * v[k + m->width - 1] : b->length;
  const real t = xx + yy, x = AR_SCALE * t - 1;
  real C = AR_POLYNOMIALS[0][AR_DEGREE], E = AR_POLYNOMIALS[1][AR_DEGREE], A, B, g, Z, hg, hz, f[3];
  motion here;
  int i;
  for (i = AR_DEGREE - 1; i >= 0; i--) {
    C = C * x + AR_POLYNOMIALS[0][i];
    E = E * x + AR_POLYNOMIALS[1][i];
  }
  A = 1 - t * C;
  B = R(0.5) * (A - t * E);
  g = B;
  Z = A;
  hg = E;
  hz = C - B;
#if AR_POLYNOMIAL_ROWS > 2
  if (b->row > 0) {
    const real *p = AR_POLYNOMIALS[b->row], *o = AR_POLYNOMIALS[b->row + 1];
    g = p[AR_DEGREE];
    Z = o[AR_DEGREE];
    hg = hz = 0;
    for (i = AR_DEGREE - 1; i >= 0; i--) {
      hg = hg * x + g;
      hz = hz * x + Z;
      g = g * x + p[i];
      Z = Z * x + o[i];
    }
    hg *= 2 * AR_SCALE;
    hz *= 2 * AR_SCALE;
  }
#endif
  f[0] = 1 - B * xx;
  f[1] = -B * xy;
  f[2] = A * bx;
  here.x = mix3(f, tip, 0);
  f[0] = -B * xy;
  f[1] = 1 - B * yy;
  f[2] = A * by;
  here.y = mix3(f, tip, 0);
  f[0] = -A * bx;
  f[1] = -A * by;
  f[2] = 1 - t * B;
  here.z = mix3(f, tip, 0);
  if (J) {
    /* From the section's end to the tip, in the section's base frame. */
    const real ex = here.x.d, ey = here.y.d, ez = here.z.d;
    int axis;
    for (axis = 0; axis < (PLANAR(m) ? 1 : 2); axis++) {
      real *j = J[k + axis];
      const real wx = axis ? C * xx - 1 : -C * xy, wy = axis ? C * xy : 1 - C * yy, wz = axis ? B * bx : -B * by;
      const real lx = axis ? S * hg * xy : S * (g + hg * xx), ly = axis ? S * (g + hg * yy) : S * hg * xy;
      const real lz = S * hz * (axis ? by : bx);
      shift_column(j, here, lx + wy * ez - wz * ey, ly + wz * ex - wx * ez, lz + wx * ey - wy * ex);
      if (mode != AR_POSITION)
        turn_rows(j, mode, weight * (here.x.a * wx + here.y.a * wy + here.z.a * wz),
                  weight * (here.x.b * wx + here.y.b * wy + here.z.b * wz),
                  weight * (here.x.c * wx + here.y.c * wy + here.z.c * wz));
    }
    if (STRETCHES(b))
      shift_column(J[k + m->width - 1], here, b->stretch * g * bx, b->stretch * g * by, b->stretch * Z);
  }
  here.x.d += S * g * bx;
  here.y.d += S * g * by;
  here.z.d += S * Z;
  return here;
}
#endif

/* Return the tip seen from where the chain begins to element, and write the columns of all variables in the tip frame,
   orientation rows times `weight`, where J is not null. One pass from tip to base. */
static motion chain_pass(const real *v, int mode, real weight, real (*J)[6]) {
  motion tip = IDENTITY;
  int i;
  (void)mode; /* a chain that only slides has no use for them */
  (void)weight;
  (void)sincos_of;
  for (i = AR_ELEMENTS - 1; i >= 0; i--) {
    const ar_element *m = &AR_ELEMENT[i];
    const real *f = AR_FIXED[m->fixed];
#if AR_HAS_TURN_X || AR_HAS_TURN_Y || AR_HAS_TURN_Z || AR_HAS_SLIDE || AR_HAS_SWING
    const real value = v[m->variable];
    real *j = J ? J[m->variable] : 0;
#endif
#if AR_HAS_TURN_X || AR_HAS_TURN_Y || AR_HAS_TURN_Z || AR_HAS_SWING
    real s, c;
#endif
    if (m->after == AR_SHIFT) {
      tip.x.d += f[3];
      tip.y.d += f[7];
      tip.z.d += f[11];
    }
#if AR_HAS_MOTION
    else if (m->after == AR_MOTION)
      tip = after_fixed(f, tip);
#endif
    switch (m->kind) {
#if AR_HAS_TURN_Z
      case AR_TURN_Z: {
        const row x = tip.x;
        if (j) turn_column(j, tip.x, tip.y, tip.z, mode, weight);
        sincos_of(value, &s, &c);
        tip.x = mix(c, x, -s, tip.y);
        tip.y = mix(s, x, c, tip.y);
        break;
      }
#endif
#if AR_HAS_TURN_Y
      case AR_TURN_Y: {
        const row z = tip.z;
        if (j) turn_column(j, tip.z, tip.x, tip.y, mode, weight);
        sincos_of(value, &s, &c);
        tip.z = mix(c, z, -s, tip.x);
        tip.x = mix(s, z, c, tip.x);
        break;
      }
#endif
#if AR_HAS_TURN_X
      case AR_TURN_X: {
        const row y = tip.y;
        if (j) turn_column(j, tip.y, tip.z, tip.x, mode, weight);
        sincos_of(value, &s, &c);
        tip.y = mix(c, y, -s, tip.z);
        tip.z = mix(s, y, c, tip.z);
        break;
      }
#endif
#if AR_HAS_SLIDE
      case AR_SLIDE: {
        const real *u = AR_VECTORS[m->extra];
        if (j) shift_column(j, tip, u[0], u[1], u[2]);
        tip.x.d += value * u[0];
        tip.y.d += value * u[1];
        tip.z.d += value * u[2];
        break;
      }
#endif
#if AR_HAS_SWING
      case AR_SWING: {
        /* The link turned about the axis, by Rodrigues' formula. */
        const real *u = AR_VECTORS[m->extra], *l = u + 3;
        real along, x, y, z;
        sincos_of(value, &s, &c);
        along = (1 - c) * (u[0] * l[0] + u[1] * l[1] + u[2] * l[2]);
        x = c * l[0] + s * (u[1] * l[2] - u[2] * l[1]) + along * u[0];
        y = c * l[1] + s * (u[2] * l[0] - u[0] * l[2]) + along * u[1];
        z = c * l[2] + s * (u[0] * l[1] - u[1] * l[0]) + along * u[2];
        if (j) shift_column(j, tip, u[1] * z - u[2] * y, u[2] * x - u[0] * z, u[0] * y - u[1] * x);
        tip.x.d += x;
        tip.y.d += y;
        tip.z.d += z;
        break;
      }
#endif
      default:
#if AR_BENDING
        tip = bend_step(m, v, tip, J, mode, weight);
#endif
        break;
    }
  }
  return tip;
}

/* Write the residual e[6] of a tip against goal[12], in the tip frame, orientation times `weight`; return the squared
   distance and write the angle. */
static real residual(motion tip, const real *goal, int mode, real weight, real *e, real *angle) {
  const real x = goal[9] - tip.x.d, y = goal[10] - tip.y.d, z = goal[11] - tip.z.d;
  real a, b, c, s, cosine, f, rx, ry, rz = 0, e00 = 0, e11 = 0;
  e[0] = tip.x.a * x + tip.y.a * y + tip.z.a * z;
  e[1] = tip.x.b * x + tip.y.b * y + tip.z.b * z;
  e[2] = tip.x.c * x + tip.y.c * y + tip.z.c * z;
  e[3] = e[4] = e[5] = *angle = 0;
  if (mode == AR_POSITION) return x * x + y * y + z * z;
  /* The wanted z axis in the tip frame. */
  a = tip.x.a * goal[2] + tip.y.a * goal[5] + tip.z.a * goal[8];
  b = tip.x.b * goal[2] + tip.y.b * goal[5] + tip.z.b * goal[8];
  c = tip.x.c * goal[2] + tip.y.c * goal[5] + tip.z.c * goal[8];
  if (mode == AR_AXIS) {
    rx = a;
    ry = b;
    cosine = c;
  } else {
    /* The logarithm of R^T R_goal. */
    e00 = tip.x.a * goal[0] + tip.y.a * goal[3] + tip.z.a * goal[6];
    e11 = tip.x.b * goal[1] + tip.y.b * goal[4] + tip.z.b * goal[7];
    rx = R(0.5) * (tip.x.c * goal[1] + tip.y.c * goal[4] + tip.z.c * goal[7] - b);
    ry = R(0.5) * (a - (tip.x.c * goal[0] + tip.y.c * goal[3] + tip.z.c * goal[6]));
    rz = R(0.5) * (tip.x.b * goal[0] + tip.y.b * goal[3] + tip.z.b * goal[6] -
                   (tip.x.a * goal[1] + tip.y.a * goal[4] + tip.z.a * goal[7]));
    cosine = R(0.5) * (e00 + e11 + c - 1);
  }
  s = real_sqrt(rx * rx + ry * ry + rz * rz);
  *angle = atan2_of(s, cosine);
  f = weight * (s > SMALL_SINE ? *angle / s : 1);
  e[3] = f * rx;
  e[4] = f * ry;
  e[5] = f * rz;
  /* Half a turn off: about the axis on which the frames agree most; between opposite axes any axis is as good. */
  if (s <= SMALL_SINE && cosine < 0)
    e[mode == AR_AXIS || (e00 >= e11 && e00 >= c) ? 3 : e11 >= c ? 4 : 5] = weight * *angle;
  return x * x + y * y + z * z;
}

/* Coordinates q[AR_DOF] to variables v[AR_VARIABLES]. */
static void to_variables(const real *q, real *v) {
  int i;
  for (i = 0; i < AR_ELEMENTS; i++) {
    const ar_element *m = &AR_ELEMENT[i];
    real *w = v + m->variable;
    const real *p = q + m->coordinate;
    w[0] = p[0];
#if AR_BENDING
    if (BENDS(m)) {
      const ar_bend *b = &AR_BENDS[m->extra];
      if (!PLANAR(m)) {
        real s, c;
        sincos_of(p[1], &s, &c);
        w[0] = p[0] * c;
        w[1] = p[0] * s;
      }
      if (STRETCHES(b)) w[m->width - 1] = (p[2] - b->length) / b->stretch;
    }
#endif
  }
}

#if AR_HAS_STRETCH
/* Nearest (bend, share) with 0 <= bend <= bend_max * share and share <= 1, or bend <= bend_max if not coupled. */
static void nearest_in_limits(const ar_bend *b, real *bend, real *share) {
  const real bend_max = b->bend_max;
  real along;
  if (UNCOUPLED(b)) {
    *bend = real_min(real_max(*bend, 0), bend_max);
    *share = real_min(real_max(*share, 0), 1);
  } else if (*share >= 1 && *bend <= bend_max) {
    *bend = real_max(*bend, 0);
    *share = 1;
  } else if (!(*share <= 1 && *bend >= 0 && *bend <= bend_max * *share)) {
    along = (*bend * bend_max + *share) / (bend_max * bend_max + 1);
    *share = real_min(real_max(along, 0), 1);
    *bend = bend_max * *share;
  }
}
#endif

/* Move a block of variables, w[width], to the nearest point of its limits. */
static void project(const ar_element *m, real *w) {
#if AR_BENDING
  const ar_bend *b = &AR_BENDS[m->extra];
  if (BENDS(m) && !PLANAR(m)) {
    const real square = w[0] * w[0] + w[1] * w[1];
    real f;
#if AR_HAS_STRETCH
    if (STRETCHES(b)) {
      real bend = real_sqrt(square);
      nearest_in_limits(b, &bend, &w[2]);
      f = square > 0 ? bend / real_sqrt(square) : 0;
    } else
#endif
    if (square > b->bend_max * b->bend_max) {
      f = b->bend_max / real_sqrt(square);
    } else {
      return;
    }
    w[0] *= f;
    w[1] *= f;
    return;
  }
#if AR_HAS_STRETCH
  if (BENDS(m) && STRETCHES(b)) {
    w[0] = real_max(w[0], 0);
    nearest_in_limits(b, &w[0], &w[1]);
    return;
  }
#endif
#endif
  w[0] = real_min(real_max(w[0], m->lower), m->upper);
}

/* Variables to coordinates inside the limits. */
static void to_coordinates(const real *v, real *q) {
  int i;
  for (i = 0; i < AR_ELEMENTS; i++) {
    const ar_element *m = &AR_ELEMENT[i];
    const real *w = v + m->variable;
    real *p = q + m->coordinate;
#if AR_BENDING
    if (BENDS(m)) {
      const ar_bend *b = &AR_BENDS[m->extra];
      real most = b->bend_max;
      if (STRETCHES(b)) {
        p[2] = real_min(real_max(b->length + b->stretch * w[m->width - 1], m->lower), m->upper);
        if (!UNCOUPLED(b)) most *= real_min((p[2] - m->lower) / b->stretch, 1);
      }
      if (!PLANAR(m)) {
        p[0] = real_sqrt(w[0] * w[0] + w[1] * w[1]);
        p[1] = real_min(real_max(atan2_of(w[1], w[0]), -PI_INSIDE), PI_INSIDE);
      } else {
        p[0] = w[0];
      }
      p[0] = real_max(real_min(p[0], most), 0);
      continue;
    }
#endif
    p[0] = m->lower == -LARGEST ? real_min(real_max(wrap_angle(w[0]), -PI_INSIDE), PI_INSIDE)
                                : real_min(real_max(w[0], m->lower), m->upper);
  }
}

/* Turn joints by full turns within their limits, as near as can be to near[AR_DOF] or, null, to the middle. */
static void unwind(const real *near, real *q) {
#if AR_HAS_PERIODIC
  const real turn = R(0.15915494309189533577); /* per radian */
  int i, fewer;
  for (i = 0; i < AR_ELEMENTS; i++) {
    const ar_element *m = &AR_ELEMENT[i];
    real *p = q + m->coordinate, wanted, turns, most, value;
    if (!m->periodic) continue;
    wanted = near ? near[m->coordinate] : R(0.5) * (m->lower + m->upper);
    turns = (wanted - *p) * turn;
    /* The limits may allow fewer turns; rounding can make that number one or two too large, so try three. */
    most = real_min(real_abs(turns), real_abs((turns > 0 ? m->upper : m->lower) - *p) * turn);
    if (!(most < R(1e4))) continue;
    most = nearest_integer(most);
    for (fewer = 0; fewer < 3 && most - R(fewer) >= 1; fewer++) {
      const real n = turns > 0 ? 4 * (most - R(fewer)) : -4 * (most - R(fewer));
      value = ((*p + n * HALF_PI_1) + n * HALF_PI_2) + n * HALF_PI_3;
      if (value >= m->lower && value <= m->upper) {
        *p = value;
        break;
      }
    }
  }
#else
  (void)near;
  (void)q;
#endif
}

#endif
