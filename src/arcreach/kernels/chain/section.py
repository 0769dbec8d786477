"""A section: sub-arcs in one plane that share its bend and its length.

Symbols: bend theta, direction phi of the bending plane about z, length S. The tip in the bending plane is S * (X, Z)
with X and Z functions of theta alone. `chain[row]` is the section; its sub-arcs are the next rows, see `layout`.
In NumPy: `robots.body_mesh.frames_in_arcs`.
"""

from arcreach._jit import kernel
from arcreach._typing import Motion, Records
from arcreach.kernels.chain.arc import arc_slope, arc_tip
from arcreach.kernels.math.trigonometry import sincos


@kernel
def planar_tip(chain: Records, row: int, theta: float) -> tuple[float, float]:
    """Return (X, Z), the tip of the section of unit length in its bending plane.

    Source: [K22] eqs. 2.1-2.4. Erratum: see docs/errata.md#k22-2-1.
    """
    x = 0.0
    z = 0.0
    for j in range(row + 1, row + 1 + chain[row].arcs):
        dx, dz = arc_tip(chain[j].bend_share * theta, chain[j].bend_before * theta)
        x += chain[j].length_share * dx
        z += chain[j].length_share * dz
    return x, z


@kernel
def planar_slope(chain: Records, row: int, theta: float) -> tuple[float, float]:
    """Return (dX/dtheta, dZ/dtheta) of `planar_tip`. Source: derived."""
    x = 0.0
    z = 0.0
    for j in range(row + 1, row + 1 + chain[row].arcs):
        dx, dz = arc_slope(theta, chain[j].bend_share, chain[j].bend_before)
        x += chain[j].length_share * dx
        z += chain[j].length_share * dz
    return x, z


@kernel
def planar_point(chain: Records, row: int, theta: float, fraction: float) -> tuple[float, float]:
    """Return (X, Z) of the point at `fraction` of the section's length, in units of that length.

    Source: [K22] eqs. 2.1-2.4. Erratum: see docs/errata.md#k22-2-1.
    """
    x = 0.0
    z = 0.0
    remaining = fraction
    for j in range(row + 1, row + 1 + chain[row].arcs):
        share = chain[j].length_share
        if share > 0.0 and remaining > 0.0:
            part = min(remaining / share, 1.0)
            dx, dz = arc_tip(part * chain[j].bend_share * theta, chain[j].bend_before * theta)
            x += part * share * dx
            z += part * share * dz
        remaining -= share
    return x, z


@kernel
def planar_point_slope(chain: Records, row: int, theta: float, fraction: float) -> tuple[float, float]:
    """Return (dX/dtheta, dZ/dtheta) of `planar_point`. Source: derived."""
    x = 0.0
    z = 0.0
    remaining = fraction
    for j in range(row + 1, row + 1 + chain[row].arcs):
        share = chain[j].length_share
        if share > 0.0 and remaining > 0.0:
            part = min(remaining / share, 1.0)
            dx, dz = arc_slope(theta, part * chain[j].bend_share, chain[j].bend_before)
            x += part * share * dx
            z += part * share * dz
        remaining -= share
    return x, z


@kernel
def bent_motion(
    x: float, z: float, sin_half: float, cos_half: float, sin_direction: float, cos_direction: float, twist: int
) -> Motion:
    """Return Rz(phi) [Ry(theta), (x, 0, z)] Rz(-phi) from sine and cosine of theta / 2 and of phi.

    If `twist` is 1, the factor Rz(-phi) is omitted.
    Source: [K22] eqs. 1.4, 2.6. Erratum: see docs/errata.md#k22-2-6.
    """
    s = sin_direction
    c = cos_direction
    sin_bend = 2.0 * sin_half * cos_half
    # 1 - cos(theta), without cancellation near the rest pose
    v = 2.0 * sin_half * sin_half
    if twist == 1:
        first = (c - c * v, -s, c * sin_bend, x * c)
        second = (s - s * v, c, s * sin_bend, x * s)
        third = (-sin_bend, 0.0, 1.0 - v, z)
    else:
        first = (1.0 - v * c * c, -v * c * s, sin_bend * c, x * c)
        second = (-v * c * s, 1.0 - v * s * s, sin_bend * s, x * s)
        third = (-sin_bend * c, -sin_bend * s, 1.0 - v, z)
    return first + second + third


@kernel
def section_motion(chain: Records, row: int, theta: float, phi: float, length: float) -> Motion:
    """Return the motion from base to end of a section. Source: [K22] eq. 2.6. Erratum: see docs/errata.md#k22-2-6."""
    x, z = planar_tip(chain, row, theta)
    sin_half, cos_half = sincos(0.5 * theta)
    s, c = sincos(phi)
    return bent_motion(length * x, length * z, sin_half, cos_half, s, c, chain[row].twist)
