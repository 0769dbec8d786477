"""The inverse of one section: from the angle of its chord to its bend.

Symbols: theta, the bend; (X, Z), the tip of the section of unit length in its bending plane; alpha = atan2(X, Z), the
angle between the base tangent and the chord; c0, the limit of alpha / theta at the rest pose; theta_crit, the bend of
the first maximum of alpha: on [0, theta_crit] alpha increases and can be inverted. l1 and l2 are the distances from the
section's base and end to the intersection of its end tangents: the virtual links of FABRIK.

The constants of a section are c0, the end of its invertible range (the bend up to which alpha increases and stays below
pi), and alpha at that bend. In a table row for FABRIK, the coefficients of the polynomial theta(alpha) / alpha follow.
"""

import math

from arcreach._jit import kernel
from arcreach._typing import Array, Integers, Records
from arcreach.kernels.chain.section import planar_slope, planar_tip
from arcreach.kernels.math.trigonometry import SERIES_BELOW, sinc_slope, sincos

REST_RATIO, BEND_CRITICAL, ANGLE_MAX, FIRST_COEFFICIENT = range(4)
# The polynomial has no constant term: zero chord angle means zero bend.
DEGREE = 10
TABLE_WIDTH = FIRST_COEFFICIENT + DEGREE

# Newton's method converges quadratically: after a step this small the error is below rounding.
LAST_STEP = 1e-8
# Upper bound that is never reached: Newton's method converges, and each bisection halves the bracket.
_NEWTON_STEPS = 100
# The published iteration reduces the error by a factor of 2 to 20 per step.
_RATIO_STEPS = 30
# Steps of the scan for theta_crit, fine enough that alpha has no maximum and minimum between two of them: X and Z are
# sums of sines and cosines of angles up to theta.
_SCAN_STEPS = 128
# Rounding error of X and of `chord_rise`, whose terms are at most 1.
_ROUNDING = 1e-14

# Below this bend X / sin(theta) equals its limit c0 in double precision.
STRAIGHT = 1e-8
# At a bend of pi the tangents are parallel and meet at infinity; beyond pi they meet on the other side. For
# larger bends the sine is held at this value, which bounds the tangents by about 640 times the section's length.
SMALLEST_SINE = 1e-3
_COSINE_AT_SMALLEST_SINE = -math.sqrt(1.0 - SMALLEST_SINE * SMALLEST_SINE)


@kernel
def tip_and_slope(chain: Records, row: int, theta: float) -> tuple[float, float, float, float]:
    """Return (X, Z, dX/dtheta, dZ/dtheta) of a section of unit length in one pass. Source: derived."""
    x = 0.0
    z = 0.0
    dx = 0.0
    dz = 0.0
    sin_before = 0.0
    cos_before = 1.0
    for j in range(row + 1, row + 1 + chain[row].arcs):
        share = chain[j].length_share
        half = 0.5 * chain[j].bend_share
        middle = chain[j].bend_before + half
        u = half * theta
        sin_u, cos_u = sincos(u)
        sin_middle = sin_before * cos_u + cos_before * sin_u
        cos_middle = cos_before * cos_u - sin_before * sin_u
        chord = sin_u / u if u != 0.0 else 1.0
        growth = half * (sinc_slope(u) if abs(u) < SERIES_BELOW else (cos_u - chord) / u)
        x += share * chord * sin_middle
        z += share * chord * cos_middle
        dx += share * (growth * sin_middle + chord * middle * cos_middle)
        dz += share * (growth * cos_middle - chord * middle * sin_middle)
        sin_before, cos_before = (
            sin_middle * cos_u + cos_middle * sin_u,
            cos_middle * cos_u - sin_middle * sin_u,
        )
    return x, z, dx, dz


@kernel
def angle_of_chord(x: float, z: float) -> float:
    """Return the angle of a chord (x, z) to the z axis in [0, 2 pi), continuous where it passes pi.

    Source: [K22] eq. 2.10. Erratum: see docs/errata.md#k22-2-10.
    """
    angle = math.atan2(x, z)
    return angle if angle >= 0.0 else angle + 2.0 * math.pi


@kernel
def chord_angle(chain: Records, row: int, theta: float) -> float:
    """Return alpha of a section bent by theta: theta / 2 for a single arc, else in (-pi, pi].

    Source: [K22] eq. 2.10. Erratum: see docs/errata.md#k22-2-10.
    """
    if chain[row].arcs == 1:
        # Holds for the closed circle too, whose chord has no length.
        return 0.5 * theta
    x, z = planar_tip(chain, row, theta)
    return math.atan2(x, z)


@kernel(batch=True)
def chord_angles(start: int, stop: int, chain: Records, row: int, bends: Array, angles: Array) -> None:
    """Write `chord_angle` of bends start to stop. Source: [K22] eq. 2.10."""
    for i in range(start, stop):
        angles[i] = chord_angle(chain, row, bends[i])


@kernel
def rest_ratio(chain: Records, row: int) -> float:
    """Return c0, the limit of alpha / theta at the rest pose. Source: derived."""
    slope, _ = planar_slope(chain, row, 0.0)
    return slope


@kernel
def chord_rise(chain: Records, row: int, theta: float) -> float:
    """Return X'Z - XZ', which has the sign of d alpha / d theta. Source: derived."""
    x, z, dx, dz = tip_and_slope(chain, row, theta)
    return dx * z - x * dz


@kernel
def scanned_quantity(chain: Records, row: int, which: int, theta: float) -> float:
    """Return `chord_rise` (which 0) or X (which 1). Source: derived."""
    if which == 0:
        return chord_rise(chain, row, theta)
    x, _ = planar_tip(chain, row, theta)
    return x


@kernel
def first_negative(chain: Records, row: int, which: int, end: float) -> float:
    """Return the first bend up to `end` where quantity `which` becomes negative, else `end`. Source: derived."""
    step = end / _SCAN_STEPS
    for i in range(1, _SCAN_STEPS + 1):
        if scanned_quantity(chain, row, which, i * step) < -_ROUNDING:
            lower = (i - 1) * step
            upper = i * step
            middle = 0.5 * (lower + upper)
            while lower < middle < upper:
                if scanned_quantity(chain, row, which, middle) > 0.0:
                    lower = middle
                else:
                    upper = middle
                middle = 0.5 * (lower + upper)
            return lower
    return end


@kernel
def critical_bend(chain: Records, row: int) -> float:
    """Return theta_crit, the bend of the first maximum of alpha, or 2 pi if there is none. Source: [K22] fig. 2.3."""
    if rest_ratio(chain, row) <= 0.0:
        # The section bends only at its end, so its tip does not move.
        return 0.0
    return first_negative(chain, row, 0, 2.0 * math.pi)


@kernel
def section_constants(chain: Records, row: int, constants: Array) -> None:
    """Write c0, the end of the invertible range, and alpha there. Source: derived."""
    constants[REST_RATIO] = rest_ratio(chain, row)
    constants[BEND_CRITICAL] = first_negative(chain, row, 1, critical_bend(chain, row))
    x, z = planar_tip(chain, row, constants[BEND_CRITICAL])
    # A closed ring has no chord: its angle is the limit, half the bend.
    has_chord = math.hypot(x, z) > _ROUNDING
    constants[ANGLE_MAX] = angle_of_chord(x, z) if has_chord else 0.5 * constants[BEND_CRITICAL]


@kernel(batch=True)
def measure_sections(start: int, stop: int, chain: Records, rows: Integers, table: Array) -> None:
    """Write the constants of sections start to stop into table rows, for bends within the limits. Source: derived."""
    for i in range(start, stop):
        critical = min(first_negative(chain, rows[i], 1, critical_bend(chain, rows[i])), chain[rows[i]].bend_max)
        table[i, REST_RATIO] = rest_ratio(chain, rows[i])
        table[i, BEND_CRITICAL] = critical
        table[i, ANGLE_MAX] = chord_angle(chain, rows[i], critical)


@kernel
def newton_step(
    chain: Records, row: int, alpha: float, theta: float, lower: float, upper: float
) -> tuple[float, float, float, float]:
    """Return theta after a Newton step for alpha(theta) = alpha, the new bracket and the size of the step.

    A step that leaves the bracket is replaced by a bisection. Source: derived.
    """
    x, z, dx, dz = tip_and_slope(chain, row, theta)
    gap = alpha - angle_of_chord(x, z)
    if gap > 0.0:
        lower = theta
    else:
        upper = theta
    rise = dx * z - x * dz
    chord2 = x * x + z * z
    trial = theta + gap * chord2 / rise if rise > 0.0 else -1.0
    if not lower <= trial <= upper:
        trial = 0.5 * (lower + upper)
    return trial, lower, upper, abs(trial - theta)


@kernel
def newton_bend(chain: Records, row: int, alpha: float, constants: Array) -> float:
    """Return the least theta with the chord angle alpha, or the end of the invertible range. Source: derived."""
    if alpha >= constants[ANGLE_MAX]:
        return constants[BEND_CRITICAL]
    lower = 0.0
    upper = constants[BEND_CRITICAL]
    theta = min(alpha / constants[REST_RATIO], upper)
    for _ in range(_NEWTON_STEPS):
        theta, lower, upper, step = newton_step(chain, row, alpha, theta, lower, upper)
        if step <= LAST_STEP:
            break
    return theta


@kernel
def bend_iterative(chain: Records, row: int, alpha: float, bend_max: float, tolerance: float) -> float:
    """Return the bend, at most `bend_max`, whose chord angle is alpha, by iterating the ratio of bend to chord angle.

    As printed, the ratio is updated once more after the angle is within `tolerance`.
    Source: [K22] eqs. 2.11, 2.13, 2.14, 2.17.
    """
    theta = 2.0 * alpha
    if chain[row].arcs == 1 or alpha == 0.0:
        return min(theta, bend_max)
    for _ in range(_RATIO_STEPS):
        theta = min(theta, bend_max)
        current = chord_angle(chain, row, theta)
        if current <= 0.0 or (theta >= bend_max and alpha > current):
            break
        theta *= alpha / current
        if abs(alpha - current) < tolerance:
            break
    return min(theta, bend_max)


@kernel
def bend_polynomial(constants: Array, alpha: float) -> float:
    """Return the bend whose chord angle is alpha by the polynomial in a table row. Source: [K22] section 3.1.6."""
    largest = constants[ANGLE_MAX]
    if alpha >= largest:
        return constants[BEND_CRITICAL]
    x = 2.0 * alpha / largest - 1.0
    ratio = constants[TABLE_WIDTH - 1]
    for k in range(TABLE_WIDTH - 2, FIRST_COEFFICIENT - 1, -1):
        ratio = ratio * x + constants[k]
    return min(max(alpha * ratio, 0.0), constants[BEND_CRITICAL])


@kernel
def tangent_lengths(
    theta: float, x: float, z: float, sin_bend: float, cos_bend: float, ratio: float
) -> tuple[float, float]:
    """Return (l1, l2) of a section of unit length with its tip at (x, z) and c0 = ratio, both finite and >= 0.

    Source: [K22] eqs. 2.31-2.33. Erratum: see docs/errata.md#k22-2-31.
    """
    if theta < STRAIGHT:
        return 1.0 - ratio, ratio
    if theta > 0.5 * math.pi and sin_bend < SMALLEST_SINE:
        sin_bend = SMALLEST_SINE
        cos_bend = _COSINE_AT_SMALLEST_SINE
    end = x / sin_bend
    return max(z - end * cos_bend, 0.0), max(end, 0.0)
