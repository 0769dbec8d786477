"""The chord of one section: its angle as a function of the bend, where that ends to rise, and its inverse.

Symbols: theta, the bend; (X, Z), the tip of the section of unit length in its bending plane; alpha = atan2(X, Z), the
angle between the base tangent and the chord; c0, the limit of alpha / theta at the rest pose; theta_crit, the bend of
the first maximum of alpha. `facts` (3,) of a section are c0, the last bend up to which alpha rises and does not pass pi
(theta_crit, or less), and alpha there.
"""

import math

from arcreach._jit import kernel
from arcreach.kernels.chain.section import planar_slope, planar_tip
from arcreach.kernels.math.trigonometry import sinc_slope, sincos

# Newton's error is squared by a step: what follows a step below this is below the last bit.
LAST_STEP = 1e-8
# A bracket loses a bit at least with every bisection, so this is never used up.
_MOST_STEPS = 100
# Steps of the search for theta_crit. X and Z turn no faster than theta, so alpha cannot rise and fall between two.
_SCAN_STEPS = 128
# X and the rise of alpha are sums of numbers up to 1: below this they are rounding.
_ROUNDING = 1e-14
# Where u is smaller the closed form of the slope of sinc cancels.
_SMALL_ANGLE = 0.1


@kernel
def tip_and_slope(chain, row, theta):
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
        growth = half * (sinc_slope(u) if abs(u) < _SMALL_ANGLE else (cos_u - chord) / u)
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
def chord_angle(x, z):
    """Return the angle of a chord to z, in [0, 2 pi): one that has turned past pi keeps growing.

    Source: [K22] eq. 2.10. Erratum: see docs/errata.md#k22-2-10.
    """
    angle = math.atan2(x, z)
    return angle if angle >= 0.0 else angle + 2.0 * math.pi


@kernel
def rest_ratio(chain, row):
    """Return c0, the limit of alpha / theta at the rest pose. Source: derived."""
    slope, _ = planar_slope(chain, row, 0.0)
    return slope


@kernel
def chord_rise(chain, row, theta):
    """Return X'Z - XZ', which has the sign of d alpha / d theta. Source: derived."""
    x, z, dx, dz = tip_and_slope(chain, row, theta)
    return dx * z - x * dz


@kernel
def signed(chain, row, which, theta):
    """Return `chord_rise` (which 0) or X (which 1). Source: derived."""
    if which == 0:
        return chord_rise(chain, row, theta)
    x, _ = planar_tip(chain, row, theta)
    return x


@kernel
def first_fall(chain, row, which, end):
    """Return the first bend up to `end` at which `chord_rise` (which 0) or X (which 1) turns negative, else `end`.

    Source: derived.
    """
    step = end / _SCAN_STEPS
    for i in range(1, _SCAN_STEPS + 1):
        if signed(chain, row, which, i * step) < -_ROUNDING:
            lower = (i - 1) * step
            upper = i * step
            middle = 0.5 * (lower + upper)
            while lower < middle < upper:
                if signed(chain, row, which, middle) > 0.0:
                    lower = middle
                else:
                    upper = middle
                middle = 0.5 * (lower + upper)
            return lower
    return end


@kernel
def critical_bend(chain, row):
    """Return theta_crit, the bend of the first maximum of alpha, or 2 pi where alpha rises all the way.

    Source: [K22] fig. 2.3.
    """
    if rest_ratio(chain, row) <= 0.0:
        # All of the bend is at the end: the tip does not move.
        return 0.0
    return first_fall(chain, row, 0, 2.0 * math.pi)


@kernel
def section_facts(chain, row, facts):
    """Write c0, the last bend up to which alpha rises and does not pass pi, and alpha there. Source: derived."""
    facts[0] = rest_ratio(chain, row)
    facts[1] = first_fall(chain, row, 1, critical_bend(chain, row))
    x, z = planar_tip(chain, row, facts[1])
    # A ring that closes has no chord: the angle of its last one is the limit, half a turn.
    facts[2] = chord_angle(x, z) if math.hypot(x, z) > _ROUNDING else 0.5 * facts[1]


@kernel
def newton_step(chain, row, alpha, theta, lower, upper):
    """Return the next theta on alpha(theta) = alpha, its bracket and the length of the step.

    A step out of the bracket becomes a bisection. Source: derived.
    """
    x, z, dx, dz = tip_and_slope(chain, row, theta)
    gap = alpha - chord_angle(x, z)
    if gap > 0.0:
        lower = theta
    else:
        upper = theta
    rise = dx * z - x * dz
    chord2 = x * x + z * z
    following = theta + gap * chord2 / rise if rise > 0.0 else -1.0
    if not lower <= following <= upper:
        following = 0.5 * (lower + upper)
    return following, lower, upper, abs(following - theta)


@kernel
def newton_bend(chain, row, alpha, facts):
    """Return the least theta with the chord angle alpha, theta_crit where there is none. Source: derived."""
    if alpha >= facts[2]:
        return facts[1]
    lower = 0.0
    upper = facts[1]
    theta = min(alpha / facts[0], upper)
    for _ in range(_MOST_STEPS):
        theta, lower, upper, step = newton_step(chain, row, alpha, theta, lower, upper)
        if step <= LAST_STEP:
            break
    return theta
