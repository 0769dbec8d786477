"""The shape of a thin elastic rod in a plane under point forces, by integration of Kirchhoff's equations.

The rod has unit stiffness and is clamped at the origin along z. Symbols: a, the angle of the tangent from +z towards
+x; m, the bending moment, which equals the curvature minus the actuated one; (fx, fz), the internal force that the
distal part of the rod exerts on the proximal part. Between contacts the force is constant and m' = -f n, with the
normal n = (cos a, -sin a).
"""

from typing import NamedTuple

from arcreach._jit import kernel
from arcreach._typing import Array
from arcreach.kernels.math.trigonometry import sincos

# Columns of a state, and their number.
X, Z, A, M = 0, 1, 2, 3
STATE = 4


class Contacts(NamedTuple):
    """Contacts of a rod."""

    lengths: Array  # (k,): arc lengths of the contacts
    discs: Array  # (k, 3): centre x, z and radius of the disc at each contact
    sides: Array  # (k,): +1 if the disc is on the side of n, else -1
    pushes: Array  # (k,): size of the force that pushes the rod away from the disc


@kernel
def _step(state, curvature, fx, fz, h):
    """Advance the state (x, z, a, m) by the length h with the classical Runge-Kutta rule. Source: derived."""
    x, z, a, m = state[X], state[Z], state[A], state[M]
    s1, c1 = sincos(a)
    k1, m1 = curvature + m, fz * s1 - fx * c1
    s2, c2 = sincos(a + 0.5 * h * k1)
    k2, m2 = curvature + m + 0.5 * h * m1, fz * s2 - fx * c2
    s3, c3 = sincos(a + 0.5 * h * k2)
    k3, m3 = curvature + m + 0.5 * h * m2, fz * s3 - fx * c3
    s4, c4 = sincos(a + h * k3)
    k4, m4 = curvature + m + h * m3, fz * s4 - fx * c4
    state[X] = x + h / 6.0 * (s1 + 2.0 * s2 + 2.0 * s3 + s4)
    state[Z] = z + h / 6.0 * (c1 + 2.0 * c2 + 2.0 * c3 + c4)
    state[A] = a + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    state[M] = m + h / 6.0 * (m1 + 2.0 * m2 + 2.0 * m3 + m4)


@kernel
def rod_shape(base, curvatures, contacts, length, steps, states, residual):
    """Write the states of a rod at all its steps, and the residual, which is zero in equilibrium.

    `base` is (m, fx, fz) at the clamp. k contacts divide the rod into k + 1 pieces of `steps` steps each, with the
    actuated `curvatures` (k + 1,); `states` is ((k + 1) * steps + 1, 4). `residual` (3 + 2 k,) receives moment and
    force at the free end, then for each contact the components of the vector to its disc's centre: along the tangent,
    and along side n minus the radius.
    Source: derived.
    """
    lengths, discs, sides, pushes = contacts.lengths, contacts.discs, contacts.sides, contacts.pushes
    k = lengths.shape[0]
    fx, fz = base[1], base[2]
    states[0, X] = states[0, Z] = states[0, A] = 0.0
    states[0, M] = base[0]
    row, start = 0, 0.0
    for i in range(k + 1):
        end = lengths[i] if i < k else length
        h = (end - start) / steps
        for _ in range(steps):
            for j in range(STATE):
                states[row + 1, j] = states[row, j]
            row += 1
            _step(states[row], curvatures[i], fx, fz, h)
        start = end
        if i < k:
            sine, cosine = sincos(states[row, A])
            dx, dz = discs[i, 0] - states[row, X], discs[i, 1] - states[row, Z]
            residual[3 + 2 * i] = dx * sine + dz * cosine
            residual[4 + 2 * i] = sides[i] * (dx * cosine - dz * sine) - discs[i, 2]
            # The internal force is the sum of the forces distal to a point: after the contact the push, -side push n,
            # drops out.
            fx += sides[i] * pushes[i] * cosine
            fz -= sides[i] * pushes[i] * sine
    residual[0], residual[1], residual[2] = states[row, M], fx, fz
