"""Distances of triangles against dense samples, in plain NumPy."""

import math

import numpy as np
import pytest
from tests.reference import random_rotation

from arcreach.kernels.clearance.mesh_pairs import surface_gap
from arcreach.kernels.clearance.triangles import (
    crossing,
    nearest_on_triangle,
    proven_gap,
    segment_triangle,
    solid_angle,
)
from arcreach.scenes.mesh_tree import build_tree


def samples(t, n=60):
    """Points of a triangle, corners and edges included."""
    a, b = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n))
    inside = (a + b <= 1.0 + 1e-12).ravel()
    a, b = a.ravel()[inside, None], b.ravel()[inside, None]
    return t[0] + a * (t[1] - t[0]) + b * (t[2] - t[0])


def random_triangle(rng, kind):
    t = rng.normal(size=(3, 3))
    if kind == "sliver":
        t[2] = t[0] + 0.3 * (t[1] - t[0]) + 1e-9 * rng.normal(size=3)
    if kind == "point":
        t[2] = t[1] = t[0]
    return t


@pytest.mark.parametrize("kind", ["ordinary", "sliver", "point"])
def test_the_nearest_point_of_a_triangle(kind):
    rng = np.random.default_rng(1)
    for _ in range(60):
        t, p = random_triangle(rng, kind), rng.normal(size=3)
        found = np.linalg.norm(p - nearest_on_triangle(t, tuple(p)))
        least = np.linalg.norm(samples(t) - p, axis=1).min()
        assert found <= least + 1e-8
        assert found >= least - 0.06


@pytest.mark.parametrize("kind", ["ordinary", "sliver", "point"])
def test_a_segment_and_a_triangle(kind):
    rng = np.random.default_rng(2)
    pierced = 0
    for _ in range(60):
        t, a, b = random_triangle(rng, kind), rng.normal(size=3), rng.normal(size=3)
        square, share, q = segment_triangle(t, tuple(a), tuple(b))
        line = a + np.linspace(0, 1, 60)[:, None] * (b - a)
        least = np.linalg.norm(samples(t, 30)[:, None] - line, axis=2).min()
        distance = math.sqrt(square)
        assert distance <= least + 1e-8
        assert distance >= least - 0.12
        assert np.linalg.norm(a + share * (b - a) - q) == pytest.approx(distance, abs=1e-12)
        bound = proven_gap(t, share, q, tuple(a), tuple(b))
        assert distance * (1 - 1e-6) - 1e-9 <= bound <= distance * (1 + 1e-12)
        # Wrong points still give a valid, weaker bound.
        assert 0.0 <= proven_gap(t, 0.5, tuple(t[0]), tuple(a), tuple(b)) <= distance * (1 + 1e-12)
        pierced += square == 0.0
    assert pierced > 3 or kind != "ordinary"


def test_crossings_add_up_to_the_winding_number():
    rng = np.random.default_rng(3)
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    seen = set()
    for _ in range(40):
        corners = rng.normal(size=(4, 3))
        if np.linalg.det(corners[1:] - corners[0]) < 0.0:
            corners[[0, 1]] = corners[[1, 0]]
        p = corners.mean(axis=0) + 0.3 * rng.normal(size=3)
        winding = sum(solid_angle(t, tuple(p)) for t in corners[faces])
        assert abs(winding - round(winding)) < 1e-9
        for axis in range(3):
            found = [crossing(t, axis, tuple(p)) for t in corners[faces]]
            assert all(sure for _, sure in found)
            assert sum(turns for turns, _ in found) == round(winding)
        seen.add(round(winding))
    assert seen == {0, 1}


def test_a_ray_through_an_edge_or_in_a_plane_is_uncertain():
    t = np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 2.0], [1.0, -1.0, 5.0]])
    assert crossing(t, 0, (0.0, 1.0, 1.0)) == (0, False)
    assert crossing(t, 0, (0.0, 1.0, 2.0))[1]
    assert crossing(t, 0, (1.0, 1.0, 2.0)) == (0, False)


def test_the_distance_of_two_surfaces():
    rng = np.random.default_rng(4)
    for _ in range(8):
        first, second = rng.normal(size=(20, 3, 3)), np.array([2.5, 0, 0]) + rng.normal(size=(30, 3, 3))
        motion = np.column_stack([random_rotation(rng), rng.normal(size=3)])
        pair = np.empty(6)
        found = surface_gap(build_tree(first), build_tree(second), tuple(motion.ravel().tolist()), pair)
        moved = first @ motion[:, :3].T + motion[:, 3]
        brute = min(
            math.sqrt(segment_triangle(u, tuple(t[i]), tuple(t[i - 1]))[0])
            for one, two in ((moved, second), (second, moved))
            for t in one
            for u in two
            for i in range(3)
        )
        assert found == pytest.approx(brute, abs=1e-12)
        assert np.linalg.norm(pair[:3] - pair[3:]) == pytest.approx(found, abs=1e-12)
