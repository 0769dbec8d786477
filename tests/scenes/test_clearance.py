import math
import pickle

import numpy as np
import pytest
from tests.scenes import bodies

import arcreach as ar
from arcreach.errors import TargetError
from arcreach.scenes.certified_clearance import certified_clearance

THREE = ar.Robot([ar.Section(0.05, 2.0, radius=0.004)] * 3)


@pytest.mark.compiled
def test_a_hundred_thousand_arcs_against_spheres():
    """Bends up to a full turn, straight and nearly straight ones, against dense points in space."""
    rng = np.random.default_rng(0)
    length, count, points = 0.1, 1000, 400
    arc = ar.Robot([ar.Section(length, 2 * np.pi, radius=0.002)])
    shares = np.linspace(0.0, 1.0, points + 1)
    off = 0.5 * length / points
    for part in range(100):
        bends = rng.uniform(0.0, 2 * np.pi, count)
        bends[:100] = 0.0
        bends[100:200] = 10.0 ** rng.uniform(-12, 0, 100)
        bends[200:220] = 2 * np.pi
        q = np.column_stack([bends, rng.uniform(-np.pi, np.pi, count)])
        ball = ar.Sphere(rng.uniform(-0.12, 0.12, 3), rng.uniform(0.0, 0.03))
        found = ar.clearance(arc, q, ball)
        half = 0.5 * bends[:, None] * shares
        chord = length * shares * np.sinc(half / np.pi)
        across, z = chord * np.sin(half), chord * np.cos(half)
        x, y = across * np.cos(q[:, 1:]), across * np.sin(q[:, 1:])
        cx, cy, cz = ball.centre
        dense = np.sqrt((x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2).min(axis=1) - ball.radius - 0.002
        assert (found.distance <= dense + 1e-15).all(), part
        assert (found.distance >= dense - off).all(), part
        # The distance is that at the returned point.
        met = np.linalg.norm(found.point - ball.centre, axis=1) - ball.radius - 0.002
        np.testing.assert_allclose(met, found.distance, atol=1e-15)


@pytest.mark.parametrize("kind", bodies.SHAPES)
@pytest.mark.parametrize("cases", [pytest.param(150, marks=pytest.mark.compiled), 4])
def test_every_obstacle_against_dense_points(kind, cases):
    rng = np.random.default_rng(1)
    tolerance = 1e-6
    for q in bodies.MIXED.sample(cases, seed=2):
        shapes = [bodies.random_shape(kind, rng) for _ in range(3)]
        found = ar.clearance(bodies.MIXED, q, shapes, tolerance=tolerance)
        dense, off = bodies.clearance(bodies.MIXED, q, shapes)
        assert found <= dense + tolerance
        assert found >= dense - off
        # It is the distance at the returned point, and the normal points away from the obstacle.
        radius = bodies.MIXED.elements[found.element].radius
        shape = shapes[found.obstacle]
        met = bodies.distance(shape, np.array([found.point, found.point + 1e-7 * found.normal]))
        assert met[0] - radius == pytest.approx(float(found), abs=1e-12)
        assert np.linalg.norm(found.normal) == pytest.approx(1.0)
        if met[0] > 1e-6:
            assert met[1] - met[0] == pytest.approx(1e-7, rel=1e-3)


@pytest.mark.compiled
@pytest.mark.parametrize("kind", bodies.SHAPES)
def test_each_element_has_its_own_nearest_point(kind):
    rng = np.random.default_rng(3)
    for q in bodies.MIXED.sample(20, seed=4):
        shapes = [bodies.random_shape(kind, rng) for _ in range(2)]
        each = ar.clearance(bodies.MIXED, q, shapes, per_element=True)
        assert len(each) == len(bodies.MIXED.elements)
        dense = {
            i: min((bodies.distance(s, p) - r).min() for s in shapes) for i, p, r, _ in bodies.body(bodies.MIXED, q)
        }
        for i, one in enumerate(each):
            if i not in dense:
                assert (one, one.element) == (math.inf, -1)
                continue
            assert one.element == i
            assert -1e-6 <= dense[i] - one <= 1e-4
        assert min(each) == pytest.approx(ar.clearance(bodies.MIXED, q, shapes), abs=1e-6)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "half-space", "box"])
@pytest.mark.parametrize("cases", [pytest.param(100, marks=pytest.mark.compiled), 3])
def test_gradient_against_differences(kind, cases):
    rng = np.random.default_rng(5)
    robot, step = bodies.MIXED, 1e-6
    off = []
    for q in robot.sample(cases, seed=6):
        shapes = [bodies.random_shape(kind, rng) for _ in range(2)]
        value, gradient = ar.clearance_gradient(robot, q, shapes)
        assert gradient.shape == (robot.dof,)
        if kind == "box" and value < 0.0:
            continue  # inside a box the distance has creases, along which the deepest point lies
        differences = [
            (ar.clearance(robot, q + d, shapes) - ar.clearance(robot, q - d, shapes)) / (2 * step)
            for d in step * np.eye(robot.dof)
        ]
        off.append(np.abs(gradient - differences).max())
    # Where two points are equally near there is no gradient; that is rare.
    assert len(off) > 0.5 * cases
    assert np.mean(np.array(off) < 1e-6) >= 0.95


@pytest.mark.parametrize("cases", [pytest.param(20, marks=pytest.mark.compiled), 2])
def test_self_clearance_against_dense_points(cases):
    robot = ar.Robot([ar.Section(0.05, 2 * np.pi, radius=0.002), ar.Link((0, 0, 0.03), radius=0.001)] * 2)
    compared = [(0, 2), (0, 3), (1, 3)]
    for q in robot.sample(cases, seed=7):
        parts = bodies.body(robot, q, 601)
        dense = min(
            np.linalg.norm(parts[a][1][:, None] - parts[b][1], axis=-1).min() - parts[a][2] - parts[b][2]
            for a, b in compared
        )
        found = ar.self_clearance(robot, q)
        assert -1e-6 <= dense - found <= 0.05 / 600
        assert (found.element, found.obstacle) in compared


@pytest.mark.compiled
def test_self_clearance_gradient_against_differences():
    robot, step = bodies.MIXED, 1e-6
    off = []
    for q in robot.sample(60, seed=8):
        _, gradient = ar.clearance_gradient(robot, q, None)
        differences = [
            (ar.self_clearance(robot, q + d) - ar.self_clearance(robot, q - d)) / (2 * step)
            for d in step * np.eye(robot.dof)
        ]
        off.append(np.abs(gradient - differences).max())
    assert np.mean(np.array(off) < 1e-5) >= 0.9


def test_short_pieces_between_thick_ones_are_no_collision():
    thick = ar.Robot([ar.Section(0.05, 1.0, radius=0.01), ar.Link((0, 0, 0.005)), ar.Section(0.05, 1.0, radius=0.01)])
    assert ar.self_clearance(thick, thick.neutral) == math.inf
    thin = ar.Robot([ar.Section(0.05, 1.0, radius=0.001), ar.Link((0, 0, 0.005)), ar.Section(0.05, 1.0, radius=0.001)])
    found = ar.self_clearance(thin, thin.neutral)
    assert found == pytest.approx(0.003)
    for one in (found, ar.self_clearance(thin, thin.neutral[None])[0], pickle.loads(pickle.dumps(found))):
        assert f" to element {found.obstacle}: element {found.element} " in str(one)


def test_a_batch_is_its_rows():
    rng = np.random.default_rng(9)
    scene = ar.Scene([bodies.random_shape(kind, rng) for kind in bodies.SHAPES])
    Q = bodies.MIXED.sample(6, seed=10)
    found = ar.clearance(bodies.MIXED, Q, scene)
    assert len(found) == 6
    for one, q in zip(found, Q, strict=True):
        alone = ar.clearance(bodies.MIXED, q, scene)
        assert (alone, alone.element, alone.obstacle) == (one, one.element, one.obstacle)
        np.testing.assert_array_equal(alone.point, one.point)
    assert np.asarray(found).tolist() == found.distance.tolist()
    _, gradients = ar.clearance_gradient(bodies.MIXED, Q, scene)
    np.testing.assert_array_equal(gradients[2], ar.clearance_gradient(bodies.MIXED, Q[2], scene)[1])
    assert ar.clearance(bodies.MIXED, Q, scene, per_element=True).distance.shape == (6, 6)
    assert ar.self_clearance(bodies.MIXED, Q)[1] == ar.self_clearance(bodies.MIXED, Q[1])


@pytest.mark.compiled
def test_threads_change_nothing():
    scene = ar.load_scene("clutter-20")
    robot = ar.load_robot("three-section")
    Q = robot.sample(2000, seed=11)
    one, two = (ar.clearance(robot, Q, scene, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.distance, two.distance)
    assert 0.0 < (one.distance > 0.0).mean() < 1.0


@pytest.mark.parametrize("threads", [0, -1, 1.5, "a"])
def test_threads_are_a_whole_number_above_zero(threads):
    scene = [ar.Sphere((0.03, 0, 0.07), 0.01)]
    for call in (
        lambda: ar.clearance(THREE, THREE.neutral, scene, threads=threads),
        lambda: ar.self_clearance(THREE, THREE.neutral, threads=threads),
        lambda: certified_clearance(THREE, THREE.neutral, scene, threads=threads),
    ):
        with pytest.raises(TargetError, match=r"threads = .* whole number"):
            call()


def test_a_clearance_is_a_float():
    found = ar.clearance(THREE, THREE.neutral, ar.Sphere((0.03, 0, 0.07), 0.01))
    assert found == pytest.approx(0.03 - 0.01 - 0.004)
    assert found + 1 == float(found) + 1
    assert found.distance == float(found)
    assert found.element == 1
    assert found.arc_length == pytest.approx(0.02)
    np.testing.assert_allclose(found.point, (0, 0, 0.07), atol=1e-15)
    np.testing.assert_allclose(found.normal, (-1, 0, 0), atol=1e-15)
    assert " to obstacle 0: element 1 " in str(found)
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.element == 1


def test_margins_enlarge_obstacles():
    for shape in (ar.Sphere((0.05, 0, 0.1), 0.01), ar.Box((0.02, 0.02, 0.02), (0.05, 0, 0.1))):
        wider = type(shape)(**{**shape.__dict__, "margin": 0.003})
        far, near = (ar.clearance(THREE, THREE.neutral, s) for s in (shape, wider))
        assert far - near == pytest.approx(0.003)


def test_nothing_to_be_near_to():
    for robot, scene in [
        (THREE, ar.Scene()),
        (ar.Robot([ar.Revolute()]), ar.Scene([ar.Sphere((0, 0, 0), 1)])),
    ]:
        found = ar.clearance(robot, robot.neutral, scene)
        assert found == math.inf
        assert found.element == found.obstacle == -1
        assert str(found) == "no pair of bodies to compare"
        assert not ar.clearance_gradient(robot, robot.neutral, scene)[1].any()


def test_a_link_before_all_moving_elements_only_places_the_base():
    ball = ar.Sphere((0.0, 0.0, 0.5), 0.01)
    placed = ar.Robot([ar.Link((0, 0, 1.0)), ar.Section(0.1, 1.0)])
    assert ar.clearance(placed, placed.neutral, ball) == pytest.approx(0.49)
    column = ar.Robot([ar.Link((0, 0, 1.0), radius=0.02), ar.Section(0.1, 1.0)])
    assert ar.clearance(column, column.neutral, ball) == pytest.approx(-0.03)
    swinging = ar.Robot([ar.Revolute(), ar.Link((0, 0, 1.0)), ar.Section(0.1, 1.0)])
    assert ar.clearance(swinging, swinging.neutral, ball) == pytest.approx(-0.01)


def test_a_ball_on_the_centre_line_is_inside_by_its_radius():
    found, gradient = ar.clearance_gradient(THREE, THREE.neutral, ar.Sphere((0, 0, 0.06), 0.01))
    assert found == pytest.approx(-0.014)
    assert np.linalg.norm(found.normal) == pytest.approx(1.0)
    assert np.isfinite(gradient).all()


def test_parallel_obstacles_are_settled_quickly():
    """A line beside a wall and an arc about a post are as near everywhere: the search must not visit every point."""
    wall = ar.Box((0.02, 1.0, 1.0), (0.05, 0, 0))
    assert ar.clearance(THREE, THREE.neutral, wall) == pytest.approx(0.036)
    ring = ar.Robot([ar.Section(0.2, 2 * np.pi, radius=0.001)])
    post = ar.Capsule((0.2 / math.pi, -1, 0), (0.2 / math.pi, 1, 0), 0.01)
    assert ar.clearance(ring, [math.pi, 0.0], post) == pytest.approx(0.2 / math.pi - 0.011, abs=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ar.clearance(THREE, [0.0] * 5, ar.Scene()), ar.ConfigurationError, ["shape"]),
        (lambda: ar.clearance(THREE, [math.nan] * 6, ar.Scene()), ar.ConfigurationError, ["nan"]),
        (lambda: ar.clearance("arm", [0.0], ar.Scene()), ar.SceneError, ["robot = 'arm'"]),
        (lambda: ar.clearance(THREE, THREE.neutral, 3), ar.SceneError, ["shapes = 3"]),
        (lambda: ar.clearance(THREE, THREE.neutral, [3]), ar.SceneError, ["shapes[0] = 3"]),
        (lambda: ar.clearance(THREE, THREE.neutral, ar.Disc((0, 0), 1)), ar.SceneError, ["planar"]),
        (lambda: ar.clearance(THREE, THREE.neutral, [], tolerance=0), ar.SceneError, ["tolerance = 0"]),
        (lambda: ar.clearance(THREE, THREE.neutral, [], tolerance="1"), ar.SceneError, ["tolerance = '1'"]),
        (lambda: ar.self_clearance(THREE, THREE.neutral, tolerance=math.nan), ar.SceneError, ["tolerance = nan"]),
    ],
)
def test_bad_input_is_refused(call, error, words):
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("size", [1e-6, 1e-5])
def test_the_default_tolerance_follows_small_robots(size):
    robot = ar.Robot([ar.Link((1.0, 0.0, 0.0)), ar.Section(size, 2.0, radius=0.05 * size)])
    box = ar.Box((0.1 * size, 3 * size, 0.2 * size), (1.0 + 0.4 * size, 0.2 * size, 0.3 * size))
    q = np.array([1.2, 0.4])
    exact, off = bodies.clearance(robot, q, [box], count=20001)
    assert ar.clearance(robot, q, box) == pytest.approx(exact, abs=off + 1e-4 * size)
    assert ar.clearance(robot, q, box, tolerance=1e-7 * size) == pytest.approx(exact, abs=off + 1e-7 * size)


def test_a_robot_that_cannot_move_has_a_clearance():
    robot = ar.Robot([ar.Link((0.0, 0.0, 1.0), radius=0.1)])
    assert ar.clearance(robot, [], ar.Sphere((1.0, 0.0, 0.5), 0.2)) == pytest.approx(0.7)
    assert ar.certified_clearance(robot, [], ar.Sphere((1.0, 0.0, 0.5), 0.2)) == pytest.approx(0.7)
