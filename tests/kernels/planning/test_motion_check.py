"""Straight motions: bounds of the travel of the body, and certificates of clearance."""

import itertools

import numpy as np
import pytest

import arcreach as ar
from arcreach.kernels.clearance import body as layout
from arcreach.kernels.clearance.obstacle_clearance import bodies
from arcreach.kernels.planning.body import ROW_SIZE, count_pieces, write_body
from arcreach.kernels.planning.motion_check import new_work
from arcreach.kernels.planning.pairs import add_candidates, measure
from arcreach.kernels.planning.travel import FAR, NEAR, TRAVEL_SIZE, pair_travel, widths, write_travels
from arcreach.planning.motion.motion_check import RESOLUTION, MotionCheck, VariableSpace, motion_between
from arcreach.scenes.clearance import TOLERANCE

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
    "arm": ar.Robot(
        [
            ar.Link((0.02, 0.0, 0.05), radius=0.01),
            ar.Revolute(axis=(0, 0, 1), lower=-6.0, upper=6.0),
            ar.Link((0.0, 0.0, 0.1)),
            ar.Revolute(axis=(0, 1, 0), lower=-np.inf, upper=np.inf),
            ar.Link((0.3, 0.0, 0.1), rotation=((1, 0, 0), (0, 0, -1), (0, 1, 0))),
            ar.Link((0.1, 0.05, 0.0), radius=0.01),
            ar.Revolute(axis=(0.6, 0, 0.8)),
            ar.Link((0.06, 0.0, 0.08)),
            ar.Section(0.1, 1.5, stretch=0.05, radius=0.005),
            ar.Revolute(axis=(0, 0, 1)),
            ar.Link((0.05, 0.0, 0.05)),
            ar.Section(0.05, 6.2, length_weights=(2, 1), bend_weights=(9, 1)),
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
    """Points (n, pieces, 7, 3) at equal shares of the length of every piece."""
    pieces = np.zeros((len(Q), count_pieces(robot.packed), ROW_SIZE))
    for v, rows in zip(VariableSpace(robot).variables(Q), pieces, strict=True):
        write_body(robot.packed, v, 0 * v, len(rows), rows)
    shares = np.linspace(0, 1, 7)
    return np.array([[[layout.piece_point(p, s * p[layout.LENGTH]) for s in shares] for p in rows] for rows in pieces])


@pytest.mark.parametrize("name", ROBOTS)
def test_no_point_of_a_piece_moves_farther_than_the_bound(name):
    robot = ROBOTS[name]
    space = VariableSpace(robot)
    closest = 0.0
    for a, b in space.variables(robot.sample(8, seed=1)).reshape(-1, 2, space.model.variables):
        travels = np.empty((count_pieces(robot.packed), TRAVEL_SIZE))
        write_travels(robot.packed, a, b, travels)
        points = material_points(robot, space.coordinates(a + np.linspace(0, 1, 21)[:, None] * (b - a)))
        bounds = travels[:, [NEAR]] + np.linspace(0, 1, 7) * (travels[:, [FAR]] - travels[:, [NEAR]])
        steps = np.linalg.norm(np.diff(points, axis=0), axis=3).max(axis=0)
        assert (20 * steps <= bounds * (1 + 1e-9) + 1e-13).all()
        closest = max(closest, 20 * steps[-1, -1] / travels[-1, FAR])
        # Seen from each other, two pieces move no farther than their own bound.
        for i, j in itertools.combinations(range(len(travels) - 1, -1, -1), 2):
            away = np.linalg.norm(points[:, i, :, None] - points[:, j, None, :], axis=3)
            assert 20 * np.abs(np.diff(away, axis=0)).max() <= pair_travel(travels, i, j) * (1 + 1e-9) + 1e-13
    # A bound that is far too large would make every plan slow.
    assert closest > 0.25


@pytest.mark.parametrize("name", ROBOTS)
def test_no_point_moves_farther_than_the_bound_of_an_interval(name):
    robot = ROBOTS[name]
    space = VariableSpace(robot)
    shares = np.linspace(0, 1, 7)
    travels = np.empty((count_pieces(robot.packed), TRAVEL_SIZE))
    pieces = np.zeros((len(travels), ROW_SIZE))
    used = []
    for a, b in space.variables(robot.sample(8, seed=6)).reshape(-1, 2, space.model.variables):
        write_travels(robot.packed, a, b, travels)
        for t, h in ((0.5, 0.5), (0.4, 0.1), (0.7, 0.01)):
            write_body(robot.packed, a + t * (b - a), b - a, len(pieces), pieces)
            bounds = np.array([widths(piece, travels, i, h) for i, piece in enumerate(pieces)])
            assert (bounds <= h * travels[:, [NEAR, FAR]]).all()
            times = t + h * np.linspace(-1, 1, 9)
            points = material_points(robot, space.coordinates(a + times[:, None] * (b - a)))
            moved = np.linalg.norm(points - points[4], axis=3).max(axis=0)
            here = bounds[:, :1] + shares * (bounds[:, 1:] - bounds[:, :1])
            assert (moved <= here * (1 + 1e-9) + 1e-13).all()
        used.append((moved[:, -1] / np.maximum(bounds[:, 1], 1e-300), bounds[:, 1] / (h * travels[:, FAR] + 1e-300)))
    if name == "arm":
        exact, share = np.mean(used, axis=0)
        # The first link after the first joint lies on its axis: it does not move. Links are known best.
        assert bounds[1, 1] == 0.0
        assert exact[2:5].min() > 0.9
        assert share[2:].max() < 0.8


@pytest.mark.parametrize("name", ROBOTS)
def test_pieces_are_those_of_the_configuration(name):
    robot = ROBOTS[name]
    Q = robot.sample(5, seed=5)
    Q[0] = robot.neutral
    expected = np.zeros((len(Q), len(robot.packed), layout.PIECE_SIZE))
    counts = np.empty(len(Q), dtype=np.int64)
    bodies(0, len(Q), robot.packed, Q, expected, counts)
    read = [k for k in range(layout.PIECE_SIZE) if k not in (layout.ELEMENT, layout.BEFORE, layout.WHOLE)]
    for v, rows, count in zip(VariableSpace(robot).variables(Q), expected, counts, strict=True):
        pieces = np.zeros((count_pieces(robot.packed), ROW_SIZE))
        write_body(robot.packed, v, 0 * v, len(pieces), pieces)
        present = pieces[:, layout.LENGTH] > 0.0
        assert present.sum() == count
        # A direction of a straight section is arbitrary; its axis is not.
        bent = pieces[present, layout.BEND] > 0.0
        np.testing.assert_allclose(pieces[present][bent][:, read], rows[:count][bent][:, read], atol=1e-12)
        axis = [*range(layout.NORMAL), *range(layout.LENGTH, layout.RADIUS + 1)]
        np.testing.assert_allclose(pieces[present][:, axis], rows[:count][:, axis], atol=1e-12)


@pytest.mark.parametrize("share", [0.02, 0.3])
@pytest.mark.parametrize("name", ["fixed", "sub-arcs", "joints", "arm"])
def test_a_pair_comes_no_nearer_than_its_bound(name, share):
    """Distances sampled along motions to both sides, against balls, a box, a capsule, a plane and the body itself."""
    robot = ROBOTS[name]
    reach = robot.reach
    shapes = [*balls(robot, 5, seed=7), ar.Box((0.3 * reach,) * 3, (0.6 * reach, 0.2 * reach, 0.3 * reach))]
    shapes += [ar.Capsule((0, 0.6 * reach, 0), (0, 0.6 * reach, reach), 0.05 * reach)]
    scene = ar.Scene([*shapes, ar.HalfSpace((0, 0, -0.7 * reach), (0, 0, 1))])
    space = VariableSpace(robot)
    world = MotionCheck(space, scene, 0.0, own=True).world
    work = new_work(robot.packed, space.model.variables, world.spheres.shape[1])
    pieces, margin = len(work.pieces), share * reach
    seen = set()
    for a, b in space.variables(robot.sample(4, seed=8)).reshape(-1, 2, space.model.variables):
        write_travels(robot.packed, a, b, work.travels)
        for h in (0.03, 0.2):
            write_body(robot.packed, 0.5 * (a + b), b - a, pieces, work.pieces)
            count = add_candidates(world, work, h, margin, 0)
            pairs = work.pairs[:count].copy()
            # Pairs that are left out stay beyond the margin.
            bounds = dict.fromkeys(itertools.product(range(pieces), range(len(scene))), np.inf)
            bounds |= {(i, k): measure(world, work, i, k, h, margin)[1] for i, k in pairs.tolist()}
            seen |= {slack < np.inf for slack in bounds.values()}
            for t in np.linspace(0.5 - h, 0.5 + h, 5):
                write_body(robot.packed, a + t * (b - a), b - a, pieces, work.pieces)
                for (i, k), slack in bounds.items():
                    gap, _ = measure(world, work, i, k, 0.0, np.inf)
                    assert gap >= min(slack, margin) - 3 * world.tolerance
    assert seen == {True, False}


@pytest.mark.compiled
@pytest.mark.parametrize("name", ROBOTS)
def test_a_certificate_is_below_what_dense_samples_find(name):
    robot = ROBOTS[name]
    space = VariableSpace(robot)
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
            assert found.min() <= 2 * RESOLUTION * robot.moving_reach + TOLERANCE + travel / 400
    assert min(seen.values()) > 0


def test_a_margin_is_kept_and_a_configuration_is_a_motion_to_itself():
    robot = ROBOTS["fixed"]
    space = VariableSpace(robot)
    scene = ar.Scene([ar.Sphere((0.03, 0.0, 0.07), 0.01)])
    straight = space.variables(robot.neutral[None])
    distance = float(ar.clearance(robot, robot.neutral, scene))
    check = MotionCheck(space, scene, 0.0)
    assert check.keeps(straight, 0.999 * distance - TOLERANCE).tolist() == [True]
    assert check.keeps(straight, 1.001 * distance).tolist() == [False]


def test_a_motion_stays_inside_the_limits_and_ends_where_it_should():
    robot = ROBOTS["variable"]
    Q = robot.sample(6, seed=4)
    motion = motion_between(robot, Q, 101)
    assert robot.within_limits(motion).all()
    np.testing.assert_allclose(robot.tip_pose(motion[[0, -1]]), robot.tip_pose(Q[[0, -1]]), atol=1e-12)


def test_a_continuous_joint_goes_the_shorter_way_round():
    robot = ar.Robot([ar.Revolute(lower=-np.inf, upper=np.inf), ar.Link((0.1, 0, 0))])
    motion = motion_between(robot, [[3.0], [-3.0]], 21)
    assert (np.abs(motion) >= 3.0 - 1e-12).all()


def test_a_motion_keeps_narrower_limits_of_a_continuous_joint():
    robot = ar.Robot([ar.Revolute(lower=-np.inf, upper=np.inf, name="turn"), ar.Link((0.1, 0, 0))])
    motion = motion_between(robot, [[2.5], [-2.5]], 21, {"turn": (-3.0, 3.0)})
    np.testing.assert_allclose(motion, np.linspace(2.5, -2.5, 21)[:, None], atol=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["fixed", "variable", "arm"])
def test_clearances_of_blocked_motions_are_lower_bounds(name):
    robot = ROBOTS[name]
    space = VariableSpace(robot)
    scene = balls(robot, 40, seed=2)
    V = space.variables(robot.sample(20, seed=3))
    free, bounds = MotionCheck(space, scene, 0.0).clearances(V)
    assert not free.all()
    for a, b, bound in zip(V[:-1], V[1:], bounds, strict=True):
        motion = space.coordinates(a + np.linspace(0, 1, 100)[:, None] * (b - a))
        assert bound <= ar.clearance(robot, motion, scene).distance.min()
