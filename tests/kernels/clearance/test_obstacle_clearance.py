import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcreach.kernels.clearance import arcs as arc_distance
from arcreach.kernels.clearance import body
from arcreach.kernels.clearance import obstacle_clearance as clearance
from arcreach.kernels.clearance import self_clearance as clearance_self
from arcreach.kernels.clearance.shapes import box_distance

BENDS = [0.0, 1e-300, 1e-12, 1e-9, 1e-6, 1e-3, 0.5, math.pi - 1e-9, math.pi, math.pi + 1e-9, 4.0, 2 * math.pi]


def arc_at_origin(bend, length=0.1):
    """An arc that starts at the origin along z and bends towards x."""
    piece = np.empty(body.PIECE_SIZE)
    body.write_piece((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), length, bend, 0.0, piece)
    return piece


def plane_points(bend, length, shares):
    half = 0.5 * bend * shares
    chord = length * shares * np.sinc(half / np.pi)
    return chord * np.sin(half), chord * np.cos(half)


@pytest.mark.parametrize("bend", BENDS)
def test_arc_point_is_the_least_of_all_points(bend):
    rng = np.random.default_rng(0)
    length, n = 0.1, 2000
    x, z = plane_points(bend, length, np.linspace(0.0, 1.0, n + 1))
    piece = arc_at_origin(bend, length)
    for point in rng.uniform(-0.15, 0.15, (40, 3)):
        distance, s = arc_distance.arc_point(piece, point)
        dense = np.sqrt((x - point[0]) ** 2 + point[1] ** 2 + (z - point[2]) ** 2).min()
        assert -1e-15 <= dense - distance <= 0.5 * length / n
        # The distance is attained at the arc length returned.
        assert 0.0 <= s <= length
        assert math.dist(body.piece_point(piece, s), point) == pytest.approx(distance, abs=1e-15)


@pytest.mark.parametrize("bend", BENDS)
def test_points_of_the_arc_itself_have_no_distance(bend):
    length = 0.1
    piece = arc_at_origin(bend, length)
    for share in (0.0, 1e-9, 0.3, 0.7, 1.0):
        distance, s = arc_distance.arc_point(piece, body.piece_point(piece, share * length))
        assert distance < 1e-16
        # A full turn ends where it starts.
        assert s == pytest.approx(share * length, abs=1e-9) or (bend == 2 * math.pi and share in (0.0, 1.0))


@given(x=st.floats(-0.2, 0.2), h=st.floats(-0.2, 0.2), z=st.floats(-0.2, 0.2), small=st.floats(1e-12, 1e-7))
def test_a_nearly_straight_arc_is_nearly_a_line(x, h, z, small):
    straight, s = arc_distance.arc_point(arc_at_origin(0.0), (x, h, z))
    bent, t = arc_distance.arc_point(arc_at_origin(small), (x, h, z))
    # The arc leaves the line by at most length * bend / 2.
    assert bent == pytest.approx(straight, abs=0.05 * small + 1e-16)
    assert t == pytest.approx(s, abs=0.5 * small + 1e-15)


def test_the_centre_of_a_circle_is_as_far_from_every_point():
    piece = arc_at_origin(2.0, 0.1)
    distance, s = arc_distance.arc_point(piece, (0.05, 0.0, 0.0))
    assert distance == pytest.approx(0.05)
    assert 0.0 <= s <= 0.1


@pytest.mark.parametrize("bend", BENDS)
def test_arc_height_is_the_least_of_all_points(bend):
    rng = np.random.default_rng(1)
    length, n = 0.1, 2000
    x, z = plane_points(bend, length, np.linspace(0.0, 1.0, n + 1))
    piece = arc_at_origin(bend, length)
    for way in rng.normal(size=(40, 3)):
        normal = way / np.linalg.norm(way)
        point = rng.uniform(-0.1, 0.1, 3)
        height, s = arc_distance.arc_height(piece, point, normal)
        dense = ((x - point[0]) * normal[0] - point[1] * normal[1] + (z - point[2]) * normal[2]).min()
        assert -1e-15 <= dense - height <= 0.5 * length / n
        place = np.array(body.piece_point(piece, s))
        assert (place - point) @ normal == pytest.approx(height, abs=1e-15)


def test_box_distance_inside_is_that_of_the_nearest_face():
    for point, expected in [((0.2, 0, 0), -0.3), ((0, 0.9, 0), -0.1), ((0, 0, -1.2), -0.3), ((0, 0, 0), -0.5)]:
        assert box_distance(tuple(map(float, point)), (0.5, 1.0, 1.5))[0] == pytest.approx(expected)
    distance, normal = box_distance((1.5, -2.0, 0.0), (0.5, 1.0, 1.5))
    assert distance == pytest.approx(math.sqrt(2))
    np.testing.assert_allclose(normal, (math.sqrt(0.5), -math.sqrt(0.5), 0.0))


def test_segment_shares_meet_at_right_angles_or_at_ends():
    rng = np.random.default_rng(2)
    shares = np.linspace(0.0, 1.0, 201)
    for _ in range(20):
        a, u, b, v = rng.normal(size=(4, 3))
        p, r = clearance_self.segment_shares(tuple(u), tuple(v), tuple(a - b))
        found = np.linalg.norm(a + p * u - b - r * v)
        first, second = a + shares[:, None] * u, b + shares[:, None] * v
        dense = np.linalg.norm(first[:, None] - second, axis=-1).min()
        assert -1e-12 <= dense - found < 0.05
    # Parallel segments, and ones without length.
    assert clearance_self.segment_shares((1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (3.0, 1.0, 0.0)) == (0.0, 1.0)
    assert clearance_self.segment_shares((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (3.0, 1.0, 0.0)) == (0.0, 0.0)


@pytest.mark.parametrize(("first", "second"), [(0.0, 0.0), (1.0, 0.0), (3.0, 2.0), (6.0, 5.0)])
def test_two_arcs_are_as_far_apart_as_their_points(first, second):
    rng = np.random.default_rng(3)
    stack = np.empty((clearance_self.PAIR_STACK_SIZE, 5))
    shares = np.linspace(0.0, 1.0, 301)
    for _ in range(5):
        pieces = np.empty((2, body.PIECE_SIZE))
        points = []
        for piece, bend in zip(pieces, (first, second), strict=True):
            frame = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            origin = tuple(rng.uniform(-0.1, 0.1, 3))
            body.write_piece(origin, tuple(frame[0]), tuple(frame[1]), 0.1, bend, 0.0, piece)
            points.append(np.array([body.piece_point(piece, 0.1 * share) for share in shares]))
        distance, a, b = clearance_self.pair_distance(pieces[0], pieces[1], math.inf, 1e-8, stack)
        dense = np.linalg.norm(points[0][:, None] - points[1], axis=-1).min()
        assert -1e-8 <= dense - distance <= 0.1 / 300
        met = math.dist(body.piece_point(pieces[0], a), body.piece_point(pieces[1], b))
        assert met == pytest.approx(distance, abs=1e-15)


def test_nothing_is_found_beyond_the_bound():
    stack = np.empty((clearance_self.PAIR_STACK_SIZE, 5))
    near, far = arc_at_origin(1.0), arc_at_origin(1.0)
    far[body.ORIGIN] = 1.0
    assert clearance_self.pair_distance(near, far, 0.5, 1e-6, stack) == (0.5, -1.0, -1.0)


def test_rows_without_obstacles_are_infinitely_far():
    row = np.zeros(clearance.CLEARANCE_SIZE)
    clearance.clear_row(row)
    assert row[clearance.DISTANCE] == math.inf
    assert row[clearance.AT_ELEMENT] == row[clearance.OBSTACLE] == -1
