"""One circular arc of unit length in its bending plane.

Symbols: theta, the angle between the tangents at both ends; u = theta / 2, the angle between the first tangent and
the chord. The chord has the length sinc(u) = sin(u) / u, so the arc ends at sinc(u) * (sin u, cos u). The published
form divides by theta, which is 0/0 for the straight arc.
"""

from arcreach._jit import kernel
from arcreach.kernels.math.trigonometry import sinc_slope, sincos


@kernel
def chord(u: float, sin_u: float, sin_angle: float, cos_angle: float) -> tuple[float, float]:
    """Return the chord (x, z) of a unit arc of half bend u; the chord's angle to z has the given sine and cosine.

    Source: [K22] eq. 2.1. Erratum: see docs/errata.md#k22-2-1.
    """
    # sin(u) / u is accurate for every u other than zero.
    length = sin_u / u if u != 0.0 else 1.0
    return length * sin_angle, length * cos_angle


@kernel
def arc_tip(theta: float, before: float) -> tuple[float, float]:
    """Return the end (x, z) of a unit arc whose first tangent is at the angle `before` to z.

    Source: [K22] eq. 2.1. Erratum: see docs/errata.md#k22-2-1.
    """
    u = 0.5 * theta
    sin_u, _ = sincos(u)
    sin_angle, cos_angle = sincos(before + u)
    return chord(u, sin_u, sin_angle, cos_angle)


@kernel
def arc_slope(theta: float, bend_share: float, bend_before: float) -> tuple[float, float]:
    """Return the derivative by theta of `arc_tip(bend_share * theta, bend_before * theta)`. Source: derived."""
    half = 0.5 * bend_share
    middle = bend_before + half
    u = half * theta
    sin_u, _ = sincos(u)
    sin_angle, cos_angle = sincos(middle * theta)
    length = sin_u / u if u != 0.0 else 1.0
    growth = half * sinc_slope(u)
    return growth * sin_angle + length * middle * cos_angle, growth * cos_angle - length * middle * sin_angle
