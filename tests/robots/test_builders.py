import math

import numpy as np
import pytest
from tests.reference import rot_x, rot_z, shift

import arcreach as ar

RNG = np.random.default_rng(5)
ROWS = [
    {"a": a, "alpha": alpha, "d": d, "theta": theta, "kind": kind, "lower": -1.0, "upper": 1.0}
    for (a, alpha, d, theta), kind in zip(
        RNG.normal(size=(5, 4)), ["revolute", "prismatic", "revolute", "revolute", "prismatic"], strict=True
    )
]


def dh_product(rows, q, convention):
    pose = np.eye(4)
    for row, value in zip(rows, q, strict=True):
        theta = row["theta"] + (value if row["kind"] == "revolute" else 0.0)
        d = row["d"] + (value if row["kind"] == "prismatic" else 0.0)
        along_z = rot_z(theta) @ shift((0, 0, d))
        along_x = shift((row["a"], 0, 0)) @ rot_x(row["alpha"])
        pose = pose @ (along_z @ along_x if convention == "standard" else along_x @ along_z)
    return pose


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_dh_equals_the_product_of_its_matrices(convention):
    robot = ar.Robot.from_dh(ROWS, convention=convention)
    for q in robot.sample(20, seed=0):
        np.testing.assert_allclose(robot.tip_pose(q), dh_product(ROWS, q, convention), atol=1e-14)


def test_dh_rows_may_be_tuples():
    rows = [(0.1, math.pi / 2, 0.2, 0.3)]
    assert ar.Robot.from_dh(rows) == ar.Robot.from_dh([{"a": 0.1, "alpha": math.pi / 2, "d": 0.2, "theta": 0.3}])


def test_quarter_turns_of_a_dh_table_are_exact():
    robot = ar.Robot.from_dh([{"alpha": math.pi / 2}, {"theta": -math.pi}])
    for element in robot.elements[1::2]:
        assert set(np.abs(element.rotation).ravel()) <= {0.0, 1.0}


# Poses printed by the robots' own documentation or plain from their drawings.
@pytest.mark.parametrize(
    ("name", "q", "position"),
    [
        ("puma-560", [0] * 6, (0.4521, -0.15005, 0.67183 + 0.4318)),
        ("puma-560", [0, math.pi / 2, -math.pi / 2, 0, 0, 0], (0.0203, -0.15005, 0.67183 + 0.8636)),
        ("ur5", [0] * 6, (-0.81725, -0.19145, -0.005491)),
        ("iiwa-14", [0] * 7, (0, 0, 1.306)),
        ("panda", [0] * 7, (0.088, 0, 0.926)),
        ("era-like", [0] * 7, (11.0, 0, 0)),
        ("arm-8r", [0] * 8, (0, 0, 0.86)),
        ("rail-iiwa-14", [0.3] + [0] * 7, (0.3, 0, 1.306)),
        ("librergm3", [0, 0, math.pi / 2], (0.25, 0, 1.1)),
    ],
)
def test_known_positions(name, q, position):
    np.testing.assert_allclose(ar.load_robot(name).tip_pose(q)[:3, 3], position, atol=1e-9)


@pytest.mark.parametrize(
    ("rows", "convention", "words"),
    [
        (ROWS, "denavit", "convention = 'denavit'"),
        ("abc", "standard", "rows = 'abc'"),
        (5, "standard", "rows = 5"),
        ([(1, 2, 3)], "standard", "dh row 1: row = (1, 2, 3)"),
        ([7], "standard", "dh row 1: row = 7"),
        ([{"alpha": 90}], "modified", "alpha = 90 is not accepted; give radians"),
        ([{"b": 1}], "standard", "key = 'b'"),
        ([{"a": math.nan}], "standard", "a = nan"),
        ([{"kind": "screw"}], "standard", "kind = 'screw'"),
        ([{"kind": "prismatic", "lower": 0.0}], "standard", "upper = None"),
        ([], "standard", "at least one"),
        ([{}, {"lower": 2, "upper": 1}], "standard", "dh row 2: revolute: lower = 2"),
    ],
)
def test_bad_dh(rows, convention, words):
    with pytest.raises(ar.RobotError) as caught:
        ar.Robot.from_dh(rows, convention)
    assert words in str(caught.value)


def test_vectors_and_axes_are_those_of_the_zero_pose():
    vectors = [(0, 0, 0.3), (0.2, 0, 0), (0.1, 0.1, 0), (0, 0, 0)]
    axes = [(0, 0, 2), (0, 1, 0), (1, 0, 0), (0, 0, 1)]
    kinds = ["revolute", "parallelogram", "prismatic", "revolute"]
    robot = ar.Robot.from_vectors(vectors, axes, kinds, lower=[-1, -1, 0, -1], upper=[1, 1, 0.1, 1])
    np.testing.assert_allclose(robot.tip_pose([0] * 4), shift((0.3, 0.1, 0.3)), atol=1e-16)
    turned = rot_z(0.5) @ shift((0, 0, 0.3)) @ shift((0.2 * math.cos(0.4), 0, -0.2 * math.sin(0.4)))
    turned = turned @ shift((0.05, 0, 0)) @ shift((0.1, 0.1, 0)) @ rot_z(-0.2)
    np.testing.assert_allclose(robot.tip_pose([0.5, 0.4, 0.05, -0.2]), turned, atol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([], []), "vectors = []"),
        ((5, []), "vectors = 5"),
        (([(0, 0, 1)], []), "axes = []"),
        (([(0, 0, 1)], [(0, 0, 0)]), "axis = (0.0, 0.0, 0.0)"),
        (([(0, 0, 1)], [(0, 0, 1)], ["revolute", "revolute"]), "kinds"),
        (([(0, 0, 1)], [(0, 0, 1)], ["ball"]), "kind = 'ball'"),
        (([(0, 0, 1)], [(0, 0, 1)], ["prismatic"]), "lower = None"),
        (([(0, 0, 1)], [(0, 0, 1)], None, [1, 2], [3, 4]), "lower"),
        (([(0, 0, 1)], [(0, 0, 1)], None, [1], [0]), "joint 1: revolute: lower = 1 "),
        (([(0, 0, 1)] * 2, [(0, 0, 1)] * 2, None, [0, 3], [1, 2]), "joint 2: revolute: lower = 3"),
        (([(0, 0, 1)], [(0, 0, 1)], 5), "kinds = 5"),
        (([(0, 0, 1)], [(0, 0, 1)], "revolute"), "kinds = 'revolute'"),
        (([(0, 0, 1)], [(0, 0, 1)], None, [-math.inf], [1]), "joint 1: revolute: lower = -inf"),
    ],
)
def test_bad_vectors(arguments, words):
    with pytest.raises(ar.RobotError) as caught:
        ar.Robot.from_vectors(*arguments)
    assert words in str(caught.value)


def test_every_bad_row_is_named():
    with pytest.raises(ar.RobotError) as caught:
        ar.Robot.from_dh([{"a": math.nan, "lower": 9}, {}, {"d": "x"}])
    assert [problem.partition(" is not")[0] for problem in caught.value.problems] == [
        "dh row 1: a = nan",
        "dh row 1: revolute: lower = 9",
        "dh row 3: d = 'x'",
    ]


def test_vectors_may_have_continuous_joints():
    robot = ar.Robot.from_vectors([(0, 0, 1)] * 2, [(0, 0, 1)] * 2, lower=[-math.inf, -1], upper=[math.inf, 1])
    np.testing.assert_array_equal(robot.lower, [-math.inf, -1])
