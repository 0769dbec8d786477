"""Pulls of tendons against integrated curves, and the configurations that pulls produce."""

import dataclasses
import math

import numpy as np
import pytest
from tests.reference import rot_y, rot_z

import arcreach as ar

BACKBONE = {"radius": 0.0045, "angle": 0.0}


def three_tendons(offset=0.0, **fields):
    return [ar.Tendon(0.0045, math.radians(angle) + offset, **fields) for angle in (0, 120, 240)]


def driven_robot(stretch=0.0, **fields):
    """Three sections with three tendons each, turned against each other."""
    return ar.Robot(
        [
            ar.Section(
                0.06,
                2.5,
                stretch=stretch,
                bending_stiffness=2e-3,
                axial_stiffness=200.0,
                tendons=three_tendons(offset, **fields),
            )
            for offset in (0.0, 0.7, 1.4)
        ]
    )


def random_robot(rng, fewest=1):
    """A random robot with `fewest` to three tendons per section."""
    elements = []
    if rng.random() < 0.3:
        elements.append(ar.Prismatic(0, 0.1, (0, 0, 1)))
    if rng.random() < 0.3:
        elements.append(ar.Revolute((0, 0, 1)))
    for number in range(rng.integers(1, 4)):
        arcs = rng.integers(1, 4)
        tendons = [
            ar.Tendon(
                rng.uniform(0.002, 0.006),
                rng.uniform(-3, 3),
                rate=rng.choice([0.0, rng.uniform(-60, 60)]),
                discs=int(rng.choice([0, rng.integers(1, 12)])),
            )
            for _ in range(rng.integers(fewest, 4))
        ]
        weights = {"length_weights": rng.uniform(0.2, 1, arcs), "bend_weights": rng.uniform(0, 1, arcs)}
        stretch = rng.choice([0.0, 0.03])
        elements.append(ar.Section(rng.uniform(0.03, 0.1), rng.uniform(0.3, 2.0), stretch, tendons=tendons, **weights))
        if rng.random() < 0.4:
            elements.append(ar.Link((0, 0, 0.01), rot_z(rng.uniform(-3, 3))[:3, :3]))
        if rng.random() < 0.2:
            elements.append(ar.Prismatic(0, 0.02, (0, 0, 1), name=f"slide-{number}"))
    return ar.Robot(elements)


def starting_angles(robot, tendon, end):
    """The angle and the turn of a tendon in every section it passes, by the index of the element."""
    found, angle = {}, tendon.angle
    for i in range(end, -1, -1):
        element = robot.elements[i]
        if isinstance(element, ar.Section):
            turn = tendon.rate * (element.length + 0.5 * element.stretch)
            angle -= turn if i != end else 0.0
            found[i] = angle, turn
        elif isinstance(element, ar.Link):
            angle += math.atan2(element.rotation[1][0], element.rotation[0][0])
    return found


def hole(section, q, radius, angle, share):
    """The point of a tendon at a share of its section's length, in the frame at the section's base."""
    bend, direction = q[:2]
    length = q[2] if section.stretch > 0.0 else section.length
    x = z = turned = 0.0
    left = share
    lengths = np.divide(section.length_weights, sum(section.length_weights))
    bends = np.divide(section.bend_weights, sum(section.bend_weights))
    for part, bent in zip(lengths, bends, strict=True):
        here = min(left, part)
        arc = bend * bent * here / part
        x += length * here * np.sinc(0.5 * arc / np.pi) * math.sin(turned + 0.5 * arc)
        z += length * here * np.sinc(0.5 * arc / np.pi) * math.cos(turned + 0.5 * arc)
        turned += arc
        left -= here
    plane = rot_z(direction)[:3, :3]
    frame = plane @ rot_y(turned)[:3, :3] @ plane.T
    return plane @ [x, 0.0, z] + frame @ [radius * math.cos(angle), radius * math.sin(angle), 0.0]


def integrated_length(robot, q, tendon, end, steps=100):
    """The length of a tendon by the polygons of its routed curve, extrapolated to zero step."""
    total = 0.0
    for i, (angle, turn) in starting_angles(robot, tendon, end).items():
        section, k = robot.indexed_elements()[i]

        def polygon(edges, section=section, q=q[k : k + 3], angle=angle, turn=turn):
            points = [hole(section, q, tendon.radius, angle + turn * share, share) for share in edges]
            return np.linalg.norm(np.diff(points, axis=0), axis=1).sum()

        if tendon.discs:
            total += polygon(np.linspace(0, 1, tendon.discs + 1))
            continue
        ends = np.concatenate([[0.0], np.cumsum(np.divide(section.length_weights, sum(section.length_weights)))])
        for low, high in zip(ends[:-1], np.minimum(ends[1:], 1.0), strict=True):
            coarse, middle, fine = (polygon(np.linspace(low, high, n + 1)) for n in (steps // 4, steps // 2, steps))
            once, twice = middle + (middle - coarse) / 3, fine + (fine - middle) / 3
            total += twice + (twice - once) / 15
    first = min(starting_angles(robot, tendon, end))
    for element, k in robot.indexed_elements()[first:end]:
        if isinstance(element, ar.Prismatic):
            total += q[k]
    return total


def integrated_pulls(robot, q):
    """The pulls of all tendons by `integrated_length`."""
    return np.array(
        [
            integrated_length(robot, robot.neutral, tendon, i) - integrated_length(robot, q, tendon, i)
            for i, element in enumerate(robot.elements)
            if isinstance(element, ar.Section)
            for tendon in element.tendons
        ]
    )


@pytest.mark.parametrize("seed", range(12))
def test_pulls_are_those_of_the_routed_curves(seed):
    robot = random_robot(np.random.default_rng(seed))
    q = robot.sample(1, seed=seed)[0]
    assert np.allclose(robot.pulls(q), integrated_pulls(robot, q), rtol=0, atol=1e-9 * robot.reach)


@pytest.mark.parametrize("turning", [0.0, 20.0])
@pytest.mark.parametrize("lengths", [(0, 1, 0, 1), (1, 0, 1, 0), (2, 0, 1, 3)])
def test_sections_may_bend_at_points(lengths, turning):
    tendons = three_tendons(rate=turning, discs=5)

    def section(lengths):
        return ar.Robot([ar.Section(0.1, 2.0, length_weights=lengths, bend_weights=(1, 2, 1, 0), tendons=tendons)])

    robot, nearly = section(lengths), section(np.maximum(lengths, 1e-8))
    Q = robot.sample(5, seed=1)
    assert np.allclose(robot.pulls(Q), nearly.pulls(Q), rtol=0, atol=1e-9)
    assert np.allclose(robot.pull_jacobian(Q), nearly.pull_jacobian(Q), rtol=0, atol=1e-9)
    assert np.array_equal(robot.pulls(Q)[0], robot.pulls(Q[0]))
    found = robot.from_pulls(robot.pulls(Q))
    assert np.abs(found.residual).max() < 1e-12


@pytest.mark.parametrize("stretch", [0.0, 0.02])
@pytest.mark.parametrize("lengths", [(1, 0), (0, 1), (2, 0, 1)])
def test_helical_tendons_are_smooth_where_a_section_bends_at_a_point(lengths, stretch):
    def section(rate):
        tendons = [ar.Tendon(0.008, angle, rate=rate) for angle in (0.0, 2.1, 4.2)]
        bends = np.ones(len(lengths))
        return ar.Robot([ar.Section(0.1, 1.5, stretch, length_weights=lengths, bend_weights=bends, tendons=tendons)])

    robot = section(30.0)
    Q = robot.sample(20, seed=0)
    # A tendon that hardly turns has the pulls of one that runs parallel to the backbone.
    assert np.allclose(section(1e-9).pulls(Q), section(0.0).pulls(Q), rtol=0, atol=1e-12)
    # A small bend in the opposite direction changes the pulls by as much, with the other sign.
    Q[0, 0], h = 0.0, 1e-5
    ahead, back = Q[0].copy(), Q[0].copy()
    ahead[0], back[0], back[1] = h, h, Q[0, 1] + math.pi
    slopes = (robot.pulls(ahead) - robot.pulls(back)) / (2 * h)
    assert np.allclose(robot.pull_jacobian(Q[0])[:, 0], slopes, rtol=0, atol=1e-9)
    # At zero bend the tables that batches share are used for other routes.
    assert np.array_equal(robot.pulls(Q), [robot.pulls(q) for q in Q])
    assert np.array_equal(robot.pull_jacobian(Q), [robot.pull_jacobian(q) for q in Q])
    found = robot.from_pulls(robot.pulls(Q))
    assert np.abs(found.residual).max() < 1e-12


@pytest.mark.parametrize("seed", range(12))
def test_the_jacobian_of_the_pulls_is_their_derivative(seed):
    robot = random_robot(np.random.default_rng(seed))
    q = robot.sample(1, seed=seed)[0]
    h = 1e-6
    differences = [(robot.pulls(q + h * unit) - robot.pulls(q - h * unit)) / (2 * h) for unit in np.eye(robot.dof)]
    assert np.allclose(robot.pull_jacobian(q), np.transpose(differences), atol=1e-8)


def test_a_batch_equals_single_calls():
    robot = random_robot(np.random.default_rng(3))
    Q = robot.sample(50, seed=0)
    assert np.array_equal(robot.pulls(Q), [robot.pulls(q) for q in Q])
    assert np.array_equal(robot.pull_jacobian(Q), [robot.pull_jacobian(q) for q in Q])


def test_tendons_are_coupled_through_all_sections_before_theirs():
    robot = driven_robot()
    q = np.array([0.8, 0.3, 0.0, 0.0, 0.0, 0.0])
    pulls = robot.pulls(q)
    for j, element in enumerate(robot.elements):
        for k, tendon in enumerate(element.tendons):
            assert pulls[3 * j + k] == pytest.approx(0.0045 * 0.8 * math.cos(0.3 - tendon.angle))


@pytest.mark.parametrize("stretch", [0.0, 0.02])
def test_pulls_give_the_configuration_back(stretch):
    robot = driven_robot(stretch)
    Q = robot.sample(40, seed=1)
    found = robot.from_pulls(robot.pulls(Q))
    assert np.abs(found.residual).max() < 1e-12
    assert np.allclose(robot.tip_pose(found.q), robot.tip_pose(Q), atol=1e-9)


@pytest.mark.compiled
@pytest.mark.parametrize("seed", [10349, 10932])
def test_helical_tendons_are_inverted_from_other_starts(seed):
    """From rest the search ends at a local minimum."""
    robot = random_robot(np.random.default_rng(seed), fewest=3)
    q = robot.sample(1, seed=seed - 10_000)[0]
    found = robot.from_pulls(robot.pulls(q), q=q)
    assert np.abs(found.residual).max() < 1e-12
    assert np.allclose(robot.frames(found.q), robot.frames(q), atol=1e-9)


def test_pulls_that_do_not_fit_together_leave_a_residual():
    robot = driven_robot()
    found = robot.from_pulls(np.full(9, 0.002))
    assert np.allclose(found.residual, 0.002, atol=1e-12)
    assert np.allclose(found.q[::2], 0.0, atol=1e-9)


def spring_energy(robot, v, pulled, pretension, stiffness):
    q = np.zeros(robot.dof)
    q[0::2], q[1::2] = np.hypot(v[0::2], v[1::2]), np.arctan2(v[1::2], v[0::2])
    stretched = np.maximum(0.0, pulled + pretension / stiffness - robot.pulls(q))
    return 0.5 * np.sum(v**2) * 2e-3 / 0.06 + 0.5 * stiffness * np.sum(stretched**2)


def test_an_elastic_equilibrium_is_the_minimum_of_the_energy():
    optimize = pytest.importorskip("scipy.optimize")
    robot = driven_robot(stiffness=5e3, pretension=1.0)
    P = robot.pulls(robot.sample(10, seed=2))
    found = robot.from_pulls(P, elastic=True)
    for q, pulled, slack, tensions in zip(found.q, P, found.slack, found.tensions, strict=True):
        v = np.empty(6)
        v[0::2], v[1::2] = q[0::2] * np.cos(q[1::2]), q[0::2] * np.sin(q[1::2])
        best = optimize.minimize(lambda v, pulled=pulled: spring_energy(robot, v, pulled, 1.0, 5e3), v * 0.0)
        assert spring_energy(robot, v, pulled, 1.0, 5e3) <= best.fun * (1 + 1e-9)
        assert (tensions >= 0.0).all()
        assert np.array_equal(slack, tensions == 0.0)
    assert found.slack.any()


def smooth(robot, q):
    """Bend vectors and, where they vary, lengths of a robot of sections."""
    v = []
    for section, k in robot.indexed_elements():
        v += [q[k] * math.cos(q[k + 1]), q[k] * math.sin(q[k + 1])]
        v += [q[k + 2]] if section.stretch else []
    return np.array(v)


@pytest.mark.parametrize("fields", [{"discs": 1}, {"discs": 4}, {"rate": 40.0}, {"rate": 40.0, "discs": 5}])
@pytest.mark.parametrize("stretch", [0.0, 0.02])
def test_forces_of_sections_and_tendons_balance(fields, stretch):
    """The gradient of the energy is zero: bending moments are tensions times the slopes of the pulls."""
    robot = driven_robot(stretch, stiffness=5e3, pretension=1.0, **fields)
    P = robot.pulls(robot.sample(6, seed=3)) + np.random.default_rng(0).normal(0.0, 1e-3, (6, 9))
    found = robot.from_pulls(P, elastic=True)
    unit = np.array([0.06, 0.06, 1.0][: 3 if stretch else 2] * 3)
    rest = np.array([0.0, 0.0, 0.06 + 0.5 * stretch][: 3 if stretch else 2] * 3)
    stiffness = np.array([2e-3, 2e-3, 200.0][: 3 if stretch else 2] * 3) / (0.06 + 0.5 * stretch)
    for q, tensions in zip(found.q, found.tensions, strict=True):
        v = smooth(robot, q)
        # By differences of the pulls in bend vectors and lengths.
        slopes = np.transpose([pulls_at(robot, v + d) - pulls_at(robot, v - d) for d in 1e-6 * np.eye(len(v))]) / 2e-6
        np.testing.assert_allclose(unit * (stiffness * (v - rest) - tensions @ slopes), 0.0, atol=2e-10)


def pulls_at(robot, v):
    q, i = robot.neutral.copy(), 0
    for section, k in robot.indexed_elements():
        q[k], q[k + 1] = math.hypot(v[i], v[i + 1]), math.atan2(v[i + 1], v[i])
        if section.stretch:
            q[k + 2] = v[i + 2]
        i += 3 if section.stretch else 2
    return robot.pulls(q)


@pytest.mark.parametrize("fields", [{"discs": 1}, {"discs": 6}, {"rate": 20.0}])
def test_what_no_pull_determines_stays_near_rest(fields):
    """One tendon bends a section towards itself, and not across."""
    robot = ar.Robot([ar.Section(0.06, 2.5, tendons=[ar.Tendon(0.0045, 0.7, **fields)])])
    wanted = robot.pulls([0.4, 0.7])
    found = robot.from_pulls(wanted)
    assert np.abs(found.residual).max() < 1e-15
    middle = 0.7 + 0.5 * fields.get("rate", 0.0) * 0.06
    assert found.q[0] < 1.0
    assert abs(found.q[0] * math.sin(found.q[1] - middle)) < 1e-3


def test_a_rigid_tendon_that_is_met_exactly_stays_taut():
    """A residual of exactly zero does not take a tendon out of the equations."""
    robot = driven_robot()
    Q = robot.sample(300, seed=1)
    found = robot.from_pulls(robot.pulls(Q))
    assert np.abs(found.residual).max() < 1e-14


def test_configurations_for_pulls_are_printed_in_one_line():
    robot = driven_robot(stiffness=1e4)
    one = [3e-3, -3e-3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    rigid, elastic = robot.from_pulls(one), robot.from_pulls(one, elastic=True)
    assert str(rigid).startswith("9 rigid tendons; largest residual ")
    slack, most = int(elastic.slack.sum()), elastic.tensions.max()
    assert str(elastic).endswith(f"; tensions 0 to {most:.3g} N, {slack} slack")
    assert repr(elastic) == f"<Equilibrium: {elastic}>"
    first = elastic.describe().splitlines()[1].split()
    assert first[0] == "section-1.bend"
    assert float(first[1].rstrip("°")) == pytest.approx(np.degrees(elastic.q[0]), rel=1e-5)
    batch = robot.from_pulls([one, one], elastic=True)
    assert "9 elastic tendons, 2 configurations; " in batch.describe()
    assert str(batch).endswith(", some slack")


def test_rods_push_and_tendons_do_not():
    pulled = np.zeros(9)
    pulled[0] = -0.003
    slack = driven_robot(stiffness=5e3).from_pulls(pulled, elastic=True)
    assert slack.slack.all()
    assert np.allclose(slack.q[::2], 0.0)
    pushed = driven_robot(stiffness=5e3, transmits="both").from_pulls(pulled, elastic=True)
    assert pushed.tensions[0] < 0.0
    assert pushed.q[0] > 0.01


def test_what_a_tendon_cannot_pass_is_refused():
    section = ar.Section(0.05, 1.0, tendons=three_tendons())
    plain = ar.Section(0.05, 1.0)
    for between, words in (
        (ar.Revolute((0, 0, 1)), "joint that turns"),
        (ar.Link((0, 0, 0.01), rot_y(0.2)[:3, :3]), "tilts"),
        (ar.Prismatic(0, 0.02, (1, 0, 0)), "slides across"),
        (ar.Prismatic(0, 0.02, (0, 0, -1)), r"or against the backbone.*\+z"),
        (ar.Section(0.05, 1.0, twist=True), "turns at its base"),
    ):
        with pytest.raises(ar.RobotError, match=words):
            ar.Robot([plain, between, section])
    assert ar.Robot([ar.Revolute((0, 0, 1)), section]).tendons == tuple(f"section-1.tendon-{k}" for k in (1, 2, 3))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"angle": 120.0}, r"radians.*math\.radians"),
        ({"radius": 0.0}, "above 0"),
        ({"radius": -1e-3}, "above 0"),
        ({"discs": 2.5}, "whole number"),
        ({"transmits": "twist"}, "'pull', 'push' or 'both'"),
        ({"pull_min": 0.01}, "rest pose"),
        ({"pull_max": -0.01}, "rest pose"),
        ({"stiffness": 0.0}, "above 0"),
        ({"pretension": -1.0}, "0 or more"),
        ({"rate": math.inf}, "finite"),
    ],
)
def test_bad_fields_are_named(fields, words):
    with pytest.raises(ar.RobotError, match=words):
        ar.Tendon(**{**BACKBONE, **fields})


def test_names_must_differ_and_bad_pulls_are_refused():
    section = ar.Section(0.05, 1.0, tendons=[dataclasses.replace(t, name="left") for t in three_tendons()])
    with pytest.raises(ar.RobotError, match=r"'section-1\.left' is used 3 times"):
        ar.Robot([section])
    with pytest.raises(ar.RobotError, match="no tendons"):
        ar.load_robot("three-section").pulls(np.zeros(6))
    robot = driven_robot()
    for bad in (np.zeros(8), [math.nan] * 9, "pull"):
        with pytest.raises(ar.ConfigurationError, match=r"shape \(9,\)"):
            robot.from_pulls(bad)
    with pytest.raises(ar.ConfigurationError, match="q has 3 rows and pulls has 4"):
        robot.from_pulls(np.zeros((4, 9)), q=robot.sample(3, seed=0))
    with pytest.raises(ar.RobotError, match="newtons per metre"):
        robot.from_pulls(np.zeros(9), elastic=True)


def test_tendons_do_not_change_what_the_robot_does():
    robot, bare = driven_robot(), ar.Robot([ar.Section(0.06, 2.5)] * 3)
    Q = robot.sample(20, seed=0)
    assert np.array_equal(robot.tip_pose(Q), bare.tip_pose(Q))
    target = ar.Target(robot.tip_pose(Q[0])[:3, 3])
    assert np.array_equal(ar.solve(robot, target).q, ar.solve(bare, target).q)


@pytest.mark.parametrize("seed", [*range(12), 10_100, 10_135, 10_270])
def test_the_search_sees_the_pulls_of_single_calls(seed):
    """It sums tables of nodes and series of gaps, single calls do not. The last three mix straight and turning ones."""
    robot = random_robot(np.random.default_rng(seed), fewest=3)
    q = robot.sample(1, seed=seed)[0]
    wanted = robot.pulls(q)
    found = robot.from_pulls(wanted, q=q)
    assert np.allclose(wanted - found.residual, robot.pulls(found.q), rtol=0, atol=1e-14 * max(1.0, robot.reach))


@pytest.mark.parametrize("bend", [0.0, 0.8, 2.2, 5.0])
@pytest.mark.parametrize("fields", [{"rate": 45.0}, {"rate": 45.0, "discs": 3}, {"discs": 2}])
def test_batches_have_the_bits_of_single_calls_at_all_bends(bend, fields):
    """Rules of quadrature change with the bend."""
    weights = {"length_weights": (1.0, 2.0), "bend_weights": (2.0, 1.0)}
    tendons = [ar.Tendon(0.006, angle, **fields) for angle in (0.3, 2.4, 4.5)]
    robot = ar.Robot([ar.Section(0.04, 6.0, 0.02, tendons=tendons, **weights)])
    Q = np.column_stack([np.full(7, bend), np.linspace(-3, 3, 7), np.linspace(0.04, 0.06, 7)])
    assert np.array_equal(robot.pulls(Q), [robot.pulls(q) for q in Q])
    assert np.array_equal(robot.pull_jacobian(Q), [robot.pull_jacobian(q) for q in Q])
    for q in Q:
        assert np.allclose(robot.pulls(q), integrated_pulls(robot, q), rtol=0, atol=1e-9 * robot.reach)
