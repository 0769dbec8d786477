"""Kernels that only the GPU uses: read and check a target, score the seeds of a table, and choose the nearest."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from arcreach._jit import kernel
from arcreach._typing import Array, Singles
from arcreach.kernels.chain.layout import AXIS, ROTATION
from arcreach.kernels.chain.limits import LARGEST_FLOAT
from arcreach.kernels.chain.target_rows import rotation_defect, write_axis
from arcreach.kernels.solver.contexts import Frame, Goal, Model
from arcreach.kernels.solver.loops import unrolled
from arcreach.kernels.solver.seed_lookup import FAR, frame_of, write_key

Indices: TypeAlias = npt.NDArray[np.int32]

# To choose the first seed, a thread scores several targets at once, and keeps only the least score of a group of seeds.
TARGETS_AT_ONCE = 4
SEEDS_PER_GROUP = 8


@kernel(fast=True, inline=True)
def load_target(positions: Array, turned: Array, i: int, mode: int, row: Array) -> None:
    """Write target i as a row (12,).

    `positions` is (n, 3); `turned` is (n, 0), unit axes (n, 3) or rotations (n, 9). Source: derived.
    """
    for k in range(3):
        row[9 + k] = positions[i, k]
    if mode == AXIS:
        row[2] = turned[i, 0]
        row[5] = turned[i, 1]
        row[8] = turned[i, 2]
    elif mode == ROTATION:
        for k in range(9):
            row[k] = turned[i, k]


@kernel(fast=True, inline=True)
def accept(positions: Array, turned: Array, i: int, mode: int, farthest: float, tolerance: float, row: Array) -> bool:
    """Write target i like `load_target`, with axes of any length; return whether it is valid. Source: derived."""
    bad = False
    for k in range(3):
        row[9 + k] = positions[i, k]
        bad |= not abs(row[9 + k]) <= farthest
    if mode == AXIS:
        bad |= not write_axis(turned[i], row)
    elif mode == ROTATION:
        for k in range(9):
            row[k] = turned[i, k]
            bad |= not abs(row[k]) <= LARGEST_FLOAT
        bad |= not rotation_defect(row) <= tolerance
    return not bad


@kernel(fast=True, inline=True)
def find_key(model: Model, goal: Goal, key: Array, key32: Singles) -> Frame:
    """Write the key (10,) of a target in double and single precision; return its canonical frame. Source: derived."""
    frame = frame_of(goal.target, goal.mode, model.symmetric)
    for k in range(10):
        key[k] = 0.0
    write_key(goal.target, goal.mode, frame, key)
    for k in range(10):
        key32[k] = key[k]
    return frame


@kernel(fast=True, inline=True)
def key_score(keys: Singles, j: int, key: Singles, mode: int, flat: bool, turn_weight: np.float32) -> np.float32:
    """Return the score of seed j from a table (seeds, columns) with the columns that the mode needs.

    `flat` means that the second component of the key is zero, as for a symmetric chain. Source: derived.
    """
    position = keys[j, 0] + keys[j, 1] * key[0]
    if not flat:
        position += keys[j, 2] * key[1]
    position += keys[j, 3] * key[2]
    if mode == AXIS:
        return position + keys[j, 4] * key[3] + keys[j, 5] * key[4] + keys[j, 6] * key[5]
    if mode == ROTATION:
        u = keys[j, 4] * key[6] + keys[j, 5] * key[7] + keys[j, 6] * key[8] + keys[j, 7] * key[9]
        return position - turn_weight * u * u
    return position


@kernel(fast=True, inline=True)
def least_scores(
    keys: Singles, first: int, wanted: Singles, mode: int, flat: bool, turn_weight: np.float32, least: Singles
) -> None:
    """Write the least score of the group of seeds from `first` on, for TARGETS_AT_ONCE keys. Source: derived."""
    for p in range(unrolled(TARGETS_AT_ONCE)):
        least[p] = FAR
    # Each row is read once for all keys: the load costs more than the arithmetic.
    for j in range(unrolled(SEEDS_PER_GROUP)):
        for p in range(unrolled(TARGETS_AT_ONCE)):
            least[p] = min(least[p], key_score(keys, first + j, wanted[p], mode, flat, turn_weight))


@kernel(fast=True, inline=True)
def copy_keys(source: Singles, first: int, every: int, columns: int, keys: Singles) -> None:
    """Copy one thread's share of a table of keys: entries first, first + every and so on. Source: derived."""
    for j in range(first, source.shape[0] * columns, every):
        keys[j // columns, j % columns] = source[j // columns, j % columns]


@kernel(fast=True, inline=True)
def find_nearest(
    keys: Singles, key: Singles, mode: int, turn_weight: np.float32, left_out: int, scores: Singles, nearest: Indices
) -> None:
    """Write the seeds of least score, except `left_out`, to nearest (few,), least first. Source: derived."""
    last = scores.shape[0] - 1
    for p in range(scores.shape[0]):
        scores[p] = FAR
        nearest[p] = 0
    for j in range(keys.shape[0]):
        x = key_score(keys, j, key, mode, False, turn_weight)
        if x < scores[last] and j != left_out:
            p = last
            while p > 0 and x < scores[p - 1]:
                scores[p] = scores[p - 1]
                nearest[p] = nearest[p - 1]
                p -= 1
            scores[p] = x
            nearest[p] = j


@kernel(fast=True, inline=True)
def next_nearest(
    scores: Singles, first: int, every: int, last_score: np.float32, last_seed: int
) -> tuple[np.float32, int]:
    """Return score and index of the seed that follows (last_score, last_seed), in the order of score, then index.

    Only the seeds first, first + every and so on are considered. Source: derived.
    """
    least = FAR
    # The result if no seed is left or the scores are NaN.
    found = first
    for j in range(first, scores.shape[0], every):
        x = scores[j]
        if x < least and (x > last_score or (x == last_score and j > last_seed)):
            least = x
            found = j
    return least, found
