"""Solving through a port: kept by sampling, honest statuses, and errors that name the field."""

import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError, TargetError
from arcreach.ik.solution import Status

RADIUS = 1e-3


def sampled(robot, q, point, points=1000):
    """The least distance of a point from the segments between samples of the body."""
    line = robot.backbone(q, points)
    first, step = line[:-1], np.diff(line, axis=0)
    square = np.maximum((step**2).sum(axis=1), 1e-30)
    at = np.clip(((point - first) * step).sum(axis=1) / square, 0.0, 1.0)
    return float(np.linalg.norm(first + at[:, None] * step - point, axis=1).min())


def inserted():
    return ar.load_robot("inserted-three-section")


def arm():
    shaft = ar.Link([0.0, 0.0, 0.15], name="shaft")
    return ar.Robot([*ar.load_robot("panda").elements, shaft, ar.Section(length=0.1, bend_max=math.pi / 2)], "arm")


@pytest.mark.compiled
@pytest.mark.parametrize(("make", "share"), [(inserted, 0.2), (arm, 0.85)])
@pytest.mark.parametrize("kind", ["position", "axis", "rotation"])
@pytest.mark.parametrize("with_axis", [False, True])
def test_targets_that_exist_are_reached_through_the_port(make, share, kind, with_axis):
    robot, rng = make(), np.random.default_rng(2)
    q = robot.sample(20, seed=2)
    for pose, line in zip(robot.tip_pose(q), robot.backbone(q, 400), strict=True):
        k = rng.integers(int(share * 399), 398)
        port = ar.Port(line[k] + 0.4 * RADIUS, line[k + 1] - line[k] if with_axis else None, radius=RADIUS)
        found = ar.solve(robot, ar.Targets.from_poses(pose[None], kind)[0], through=port)
        assert found.reached
        assert found.check().reached
        assert robot.within_limits(found.q)
        assert sampled(robot, found.q, port.point) <= RADIUS + 1e-6
        passage = port.passage(robot, found.q)
        assert passage.kept[0]
        assert found.port_distance == passage.distance[0] <= RADIUS
        if with_axis:
            assert passage.angle[0] <= port.axis_tol


def test_the_passage_is_the_nearest_point():
    robot = inserted()
    q, point = robot.sample(6, seed=1), np.array([0.02, 0.01, 0.08])
    found = ar.Port(point, radius=RADIUS).passage(robot, q)
    for row, distance, at in zip(q, found.distance, found.point, strict=True):
        assert distance == pytest.approx(sampled(robot, row, point, 4000), abs=1e-7)
        assert np.linalg.norm(at - point) == pytest.approx(distance, abs=1e-12)
    assert not found.kept.any()
    assert found.angle is None


def test_a_batch_equals_single_solves():
    robot, port = inserted(), ar.Port([0.0, 0.0, 0.07], radius=RADIUS)
    points = [[0.03, 0.0, 0.12], [0.0, 0.02, 0.13]]
    batch = ar.solve_batch(robot, points, through=port)
    for point, one in zip(points, batch, strict=True):
        alone = ar.solve(robot, point, through=port)
        np.testing.assert_array_equal(one.q, alone.q)
        assert one.port_distance == alone.port_distance


@pytest.mark.compiled
def test_a_port_that_cannot_be_kept_is_a_status():
    robot = inserted()
    for point in ([0.05, 0.0, 0.01], [0.5, 0.0, 0.0]):
        found = ar.solve(robot, [0.03, 0.0, 0.12], through=ar.Port(point, radius=RADIUS))
        assert found.status is Status.PORT_MISSED
        assert not found.reached
        assert found.position_error <= 1e-6
        assert found.port_distance == pytest.approx(sampled(robot, found.q, np.array(point)), abs=1e-6)
        assert "misses the port" in str(found)
        assert found.check(position_tol=1.0).status is Status.PORT_MISSED


@pytest.mark.compiled
def test_obstacles_and_a_port_are_kept_together():
    robot, port = inserted(), ar.Port([0.0, 0.0, 0.07], radius=RADIUS)
    alone = ar.solve(robot, [0.03, 0.0, 0.12], through=port)
    ball = ar.Sphere(robot.backbone(alone.q, 100)[84], 0.004)
    found = ar.solve(robot, [0.03, 0.0, 0.12], through=port, scene=ball)
    assert found.reached
    assert found.clearance >= 0.0
    assert found.port_distance <= RADIUS


def test_only_named_elements_pass():
    robot = inserted()
    port = ar.Port([0.0, 0.0, 0.02], radius=RADIUS, first="section-2")
    straight = robot.neutral
    assert ar.Port([0.0, 0.0, 0.02], radius=RADIUS).passage(robot, straight).element == ("insertion",)
    assert port.passage(robot, straight).element == ("section-2",)
    with pytest.raises(MethodError, match="first = 'shaft' is not an element"):
        ar.solve(robot, [0.0, 0.0, 0.1], through=ar.Port([0.0, 0.0, 0.02], first="shaft"))


def test_other_methods_are_checked():
    found = ar.solve(inserted(), [0.03, 0.0, 0.12], "jacobian", through=ar.Port([0.05, 0.0, 0.01]))
    assert found.status is Status.PORT_MISSED
    assert found.port_distance > RADIUS


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("point", ([0.0, 0.0], [0.0, 0.0, math.nan], "0,0,0")),
        ("axis", ([0.0, 0.0, 0.0], [1.0])),
        ("radius", (0.0, -1.0, math.inf, "1mm")),
        ("axis_tol", (0.0, math.nan, 20.0)),
        ("first", (3,)),
    ],
)
def test_bad_ports_are_refused(field, values):
    for value in values:
        with pytest.raises(TargetError, match=field):
            ar.Port(**{"point": [0.0, 0.0, 0.1], field: value})


def test_bad_use_is_refused():
    with pytest.raises(TargetError, match="through"):
        ar.solve(inserted(), [0.0, 0.0, 0.1], through=[0.0, 0.0, 0.05])
    port = ar.Port([0.0, 0.0, 0.05], first="shaft")
    with pytest.raises(MethodError, match="first = 'shaft' is not an element"):
        port.passage(inserted(), inserted().neutral)
    with pytest.raises(MethodError, match="give a Robot"):
        port.passage(ar.load_robot("librergm3-matrix"), [0.0, 0.0, 1.0])
    with pytest.raises(MethodError, match="leave the port out"):
        ar.solve(ar.load_robot("librergm3-matrix"), [0.0, 0.0, 1.0], "hierarchical", through=ar.Port([0.0, 0.0, 0.05]))
