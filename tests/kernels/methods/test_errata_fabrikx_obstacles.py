"""Errata of obstacle avoidance in docs/errata.md: the printed form fails, the corrected one is right."""

import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.kernels.clearance.body import PIECE_SIZE
from arcreach.kernels.methods.fabrikx_obstacles import Spheres, nearest_free_bend
from arcreach.kernels.published.fabrikx_obstacles import published_bend


def printed_touch(bend, length, obstacle, size, radius):
    """Equations 2.43 to 2.47 in the plane, with the true centre of the arc."""
    gap = length / bend - math.dist(obstacle, (length / bend, 0.0))
    if abs(gap) < radius or abs(gap - size) < radius or abs(gap + size) < radius:
        return True
    return gap - size < 0 if gap > 0 else gap + size > 0


def free_distance(bend, length, obstacle):
    """Distance from the arc to a point of its plane, by dense sampling."""
    curve = ar.Robot([ar.Section(length, 6.0)]).backbone([bend, 0.0], points=400)[:, [0, 2]]
    return np.linalg.norm(curve - obstacle, axis=1).min()


def test_k22_2_43_sees_the_whole_circle():
    bend, length = 1.0, 0.1
    far_side = (2 * length / bend, 0.0)
    assert free_distance(bend, length, far_side) > 0.1
    assert printed_touch(bend, length, far_side, 0.01, 0.003)


@pytest.mark.compiled
def test_k22_2_48_moves_the_centre():
    rng = np.random.default_rng(0)
    length, size, radius = 0.1, 0.01, 0.003
    touching = freed = 0
    for _ in range(300):
        bend = rng.uniform(0.3, 2.5)
        obstacle = rng.uniform((-0.02, 0.03), (0.08, 0.11))
        if free_distance(bend, length, obstacle) > size + radius:
            continue
        touching += 1
        away = math.dist(obstacle, (length / bend, 0.0))
        gap = length / bend - away
        new = length / (away + size + radius) if gap > 0 else length / max(away - size - radius, 1e-3)
        freed += free_distance(min(new, 2 * math.pi), length, obstacle) > size + radius
    assert touching > 30
    assert freed < 0.5 * touching


@pytest.mark.compiled
def test_k22_2_48_frees_less_than_the_nearest_free_bend():
    rng = np.random.default_rng(0)
    length, size, radius = 0.1, 0.01, 0.003
    identity = tuple(np.eye(4)[:3].ravel())
    scratch = (*np.empty((3, 1)), np.empty(PIECE_SIZE))
    touching = by_print = moved = 0
    for _ in range(300):
        bend = rng.uniform(0.3, 2.5)
        obstacle = rng.uniform((-0.02, 0.03), (0.08, 0.11))
        if free_distance(bend, length, obstacle) > size + radius:
            continue
        touching += 1
        sphere = np.array([[obstacle[0], 0.0, obstacle[1], size]])
        printed = published_bend(identity, 0.0, length, bend, radius, sphere)
        by_print += 0.0 <= printed <= 6.0 and free_distance(printed, length, obstacle) > size + radius
        free = nearest_free_bend(identity, 0.0, length, bend, 6.0, radius, Spheres(sphere, *scratch))
        assert free != bend
        away = obstacle if free >= 0.0 else obstacle * (-1.0, 1.0)
        moved += free_distance(abs(free), length, away) > size + radius
    assert touching > 30
    assert moved == touching
    assert by_print < 0.5 * touching
