import functools
import math
import pickle
import sys

import numpy as np
import pytest
import sympy as sp
from tests import reference

import arcreach as ar

a, b, d = sp.symbols("a b d")


def turn_and_slide():
    """Turn about z by a, slide along x by d, turn about z by b."""
    matrix = sp.eye(4)
    angle = a + b
    matrix[:2, :2] = sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])
    matrix[0, 3] = d * sp.cos(a)
    matrix[1, 3] = d * sp.sin(a)
    return matrix


def shifted(x):
    """Move along x."""
    matrix = sp.eye(4)
    matrix[0, 3] = x
    return matrix


@pytest.fixture(scope="module")
def robot():
    return ar.SymbolicRobot(
        turn_and_slide(), [a, d, b], [-3, 0, -3], [3, 0.5, 3], ["angle", "length", "angle"], name="planar"
    )


@pytest.fixture(scope="module")
def chain():
    return ar.Robot(
        [ar.Revolute(lower=-3, upper=3), ar.Prismatic(0, 0.5, axis=(1, 0, 0)), ar.Revolute(lower=-3, upper=3)]
    )


def test_pose_and_jacobian_equal_those_of_the_chain(robot, chain):
    Q = robot.sample(50, seed=0)
    np.testing.assert_allclose(robot.tip_pose(Q), chain.tip_pose(Q), atol=1e-15)
    np.testing.assert_allclose(robot.jacobian(Q), chain.jacobian(Q), atol=1e-15)
    np.testing.assert_array_equal(robot.tip_pose(Q[0]), robot.tip_pose(Q)[0])
    np.testing.assert_array_equal(robot.jacobian(Q[0]), robot.jacobian(Q)[0])


def test_the_article_s_matrix_equals_its_dh_table():
    matrix, chain = ar.load_robot("librergm3-matrix"), ar.load_robot("librergm3")
    Q = chain.sample(50, seed=0)
    np.testing.assert_allclose(matrix.tip_pose(Q), chain.tip_pose(Q), atol=1e-15)
    np.testing.assert_allclose(matrix.jacobian(Q), chain.jacobian(Q), atol=1e-15)
    np.testing.assert_allclose(matrix.jacobian(Q[3]), reference.difference_jacobian(chain, Q[3]), atol=1e-8)


def test_the_protocol_of_a_robot(robot):
    assert robot.coordinates == ("a", "d", "b")
    assert robot.quantities == ("angle", "length", "angle")
    assert robot.dof == 3
    assert robot.reach == math.inf
    assert robot.within_limits(robot.neutral)
    assert not robot.within_limits([4, 0, 0])
    np.testing.assert_array_equal(robot.within_limits([[0, 0, 0], [0, 1, 0]]), [True, False])
    np.testing.assert_array_equal(robot.clip([4, -1, 0]), [3, 0, 0])
    q = [0.3, 0.2, 0.1]
    frames = robot.frames(q)
    np.testing.assert_array_equal(frames[0], np.eye(4))
    np.testing.assert_array_equal(frames[1], robot.tip_pose(q))
    assert robot.frames([q, q]).shape == (2, 2, 4, 4)
    line = robot.backbone(q, points=5)
    np.testing.assert_allclose(line[2], frames[1, :3, 3] / 2, atol=1e-16)
    assert robot.backbone([q, q], points=5).shape == (2, 5, 3)
    assert repr(robot) == "<SymbolicRobot planar: a, d, b>"
    with pytest.raises(ar.ConfigurationError, match=r"q\[1\] \(d\) = nan"):
        robot.tip_pose([0, math.nan, 0])


def test_equality_and_pickle(robot):
    robot.tip_pose(robot.neutral)
    twin = pickle.loads(pickle.dumps(robot))
    assert twin == robot
    assert hash(twin) == hash(robot)
    assert twin != ar.load_robot("librergm3-matrix")
    np.testing.assert_array_equal(twin.tip_pose([1, 0.2, 0.3]), robot.tip_pose([1, 0.2, 0.3]))


def test_it_does_not_change(robot):
    for change in (lambda: setattr(robot, "name", "other"), lambda: delattr(robot, "matrix")):
        with pytest.raises(AttributeError, match="a SymbolicRobot cannot be changed"):
            change()
    with pytest.raises(ar.RobotError, match="source = 3"):
        ar.SymbolicRobot(sp.eye(4), [a], [0], [1], source=3)


UNUSUAL = {
    "assumptions": sp.Symbol("a", positive=True) * sp.sqrt(sp.Symbol("a", positive=True)),
    "unevaluated product": sp.Mul(2, sp.Mul(3, a, evaluate=False), a + 1, evaluate=False),
    "rearranged product": sp.factor(2 * a * sp.sin(a) + 2 * a),
    "base of logarithms": sp.E * a,
    "many digits": sp.Float("0.1", 50) * a,
    "fractions": sp.Rational(2, 3) * (a + 1) * sp.cos(a) ** 2 / sp.sqrt(a + 2),
}


@pytest.mark.parametrize("case", UNUSUAL)
def test_formulas_make_the_round_trip(case, tmp_path):
    robot = ar.SymbolicRobot(shifted(UNUSUAL[case]), [sp.Symbol("a", real=True)], [0.5], [1])
    ar.save_robot(robot, tmp_path / "robot.toml")
    again = ar.load_robot(tmp_path / "robot.toml")
    assert again == robot
    assert hash(again) == hash(robot)


def test_what_cannot_be_read_back_is_not_written(tmp_path):
    for matrix, name, words in (
        (shifted(a**17), a, r"would not be read again: matrix\[0\]\[3\]: the exponent '17'"),
        (sp.eye(4), sp.Symbol("my angle"), r"would not be read again: coordinates\[0\]\.name = 'my angle'"),
    ):
        robot = ar.SymbolicRobot(matrix, [name], [0], [1])
        with pytest.raises(ar.FileError, match=words):
            ar.save_robot(robot, tmp_path / "robot.toml")
    assert not list(tmp_path.iterdir())


def test_a_formula_that_has_no_value_gives_nan():
    # Compiled and as plain Python.
    robot = ar.SymbolicRobot(shifted(sp.log(a) + sp.asin(a) + 1 / (a - 1)), [a], [0.1], [0.9])
    for value in (-0.5, 2.0, 1.0):
        assert not math.isfinite(robot.tip_pose([value])[0, 3])
    assert not np.isfinite(robot.jacobian([2.0])[0, 0])


def test_every_function_compiles():
    # A shift may be any expression; the derivative of Abs is a sign.
    x = sp.symbols("x")
    total = sum(
        (f(x / 4) for f in (sp.sin, sp.tan, sp.asin, sp.acos, sp.atan, sp.sinh, sp.cosh, sp.tanh, sp.exp)), sp.S(0)
    )
    total += sp.log(x + 2) + sp.Abs(x) + sp.sqrt(x + 3) + sp.atan2(x, 2) + sp.pi + sp.Rational(1, 3) + x**3
    matrix = sp.eye(4)
    matrix[2, 3] = total
    robot = ar.SymbolicRobot(matrix, [x], [-1], [1])
    value = 0.7
    assert robot.tip_pose([value])[2, 3] == pytest.approx(float(total.subs(x, value)), rel=1e-14)
    slope = (robot.tip_pose([value + 1e-6]) - robot.tip_pose([value - 1e-6]))[2, 3] / 2e-6
    assert robot.jacobian([value])[2, 0] == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (sp.eye(3), "4 x 4"),
        (5, "matrix = 5"),
        ([["cos(a)"] * 4] * 4, "matrix entry = 'cos(a)'"),
        (sp.eye(4) * 2, "give the row 0, 0, 0, 1"),
        (sp.diag(2, 1, 1, 1), "not a rotation at"),
        (sp.diag(-1, 1, 1, 1), "not a rotation at"),
        (sp.diag(1e200, 1, 1, 1), "not a rotation at"),
        (sp.Matrix(4, 4, lambda i, j: sp.Symbol("z") if i == j else 0), "'z', which is not a coordinate"),
        (sp.Matrix(4, 4, lambda i, j: sp.gamma(a) if i == j else 0), "gamma"),
        (sp.Matrix(4, 4, lambda i, j: sp.Function("f")(a) if i == j else 0), "'f', which is not accepted"),
        (sp.Matrix(4, 4, lambda i, j: sp.zoo), "ComplexInfinity"),
        ([[True] * 4] * 4, "matrix entry = True"),
        (shifted(10**400), "give whole numbers up to"),
        (shifted(sp.Pow(-2, sp.Rational(1, 3)) * a), "which is not real"),
        (shifted(sp.asin(sp.Integer(2)) * a), "not finite"),
        (shifted(functools.reduce(lambda x, _: sp.sin(x), range(150), a)), "nested too deeply"),
    ],
)
def test_bad_matrices(matrix, words):
    with pytest.raises(ar.RobotError) as caught:
        ar.SymbolicRobot(matrix, [a, b, d], [0] * 3, [1] * 3)
    assert words in str(caught.value)


def test_a_matrix_that_divides_by_zero_inside_its_limits():
    matrix = sp.eye(4)
    matrix[0, 3] = 1 / a
    with pytest.raises(ar.RobotError, match="not finite at a = 0"):
        ar.SymbolicRobot(matrix, [a], [-1], [1])


def test_a_matrix_that_is_not_defined_inside_its_limits():
    matrix = sp.eye(4)
    matrix[0, 3] = sp.asin(a)
    with pytest.raises(ar.RobotError, match=r"not finite at a = 2\.5"):
        ar.SymbolicRobot(matrix, [a], [2], [3])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([], [], []), "coordinates"),
        (([a, a, d], [0] * 3, [1] * 3), "every symbol once"),
        (([a, b, d], [0], [1] * 3), "lower"),
        ((None, [0], [1]), "coordinates = None"),
        (("abd", [0] * 3, [1] * 3), "coordinates = 'abd'"),
        (([a, 3], [0] * 2, [1] * 2), "coordinates[1] = 3"),
        (([a, sp.Dummy("b")], [0] * 2, [1] * 2), "coordinates[1] = _b"),
        (([a, ""], [0] * 2, [1] * 2), "coordinates[1] = ''"),
        (([a, b, d], [0] * 3, [1] * 3, 3), "quantities = 3"),
        (([a, b, d], [0] * 3, [10**400] * 3), "upper[0] = 1000"),
        (([a, b, d], [0, 0, math.nan], [1] * 3), "lower[2] = nan"),
        (([a, b, d], [2, 0, 0], [1] * 3), "coordinate 'a'"),
        (([a, b, d], [0] * 3, [1] * 3, ["angle", "mass", "length"]), "quantity = 'mass'"),
    ],
)
def test_bad_coordinates(arguments, words):
    with pytest.raises(ar.RobotError) as caught:
        ar.SymbolicRobot(turn_and_slide(), *arguments)
    assert words in str(caught.value)


def test_without_sympy_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ar.MissingExtraError, match=r"pip install 'arcreach\[symbolic\]'"):
        ar.SymbolicRobot([[1]], [], [], [])
