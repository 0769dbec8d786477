"""Seeds: random solver variables, from whose tips a search chooses its starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arcreach._jit import settled
from arcreach._typing import Array
from arcreach.kernels.chain import layout
from arcreach.kernels.solver import seed_lookup
from arcreach.kernels.solver.contexts import Table

if TYPE_CHECKING:
    from arcreach.robots.solver_model import SolverModel

# Metres that count as much as a radian in the choice of seeds, as a share of the chain's length: for targets with an
# axis and with a rotation.
AXIS_SEED_WEIGHT = 0.25
ROTATION_SEED_WEIGHT = 0.15
# Weight, in the choice of the first seed, of a squared radian from rest relative to the squared distance from the
# target in lengths of the chain.
REST_SEED_WEIGHT = 0.01
# Fixed RNG seed of the tables, so that equal calls give equal answers.
SEED = 7

_key_seeds = settled(seed_lookup.key_seeds)


def seed_table(model: SolverModel, mode: int, count: int, seed: int) -> Table:
    """Return a table of `count` seeds for targets of a mode; `seed` chooses another table."""
    kernel = model.for_kernels(mode)
    length = model.length(mode)
    found = model.keep_pulls(seed_variables(model, count, seed), nearest=False)
    keys = np.zeros((count, 10))
    canonical = np.empty_like(found)
    _key_seeds(kernel, mode, found, keys, canonical, np.empty(model.dof))
    axis_weight = (AXIS_SEED_WEIGHT * length) ** 2 if mode == layout.AXIS else 0.0
    table = np.zeros((11, count))
    table[0] = (keys[:, :3] ** 2).sum(axis=1) + axis_weight * (keys[:, 3:6] ** 2).sum(axis=1)
    table[1:4] = -2.0 * keys[:, :3].T
    table[4:7] = -2.0 * axis_weight * keys[:, 3:6].T
    table[7:11] = keys[:, 6:10].T
    # Weight of the squared sine of half the angle between two orientations.
    turn_weight = 4.0 * axis_weight if mode == layout.AXIS else 8.0 * (ROTATION_SEED_WEIGHT * length) ** 2
    scores = table.astype(np.float32)
    return model.near(
        Table(keys=scores, seeds=canonical, turn_weight=turn_weight, near_rest=scores[0]), model.rest, mode
    )


def seed_variables(model: SolverModel, count: int, seed: int) -> Array:
    """Return random solver variables within the limits, by Latin hypercube sampling.

    The first row is the rest pose. A quarter of the rows is pulled towards it, and in a quarter sections are set to
    corners of their limits: both are rare in random samples, and targets there are hard to reach from elsewhere.
    """
    rng = np.random.default_rng([SEED, seed])
    order = np.array([rng.permutation(count) for _ in range(model.variables)])
    layers = (order + rng.random(order.shape)) / count
    shrink = np.where(rng.random(count) < 0.25, 2.0 ** (-5.0 * rng.random(count)), 1.0)
    corner = rng.random(count) < 0.25
    rest = model.rest
    variables = np.empty((count, model.variables))
    for element in model.moving:
        k, kind = element["variable"], element["kind"]
        if kind not in (layout.BEND, layout.PLANAR):
            low, high = _drawn_range(element, rest[k])
            drawn = low + layers[k] * (high - low)
            variables[:, k] = rest[k] + shrink * (drawn - rest[k])
            continue
        last = k + element["width"] - 1
        share = layers[last] if element["stretch"] > 0.0 else np.ones(count)
        share = np.where(corner, np.round(share), share)
        bend = np.where(corner, np.round(layers[k]), layers[k] * shrink)
        size = bend * (share * element["bend_max"] if element["slope"] > 0.0 else element["bend_max"])
        if kind == layout.BEND:
            angle = 2.0 * np.pi * layers[k + 1]
            variables[:, k], variables[:, k + 1] = size * np.cos(angle), size * np.sin(angle)
        else:
            variables[:, k] = size
        if element["stretch"] > 0.0:
            variables[:, last] = share
    variables[:1] = rest
    return variables


def _drawn_range(element: Any, rest: float) -> tuple[float, float]:
    """Return the limits of a joint, or one turn of it if they allow more: about rest, as far as they let it.

    Seeds of the other turns are equal poses nearer to a limit, and descents from them end there.
    """
    low, high = element["lower"], element["upper"]
    if not element["periodic"] or high - low <= 2.0 * np.pi:
        return low, high
    centre = min(max(rest, low + np.pi), high - np.pi)
    return centre - np.pi, centre + np.pi
