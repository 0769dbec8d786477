"""Conversion between a robot's coordinates q and its solver variables v, and of targets to the solver's frame."""

import math

from arcreach._jit import kernel
from arcreach._typing import Array
from arcreach.kernels.chain.layout import BEND, NOTHING, PLANAR, POSITION, ROTATION
from arcreach.kernels.chain.limits import clip, wrap_angle
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.solver.contexts import Model
from arcreach.kernels.solver.loops import rows

# Solvers aim at this share of the tolerances.
_AIM = 0.999


@kernel
def to_variables(model: Model, q: Array, v: Array) -> None:
    """Write the variables of a configuration. Source: derived."""
    for row in range(rows(model)):
        element = model.moving[row]
        k = element.variable
        c = element.coordinate
        if element.kind == BEND:
            s, co = sincos(q[c + 1])
            v[k] = q[c] * co
            v[k + 1] = q[c] * s
            if element.stretch > 0.0:
                v[k + 2] = (q[c + 2] - element.length) / element.stretch
        elif element.kind == PLANAR:
            v[k] = q[c]
            if element.stretch > 0.0:
                v[k + 1] = (q[c + 2] - element.length) / element.stretch
        else:
            v[k] = q[c]


@kernel
def to_front(model: Model, mode: int, target: Array, local: Array) -> None:
    """Write a target row (12,) in the base frame of the first moving element; both may be the same array.

    If a long tool is left out of the chain, the target is moved to the tool's near end. Source: derived.
    """
    if model.front_kind == NOTHING:
        for k in range(12):
            local[k] = target[k]
    else:
        f = model.ends[0]
        # Columns of the rotation that the mode uses.
        for c in range(0 if mode == ROTATION else 2, 2 if mode == POSITION else 3):
            x = target[c]
            y = target[3 + c]
            z = target[6 + c]
            for k in range(3):
                local[3 * k + c] = f[k] * x + f[4 + k] * y + f[8 + k] * z
        x = target[9] - f[3]
        y = target[10] - f[7]
        z = target[11] - f[11]
        for k in range(3):
            local[9 + k] = f[k] * x + f[4 + k] * y + f[8 + k] * z
    if model.lever > 0.0:
        b = model.ends[1]
        for k in range(3):
            x = local[3 * k]
            y = local[3 * k + 1]
            z = local[3 * k + 2]
            local[9 + k] += x * b[3] + y * b[7] + z * b[11]
            for c in range(3):
                local[3 * k + c] = x * b[c] + y * b[4 + c] + z * b[8 + c]


@kernel
def aims(model: Model, position_tol: float, angle_tol: float) -> tuple[float, float]:
    """Return the squared distance and the angle at which a descent counts as reached.

    They are slightly inside the tolerances, because the solver's forward kinematics differ from the exact ones in the
    last digits. If a long tool is left out, both errors at its near end add up at its tip. Source: derived.
    """
    lever = model.lever
    if lever > 0.0:
        half = 0.5 * _AIM * position_tol
        return half * half, min(_AIM * angle_tol, half / lever)
    return (_AIM * position_tol) ** 2, _AIM * angle_tol


@kernel
def to_coordinates(model: Model, v: Array, q: Array) -> None:
    """Write the configuration for v, clipped to the limits because of rounding. Source: derived."""
    for row in range(rows(model)):
        element = model.moving[row]
        k = element.variable
        c = element.coordinate
        if element.kind == BEND:
            q[c] = math.sqrt(v[k] * v[k] + v[k + 1] * v[k + 1])
            q[c + 1] = math.atan2(v[k + 1], v[k])
            if element.stretch > 0.0:
                q[c + 2] = element.length + element.stretch * v[k + 2]
        elif element.kind == PLANAR:
            q[c] = v[k]
            if element.stretch > 0.0:
                q[c + 2] = element.length + element.stretch * v[k + 1]
        elif element.periodic == 1 and element.lower == -math.inf:
            q[c] = wrap_angle(v[k])
        else:
            q[c] = v[k]
    clip(model.chain, q, q)


@kernel(batch=True)
def to_coordinates_batch(start: int, stop: int, model: Model, V: Array, Q: Array) -> None:
    """Write `to_coordinates` of rows start to stop. Source: derived."""
    for i in range(start, stop):
        to_coordinates(model, V[i], Q[i])


@kernel(batch=True)
def to_variables_batch(start: int, stop: int, model: Model, Q: Array, V: Array) -> None:
    """Write `to_variables` of rows start to stop. Source: derived."""
    for i in range(start, stop):
        to_variables(model, Q[i], V[i])
