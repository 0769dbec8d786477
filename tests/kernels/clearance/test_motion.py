"""Straight motions: bounds of the travel of the body, and certificates of clearance."""

import numpy as np
import pytest

import arcreach as ar
from arcreach.kernels.clearance import body as layout
from arcreach.kernels.clearance.motion import element_travels
from arcreach.kernels.clearance.scene import bodies
from arcreach.planning.motion.motion_check import FINEST, MotionCheck, SmoothSpace, motion_between
from arcreach.scenes.clearance import TOLERANCE, piece_points

ROBOTS = {
    "fixed": ar.Robot([ar.Section(0.05, 2.5, radius=0.003), ar.Section(0.03, 1.0, radius=0.003)]),
    "variable": ar.Robot([ar.Section(0.03, 2.0, stretch=0.03), ar.Section(0.0, 1.5, stretch=0.05)]),
    "sub-arcs": ar.Robot([ar.Section(0.06, 3.0, length_weights=(3, 1, 2), bend_weights=(1, 0, 4))]),
    "twist": ar.Robot([ar.Section(0.04, 1.5, stretch=0.02, twist=True), ar.Section(0.04, 1.5, twist=True)]),
    "joints": ar.Robot(
        [
            ar.Prismatic(-0.1, 0.2, axis=(1, 1, 0)),
            ar.Revolute(axis=(0, 1, 0)),
            ar.Link((0.1, 0.0, 0.2), radius=0.01),
            ar.Parallelogram((0.0, 0.1, 0.1), axis=(1, 0, 0), radius=0.01),
            ar.Revolute(axis=(0, 0, 1), lower=-np.inf, upper=np.inf),
            ar.Link((0.0, 0.05, 0.1)),
            ar.Section(0.1, 1.5),
        ]
    ),
}


def balls(robot, count, seed):
    """Spheres within the reach of a robot, away from its base."""
    rng = np.random.default_rng(seed)
    reach = robot.reach
    centres = rng.uniform(-reach, reach, (count, 3))
    centres = centres[np.linalg.norm(centres, axis=1) > 0.2 * reach]
    return ar.Scene([ar.Sphere(centre, 0.07 * reach) for centre in centres])


def material_points(robot, Q):
    """Points (n, 7, 3) at equal shares of the length of every element that has a body."""
    pieces = np.empty((len(Q), len(robot.packed), layout.PIECE_SIZE))
    counts = np.empty(len(Q), dtype=np.int64)
    bodies(0, len(Q), robot.packed, np.ascontiguousarray(Q), pieces, counts)
    points = {}
    for k in range(counts.min()):
        rows = pieces[:, k]
        shares = [piece_points(rows, share * rows[:, layout.LENGTH]) for share in np.linspace(0, 1, 7)]
        points.setdefault(int(rows[0, layout.ELEMENT]), []).append(np.stack(shares, axis=1))
    return {element: np.concatenate(found, axis=1) for element, found in points.items()}


@pytest.mark.parametrize("name", ROBOTS)
def test_no_point_of_an_element_moves_farther_than_the_bound(name):
    robot = ROBOTS[name]
    space = SmoothSpace(robot)
    closest = 0.0
    for a, b in space.variables(robot.sample(24, seed=1)).reshape(-1, 2, space.model.variables):
        travels = np.empty(len(robot.elements))
        element_travels(robot.packed, a, b, travels)
        shares = np.linspace(0.0, 1.0, 41)
        Q = space.coordinates(a + shares[:, None] * (b - a))
        for element, points in material_points(robot, Q).items():
            steps = np.linalg.norm(np.diff(points, axis=0), axis=2).max()
            assert steps <= travels[element] / 40 * (1 + 1e-9) + 1e-15
            closest = max(closest, steps / (travels[element] / 40))
    # A bound that is far too large would make every plan slow.
    assert closest > 0.25


@pytest.mark.compiled
@pytest.mark.parametrize("name", ROBOTS)
def test_a_certificate_is_below_what_dense_samples_find(name):
    robot = ROBOTS[name]
    space = SmoothSpace(robot)
    scene = balls(robot, 40, seed=2)
    check = MotionCheck(space, scene, 0.0)
    seen = {True: 0, False: 0}
    pairs = {"joints": 6, "twist": 20}.get(name, 10)
    for a, b in space.variables(robot.sample(2 * pairs, seed=3)).reshape(-1, 2, space.model.variables):
        free, certificates = check.certify(np.array([a, b]))
        found = ar.clearance(robot, space.coordinates(a + np.linspace(0, 1, 400)[:, None] * (b - a)), scene).distance
        seen[bool(free[0])] += 1
        if free[0]:
            assert 0.0 < certificates[0] <= found.min()
            # Within a fortieth of the sampled clearance, and a micrometre for its tolerance.
            assert certificates[0] >= 0.94 * found.min() - 2 * TOLERANCE
        else:
            travel = space.travels(a, b)
            assert found.min() <= FINEST * travel + TOLERANCE + travel / 400
    assert min(seen.values()) > 0


def test_a_margin_is_kept_and_a_configuration_is_a_motion_to_itself():
    robot = ROBOTS["fixed"]
    space = SmoothSpace(robot)
    scene = ar.Scene([ar.Sphere((0.03, 0.0, 0.07), 0.01)])
    straight = space.variables(robot.neutral[None])
    distance = float(ar.clearance(robot, robot.neutral, scene))
    assert MotionCheck(space, scene, 0.999 * distance - TOLERANCE).free(straight, straight)
    assert not MotionCheck(space, scene, 1.001 * distance).free(straight, straight)


def test_a_motion_stays_inside_the_limits_and_ends_where_it_should():
    robot = ROBOTS["variable"]
    Q = robot.sample(6, seed=4)
    motion = motion_between(robot, Q, 101)
    assert robot.within_limits(motion).all()
    np.testing.assert_allclose(robot.tip_pose(motion[[0, -1]]), robot.tip_pose(Q[[0, -1]]), atol=1e-12)


def test_an_endless_joint_goes_the_shorter_way_round():
    robot = ar.Robot([ar.Revolute(lower=-np.inf, upper=np.inf), ar.Link((0.1, 0, 0))])
    motion = motion_between(robot, [[3.0], [-3.0]], 21)
    assert (np.abs(motion) >= 3.0 - 1e-12).all()
