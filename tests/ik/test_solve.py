import inspect
import math

import numpy as np
import pytest

import arcreach as ar
from arcreach.errors import MethodError, TargetError
from arcreach.ik.method import methods
from arcreach.ik.solution import Status
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.solve_all import solve_all
from arcreach.ik.target import Target

ARM = ar.load_robot("three-section")
POSE = ARM.tip_pose(ARM.sample(1, seed=1)[0])
TARGET = Target(POSE[:3, 3], axis=POSE[:3, 2])


def test_a_solution_prints_and_says_what_it_is():
    solution = solve(ARM, TARGET)
    assert solution.reached
    assert solution.status == Status.REACHED
    assert solution.position_error <= 1e-6
    assert solution.angle_error <= 1e-3
    assert solution.method == "auto"
    assert str(solution).startswith("reached: ")
    assert "iterations" in str(solution)


def test_a_batch_prints_iterates_and_gives_solutions():
    poses = ARM.tip_pose(ARM.sample(5, seed=2))
    found = solve_batch(ARM, poses[:, :3, 3], poses[:, :3, 2])
    assert len(found) == 5
    assert [solution.reached for solution in found] == [True] * 5
    assert "5 of 5 reached" in str(found)
    assert found[2].position_error == found.position_error[2]
    assert "no targets" in str(solve_batch(ARM, np.empty((0, 3))))


def test_the_old_name_of_the_targets_warns():
    with pytest.warns(DeprecationWarning, match="targets="):
        found = solve_batch(ARM, positions=POSE[None, :3, 3])
    assert found.reached.all()


def test_the_trace_leads_to_the_answer():
    solution = solve(ARM, TARGET, trace=True)
    assert len(solution.trace) == solution.iterations + 1
    np.testing.assert_array_equal(solution.trace.q[-1], solution.q)
    assert solution.trace.position_error[-1] == solution.position_error
    assert solution.trace.position_error[0] > solution.position_error
    assert solve(ARM, TARGET).trace is None


def test_a_good_start_stays_where_it_is():
    q = ARM.sample(1, seed=3)[0]
    pose = ARM.tip_pose(q)
    solution = solve(ARM, Target.from_pose(pose), start=q + 1e-4)
    np.testing.assert_allclose(solution.q, q, atol=1e-3)


def test_provably_out_of_reach():
    solution = solve(ARM, Target([0, 0, 1]))
    assert solution.status == Status.OUT_OF_REACH
    assert not solution.reached
    assert ARM.within_limits(solution.q)
    # The nearest pose is the straight one.
    assert solution.position_error == pytest.approx(1 - ARM.reach, abs=1e-6)
    assert "out of reach" in str(solution)


def test_inside_the_reach_and_yet_not_reachable():
    # Behind the base a robot of three sections of 60 degrees does not get.
    solution = solve(ARM, Target([0, 0, -0.05], axis=[0, 0, 1]))
    assert solution.status == Status.STALLED
    assert ARM.within_limits(solution.q)
    assert solution.position_error > 0.01


def test_a_number_of_iterations_that_no_kernel_counts():
    with pytest.raises(ar.TargetError, match="max_iterations = 1000000000000000000000000000000 is not accepted"):
        solve(ARM, TARGET, max_iterations=10**30)


def test_iteration_limit():
    solution = solve(ARM, TARGET, position_tol=1e-12, angle_tol=1e-12, max_iterations=1)
    assert solution.status == Status.ITERATION_LIMIT
    assert solution.iterations == 1


@pytest.mark.compiled
@pytest.mark.parametrize("method", ["auto", "jacobian"])
def test_the_time_limit_is_kept(method):
    robot = ar.load_robot("ten-section")
    target = Target([0.0, 0.0, -0.05], rotation=np.diag([1.0, -1.0, -1.0]))
    limit = 2e-4
    options = {"max_time": limit, "max_iterations": 10**7, "position_tol": 1e-15, "angle_tol": 1e-15}
    found = [solve(robot, target, method, **options) for _ in range(50)]
    assert sum(solution.status == Status.TIME_LIMIT for solution in found) > 25
    # A busy machine stops the process now and then: the best of many shows what the method itself takes.
    assert limit <= min(solution.seconds for solution in found) < 1.2 * limit


@pytest.mark.compiled
def test_the_time_limit_is_kept_by_a_long_chain():
    robot = ar.Robot([ar.Revolute((0, 0, 1) if i % 2 else (0, 1, 0), -1, 1, name=f"j{i}") for i in range(300)])
    robot = ar.Robot([element for joint in robot.elements for element in (joint, ar.Link((0.01, 0, 0)))])
    target = Target([0.5, 0.5, -1.0], rotation=np.diag([1.0, -1.0, -1.0]))
    found = [solve(robot, target, max_time=1e-3, position_tol=1e-15, angle_tol=1e-15) for _ in range(20)]
    assert min(solution.seconds for solution in found) < 1.2e-3


@pytest.mark.parametrize("most", [1, 4, 30])
def test_the_iteration_limit_is_kept(most):
    poses = ARM.tip_pose(ARM.sample(20, seed=5))
    found = solve_batch(ARM, poses[:, :3, 3], poses[:, :3, 2], max_iterations=most)
    assert found.iterations.max() <= most


def test_the_seed_chooses_the_starts():
    poses = ARM.tip_pose(ARM.sample(20, seed=6))
    answers = [solve_batch(ARM, poses[:, :3, 3], seed=seed).q for seed in (0, 0, 1)]
    np.testing.assert_array_equal(answers[0], answers[1])
    assert not np.array_equal(answers[0], answers[2])


@pytest.mark.compiled
def test_equal_calls_and_any_number_of_threads_give_equal_answers():
    poses = ARM.tip_pose(ARM.sample(300, seed=4))
    answers = [solve_batch(ARM, poses[:, :3, 3], poses[:, :3, 2], threads=threads).q for threads in (1, 2, 3)]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: solve(ARM, [0, 1]),
            TargetError,
            "target has the shape (2,); give an arcreach.Target, a position (3,)",
        ),
        (lambda: solve(ARM, np.zeros((3, 4))), TargetError, "target has the shape (3, 4); give an arcreach.Target"),
        (lambda: solve(ARM, "there"), TargetError, "target = 'there' is not accepted; give an arcreach.Target"),
        (lambda: solve(ARM, [0, 0, math.nan]), TargetError, "position[2] = nan"),
        (lambda: solve(ARM, 2 * POSE), TargetError, "pose has the last row"),
        (lambda: solve(ARM, TARGET, position_tol=10**400), TargetError, "position_tol = 1000"),
        (lambda: solve(ARM, TARGET, angle_tol=10**400), TargetError, "angle_tol = 1000"),
        (lambda: solve(ARM, TARGET, max_time=10**400), TargetError, "max_time = 1000"),
        (lambda: solve_all(ARM, TARGET, angle_tol=10**5000), TargetError, "angle_tol = int with too many digits"),
        (lambda: solve(ARM, TARGET, "magic"), MethodError, "method = 'magic' is not known; give one of auto"),
        (lambda: solve(ARM, TARGET, position_tol=0), TargetError, "position_tol = 0"),
        (lambda: solve(ARM, TARGET, angle_tol=math.nan), TargetError, "angle_tol = nan"),
        (lambda: solve(ARM, TARGET, max_iterations=0), TargetError, "max_iterations = 0"),
        (lambda: solve(ARM, TARGET, max_time=-1), TargetError, "max_time = -1"),
        (lambda: solve(ARM, TARGET, variant="best"), MethodError, "variant = 'best'"),
        (lambda: solve(ARM, TARGET, speed=3), MethodError, "option 'speed'"),
        (lambda: solve(ARM, TARGET, start=[0] * 5), ar.ConfigurationError, "6 numbers"),
        (lambda: solve(ARM, TARGET, start=[math.nan] * 6), ar.ConfigurationError, "nan"),
        (lambda: solve_batch(ARM, np.zeros((3, 3)), start=np.zeros((2, 6))), TargetError, "start has 2 rows for 3"),
        (lambda: solve_batch(ARM, np.zeros((3, 3)), np.zeros((2, 3))), TargetError, "axes has the shape (2, 3)"),
        (lambda: solve(ar.load_robot("librergm3-matrix"), TARGET), MethodError, "chain of elements"),
        (lambda: solve(ar.Robot([ar.Link((0, 0, 1))]), TARGET), MethodError, "no moving elements"),
        (lambda: solve(ARM, TARGET, position_tol="1mm"), TargetError, "position_tol = '1mm'"),
        (lambda: solve(ARM, TARGET, position_tol=np.complex128(1)), TargetError, "position_tol = np.complex128(1+0j)"),
        (lambda: solve(ARM, TARGET, max_iterations="5"), TargetError, "max_iterations = '5'"),
        (lambda: solve(ARM, TARGET, max_iterations=10.5), TargetError, "max_iterations = 10.5"),
        (lambda: solve(ARM, TARGET, max_time="1s"), TargetError, "max_time = '1s'"),
        (lambda: solve(ARM, TARGET, seed=-1), TargetError, "seed = -1"),
        (lambda: solve(ARM, TARGET, []), MethodError, "method = []"),
        (lambda: solve(None, TARGET), MethodError, "robot = None"),
        (lambda: solve_batch(ARM, np.zeros((3, 3)), threads=1.5), TargetError, "threads = 1.5"),
        (lambda: solve_batch(ARM, [[1e200, 0, 0]]), TargetError, "position of target 0"),
        (lambda: solve_all("three-section", TARGET), MethodError, "robot = 'three-section'"),
        (lambda: solve_all(ARM, TARGET, position_tol=-1), TargetError, "position_tol = -1"),
        (lambda: solve_all(ARM, TARGET, angle_tol=math.nan), TargetError, "angle_tol = nan"),
        (lambda: solve_all(ARM, TARGET, start=[[0] * 6]), TargetError, "start has the shape (1, 6)"),
        (lambda: solve_all(ARM, TARGET, start=[0] * 5), ar.ConfigurationError, "start has the shape (5,)"),
        (lambda: solve_all(ARM, TARGET, most=1.5), TargetError, "most = 1.5"),
        (lambda: solve_all(ARM, 3), TargetError, "give an arcreach.Target"),
        (lambda: solve_all(ARM, TARGET, most=0), TargetError, "most = 0"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ({"seed": 1}, {"seed": True}),
        ({"max_iterations": 5}, {"max_iterations": 5.0}),
        ({"position_tol": 1.0}, {"position_tol": True}),
        ({"max_time": 1.0}, {"max_time": True}),
        ({"position_tol": 1.0}, {"position_tol": np.array([1.0, 2.0])}),
    ],
)
def test_what_equals_a_good_setting_is_refused_all_the_same(good, bad):
    robot = ar.load_robot("three-section")
    solve(robot, TARGET, **good)
    with pytest.raises(TargetError, match=next(iter(bad))):
        solve(robot, TARGET, **bad)


@pytest.mark.compiled
@pytest.mark.parametrize("ask", [solve, solve_all])
def test_positions_and_poses_in_place_of_a_target(ask):
    for given, target in ((POSE[:3, 3].tolist(), Target(POSE[:3, 3])), (POSE, Target.from_pose(POSE))):
        answers = [ask(ARM, one) for one in (given, target)]
        if ask is solve_all:
            answers = [one[0] for one in answers]
        np.testing.assert_array_equal(answers[0].q, answers[1].q)
        assert answers[0].reached


def test_solve_and_solve_all_agree_on_what_is_reached():
    defaults = [
        {name: one.default for name, one in inspect.signature(ask).parameters.items() if name.endswith("_tol")}
        for ask in (solve, solve_batch, solve_all)
    ]
    assert defaults[0] == defaults[1] == defaults[2] == {"position_tol": 1e-6, "angle_tol": 1e-3}


@pytest.mark.compiled
@pytest.mark.parametrize("rows", [slice(1, 4), [0, 3], np.array([4, 0, -1]), [True, False, True, False, True], [], ()])
def test_several_results_of_a_batch(rows):
    poses = ARM.tip_pose(ARM.sample(5, seed=2))
    found = solve_batch(ARM, poses[:, :3, 3], poses[:, :3, 2], scene=[ar.Sphere((1, 0, 0), 0.1)])
    chosen = found[rows]
    index = np.arange(5)[rows if isinstance(rows, slice) else np.array(rows, dtype=None if len(rows) else int)]
    assert isinstance(chosen, ar.Solutions)
    assert len(chosen) == len(index)
    for name in ("q", "status", "position_error", "angle_error", "iterations", "seconds", "clearance"):
        np.testing.assert_array_equal(getattr(chosen, name), getattr(found, name)[index])


@pytest.mark.parametrize("index", [1.0, "1", None, True, [[0]], [0.5]])
def test_what_is_no_index_of_a_batch(index):
    found = solve_batch(ARM, POSE[None, :3, 3])
    with pytest.raises(TypeError, match="is not accepted; give a whole number, a slice, a mask or indices"):
        found[index]
    with pytest.raises(IndexError):
        found[5]


def test_a_result_is_printed_for_people():
    q = np.zeros(6)
    far = ar.Solution(q, Status.OUT_OF_REACH, 174.2, 0.0, 1, 2.5e-5, "auto")
    assert str(far) == "out of reach: 174 m off; 1 iteration, 25 µs (auto)"
    turned = ar.Solution(q, Status.REACHED, 3.2e-7, 4e-4, 12, 0.0123, "lm", clearance=0.0051234)
    assert str(turned) == "reached: 320 nm, 400 µrad off, clearance 5.123 mm; 12 iterations, 12.3 ms (lm)"


def test_positions_in_millimetres_get_a_hint():
    words = "950 times the reach of 99.9 mm; positions are metres: were millimetres meant?"
    assert str(solve(ARM, [20, 10, 92])).endswith(words)
    assert str(solve(ARM, [20, 10, 92], "jacobian", max_iterations=3)).endswith(words)
    batch = solve_batch(ARM, [[0.02, 0.01, 0.092], [20, 10, 92]])
    assert str(batch).endswith(words)
    assert batch[:1].hint == ""
    assert batch[1:].hint == batch.hint
    # Too far, but not by a slip of units.
    assert solve(ARM, [0, 0, 1.0]).hint == ""
    assert solve(ARM, [0.02, 0.01, 0.092]).hint == ""


def test_a_start_in_degrees_gets_a_hint():
    unreachable = [0.0, 0.0, -0.09]
    solution = solve(ARM, unreachable, start=[[30, 0, 45, 90, 0, 0]], max_iterations=5)
    assert solution.hint == "hint: section-1.bend = 30 is 4.8 turns; angles are radians: were degrees meant?"
    assert solve(ARM, unreachable, start=[1.6, 4.0, 0, 0, 0, 0], max_iterations=5).hint == ""


def test_methods_are_listed_with_auto_first():
    known = methods()
    assert next(iter(known)) == "auto"
    assert list(known)[1:] == sorted(list(known)[1:])
    for method in known.values():
        assert method.summary


@pytest.mark.parametrize("margin", [0.05, -5, "x"])
def test_a_margin_without_a_scene_is_refused(margin):
    robot, at = ar.load_robot("three-section"), [0.0, 0.0, 0.08]
    for call in (ar.solve, lambda *given, **more: ar.solve_batch(given[0], [given[1]], **more)):
        with pytest.raises(ar.MethodError, match=r"margin = .* has no meaning without a scene"):
            call(robot, at, margin=margin)
    with pytest.raises(ar.MethodError, match=r"margin = .* has no meaning without a scene"):
        ar.follow(robot, [at], margin=margin)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["ur5", "three-section"])
def test_beyond_reach_the_answer_is_the_nearest_configuration(name):
    robot = ar.load_robot(name)
    rng = np.random.default_rng(3)
    points = rng.normal(size=(100, 3))
    points *= 1.5 * robot.reach / np.linalg.norm(points, axis=1, keepdims=True)
    found = ar.solve_batch(robot, points)
    assert (found.status == Status.OUT_OF_REACH).all()
    assert robot.within_limits(found.q).all()
    starts = (robot.sample(100, seed=seed) for seed in range(10))
    rivals = [ar.solve_batch(robot, points, method="lm", start=start).position_error for start in starts]
    excess = found.position_error - np.min(rivals, axis=0)
    assert np.median(excess) < 1e-6 * robot.reach
    assert (excess < 2e-3 * robot.reach).all()


@pytest.mark.parametrize(
    ("keyword", "words"),
    [
        ("tol", "did you mean position_tol or angle_tol"),
        ("iterations", "did you mean max_iterations"),
        ("axis", "axis is an argument of Target, axes of solve_batch"),
    ],
)
def test_a_keyword_of_another_name_is_advised(keyword, words):
    with pytest.raises(MethodError, match=words):
        solve_batch(ar.load_robot("three-section"), [[0.0, 0.0, 0.08]], **{keyword: 1})


def test_nothing_is_no_target():
    with pytest.raises(TargetError, match="target = None is not accepted"):
        solve(ar.load_robot("three-section"), None)
