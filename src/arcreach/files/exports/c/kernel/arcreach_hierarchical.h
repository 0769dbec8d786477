/* The hierarchical approach: step one coordinate at a time, as long as the tip comes nearer, with ever smaller steps. */

#define DIVISIONS R(100.0)
#define GROWTH R(1.25)
#define MOST_DIVISIONS (AR_DOUBLE ? R(1e15) : R(1e7)) /* finer, a step is rounding */
#define MOST_CYCLES 200
#define IDLE_CYCLES 40
/* Iterations counted in a phase beside the steps it keeps. */
#define COUNTED_UP 5
#define COUNTED_DOWN 3

enum { BY_POSITION, BY_ORIENTATION, BY_BOTH };
enum { BOUNDED, ENDLESS, WRAPPED };

/* Whether q lies within the limits. */
static int within(const real *q) {
  int i;
  for (i = 0; i < AR_ELEMENTS; i++) {
    const ar_element *m = &AR_ELEMENT[i];
    const real *p = q + m->coordinate;
#if AR_BENDING
    if (BENDS(m)) {
      const ar_bend *b = &AR_BENDS[m->extra];
      real most = b->bend_max;
      if (STRETCHES(b)) {
        if (!(p[2] >= m->lower && p[2] <= m->upper)) return 0;
        if (!UNCOUPLED(b)) most *= real_min((p[2] - m->lower) / b->stretch, 1);
      }
      if (!(p[0] >= 0 && p[0] <= most)) return 0;
      continue;
    }
#endif
    if (!(p[0] >= m->lower && p[0] <= m->upper)) return 0;
  }
  return 1;
}

static real judged(const ar_solver *s, real distance, real angle) {
  const int role = s->mode == AR_POSITION ? BY_POSITION : AR_ROLES[s->place];
  return role == BY_POSITION ? distance : role == BY_ORIENTATION ? angle : distance / AR_ERROR_SCALE + angle;
}

static void remember(ar_solver *s) {
  const real now = real_max(s->distance / s->position_tol, s->angle / s->angle_tol);
  if (now < s->best) {
    s->best = now;
    copy(s->at, s->best_q, AR_DOF);
  }
}

static void next_phase(ar_solver *s, int place) {
  s->place = place;
  s->sign = 1;
  s->moves = s->counted = 0;
}

static void method_begin(ar_solver *s) {
  clip(s->started ? s->q : AR_FIRST, s->trial);
  copy(s->trial, s->best_q, AR_DOF);
  s->best = LARGEST;
  s->divisions = DIVISIONS;
  s->first = 1;
  s->cycle = s->moved = s->idle = 0;
  next_phase(s, 0);
}

/* Take back or keep the step that was tried, then turn round or end the phase. */
static void settle_step(ar_solver *s, int kept) {
  s->steps++;
  s->counted++;
  if (kept) {
    s->moves++;
    s->moved++;
  } else if (s->sign > 0 && s->moves == 0) {
    s->sign = -1;
  } else {
    const int32_t counted = s->moves + (s->moves > 0 && s->sign < 0 ? COUNTED_DOWN : COUNTED_UP);
    const int32_t left = s->max_steps - s->steps;
    if (s->counted < counted) s->steps += counted - s->counted < left ? counted - s->counted : left;
    next_phase(s, s->place + 1);
  }
}

/* End a cycle: return how the search ends, or begin the next one with finer steps. */
static int end_cycle(ar_solver *s) {
  real finer;
  remember(s);
  s->cycle++;
  s->idle = s->moved > 0 ? 0 : s->idle + 1;
  s->moved = 0;
  if (s->distance <= strict_position_tol(s) && s->angle <= strict_angle_tol(s)) return AR_REACHED;
  if (s->idle >= IDLE_CYCLES || s->divisions >= MOST_DIVISIONS) return AR_STALLED;
  if (s->cycle >= MOST_CYCLES) return AR_ITERATION_LIMIT;
  finer = nearest_integer(GROWTH * s->divisions);
  if (finer > GROWTH * s->divisions) finer -= 1;
  s->divisions = real_max(finer, s->divisions + 1);
  next_phase(s, 0);
  return AR_WORKING;
}

/* Write the next step of the coordinate whose turn it is; return whether it can be tried. */
static int offer_step(ar_solver *s) {
  const int k = s->place, motion_of = AR_MOTIONS[k];
  if (motion_of != BOUNDED && (real)s->moves >= s->divisions) return 0;
  copy(s->at, s->trial, AR_DOF);
  s->trial[k] += (real)s->sign * AR_SPANS[k] / s->divisions;
  if (motion_of == WRAPPED) s->trial[k] = real_min(real_max(wrap_angle(s->trial[k]), -PI_INSIDE), PI_INSIDE);
  return s->trial[k] != s->at[k] && within(s->trial);
}

static int method_step(ar_solver *s) {
  real distance, angle;
  measure(s, s->trial, &distance, &angle);
  if (s->first) {
    copy(s->trial, s->at, AR_DOF);
    s->distance = distance;
    s->angle = angle;
    s->first = 0;
    remember(s);
    if (distance <= strict_position_tol(s) && angle <= strict_angle_tol(s)) return AR_REACHED;
  } else {
    const real before = judged(s, s->distance, s->angle), after = judged(s, distance, angle);
    /* Upwards a step that changes nothing is kept as well, as the published iteration counts require. */
    const int kept = after < before || (!(after > before) && s->sign > 0);
    if (kept) {
      copy(s->trial, s->at, AR_DOF);
      s->distance = distance;
      s->angle = angle;
    }
    settle_step(s, kept);
  }
  while (s->steps < s->max_steps) {
    if (s->place == AR_DOF) {
      const int ended = end_cycle(s);
      if (ended != AR_WORKING) {
        if (ended == AR_REACHED) copy(s->at, s->best_q, AR_DOF);
        return ended;
      }
    } else if (offer_step(s)) {
      return AR_WORKING;
    } else {
      settle_step(s, 0);
    }
  }
  remember(s);
  return AR_ITERATION_LIMIT;
}

static void method_answer(const ar_solver *s, real *q) { copy(s->best_q, q, AR_DOF); }
