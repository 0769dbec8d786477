import copy
import math
import pickle

import numpy as np
import pytest
from tests import reference

import arcreach as ar

THREE = ar.Robot([ar.Section(length=0.050, bend_max=np.pi / 2, radius=0.004)] * 3, name="three-section")


def test_coordinates_and_limits_of_three_sections():
    assert THREE.dof == 6
    assert THREE.coordinates[:3] == ("section-1.bend", "section-1.direction", "section-2.bend")
    assert THREE.quantities == ("angle",) * 6
    np.testing.assert_array_equal(THREE.lower, [0, -math.pi] * 3)
    np.testing.assert_array_equal(THREE.upper, [math.pi / 2, math.pi] * 3)
    np.testing.assert_array_equal(THREE.neutral, np.zeros(6))


def test_coordinates_of_a_mixed_chain_carry_the_given_names():
    robot = ar.Robot(
        [ar.Prismatic(0.0, 0.2, name="rail"), ar.Link(), ar.Revolute(), ar.Section(0.0, 1.0, stretch=0.1, name="tool")]
    )
    assert robot.coordinates == ("rail", "revolute-1", "tool.bend", "tool.direction", "tool.length")
    assert robot.quantities == ("length", "angle", "angle", "angle", "length")
    assert robot.element_names == ("rail", "link-1", "revolute-1", "tool")
    np.testing.assert_allclose(robot.neutral, [0.1, 0, 0, 0, 0.05])
    assert robot.within_limits(robot.neutral)


def test_repr_says_what_it_is():
    assert repr(THREE) == "<Robot three-section: 3 sections; 6 dof, reach 0.15 m>"
    assert "unnamed" in repr(ar.Robot([ar.Link()]))


def test_a_robot_does_not_change():
    with pytest.raises(AttributeError, match="cannot be changed"):
        THREE.name = "other"
    with pytest.raises(AttributeError, match="cannot be changed"):
        del THREE.name
    with pytest.raises(ValueError, match="read-only"):
        THREE.lower[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        THREE.packed["length"] = 1.0


def test_equality_hash_copy_and_pickle():
    twin = ar.Robot([ar.Section(length=0.050, bend_max=np.pi / 2, radius=0.004)] * 3, name="three-section")
    assert twin == THREE
    assert hash(twin) == hash(THREE)
    assert ar.Robot([ar.Section(0.05, 1.0)] * 3, name="three-section") != THREE
    assert THREE != "three-section"
    for other in (copy.deepcopy(THREE), pickle.loads(pickle.dumps(THREE))):
        assert other == THREE
        assert not other.packed.flags.writeable
        np.testing.assert_array_equal(other.tip_pose(other.neutral), THREE.tip_pose(THREE.neutral))


@pytest.mark.parametrize(
    ("elements", "words"),
    [
        ([], "at least one"),
        (None, "elements = None"),
        (ar.Link(), "elements"),
        (["link"], "elements[0] = 'link'"),
        ([ar.Link(name="a"), ar.Revolute(name="a")], "'a' is used by 2 elements"),
        ([ar.Section(0.1, 1.0, name="section-2"), ar.Section(0.1, 1.0)], "'section-2' is used by 2"),
    ],
)
def test_bad_chains(elements, words):
    with pytest.raises(ar.RobotError) as caught:
        ar.Robot(elements)
    assert words in str(caught.value)


def test_bad_name_and_source():
    with pytest.raises(ar.RobotError, match="name"):
        ar.Robot([ar.Link()], name="a/b")
    with pytest.raises(ar.RobotError, match="source"):
        ar.Robot([ar.Link()], source=3)


@pytest.mark.parametrize(
    ("q", "words"),
    [
        ([0.0] * 5, ["(5,)", "6 numbers", "section-1.bend"]),
        (np.zeros((2, 7)), ["(2, 7)", "(n, 6)"]),
        (np.zeros((1, 1, 6)), ["(1, 1, 6)"]),
        (3.0, ["()"]),
        ("home", ["'home'"]),
        ([1, 2, 3, 4, 5, None], ["q[5] (section-3.direction) = nan"]),
        ([1, 2, math.nan, 4, 5, 6], ["q[2] (section-2.bend) = nan", "finite"]),
        (np.array([[0.0] * 6, [0, 0, 0, 0, 0, math.inf]]), ["q[1, 5] (section-3.direction) = inf"]),
        ([[1, 2], [3]], ["q ="]),
    ],
)
@pytest.mark.parametrize("question", ["tip_pose", "frames", "backbone", "jacobian", "clip", "within_limits"])
def test_bad_configurations(q, words, question):
    with pytest.raises(ar.ConfigurationError) as caught:
        getattr(THREE, question)(q)
    for word in words:
        assert word in str(caught.value)


def test_complex_numbers_and_texts_are_no_configuration():
    for q in (np.zeros(6, dtype=complex), [1j] * 6, ["0"] * 6, [10**400] * 6):
        with pytest.raises(ar.ConfigurationError, match=r"q = .* is not accepted"):
            THREE.tip_pose(q)


@pytest.mark.parametrize("tolerance", ["x", None, -1.0, math.nan, math.inf, 10**400, True], ids=lambda t: str(t)[:9])
@pytest.mark.parametrize("name", ["three-section", "librergm3-matrix"])
def test_bad_tolerances(tolerance, name):
    robot = ar.load_robot(name)
    with pytest.raises(ar.ConfigurationError, match=r"tolerance = .* is not accepted"):
        robot.within_limits(robot.neutral, tolerance)


@pytest.mark.compiled
def test_a_whole_tolerance_compiles_nothing_anew():
    from arcreach import _jit

    assert THREE.within_limits(THREE.neutral, 0.0)
    compiled = []
    with _jit.on_compile(lambda: compiled.append(1)):
        assert THREE.within_limits(THREE.neutral, 0)
    assert not compiled


def test_subclasses():
    class Spring(ar.Section):
        pass

    class Arm(ar.Robot):
        pass

    arm = Arm([Spring(0.1, 1.0)])
    np.testing.assert_array_equal(arm.tip_pose([0.5, 0]), ar.Robot([ar.Section(0.1, 1.0)]).tip_pose([0.5, 0]))
    assert type(copy.copy(arm)) is Arm


class Largest(np.random.Generator):
    """Draws the largest number always."""

    def random(self, size):
        return np.ones(size)


@pytest.mark.parametrize(("length", "stretch"), [(0.3, 0.1), (1.0, 1e-15)])
def test_samples_keep_the_limits_where_lengths_round_up(length, stretch):
    # 0.3 + 0.1 - 0.3 is above 0.1 in floats.
    robot = ar.Robot([ar.Section(length, 1.0, stretch=stretch)])
    q = robot.sample(1, Largest(np.random.PCG64()))[0]
    assert (q <= robot.upper).all()
    assert robot.within_limits(q, tolerance=0.0)


def test_bad_counts_and_seeds():
    with pytest.raises(ar.ConfigurationError, match="n = -1"):
        THREE.sample(-1)
    with pytest.raises(ar.ConfigurationError, match="do not fit into memory"):
        THREE.sample(10**18)
    with pytest.raises(ar.ConfigurationError, match=r"n = 1\.5"):
        THREE.sample(1.5)
    with pytest.raises(ar.ConfigurationError, match="seed"):
        THREE.sample(1, seed="x")
    with pytest.raises(ar.ConfigurationError, match="points = 1"):
        THREE.backbone(THREE.neutral, points=1)


def test_inputs_are_left_alone_and_any_layout_is_taken():
    Q = np.asfortranarray(THREE.sample(40, seed=0))
    before = Q.copy()
    Q.flags.writeable = False
    expected = THREE.tip_pose(before)
    np.testing.assert_array_equal(THREE.tip_pose(Q), expected)
    np.testing.assert_array_equal(THREE.tip_pose(Q.tolist()), expected)
    np.testing.assert_array_equal(THREE.tip_pose(Q[::2]), expected[::2])
    np.testing.assert_array_equal(Q, before)


def test_samples_are_seeded_within_limits_and_fill_them():
    robot = ar.load_robot("mixed-sections")
    Q = robot.sample(5000, seed=3)
    np.testing.assert_array_equal(Q, robot.sample(5000, seed=3))
    assert not np.array_equal(Q, robot.sample(5000, seed=4))
    assert robot.within_limits(Q, tolerance=0.0).all()
    assert (Q.max(axis=0) > robot.lower + 0.95 * (robot.upper - robot.lower)).all()
    assert (Q.min(axis=0) < robot.lower + 0.05 * (robot.upper - robot.lower)).all()


def test_samples_of_a_continuous_joint_cover_one_turn():
    robot = ar.Robot([ar.Revolute(lower=-math.inf, upper=math.inf)])
    Q = robot.sample(1000, seed=0)
    assert -math.pi <= Q.min() < -3
    assert 3 < Q.max() <= math.pi


def test_reach_bounds_the_distance_of_the_tip():
    rng = np.random.default_rng(0)
    for _ in range(200):
        robot = reference.random_robot(rng)
        tips = robot.tip_pose(robot.sample(50, rng))[:, :3, 3]
        assert np.linalg.norm(tips, axis=1).max() <= robot.reach * (1 + 1e-12)


def test_reach_of_sections_is_met_when_they_are_straight():
    robot = ar.load_robot("telescopic-sections")
    q = robot.neutral.copy()
    q[2::3] = robot.upper[2::3]
    assert robot.tip_pose(q)[2, 3] == pytest.approx(robot.reach, abs=1e-15)


def test_joints_get_other_limits():
    robot = ar.Robot([ar.Revolute(name="base"), ar.Section(0.1, 1.0)], name="arm")
    limited = robot.with_limits({"base": (-1, 0.5)})
    assert limited.lower.tolist()[0] == -1.0
    assert limited.upper.tolist() == [0.5, 1.0, math.pi]
    for limits, words in (
        ([1, 2], "a mapping from joints"),
        ({"base": 5}, r"limits\['base'\] = 5"),
        ({"base": (1.0,)}, r"\(lower, upper\)"),
        ({"section-1.bend": (0.0, 0.5)}, "one of its joints, base"),
    ):
        with pytest.raises(ar.RobotError, match=words):
            robot.with_limits(limits)
    with pytest.raises(ar.RobotError, match="of which it has none"):
        THREE.with_limits({"base": (0.0, 1.0)})
