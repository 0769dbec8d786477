/* Pulls of tendons for a configuration, and the configuration for pulls of parallel tendons. Part of arcreach.c. */
#ifndef ARCREACH_ROUTES_H
#define ARCREACH_ROUTES_H

#include "arcreach_pulls.h"

enum { AR_ROUTE_PARALLEL, AR_ROUTE_HELICAL, AR_ROUTE_DISCS, AR_ROUTE_SLIDE };

/* One tendon through one section or slide. */
typedef struct {
  uint8_t kind, coordinate, varies;    /* first coordinate of the section; whether its length is one */
  uint16_t tendon, first_arc, arcs;    /* rows of AR_ARCS */
  uint16_t discs;                      /* straight pieces of the tendon in the section */
  ar_real length, radius, angle, turn; /* of a fixed section; of the tendon, and its turn from end to end */
  ar_real rest;                        /* length of the tendon in the section at rest */
} ar_route;

/* A section: its first coordinate and unknown, whether its length varies, and its length at rest. */
typedef struct {
  uint8_t coordinate, unknown, varies;
  ar_real rest;
} ar_driven;

#define AR_TENDON_TABLES
#include "arcreach_tendons.h"

#if AR_HELICAL
/* Gauss-Legendre quadrature on [0, 1], and the largest turn of a helix in one panel. */
#define NODES 12
#define PANEL R(0.78539816339744830962)
static const ar_real AR_NODES[NODES] = {
  R(0.009219682876640378), R(0.0479413718147626), R(0.11504866290284765), R(0.20634102285669126),
  R(0.31608425050090994), R(0.43738329574426554), R(0.5626167042557344), R(0.6839157494990901),
  R(0.7936589771433087), R(0.8849513370971523), R(0.9520586281852375), R(0.9907803171233596)
};
static const ar_real AR_WEIGHTS[NODES] = {
  R(0.023587668193255706), R(0.05346966299765953), R(0.08003916427167321), R(0.10158371336153287),
  R(0.1167462682691773), R(0.12457352290670134), R(0.12457352290670134), R(0.1167462682691773),
  R(0.10158371336153287), R(0.08003916427167321), R(0.05346966299765953), R(0.023587668193255706)
};

static real helical_length(const ar_route *route, real theta, real phi, real S) {
  const real r = route->radius, tau = route->turn;
  real total = 0, before = 0;
  int k, p, node;
  for (k = route->first_arc; k < route->first_arc + route->arcs; k++) {
    const real share = AR_ARCS[k][0], bend = AR_ARCS[k][1], around = r * tau * share;
    const int panels = (int)(real_abs(tau) * share / PANEL) + 1;
    const real width = share / (real)panels;
    for (p = 0; p < panels; p++) {
      for (node = 0; node < NODES; node++) {
        const real u = before + ((real)p + AR_NODES[node]) * width;
        real s, c, x;
        sincos_of(phi - route->angle - tau * u, &s, &c);
        x = share * S - r * bend * theta * c;
        /* Signed in a sub-arc without length, as for parallel tendons; elsewhere around > 0. */
        total += AR_WEIGHTS[node] / (real)panels * (share == 0 ? x : real_sqrt(x * x + around * around));
      }
    }
    before += share;
  }
  return total;
}
#endif

#if AR_DISCS
/* Chord (x, z) of the backbone between two shares of a section, per unit of its length; returns the share of the bend. */
static real gap(const ar_route *route, real theta, real near, real far, real *x, real *z) {
  real bent = 0, start = 0;
  int k;
  *x = *z = 0;
  for (k = route->first_arc; k < route->first_arc + route->arcs; k++) {
    const real share = AR_ARCS[k][0], low = real_max(near, start), high = real_min(far, start + share);
    real bend, s, c, sin_half, cos_half, chord;
    if (share == 0) { /* bends at a point; at a disc, in the gap before the disc, at the first disc in the first gap */
      const real at = real_min(start, 1);
      if ((near < at && at <= far) || (at == 0 && near == 0)) bent += AR_ARCS[k][1];
      continue;
    }
    start += share;
    if (high <= low) continue;
    bend = AR_ARCS[k][1] * (high - low) / share;
    sincos_of((bent + R(0.5) * bend) * theta, &s, &c);
    sincos_of(R(0.5) * bend * theta, &sin_half, &cos_half);
    chord = (high - low) * (bend * theta == 0 ? 1 : sin_half / (R(0.5) * bend * theta));
    *x += chord * s;
    *z += chord * c;
    bent += bend;
  }
  return bent;
}

static real disc_length(const ar_route *route, real theta, real phi, real S) {
  const real r = route->radius, n = (real)route->discs;
  real total = 0;
  int i;
  if (route->arcs == 1 && route->turn == 0) { /* all pieces are alike */
    real s, c, sin_half, cos_half;
    sincos_of(phi - route->angle, &s, &c);
    sincos_of(R(0.5) * theta / n, &sin_half, &cos_half);
    return (theta == 0 ? 1 : sin_half / (R(0.5) * theta / n)) * (S - r * theta * c);
  }
  for (i = 0; i < route->discs; i++) {
    const real near = (real)i / n, far = (real)(i + 1) / n;
    real x, z, sin_near, cos_near, sin_far, cos_far, sin_bend, cos_bend, inside, across, along;
    const real bent = gap(route, theta, near, far, &x, &z);
    sincos_of(route->angle + route->turn * near - phi, &sin_near, &cos_near);
    sincos_of(route->angle + route->turn * far - phi, &sin_far, &cos_far);
    sincos_of(bent * theta, &sin_bend, &cos_bend);
    /* Between the holes, in the frame of the near disc: towards the inside, across the bending plane, along. */
    inside = S * x + r * (cos_far * cos_bend - cos_near);
    across = r * (sin_far - sin_near);
    along = S * z - r * cos_far * sin_bend;
    total += real_sqrt(inside * inside + across * across + along * along);
  }
  return total;
}
#endif

/* Length at rest minus length now, of one tendon in one section or slide. */
static real route_pull(const ar_route *route, const real *q) {
  const real *own = q + route->coordinate, S = route->varies ? own[2] : route->length;
  real s, c;
  if (route->kind == AR_ROUTE_SLIDE) return route->rest - own[0];
#if AR_HELICAL
  if (route->kind == AR_ROUTE_HELICAL) return route->rest - helical_length(route, own[0], own[1], S);
#endif
#if AR_DISCS
  if (route->kind == AR_ROUTE_DISCS) return route->rest - disc_length(route, own[0], own[1], S);
#endif
  sincos_of(own[1] - route->angle, &s, &c);
  return route->rest - S + route->radius * own[0] * c;
}

void ar_pulls(const ar_real *q, ar_real *pulls) {
  int i;
  for (i = 0; i < AR_TENDONS; i++) pulls[i] = 0;
  for (i = 0; i < AR_ROUTES; i++) pulls[AR_ROUTE[i].tendon] += route_pull(&AR_ROUTE[i], q);
}

#if AR_PARALLEL
void ar_from_pulls(const ar_real *pulls, ar_real *q) {
  real left[AR_TENDONS], v[AR_UNKNOWNS];
  int i, j;
  for (j = 0; j < AR_TENDONS; j++) left[j] = pulls[j];
  for (i = 0; i < AR_ROUTES; i++)
    if (AR_ROUTE[i].kind == AR_ROUTE_SLIDE) left[AR_ROUTE[i].tendon] -= route_pull(&AR_ROUTE[i], q);
  for (i = 0; i < AR_UNKNOWNS; i++) {
    v[i] = 0;
    for (j = 0; j < AR_TENDONS; j++) v[i] += AR_INVERSE[i][j] * left[j];
  }
  for (i = 0; i < AR_DRIVEN; i++) {
    const ar_driven *section = &AR_SECTIONS[i];
    real *own = q + section->coordinate;
    const real *bend = v + section->unknown;
    own[0] = real_sqrt(bend[0] * bend[0] + bend[1] * bend[1]);
    if (own[0] > 0) own[1] = atan2_of(bend[1], bend[0]);
    if (section->varies) own[2] = section->rest + bend[2];
  }
}
#endif

#endif
