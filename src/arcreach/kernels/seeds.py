"""Starts for a solver: the nearest of a table of known poses, then the next nearest, and so on.

The table holds, per seed, the variables and a key of the tip. The score of a seed is linear in the target's key,
score = key[0] + sum key[i] * t[i], plus for whole poses a term of the quaternions' product; a loop over it vectorises.
A chain that is symmetric about its base axis, as sections are, is looked up with the target turned into the plane y = 0
and mirrored to one side of it, which makes the table worth many times its size.
"""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.layout import AXIS, BEND, POSITION, ROTATION, TURN
from arcreach.kernels.limits import wrap_angle

# Seeds whose least score is noted together; a table holds a multiple of this.
BLOCK = 64
_FAR = np.float32(3e38)
_ON_AXIS = 1e-12
# Stride between the seeds of successive moves in a mixed start; odd, so that it visits every seed of the table.
MIX = 173


@kernel(fast=True, inline=True)
def frame_of(target, mode, symmetric):
    """Return cosine and sine of the turn and the mirror sign that bring a target to its normal place.

    Source: derived.
    """
    if not symmetric:
        return 1.0, 0.0, 1.0
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
    return c, s, -1.0 if mirrored else 1.0


@kernel(fast=True, inline=True)
def quaternion(r00, r01, r02, r10, r11, r12, r20, r21, r22):
    """Return the unit quaternion (w, x, y, z) of a rotation, its largest part positive. Source: derived."""
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
def write_key(target, mode, c, s, mirror, key):
    """Write the key (10,) of a target in its normal place: position, then axis or quaternion. Source: derived."""
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
            a0 * c + a1 * s, mirror * (a1 * c - a0 * s), a2,
            mirror * (b0 * c + b1 * s), b1 * c - b0 * s, mirror * b2,
            target[6] * c + target[7] * s, mirror * (target[7] * c - target[6] * s), target[8],
        )  # fmt: skip


@kernel(fast=True, inline=True)
def score(table, key, mode, turn_weight, scores, minima):
    """Score every seed of `table` (11, seeds) against a key, and note the least of each block. Source: derived."""
    k0 = np.float32(key[0])
    k1 = np.float32(key[1])
    k2 = np.float32(key[2])
    seeds = table.shape[1]
    if mode == POSITION:
        for j in range(seeds):
            scores[j] = table[0, j] + table[1, j] * k0 + table[2, j] * k1 + table[3, j] * k2
    elif mode == AXIS:
        k3 = np.float32(key[3])
        k4 = np.float32(key[4])
        k5 = np.float32(key[5])
        for j in range(seeds):
            place = table[0, j] + table[1, j] * k0 + table[2, j] * k1 + table[3, j] * k2
            scores[j] = place + table[4, j] * k3 + table[5, j] * k4 + table[6, j] * k5
    else:
        k6 = np.float32(key[6])
        k7 = np.float32(key[7])
        k8 = np.float32(key[8])
        k9 = np.float32(key[9])
        f = np.float32(turn_weight)
        for j in range(seeds):
            u = table[7, j] * k6 + table[8, j] * k7 + table[9, j] * k8 + table[10, j] * k9
            scores[j] = table[0, j] + table[1, j] * k0 + table[2, j] * k1 + table[3, j] * k2 - f * u * u
    for b in range(seeds // BLOCK):
        least = _FAR
        for j in range(BLOCK):
            x = scores[b * BLOCK + j]
            least = x if x < least else least
        minima[b] = least


@kernel(fast=True, inline=True)
def take_nearest(scores, minima):
    """Return the seed of the least score and strike it out. Source: derived."""
    block = 0
    for b in range(1, minima.shape[0]):
        if minima[b] < minima[block]:
            block = b
    found = block * BLOCK
    for j in range(block * BLOCK, block * BLOCK + BLOCK):
        if scores[j] == minima[block]:
            found = j
            break
    scores[found] = _FAR
    least = _FAR
    for j in range(block * BLOCK, block * BLOCK + BLOCK):
        least = scores[j] if scores[j] < least else least
    minima[block] = least
    return found


@kernel(fast=True, inline=True)
def nearest_distance(minima, key, mode, turn_weight):
    """Return the squared distance, in the measure of the scores, from a key to the nearest seed. Source: derived."""
    least = _FAR
    for b in range(minima.shape[0]):
        least = minima[b] if minima[b] < least else least
    place = key[0] * key[0] + key[1] * key[1] + key[2] * key[2]
    turned = turn_weight if mode == ROTATION else 0.25 * turn_weight if mode == AXIS else 0.0
    return max(least + place + turned, 0.0)


@kernel(fast=True, inline=True)
def take_familiar(moves, seeds, v, scores, minima, picked, values):
    """Return of the few seeds of least score the one whose joints are nearest to v, and strike it out.

    `picked` and `values` (few,) are scratch. Source: derived.
    """
    best = math.inf
    chosen = 0
    for i in range(picked.shape[0]):
        least = _FAR
        for b in range(minima.shape[0]):
            least = minima[b] if minima[b] < least else least
        values[i] = least
        picked[i] = take_nearest(scores, minima)
        away = 0.0
        for row in range(moves.shape[0]):
            turns = moves[row].kind == TURN and moves[row].upper - moves[row].lower > 2.0 * math.pi
            for k in range(moves[row].variable, moves[row].variable + moves[row].width):
                difference = seeds[picked[i], k] - v[k]
                difference = wrap_angle(difference) if turns else difference
                away += difference * difference
        if away < best:
            best = away
            chosen = i
    for i in range(picked.shape[0]):
        if i != chosen:
            scores[picked[i]] = values[i]
            block = picked[i] // BLOCK
            minima[block] = min(minima[block], scores[picked[i]])
    return picked[chosen]


@kernel(fast=True, inline=True)
def place_seed(moves, seed, c, s, mirror, v):
    """Write a seed's variables, turned and mirrored to where the target is. Source: derived."""
    for k in range(v.shape[0]):
        v[k] = seed[k]
    for row in range(moves.shape[0]):
        if moves[row].kind == BEND:
            k = moves[row].variable
            bx = seed[k]
            by = mirror * seed[k + 1]
            v[k] = c * bx - s * by
            v[k + 1] = s * bx + c * by


@kernel(fast=True, inline=True)
def mix_seeds(moves, seeds, number, v):
    """Write a start that takes the variables of each move from a different seed. Source: derived."""
    count = seeds.shape[0]
    for row in range(moves.shape[0]):
        seed = (number + (row + 1) * (row * MIX + number // count + MIX)) % count
        for k in range(moves[row].variable, moves[row].variable + moves[row].width):
            v[k] = seeds[seed, k]


@kernel(fast=True, batch=True)
def key_seeds(start, stop, moves, rows, mode, symmetric, variables, keys, placed):
    """Write the keys (n, 10) of seeds whose poses are `rows` (n, 12), and their variables in the normal place.

    Source: derived.
    """
    for i in range(start, stop):
        c, s, mirror = frame_of(rows[i], mode, symmetric)
        write_key(rows[i], mode, c, s, mirror, keys[i])
        for k in range(variables.shape[1]):
            placed[i, k] = variables[i, k]
        for row in range(moves.shape[0]):
            if moves[row].kind == BEND:
                k = moves[row].variable
                placed[i, k] = c * variables[i, k] + s * variables[i, k + 1]
                placed[i, k + 1] = mirror * (c * variables[i, k + 1] - s * variables[i, k])
