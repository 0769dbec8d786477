import numpy as np
import pytest
from benchmarks.certificates import SCALES, body_points, mesh_distance, mesh_surface, one_scene, run, truth

import arcreach as ar


@pytest.mark.compiled
def test_no_certificate_is_above_the_truth_in_random_scenes():
    *_, (table, below, wrong) = run(400)
    assert wrong == []
    for size in SCALES:
        assert table[size]["mesh"] > 5
        assert table[size]["far"] > 20
        assert 10 < table[size]["touches"] < 60
        # A certificate says something: it is mostly close to the clearance.
        assert np.median(below[size]) < 0.02


def test_the_same_without_compiling():
    for seed in range(12):
        row = one_scene(16 * seed + 1)
        assert row is None or not (row["above"] or row["clearance above"] or row["inside called free"])


@pytest.mark.parametrize("seed", [1026, 4071, 9251])
def test_vertices_and_positions_that_cancel_are_rounded_too(seed):
    """Vertices 100 m from the origin of a file, and a position that brings them back to a robot of 1 mm."""
    assert not one_scene(seed)["above"]


@pytest.mark.parametrize("size", [1e-5, 1.0])
def test_the_touch_of_a_small_robot_is_no_clearance(size):
    """A distance library with an absolute tolerance certified 12 um for 2.3 um here."""
    robot = ar.Robot([ar.Section(size, 1.5, radius=0.05 * size)])
    q = np.array([1.0, 0.3])
    points, radii = body_points(robot, q)
    for gap in (0.23, 1e-3, 1e-6, -1e-6):
        centre = points[80].astype(float) + size * np.array([0.0, 0.0, 0.1])
        radius = np.linalg.norm((points - centre).astype(float), axis=1).min() - size * (0.05 + gap)
        for shape in (ar.Sphere(centre, max(radius, 0.0)), ar.Capsule(centre, centre, max(radius, 0.0))):
            bound = ar.certified_clearance(robot, q, shape)
            assert bound <= truth(points, radii, [shape])
            assert bound >= truth(points, radii, [shape]) - 2e-3 * size


@pytest.mark.parametrize("kind", ["star", "torus", "nested", "cavity", "overlapping", "sliver"])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_signed_distances_are_those_of_all_triangles(kind, far):
    rng = np.random.default_rng(5)
    vertices, faces = mesh_surface(rng, kind)
    mesh = ar.Mesh(vertices=vertices + far, faces=faces, position=(-far,) * 3)
    points = rng.uniform(-0.7, 0.7, (120, 3))
    shifted = vertices + far
    exact = mesh_distance(points + far - shifted.mean(axis=0), (shifted - shifted.mean(axis=0))[faces])
    found, _ = mesh.signed_distance(points)
    np.testing.assert_allclose(found, exact, atol=1e-13 + 1e-15 * far)
    assert (found > 0.0).any()
    assert (found < 0.0).any() or kind == "sliver"
