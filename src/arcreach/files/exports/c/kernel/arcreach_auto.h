/* Bounded Levenberg-Marquardt from the nearest of a table of seeds, then the next nearest, then mixtures of seeds.

   In dual form: a step is J y with (J^T J + mu I) y = e, six unknowns whatever the length of the chain. A block, the
   variables of one moving element, that touches its bound moves along it only. Step budgets and the end of a search are
   constants of the robot's header. */

#if AR_DOUBLE
#define LEAST_DAMPING R(1e-12)
#define DAMPING_FLOOR R(1e-13)
#define LEAST_PIVOT R(1e-16)
#define TINY R(1e-140)       /* where every block is held: its inverse can still be squared */
#define AT_BOUND R(0.999999999)
#define AT_TOP R(0.999999999999)
#define AT_APEX R(1e-12)
#define OUTWARD R(1e-15)
#define ON_AXIS R(1e-12)
#define SAME R(1e-6)
#define AIM R(0.999)
#else
#define LEAST_DAMPING R(1e-9)
#define DAMPING_FLOOR R(5e-8)
#define LEAST_PIVOT R(1e-8)
#define TINY R(1e-18)
#define AT_BOUND R(0.999999)
#define AT_TOP R(0.9999998)
#define AT_APEX R(1e-7)
#define OUTWARD R(1e-9)
#define ON_AXIS R(1e-7)
#define SAME R(1e-4)
#define AIM R(0.93)
#endif

enum { CLEAR, FREE, HELD, TANGENT, SIDE, TOP, FLOOR };

/* Solve for y[6]; return mu. Only a whole rotation has a sixth row. */
static real solve_damped(real (*J)[6], const real *e, real damping, int mode, real *y) {
  real a00 = 0, a10 = 0, a11 = 0, a20 = 0, a21 = 0, a22 = 0, a30 = 0, a31 = 0, a32 = 0, a33 = 0;
  real a40 = 0, a41 = 0, a42 = 0, a43 = 0, a44 = 0, a50 = 0, a51 = 0, a52 = 0, a53 = 0, a54 = 0, a55 = 0;
  real mu, trace, least, i0, i1, i2, i3, i4, i5, l10, l20, l30, l40, l21, l31, l41, l32, l42, l43;
  real t2, t3, t4, u3, u4, w4, y0, y1, y2, y3, y4, y5;
  int k;
  for (k = 0; k < AR_VARIABLES; k++) {
    const real j0 = J[k][0], j1 = J[k][1], j2 = J[k][2], j3 = J[k][3], j4 = J[k][4], j5 = J[k][5];
    a00 += j0 * j0; a10 += j1 * j0; a11 += j1 * j1; a20 += j2 * j0; a21 += j2 * j1; a22 += j2 * j2;
    if (mode == AR_POSITION) continue;
    a30 += j3 * j0; a31 += j3 * j1; a32 += j3 * j2; a33 += j3 * j3;
    a40 += j4 * j0; a41 += j4 * j1; a42 += j4 * j2; a43 += j4 * j3; a44 += j4 * j4;
    if (mode == AR_AXIS) continue;
    a50 += j5 * j0; a51 += j5 * j1; a52 += j5 * j2; a53 += j5 * j3; a54 += j5 * j4; a55 += j5 * j5;
  }
  trace = a00 + a11 + a22 + a33 + a44 + a55;
  mu = real_max(damping * R(0.16666666666666666667), DAMPING_FLOOR) * trace;
  least = LEAST_PIVOT * trace + TINY;
  /* Columns of L; t, u, w and x are entries not yet divided by their pivot. */
  i0 = 1 / real_max(a00 + mu, least);
  l10 = a10 * i0; l20 = a20 * i0; l30 = a30 * i0; l40 = a40 * i0;
  i1 = 1 / real_max(a11 + mu - l10 * a10, least);
  t2 = a21 - l20 * a10; t3 = a31 - l30 * a10; t4 = a41 - l40 * a10;
  l21 = t2 * i1; l31 = t3 * i1; l41 = t4 * i1;
  i2 = 1 / real_max(a22 + mu - l20 * a20 - l21 * t2, least);
  u3 = a32 - l30 * a20 - l31 * t2; u4 = a42 - l40 * a20 - l41 * t2;
  l32 = u3 * i2; l42 = u4 * i2;
  i3 = 1 / real_max(a33 + mu - l30 * a30 - l31 * t3 - l32 * u3, least);
  w4 = a43 - l40 * a30 - l41 * t3 - l42 * u3;
  l43 = w4 * i3;
  i4 = 1 / real_max(a44 + mu - l40 * a40 - l41 * t4 - l42 * u4 - l43 * w4, least);
  y0 = e[0];
  y1 = e[1] - l10 * y0;
  y2 = e[2] - l20 * y0 - l21 * y1;
  y3 = e[3] - l30 * y0 - l31 * y1 - l32 * y2;
  y4 = e[4] - l40 * y0 - l41 * y1 - l42 * y2 - l43 * y3;
  y5 = 0;
  if (mode == AR_ROTATION) {
    const real l50 = a50 * i0, t5 = a51 - l50 * a10, l51 = t5 * i1, u5 = a52 - l50 * a20 - l51 * t2, l52 = u5 * i2;
    const real w5 = a53 - l50 * a30 - l51 * t3 - l52 * u3, l53 = w5 * i3;
    const real x5 = a54 - l50 * a40 - l51 * t4 - l52 * u4 - l53 * w4, l54 = x5 * i4;
    i5 = 1 / real_max(a55 + mu - l50 * a50 - l51 * t5 - l52 * u5 - l53 * w5 - l54 * x5, least);
    y5 = (e[5] - l50 * y0 - l51 * y1 - l52 * y2 - l53 * y3 - l54 * y4) * i5;
    y4 = y4 * i4 - l54 * y5;
    y3 = y3 * i3 - l53 * y5;
    y2 = y2 * i2 - l52 * y5;
    y1 = y1 * i1 - l51 * y5;
    y0 = y0 * i0 - l50 * y5;
  } else {
    y4 = y4 * i4;
    y3 = y3 * i3;
    y2 = y2 * i2;
    y1 = y1 * i1;
    y0 = y0 * i0;
  }
  y3 = y3 - l43 * y4;
  y2 = y2 - l32 * y3 - l42 * y4;
  y1 = y1 - l21 * y2 - l31 * y3 - l41 * y4;
  y0 = y0 - l10 * y1 - l20 * y2 - l30 * y3 - l40 * y4;
  y[0] = y0; y[1] = y1; y[2] = y2; y[3] = y3; y[4] = y4; y[5] = y5;
  return mu;
}

static real along(const real *j, const real *y) {
  return j[0] * y[0] + j[1] * y[1] + j[2] * y[2] + j[3] * y[3] + j[4] * y[4] + j[5] * y[5];
}

static void drop_rows(real (*J)[6], int count) {
  int i, r;
  for (i = 0; i < count; i++)
    for (r = 0; r < 6; r++) J[i][r] = 0;
}

#if AR_BENDING
static int touches(const ar_element *m, const real *w) {
  const ar_bend *b = &AR_BENDS[m->extra];
  if (UNCOUPLED(b)) {
    const real share = w[m->width - 1];
    if (share <= AT_APEX || share >= AT_TOP) return 1;
    if (PLANAR(m)) return w[0] <= 0 || w[0] >= b->bend_max * AT_BOUND;
    return w[0] * w[0] + w[1] * w[1] >= b->bend_max * b->bend_max * AT_BOUND;
  }
  if (!PLANAR(m)) {
    const real square = w[0] * w[0] + w[1] * w[1], edge = STRETCHES(b) ? b->bend_max * w[2] * AT_BOUND : 0;
    if (!STRETCHES(b)) return square >= b->bend_max * b->bend_max * AT_BOUND;
    return w[2] >= AT_TOP || square >= edge * edge;
  }
  if (STRETCHES(b)) return w[0] <= 0 || w[1] >= AT_TOP || w[0] >= b->bend_max * w[1] * AT_BOUND;
  return w[0] >= m->upper || w[0] <= m->lower;
}

/* The bend and stretch of a section in one plane: the edge that it is drawn through, HELD where out of a corner. */
static int triangle_code(const ar_bend *b, const real *w, int before, real pull_bend, real pull_share) {
  const int at_side = w[0] >= b->bend_max * w[1] * AT_BOUND, at_top = w[1] >= AT_TOP, at_apex = w[1] <= AT_APEX;
  const real bottom = w[0] <= 0 ? -pull_bend : 0, side = at_side ? pull_bend - b->slope * pull_share : 0;
  const real top = at_top ? pull_share : 0, along_side = b->slope * pull_bend + pull_share;
  if (bottom <= OUTWARD && side <= OUTWARD && top <= OUTWARD) return FREE;
  if (before >= SIDE) return HELD;
  if (side > OUTWARD && !(at_top && along_side > OUTWARD) && !(at_apex && along_side < -OUTWARD)) return SIDE;
  if (bottom > OUTWARD)
    return (at_top && pull_share > OUTWARD) || (at_apex && pull_share < -OUTWARD) ? HELD : FLOOR;
  return top > OUTWARD && !(at_side && pull_bend > OUTWARD) ? TOP : HELD;
}

#if AR_HAS_UNCOUPLED
/* The code of a section whose bend and stretch have limits of their own. */
static int uncoupled_code(const ar_element *m, const real *w, int before, const real *pull) {
  const ar_bend *b = &AR_BENDS[m->extra];
  const real share = w[m->width - 1], pulled = pull[m->width - 1], edge = b->bend_max * AT_BOUND;
  const int end = before == TOP || (share >= AT_TOP && pulled > OUTWARD) || (share <= AT_APEX && pulled < -OUTWARD);
  int bend;
  if (PLANAR(m)) {
    bend = before == FLOOR || (w[0] <= 0 && pull[0] < -OUTWARD) || (w[0] >= edge && pull[0] > OUTWARD);
    return end ? (bend ? HELD : TOP) : (bend ? FLOOR : FREE);
  }
  bend = w[0] * w[0] + w[1] * w[1] >= edge * b->bend_max && w[0] * pull[0] + w[1] * pull[1] > OUTWARD;
  bend = bend || before == SIDE;
  return end ? (bend ? TANGENT : TOP) : (bend ? SIDE : FREE);
}
#endif

/* The code of a section under a pull on its variables: FREE unless it pulls through a bound. */
static int bend_code(const ar_element *m, const real *w, int before, const real *pull) {
  const ar_bend *b = &AR_BENDS[m->extra];
  real radius, outward;
  int side, top;
#if AR_HAS_UNCOUPLED
  if (UNCOUPLED(b)) return uncoupled_code(m, w, before, pull);
#endif
  if (PLANAR(m)) {
    if (STRETCHES(b)) return triangle_code(b, w, before, pull[0], pull[1]);
    return (w[0] >= m->upper && pull[0] > OUTWARD) || (w[0] <= m->lower && pull[0] < -OUTWARD) ? HELD : FREE;
  }
  if (!STRETCHES(b)) {
    const int at_bound = w[0] * w[0] + w[1] * w[1] >= b->bend_max * b->bend_max * AT_BOUND;
    return at_bound && w[0] * pull[0] + w[1] * pull[1] > OUTWARD ? TANGENT : FREE;
  }
  radius = real_sqrt(w[0] * w[0] + w[1] * w[1]);
  outward = real_sqrt(pull[0] * pull[0] + pull[1] * pull[1]);
  if (w[2] <= AT_APEX) return outward * b->slope + pull[2] <= 0 ? HELD : FREE;
  side = radius >= b->bend_max * w[2] * AT_BOUND;
  top = w[2] >= AT_TOP;
  if (radius > 0) outward = (w[0] * pull[0] + w[1] * pull[1]) / radius;
  if (side && top) {
    if (outward > OUTWARD && outward * b->slope + pull[2] > OUTWARD) return TANGENT;
    if (pull[2] > OUTWARD && outward <= OUTWARD) return TOP;
  }
  if (side && outward - b->slope * pull[2] > OUTWARD) return SIDE;
  return top && pull[2] > OUTWARD ? TOP : FREE;
}

/* Direction of a bend vector that lies at its bound. */
static void outward_of(const real *w, real *nx, real *ny) {
  const real square = w[0] * w[0] + w[1] * w[1], f = square > 0 ? 1 / real_sqrt(square) : 0;
  *nx = square > 0 ? f * w[0] : 1;
  *ny = f * w[1];
}

/* Replace the rows of a section by those along its bound; `before` is the code that the rows stand for. */
static void restrict_bend(const ar_element *m, const real *w, int code, int before, real (*J)[6]) {
  const ar_bend *b = &AR_BENDS[m->extra];
  const int last = m->width - 1;
  const real norm = 1 / real_sqrt(b->slope * b->slope + 1);
  real nx, ny;
  int r;
  if (code == HELD) {
    drop_rows(J, m->width);
  } else if (code == TOP) {
    drop_rows(J + last, 1);
  } else if (code == FLOOR) {
    drop_rows(J, 1);
  } else if (PLANAR(m)) {
    for (r = 0; r < 6; r++) J[1][r] = (b->slope * J[0][r] + J[1][r]) * norm;
    drop_rows(J, 1);
  } else if (before == SIDE) {
    drop_rows(J + 1, 1); /* from the side to the rim: the tangent stays */
  } else {
    outward_of(w, &nx, &ny);
    for (r = 0; r < 6; r++) {
      const real radial = nx * J[0][r] + ny * J[1][r];
      J[0][r] = nx * J[1][r] - ny * J[0][r];
      J[1][r] = code == SIDE ? norm * (b->slope * radial + J[2][r]) : 0;
      if (last == 2) J[2][r] = 0;
    }
  }
}

/* Step d[3] of a section's variables for the multipliers y[6]. */
static void bend_move(const ar_element *m, const real *w, int code, real (*J)[6], const real *y, real *d) {
  const ar_bend *b = &AR_BENDS[m->extra];
  real nx, ny, sideways, radial, tangent;
  int i;
  for (i = 0; i < 3; i++) d[i] = code != HELD && i < m->width ? along(J[i], y) : 0;
  if (code < TANGENT || code >= TOP) return;
  sideways = code == SIDE ? d[1] / real_sqrt(b->slope * b->slope + 1) : 0;
  radial = b->slope * sideways;
  if (PLANAR(m)) {
    d[0] = radial;
    d[1] = sideways;
    return;
  }
  outward_of(w, &nx, &ny);
  tangent = d[0];
  d[0] = nx * radial - ny * tangent;
  d[1] = ny * radial + nx * tangent;
  d[2] = sideways;
}
#endif

/* Note which blocks touch a bound; return whether any does. */
static int find_touching(ar_solver *s) {
  int i, found = 0;
  for (i = 0; i < AR_ELEMENTS; i++) {
    const ar_element *m = &AR_ELEMENT[i];
    const real *w = s->v + m->variable;
    int touching = !(w[0] > m->lower && w[0] < m->upper);
#if AR_BENDING
    if (BENDS(m)) touching = touches(m, w);
#endif
    s->codes[i] = touching ? FREE : CLEAR;
    found |= touching;
  }
  return found;
}

/* Restrict the blocks that y draws through a bound they touch; return whether any was. */
static int mark_bounds(ar_solver *s) {
  int i, changed = 0;
  for (i = 0; i < AR_ELEMENTS; i++) {
    const ar_element *m = &AR_ELEMENT[i];
    const real *w = s->v + m->variable;
    real(*J)[6] = s->J + m->variable;
    if (s->codes[i] == CLEAR || s->codes[i] == HELD || s->codes[i] == TANGENT) continue;
#if AR_BENDING
    if (BENDS(m)) {
      real d[3];
      int code;
      bend_move(m, w, s->codes[i], J, s->y, d);
      code = bend_code(m, w, s->codes[i], d);
      if (code != FREE && code != s->codes[i]) {
        restrict_bend(m, w, code, s->codes[i], J);
        s->codes[i] = (uint8_t)code;
        changed = 1;
      }
      continue;
    }
#endif
    {
      const real d = along(J[0], s->y);
      if ((w[0] >= m->upper && d > OUTWARD) || (w[0] <= m->lower && d < -OUTWARD)) {
        drop_rows(J, 1);
        s->codes[i] = HELD;
        changed = 1;
      }
    }
  }
  return changed;
}

/* Write the projected step from v into `trial`. */
static void take_step(ar_solver *s) {
  const int touching = find_touching(s);
  int i, passes = touching ? 2 * AR_ELEMENTS + 1 : 1;
  real mu = 0;
  /* The gradient draws first, then each step in turn, until it draws no block through a bound. */
  copy(s->e, s->y, 6);
  while (passes-- > 0) {
    if (touching && !mark_bounds(s) && mu > 0) break;
    mu = solve_damped(s->J, s->e, s->damping, s->mode, s->y);
  }
  for (i = 0; i < AR_ELEMENTS; i++) {
    const ar_element *m = &AR_ELEMENT[i];
    const real *w = s->v + m->variable;
    real *to = s->trial + m->variable;
#if AR_BENDING
    if (BENDS(m)) {
      const ar_bend *b = &AR_BENDS[m->extra];
      real d[3];
      int k;
      bend_move(m, w, s->codes[i], s->J + m->variable, s->y, d);
      d[0] *= b->unit;
      if (!PLANAR(m)) d[1] *= b->unit;
      for (k = 0; k < m->width; k++) to[k] = w[k] + d[k];
      project(m, to);
      continue;
    }
#endif
    {
      const real d = s->codes[i] == HELD ? 0 : along(s->J[m->variable], s->y);
      to[0] = real_min(real_max(w[0] + (m->kind == AR_SLIDE ? AR_STROKE_UNIT * d : d), m->lower), m->upper);
    }
  }
  s->predicted = mu * mu * along(s->y, s->y);
}

static void begin_descent(ar_solver *s, int32_t most_steps, int patience, int patient) {
  const int32_t left = s->max_steps - s->steps;
  copy(s->v, s->trial, AR_VARIABLES);
  s->residual = LARGEST;
  s->damping = AR_FIRST_DAMPING;
  s->predicted = 0;
  s->descent_steps = -1;
  s->most_steps = most_steps < left ? most_steps : left;
  s->patience = patience;
  s->patient = patient;
  s->weak = s->rejected = s->again = 0;
}

/* Accept the trial into v, or reset the trial to v; return AR_WORKING or how the descent ended. */
static int accept_or_give_up(ar_solver *s, real distance2, real angle) {
  const real now = distance2 + s->e[3] * s->e[3] + s->e[4] * s->e[4] + s->e[5] * s->e[5], before = s->residual;
  const int32_t steps = ++s->descent_steps;
  int code = steps < s->most_steps ? AR_WORKING : AR_ITERATION_LIMIT;
  if (now < before) {
    if (steps > 0) {
      const real gain = before - now, foreseen = before - s->predicted;
      if (now < R(0.25) * before) s->damping *= R(0.02);
      else if (now < R(0.7) * before) s->damping *= R(0.3);
      else if (gain > R(0.5) * foreseen) s->damping *= R(0.1);
      else if (gain < R(0.25) * foreseen) s->damping *= 2;
      s->damping = real_min(real_max(s->damping, LEAST_DAMPING), AR_LARGEST_DAMPING);
      s->weak = now > AR_WEAK * before && !(s->patient && gain > R(0.5) * foreseen) ? s->weak + 1 : 0;
    }
    copy(s->trial, s->v, AR_VARIABLES);
    s->residual = now;
    s->rejected = s->again = 0;
    if (distance2 <= s->aim2 && angle <= s->aim_angle) return AR_REACHED;
    return s->weak >= s->patience ? AR_STALLED : code;
  }
  s->again = 1;
  /* A start whose residual is not finite leaves no accepted variables to return to. */
  if (++s->rejected >= AR_REJECTIONS || steps == 0) return AR_STALLED;
  copy(s->v, s->trial, AR_VARIABLES);
  s->damping = real_max(8 * s->damping, R(1e-4));
  return code;
}

/* One iteration of a descent. */
static int descend(ar_solver *s) {
  real angle, distance2;
  int code = AR_WORKING;
  distance2 = residual(chain_pass(s->trial, s->mode, AR_WEIGHT, s->J), s->goal, s->mode, AR_WEIGHT, s->e, &angle);
  if (s->again) s->again = 0;
  else code = accept_or_give_up(s, distance2, angle);
  if (code != AR_WORKING || s->again) return code;
#if AR_SCALED
  {
    int i, k, r;
    for (i = 0; i < AR_ELEMENTS; i++) {
      const ar_element *m = &AR_ELEMENT[i];
      real unit = m->kind == AR_SLIDE ? AR_STROKE_UNIT : 1;
#if AR_BENDING
      if (BENDS(m)) unit = AR_BENDS[m->extra].unit;
#endif
      for (k = 0; k < (BENDS(m) && !PLANAR(m) ? 2 : 1); k++)
        for (r = 0; r < 6; r++) s->J[m->variable + k][r] *= unit;
    }
  }
#endif
  take_step(s);
  return AR_WORKING;
}

/* The frame in which a target of a robot that is symmetric about its base axis lies in the plane y = 0. */
static void find_frame(ar_solver *s) {
  s->frame[0] = s->frame[2] = 1;
  s->frame[1] = 0;
#if AR_SYMMETRIC
  {
    const real *g = s->goal;
    real x = g[9], y = g[10], radius = real_sqrt(x * x + y * y);
    if (!(radius > ON_AXIS) && s->mode != AR_POSITION) {
      x = g[2];
      y = g[5];
      radius = real_sqrt(x * x + y * y);
    }
    if (radius > ON_AXIS) {
      s->frame[0] = x / radius;
      s->frame[1] = y / radius;
    }
    if (s->mode != AR_POSITION && s->frame[0] * g[5] - s->frame[1] * g[2] < 0) s->frame[2] = -1;
  }
#endif
}

static int16_t to_key(real x) { return (int16_t)nearest_integer(real_min(real_max(127 * x, -1000), 1000)); }

/* The key that seeds are compared with: position, x and z axis of the target in its frame, times 127. */
static void find_key(ar_solver *s) {
  const real *g = s->goal, c = s->frame[0], d = s->frame[1], mirror = s->frame[2];
  int k;
  s->key[0] = to_key(AR_KEY_SCALE * (c * g[9] + d * g[10]));
  s->key[1] = to_key(AR_KEY_SCALE * (mirror * (c * g[10] - d * g[9])));
  s->key[2] = to_key(AR_KEY_SCALE * g[11]);
  for (k = 0; k < 6; k += 3) {
    /* The x axis is turned with the frame, then each axis into it. */
    const real x = k ? c * g[0] + d * g[1] : g[2], y = k ? c * g[3] + d * g[4] : g[5];
    s->key[3 + k] = to_key(c * x + d * y);
    s->key[4 + k] = to_key(mirror * (c * y - d * x));
    s->key[5 + k] = to_key(k ? c * g[6] + d * g[7] : g[8]);
  }
}

/* The distance of a seed from the target, less the terms that all seeds share; 16 * 127^2 is the squared length. */
static int32_t score(const ar_solver *s, int seed) {
  const int8_t *k = AR_SEED_KEYS[seed];
  const int16_t *t = s->key;
  const int32_t place = AR_KEY_WEIGHT * (AR_SEED_NORMS[seed] - 2 * (k[0] * t[0] + k[1] * t[1] + k[2] * t[2]));
  int32_t axis;
  if (s->mode == AR_POSITION) return place;
  axis = k[3] * t[3] + k[4] * t[4] + k[5] * t[5];
  if (s->mode == AR_AXIS) return place - 2 * axis;
  return place - axis - (k[6] * t[6] + k[7] * t[7] + k[8] * t[8]);
}

/* The seed of the least score among those not yet used. */
static int nearest_seed(const ar_solver *s, int32_t *least) {
  int i, found = 0;
  *least = INT32_MAX;
  for (i = 0; i < AR_SEEDS; i++) {
    int32_t now;
    if (s->used[i / 8] >> (i % 8) & 1) continue;
    now = score(s, i);
    if (now < *least) {
      *least = now;
      found = i;
    }
  }
  return found;
}

/* Write the variables of one block of a seed into v, turned and mirrored to where the target is. */
static void place_block(const ar_solver *s, const ar_element *m, int seed, int turned, real *v) {
  const int8_t *from = AR_SEED_VARIABLES[seed] + m->variable;
  const real per = R(0.00787401574803149606); /* 1 / 127 */
  real *w = v + m->variable, lower = m->lower, upper = m->upper;
#if AR_BENDING
  if (BENDS(m)) {
    const ar_bend *b = &AR_BENDS[m->extra];
    if (STRETCHES(b)) w[m->width - 1] = R(0.5) + R(0.5) * per * (real)from[m->width - 1];
    if (!PLANAR(m)) {
      const real x = b->bend_max * per * (real)from[0], y = b->bend_max * per * (real)from[1] * s->frame[2];
      w[0] = turned ? s->frame[0] * x - s->frame[1] * y : x;
      w[1] = turned ? s->frame[1] * x + s->frame[0] * y : y;
      project(m, w);
      return;
    }
  }
#endif
  (void)s;
  (void)turned;
  if (lower == -LARGEST) {
    lower = -PI;
    upper = PI;
  }
  w[0] = R(0.5) * (lower + upper) + R(0.5) * (upper - lower) * per * (real)from[0];
  project(m, w);
}

static void place_seed(const ar_solver *s, int seed, int turned, real *v) {
  int i;
  for (i = 0; i < AR_ELEMENTS; i++) place_block(s, &AR_ELEMENT[i], seed, turned, v);
}

/* Write the next start, and begin its descent. */
static void next_start(ar_solver *s) {
  const int32_t attempt = s->attempt;
  int32_t least;
  int i;
  if (attempt < s->nearby || (attempt == 0 && s->worth)) {
    to_variables(s->q, s->v);
    if (attempt > 0) {
      real share = AR_NEARBY_FIRST;
      for (i = 0; i < attempt; i++) share *= AR_NEARBY_GROWTH;
      place_seed(s, (int)(attempt % AR_SEEDS), 0, s->trial);
      for (i = 0; i < AR_VARIABLES; i++) s->v[i] += share * (s->trial[i] - s->v[i]);
      for (i = 0; i < AR_ELEMENTS; i++) project(&AR_ELEMENT[i], s->v + AR_ELEMENT[i].variable);
    }
  } else if (attempt < s->nearby + AR_SEEDS) {
    const int seed = nearest_seed(s, &least);
    s->used[seed / 8] |= (uint8_t)(1 << seed % 8);
    place_seed(s, seed, 1, s->v);
  } else {
    const int32_t number = attempt - s->nearby - AR_SEEDS;
    for (i = 0; i < AR_ELEMENTS; i++)
      place_block(s, &AR_ELEMENT[i], (int)((number + (i + 1) * (i * AR_MIX + number / AR_SEEDS + AR_MIX)) % AR_SEEDS), 0, s->v);
  }
  if (attempt < s->nearby) begin_descent(s, AR_NEARBY_STEPS, AR_NEARBY_PATIENCE, 1);
  else if (attempt < s->nearby + AR_QUICK_STARTS) begin_descent(s, AR_QUICK_STEPS, AR_PATIENCE, 0);
  else begin_descent(s, AR_LONG_STEPS, AR_PATIENCE, 1);
}

/* Rate the caller's start: whether it is near the target, and whether a descent from it is worth more than a seed. */
static void rate_start(ar_solver *s) {
  real angle, distance2, turn2, s2, c2, per = 16 * R(16129.0) / (AR_LENGTH * AR_LENGTH);
  int32_t least;
  to_variables(s->q, s->v);
  distance2 = residual(chain_pass(s->v, s->mode, 1, 0), s->goal, s->mode, 1, s->e, &angle);
  if (distance2 + AR_WEIGHT * AR_WEIGHT * angle * angle <= AR_STEP_OF_A_PATH * AR_STEP_OF_A_PATH * AR_WEIGHT * AR_WEIGHT)
    s->nearby = 1 + AR_NEARBY_STARTS;
  sincos_of(R(0.5) * angle, &s2, &c2);
  turn2 = R(0.25) * AR_LENGTH * AR_LENGTH * s2 * s2;
  (void)nearest_seed(s, &least);
  {
    const int16_t *t = s->key;
    const int32_t own = AR_KEY_WEIGHT * (t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
    const real turned = s->mode == AR_POSITION ? 0 : R(32258.0);
    s->worth = per * (distance2 + turn2) <= AR_WORTH_A_DESCENT * real_max((real)least + (real)own + turned, 0);
  }
}

static void method_begin(ar_solver *s) {
  const real tol = AIM * strict_position_tol(s);
  int i;
  s->aim2 = tol * tol;
  s->aim_angle = AIM * strict_angle_tol(s);
  s->best = LARGEST;
  s->attempt = 0;
  s->nearby = s->worth = s->same = s->polishing = 0;
  s->ended = AR_WORKING;
  for (i = 0; i < (AR_SEEDS + 7) / 8; i++) s->used[i] = 0;
  find_frame(s);
  find_key(s);
  if (s->started) rate_start(s);
  next_start(s);
  copy(s->v, s->best_v, AR_VARIABLES);
}

static int beyond_reach(const ar_solver *s) { return s->away > AR_REACH + s->position_tol; }

/* Count a descent that ended; return AR_WORKING while another start is due. */
static int settle(ar_solver *s, int code) {
  const int many = s->mode == AR_ROTATION || !AR_SYMMETRIC;
  const int32_t tabulated = s->mode == AR_ROTATION ? AR_ROTATION_STARTS : AR_STARTS;
  const int32_t last = s->nearby + (beyond_reach(s) ? AR_BEYOND_REACH_STARTS : 2 * tabulated);
  const real left = s->residual;
  if (left < s->best * (1 - SAME)) s->same = 0;
  if (left < s->best * (1 + SAME)) s->same++;
  /* Reached is judged by both tolerances, the residual is a weighted sum: an earlier best may miss one. */
  if (s->attempt == 0 || left < s->best || code == AR_REACHED) {
    s->best = left;
    copy(s->v, s->best_v, AR_VARIABLES);
  }
  if (code == AR_REACHED) return AR_REACHED;
  if (s->steps >= s->max_steps) return AR_ITERATION_LIMIT;
  if (s->best > AR_WORTH_ALL_STARTS * AR_REACH * AR_WORTH_ALL_STARTS * AR_REACH) {
    if (s->same >= (many ? AR_MANY_SAME_RESIDUAL : AR_SAME_RESIDUAL) &&
        s->attempt >= (many ? AR_MANY_FEWEST_STARTS : AR_FEWEST_STARTS))
      return AR_STALLED;
    if (s->attempt + 1 == s->nearby + tabulated) return AR_STALLED;
  }
  return ++s->attempt >= last ? AR_STALLED : AR_WORKING;
}

static int method_step(ar_solver *s) {
  const int32_t before = s->descent_steps;
  const int code = descend(s);
  real nearly;
  s->steps += before < 0 ? 0 : s->descent_steps - before;
  if (code == AR_WORKING) return AR_WORKING;
  if (s->polishing) {
    copy(s->v, s->best_v, AR_VARIABLES);
    return code == AR_REACHED ? AR_REACHED : s->ended;
  }
  s->ended = settle(s, code);
  nearly = s->aim2 + AR_WEIGHT * AR_WEIGHT * s->angle_tol * s->angle_tol;
  if (s->ended == AR_STALLED && (beyond_reach(s) || s->best <= AR_NEARLY * AR_NEARLY * nearly)) {
    copy(s->best_v, s->v, AR_VARIABLES);
    begin_descent(s, AR_POLISH_STEPS, AR_POLISH_STEPS, 1);
    s->polishing = 1;
    return AR_WORKING;
  }
  if (s->ended == AR_WORKING) next_start(s);
  return s->ended;
}

static void method_answer(const ar_solver *s, real *q) {
  to_coordinates(s->residual < s->best ? s->v : s->best_v, q);
  unwind(s->started ? s->q : 0, q);
}
