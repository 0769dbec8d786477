"""The inverse of one section: from the angle of its chord to its bend; and its two tangents as virtual links.

Symbols: bend theta; X, Z the tip of the section of unit length in its bending plane; alpha = atan2(X, Z), the angle
between the base tangent and the chord; c0 = lim alpha / theta at rest; theta_crit, the bend at which alpha stops
growing, so that on [0, theta_crit] there is one bend for every angle. l1 and l2 are the parts of the tangents at the
start and at the end, from the section to the point where they meet.

A section's constants are one row of a table: c0, theta_crit, alpha(theta_crit), and the coefficients of the polynomial.
"""

import math

from arcreach._jit import kernel
from arcreach.kernels.chain.chord import critical_bend, first_fall, rest_ratio
from arcreach.kernels.chain.section import planar_tip

REST_RATIO, BEND_CRITICAL, ANGLE_MAX, FIRST_COEFFICIENT = range(4)
# theta(alpha) is a polynomial of the tenth degree without a constant term: a straight chord is a straight section.
DEGREE = 10
TABLE_WIDTH = FIRST_COEFFICIENT + DEGREE

# The published iteration contracts by 2 to 20 a step; this many steps reach any sensible tolerance.
_MOST_STEPS = 30

# Below this bend X / sin(theta) is its limit c0 to all digits.
STRAIGHT = 1e-8
# Towards a bend of pi the tangents become parallel and meet at infinity, beyond it behind the section. From the bend
# whose sine is this on they are held as long as they are there: about 600 times the section.
SMALLEST_SINE = 1e-3
_COSINE_THERE = -math.sqrt(1.0 - SMALLEST_SINE * SMALLEST_SINE)


@kernel
def chord_angle(chain, row, theta):
    """Return alpha, the angle between base tangent and chord.

    Source: [K22] eq. 2.10. Erratum: see docs/errata.md#k22-2-10.
    """
    if chain[row].arcs == 1:
        # Also where the circle is closed and the chord has no length.
        return 0.5 * theta
    x, z = planar_tip(chain, row, theta)
    return math.atan2(x, z)


@kernel(batch=True)
def chord_angles(start, stop, chain, row, bends, angles):
    """`chord_angle` for bends start to stop. Source: [K22] eq. 2.10."""
    for i in range(start, stop):
        angles[i] = chord_angle(chain, row, bends[i])


@kernel(batch=True)
def measure_sections(start, stop, chain, rows, table):
    """Write c0, theta_crit and alpha there into the table rows of sections start to stop. Source: derived."""
    for i in range(start, stop):
        # Up to where alpha rises, does not pass pi, and the section may bend.
        critical = min(first_fall(chain, rows[i], 1, critical_bend(chain, rows[i])), chain[rows[i]].bend_max)
        table[i, REST_RATIO] = rest_ratio(chain, rows[i])
        table[i, BEND_CRITICAL] = critical
        table[i, ANGLE_MAX] = chord_angle(chain, rows[i], critical)


@kernel
def bend_iterative(chain, row, alpha, bend_max, tolerance):
    """Return the bend whose chord stands at alpha, by the ratio k = theta / alpha', and at most `bend_max`.

    The ratio is updated once more after the angle is within `tolerance`, as the steps are printed.
    Source: [K22] eqs. 2.11, 2.13, 2.14, 2.17.
    """
    theta = 2.0 * alpha
    if chain[row].arcs == 1 or alpha == 0.0:
        return min(theta, bend_max)
    for _ in range(_MOST_STEPS):
        theta = min(theta, bend_max)
        reached = chord_angle(chain, row, theta)
        if reached <= 0.0 or (theta >= bend_max and alpha > reached):
            break
        theta *= alpha / reached
        if abs(alpha - reached) < tolerance:
            break
    return min(theta, bend_max)


@kernel
def bend_polynomial(shape, alpha):
    """Return the bend whose chord stands at alpha, by the polynomial of the section's table row.

    Source: [K22] section 3.1.6.
    """
    largest = shape[ANGLE_MAX]
    if alpha >= largest:
        return shape[BEND_CRITICAL]
    x = 2.0 * alpha / largest - 1.0
    ratio = shape[TABLE_WIDTH - 1]
    for k in range(TABLE_WIDTH - 2, FIRST_COEFFICIENT - 1, -1):
        ratio = ratio * x + shape[k]
    return min(max(alpha * ratio, 0.0), shape[BEND_CRITICAL])


@kernel
def tangent_lengths(theta, x, z, sin_bend, cos_bend, ratio):
    """Return (l1, l2) of a section of unit length with its tip at (x, z) and c0 = ratio.

    The lengths are finite and not negative for every bend: see `STRAIGHT` and `SMALLEST_SINE`.
    Source: [K22] eqs. 2.31-2.33. Erratum: see docs/errata.md#k22-2-31.
    """
    if theta < STRAIGHT:
        return 1.0 - ratio, ratio
    if theta > 0.5 * math.pi and sin_bend < SMALLEST_SINE:
        sin_bend = SMALLEST_SINE
        cos_bend = _COSINE_THERE
    end = x / sin_bend
    return max(z - end * cos_bend, 0.0), max(end, 0.0)
