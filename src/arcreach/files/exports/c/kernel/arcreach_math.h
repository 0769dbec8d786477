/* Sine, cosine and arc tangent: the same bits on every machine that keeps IEEE 754.
   Reduction by Cody and Waite; polynomials of FreeBSD's msun for double, of Cephes for float. */
#ifndef ARCREACH_MATH_H
#define ARCREACH_MATH_H

#include <stdint.h>

/* Fused multiply-adds would change the last bit from machine to machine. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

typedef ar_real real;
#define R(x) ((real)(x))
#define PI R(3.14159265358979323846)

#if !defined(__GNUC__)
#include <math.h>
#define __builtin_sqrt sqrt
#define __builtin_sqrtf sqrtf
#endif

#if AR_DOUBLE
#define real_sqrt __builtin_sqrt
#define ROUND R(6755399441055744.0) /* 1.5 * 2^52: adding and subtracting it rounds to the nearest integer */
#define HALF_PI_1 R(1.57079632673412561417e+00)
#define HALF_PI_2 R(6.07710050630396597660e-11)
#define HALF_PI_3 R(2.02226624879595063154e-21)
#define LARGEST_ANGLE R(1e6) /* beyond it the three parts of pi / 2 do not suffice */
#define LARGEST R(1e300)
#define PI_INSIDE PI
#else
#define real_sqrt __builtin_sqrtf
#define ROUND R(12582912.0) /* 1.5 * 2^23 */
#define HALF_PI_1 R(1.5703125)
#define HALF_PI_2 R(4.837512969970703125e-4)
#define HALF_PI_3 R(7.549790126404332e-8)
#define LARGEST_ANGLE R(1e4)
#define LARGEST R(1e30)
#define PI_INSIDE R(3.1415925) /* the largest float below pi */
#endif

static inline real real_abs(real x) { return x < 0 ? -x : x; }
static inline real real_min(real a, real b) { return a < b ? a : b; }
static inline real real_max(real a, real b) { return a > b ? a : b; }
static inline real nearest_integer(real x) { return (x + ROUND) - ROUND; }

/* Not a number for arguments that are not finite or larger than LARGEST_ANGLE. */
static void sincos_of(real x, real *sine, real *cosine) {
  real n = nearest_integer(x * R(0.63661977236758134308)), quarter = n - 4 * nearest_integer(R(0.25) * n);
  real r = ((x - n * HALF_PI_1) - n * HALF_PI_2) - n * HALF_PI_3, t = r * r, s, c, swap;
#if AR_DOUBLE
  s = R(-2.50507602534068634195e-08) + t * R(1.58969099521155010221e-10);
  s = R(-1.98412698298579493134e-04) + t * (R(2.75573137070700676789e-06) + t * s);
  s = r + r * t * (R(-1.66666666666666324348e-01) + t * (R(8.33333333332248946124e-03) + t * s));
  c = R(2.08757232129817482790e-09) + t * R(-1.13596475577881948265e-11);
  c = R(2.48015872894767294178e-05) + t * (R(-2.75573143513906633035e-07) + t * c);
  c = 1 - R(0.5) * t + t * t * (R(4.16666666666666019037e-02) + t * (R(-1.38888888888741095749e-03) + t * c));
#else
  s = r + r * t * (R(-1.6666654611e-1) + t * (R(8.3321608736e-3) + t * R(-1.9515295891e-4)));
  c = 1 - R(0.5) * t +
      t * t * (R(4.166664568298827e-2) + t * (R(-1.388731625493765e-3) + t * R(2.443315711809948e-5)));
#endif
  if (quarter * quarter == 1) { swap = s; s = c; c = swap; }
  if (quarter < 0 || quarter * quarter > 1) s = -s;
  if (quarter > 0 || quarter * quarter > 1) c = -c;
  if (!(real_abs(x) <= LARGEST_ANGLE)) s = c = (x * LARGEST * LARGEST) * 0;
  *sine = s;
  *cosine = c;
}

static real atan2_of(real y, real x) {
  real ax = real_abs(x), ay = real_abs(y), high = ax > ay ? ax : ay, low = ax > ay ? ay : ax, offset = 0, a, z, p;
  if (!(high > 0)) return x + y; /* 0, or not a number */
  if (low > R(0.41421356237309504880) * high) {
    a = (low - high) / (low + high);
    offset = R(0.78539816339744830962);
  } else {
    a = low / high;
  }
  z = a * a;
#if AR_DOUBLE
  p = R(4.97687799461593236017e-02) + z * (R(-3.65315727442169155270e-02) + z * R(1.62858201153657823623e-02));
  p = R(6.66107313738753120669e-02) + z * (R(-5.83357013379057348645e-02) + z * p);
  p = R(9.09088713343650656196e-02) + z * (R(-7.69187620504482999495e-02) + z * p);
  p = R(1.42857142725034663711e-01) + z * (R(-1.11111104054623557880e-01) + z * p);
  p = R(3.33333333333329318027e-01) + z * (R(-1.99999999998764832476e-01) + z * p);
  a = offset + (a - a * z * p);
#else
  p = R(1.99777106478e-1) + z * (R(-1.38776856032e-1) + z * R(8.05374449538e-2));
  a = offset + (a + a * z * (R(-3.33329491539e-1) + z * p));
#endif
  if (ay > ax) a = R(1.57079632679489661923) - a;
  if (x < 0) a = PI - a;
  return y < 0 ? -a : a;
}

/* The same angle in (-pi, pi]. */
static real wrap_angle(real angle) {
  real n;
  if (angle > -PI && angle <= PI) return angle;
  n = 4 * nearest_integer(angle * R(0.15915494309189533577)); /* quarter turns */
  angle = ((angle - n * HALF_PI_1) - n * HALF_PI_2) - n * HALF_PI_3;
  return angle > -PI && angle <= PI ? angle : PI;
}

#endif
