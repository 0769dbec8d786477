"""Seeds of a table in the order of their distance from a target.

The table holds, per seed, the variables and the coefficients of its score, `keys`. The score is linear in the target's
key, keys[0] + keys[1] * key[0] + keys[2] * key[1] + ...; for whole poses it also has a term in the squared product of
two quaternions. The loops over the seeds vectorise.
For a chain that is symmetric about its base axis, as sections are, targets are rotated into the plane y = 0 and
mirrored to one side of it, their canonical pose. The table then serves as one many times its size.
"""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach._typing import Array, Singles
from arcreach.kernels.chain.kinematics import tip_motion
from arcreach.kernels.chain.layout import AXIS, BEND, POSITION, ROTATION, TARGET_SIZE
from arcreach.kernels.chain.target_rows import store_row
from arcreach.kernels.solver.contexts import Frame, Model, Table
from arcreach.kernels.solver.variables import to_coordinates, to_front

# Seeds per block, whose least score is stored; the size of a table is a multiple of this.
BLOCK = 64
# Score of a seed that is used.
FAR = np.float32(3e38)
# Below this distance in metres from the base axis, or sine of the angle to it, a direction about it is arbitrary.
_ON_AXIS = 1e-12


@kernel(fast=True, inline=True)
def frame_of(target: Array, mode: int, symmetric: bool) -> Frame:
    """Return the rotation and mirror that bring a target to its canonical pose. Source: derived."""
    if not symmetric:
        return Frame(1.0, 0.0, 1.0)
    x = target[9]
    y = target[10]
    radius = math.sqrt(x * x + y * y)
    if radius <= _ON_AXIS and mode != POSITION:
        x = target[2]
        y = target[5]
        radius = math.sqrt(x * x + y * y)
    c = x / radius if radius > _ON_AXIS else 1.0
    s = y / radius if radius > _ON_AXIS else 0.0
    mirrored = mode != POSITION and c * target[5] - s * target[2] < 0.0
    return Frame(c, s, -1.0 if mirrored else 1.0)


@kernel(fast=True)
def quaternion(
    r00: float, r01: float, r02: float, r10: float, r11: float, r12: float, r20: float, r21: float, r22: float
) -> tuple[float, float, float, float]:
    """Return the unit quaternion (w, x, y, z) of a rotation, its largest component positive. Source: derived."""
    w = 1.0 + r00 + r11 + r22
    x = 1.0 + r00 - r11 - r22
    y = 1.0 - r00 + r11 - r22
    z = 1.0 - r00 - r11 + r22
    if w >= x and w >= y and w >= z:
        f = 0.5 / math.sqrt(w)
        return w * f, (r21 - r12) * f, (r02 - r20) * f, (r10 - r01) * f
    if x >= y and x >= z:
        f = 0.5 / math.sqrt(x)
        return (r21 - r12) * f, x * f, (r01 + r10) * f, (r02 + r20) * f
    if y >= z:
        f = 0.5 / math.sqrt(y)
        return (r02 - r20) * f, (r01 + r10) * f, y * f, (r12 + r21) * f
    f = 0.5 / math.sqrt(z)
    return (r10 - r01) * f, (r02 + r20) * f, (r12 + r21) * f, z * f


@kernel(fast=True, inline=True)
def write_key(target: Array, mode: int, frame: Frame, key: Array) -> None:
    """Write the key (10,) of a target in its canonical pose: position, then axis or quaternion. Source: derived."""
    c, s, mirror = frame
    key[0] = c * target[9] + s * target[10]
    key[1] = mirror * (c * target[10] - s * target[9])
    key[2] = target[11]
    if mode == AXIS:
        key[3] = c * target[2] + s * target[5]
        key[4] = mirror * (c * target[5] - s * target[2])
        key[5] = target[8]
    elif mode == ROTATION:
        # Rz(-a) R Rz(a), then mirrored at the plane y = 0.
        a0 = c * target[0] + s * target[3]
        a1 = c * target[1] + s * target[4]
        a2 = c * target[2] + s * target[5]
        b0 = c * target[3] - s * target[0]
        b1 = c * target[4] - s * target[1]
        b2 = c * target[5] - s * target[2]
        key[6], key[7], key[8], key[9] = quaternion(
            a0 * c + a1 * s,
            mirror * (a1 * c - a0 * s),
            a2,
            mirror * (b0 * c + b1 * s),
            b1 * c - b0 * s,
            mirror * b2,
            target[6] * c + target[7] * s,
            mirror * (target[7] * c - target[6] * s),
            target[8],
        )


@kernel(fast=True, inline=True)
def score(table: Table, constants: Singles, key: Array, mode: int, scores: Singles, minima: Singles) -> None:
    """Write the score of every seed against a key (10,), and the least of each block.

    `constants` (seeds,) are `keys[0]` for an order by distance, `near_rest` for one that prefers rest. Source: derived.
    """
    keys = table.keys
    k0 = np.float32(key[0])
    k1 = np.float32(key[1])
    k2 = np.float32(key[2])
    seeds = keys.shape[1]
    if mode == POSITION:
        for j in range(seeds):
            scores[j] = constants[j] + keys[1, j] * k0 + keys[2, j] * k1 + keys[3, j] * k2
    elif mode == AXIS:
        k3 = np.float32(key[3])
        k4 = np.float32(key[4])
        k5 = np.float32(key[5])
        for j in range(seeds):
            position = constants[j] + keys[1, j] * k0 + keys[2, j] * k1 + keys[3, j] * k2
            scores[j] = position + keys[4, j] * k3 + keys[5, j] * k4 + keys[6, j] * k5
    else:
        k6 = np.float32(key[6])
        k7 = np.float32(key[7])
        k8 = np.float32(key[8])
        k9 = np.float32(key[9])
        f = np.float32(table.turn_weight)
        for j in range(seeds):
            u = keys[7, j] * k6 + keys[8, j] * k7 + keys[9, j] * k8 + keys[10, j] * k9
            scores[j] = constants[j] + keys[1, j] * k0 + keys[2, j] * k1 + keys[3, j] * k2 - f * u * u
    for b in range(seeds // BLOCK):
        least = FAR
        for j in range(BLOCK):
            x = scores[b * BLOCK + j]
            least = x if x < least else least
        minima[b] = least


@kernel(fast=True, inline=True)
def mark_used(scores: Singles, minima: Singles, seed: int) -> None:
    """Mark a seed as used. Source: derived."""
    block = seed // BLOCK
    scores[seed] = FAR
    least = FAR
    for j in range(block * BLOCK, block * BLOCK + BLOCK):
        least = scores[j] if scores[j] < least else least
    minima[block] = least


@kernel(fast=True, inline=True)
def take_nearest(scores: Singles, minima: Singles) -> int:
    """Return the seed of the least score and mark it as used. Source: derived."""
    block = 0
    for b in range(1, minima.shape[0]):
        if minima[b] < minima[block]:
            block = b
    found = block * BLOCK
    for j in range(block * BLOCK, block * BLOCK + BLOCK):
        if scores[j] == minima[block]:
            found = j
            break
    mark_used(scores, minima, found)
    return found


@kernel(fast=True, inline=True)
def least_score(minima: Singles) -> np.float32:
    """Return the least score of all unused seeds. Source: derived."""
    least = FAR
    for b in range(minima.shape[0]):
        least = minima[b] if minima[b] < least else least
    return least


@kernel(fast=True, inline=True)
def nearest_squared_distance(minima: Singles, key: Array, mode: int, turn_weight: float) -> float:
    """Return the squared distance, in the scores' metric, from a key to the nearest unused seed. Source: derived."""
    position = key[0] * key[0] + key[1] * key[1] + key[2] * key[2]
    turned = turn_weight if mode == ROTATION else 0.25 * turn_weight if mode == AXIS else 0.0
    return max(least_score(minima) + position + turned, 0.0)


@kernel(fast=True, batch=True)
def key_seeds(model: Model, mode: int, variables: Array, keys: Array, canonical: Array, q: Array) -> None:
    """Write the keys (n, 10) of seeds, and their variables in canonical pose into `canonical`; q (dof,) is scratch.

    Source: derived.
    """
    target = np.empty(TARGET_SIZE)
    for i in range(variables.shape[0]):
        to_coordinates(model, variables[i], q)
        store_row(tip_motion(model.chain, q), target)
        to_front(model, ROTATION, target, target)
        c, s, mirror = frame = frame_of(target, mode, model.symmetric)
        write_key(target, mode, frame, keys[i])
        for k in range(variables.shape[1]):
            canonical[i, k] = variables[i, k]
        for row in range(model.moving.shape[0]):
            if model.moving[row].kind == BEND:
                k = model.moving[row].variable
                canonical[i, k] = c * variables[i, k] + s * variables[i, k + 1]
                canonical[i, k + 1] = mirror * (c * variables[i, k + 1] - s * variables[i, k])
