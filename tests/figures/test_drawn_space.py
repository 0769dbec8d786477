import itertools

import numpy as np
import pytest

import arcreach as ar
from arcreach.figures.drawing.drawn_space import plane_in_box, with_obstacles

LOW, HIGH = np.array([-1.0, -2.0, 0.0]), np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("normal", "point", "corners"),
    [
        ((0, 0, 1), (5, 5, 1), 4),
        ((0, -1, 0), (0, 2, 0), 4),  # a face of the box
        ((1, 1, 1), (0, 0, 1.5), 6),
        ((1, 1, 1), (-1, -2, 0.5), 3),
        ((1, 0.2, -0.1), (0, 0, 1), 4),
        ((1, 0, 0), (1.1, 0, 0), 0),
        ((1, 1, 1), (1, 2, 3), 0),  # through a corner
    ],
)
def test_a_plane_is_cut_by_the_faces_of_the_box(normal, point, corners):
    shape = ar.HalfSpace(normal, point)
    polygon = plane_in_box(shape, LOW, HIGH)
    assert polygon.shape == (corners, 3)
    np.testing.assert_allclose((polygon - point) @ shape.normal, 0.0, atol=1e-12)
    assert ((polygon >= LOW - 1e-12) & (polygon <= HIGH + 1e-12)).all()
    if not corners:
        return
    # Every corner is on an edge of the box, and the polygon is convex.
    on_faces = np.isclose(polygon, LOW) | np.isclose(polygon, HIGH)
    assert (on_faces.sum(axis=1) >= 2).all()
    sides = np.roll(polygon, -1, axis=0) - polygon
    turns = [np.cross(a, b) @ shape.normal for a, b in itertools.pairwise([*sides, sides[0]])]
    assert (np.sign(turns) == np.sign(turns[0])).all()


def test_a_box_reaches_to_near_planes_and_around_obstacles():
    points = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.1]])
    near, far = ar.HalfSpace((0, -1, 0), (0.3, 0.06, 0)), ar.HalfSpace((0, -1, 0), (0, 0.5, 0))
    np.testing.assert_allclose(with_obstacles(points, [near])[2:], [[0.0, 0.06, 0.05]], atol=1e-15)
    assert len(with_obstacles(points, [far])) == 2
    # A sphere makes the box large enough for both.
    both = with_obstacles(points, [far, near, ar.Sphere((0, 0.3, 0), 0.1)])
    np.testing.assert_allclose(both.max(axis=0), (0.1, 0.5, 0.1))
    assert len(both) == 6
