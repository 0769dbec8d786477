import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import SceneError
from arcreach.planning.contact.scene import Surroundings

SQUARE = [(0, 0), (2, 0), (2, 1), (0, 1)]


def test_corners_are_put_in_one_order_and_a_closed_ring_is_opened():
    around, other_way = ar.Polygon(SQUARE, "wall"), ar.Polygon(SQUARE[::-1])
    first = other_way.points.index(around.points[0])
    assert other_way.points[first:] + other_way.points[:first] == around.points
    assert len(ar.Polygon([*SQUARE, SQUARE[0]]).points) == 4
    assert around.name == "wall"


def test_convex_corners_leave_out_the_inner_one():
    corner = ar.Polygon([(0, 0), (2, 0), (2, 2), (1, 2), (1, 1), (0, 1)])
    assert (1.0, 1.0) not in corner.convex_corners
    assert len(corner.convex_corners) == 5


def test_inside_and_distance():
    shape = ar.Polygon(SQUARE)
    rng = np.random.default_rng(0)
    for x, z in rng.uniform(-2, 4, (300, 2)):
        inside = 0 < x < 2 and 0 < z < 1
        assert shape.contains((x, z)) == inside
        away = math.hypot(max(0, -x, x - 2), max(0, -z, z - 1))
        assert shape.distance((x, z)) == pytest.approx(away, abs=1e-12)
    assert ar.Disc((1, 1), 0.5).distance((1, 2)) == pytest.approx(0.5)
    assert ar.Disc((1, 1), 0.5).distance((1, 1.2)) == 0.0


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([(0, 0), (1, 1)], "at least three"),
        ([(0, 0), (2, 2), (2, 0), (0, 1)], "cross"),
        ([(0, 0), (1, 1), (1, 0), (0, 1)], "cross"),
        ([(0, 0), (1, 1), (3, 3)], "no area"),
        ([(0, 0), (2, 0), (1, 0), (1, 1)], "overlap"),
        ([(0, 0), (1, 0), (1, 0), (0, 1)], "repeats"),
        ([(0, 0), (math.nan, 0), (1, 1)], r"points\[1\]"),
        ([(0, 0), (1, 0, 0), (1, 1)], r"points\[1\]"),
        (7, "points = 7"),
    ],
)
def test_polygons_that_are_none(points, words):
    with pytest.raises(SceneError, match=words):
        ar.Polygon(points)


@pytest.mark.parametrize(
    ("centre", "radius", "count"),
    [((0, 0), 0, 1), ((0, 0), -1, 1), ((0, math.inf), 1, 1), ((0,), math.nan, 2), ("ab", 1, 1)],
)
def test_discs_that_are_none(centre, radius, count):
    with pytest.raises(ValueError, match="disc") as caught:
        ar.Disc(centre, radius)
    assert len(caught.value.problems) == count


def test_a_wall_has_two_sides_and_no_inside():
    wall = ar.Wall([(0, 0), (2, 0), (3, 0), (3, 1)], "wall")
    assert len(wall.edges) == 6
    # The point in the middle of a straight piece is no corner.
    assert wall.convex_corners == ((0.0, 0.0), (3.0, 0.0), (3.0, 1.0))
    assert wall.distance((1.0, 0.0)) == 0.0
    assert wall.distance((2.0, 0.5)) == 0.5
    gaps, which = Surroundings([ar.Disc((9, 9), 1), wall]).point_gaps(np.array([[1.0, 0.1], [2.5, 0.2], [1.0, -0.3]]))
    np.testing.assert_allclose(gaps, [0.1, 0.2, 0.3])
    assert (which == 1).all()


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([(0, 0)], "points has 1 corners; give at least two"),
        ([(0, 0), (1, 0), (1, 0)], r"points\[2\] repeats"),
        ([(0, 0), (1, math.nan)], r"points\[1\]"),
        (7, "list of corners"),
    ],
)
def test_walls_that_are_none(points, words):
    with pytest.raises(SceneError, match=words):
        ar.Wall(points)


def test_names_are_checked():
    with pytest.raises(SceneError, match="name"):
        ar.Disc((0, 0), 1, name="a\nb")
