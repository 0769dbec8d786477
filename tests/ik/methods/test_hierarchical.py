"""The hierarchical approach: table 5 of its source, limits, roles, jumps, and robots given as a matrix."""

import math
import pickle
import time
from itertools import groupby

import numpy as np
import pytest

import arcreach as ar
from arcreach.experiments.published import table
from arcreach.ik.hierarchical import orientation_jump, position_jump
from arcreach.ik.methods.hierarchical import default_roles

TABLE_5 = table("rgm3-table-5")

ROBOTS = ("librergm3", "librergm3-matrix")
START = (0.0, 0.0, math.pi / 4)
# Conditions of table 5: tolerance 0.01 mm on the largest component, q0, q2, q1 in turn, N = 100 at first.
PUBLISHED = {"method": "hierarchical", "start": START, "position_tol": 1e-5, "exit": "largest", "order": (0, 2, 1)}


@pytest.fixture(scope="module", params=ROBOTS)
def arm(request):
    if request.param == "librergm3-matrix":
        pytest.importorskip("sympy")
    return ar.load_robot(request.param)


def position(row):
    return [float(row[name]) / 1e3 for name in ("x_mm", "y_mm", "z_mm")]


@pytest.mark.compiled
@pytest.mark.parametrize("row", TABLE_5, ids=lambda row: f"point-{row['point']}")
def test_table_5_to_every_digit(arm, row):
    solution = ar.solve(arm, ar.Target(position(row)), **PUBLISHED)
    error = 1e3 * abs(arm.tip_pose(solution.q)[:3, 3] - position(row))
    computed = {
        "q0_rad": f"{solution.q[0]:.4f}",
        "q1_mm": f"{1e3 * solution.q[1]:.4f}",
        "q2_rad": f"{solution.q[2]:.4f}",
        "max_error_mm": f"{error.max():.4f}",
        "mean_error_mm": f"{error.mean():.4f}",
        "iterations": str(solution.iterations),
    }
    assert computed == {name: row[name] for name in computed}


@pytest.mark.parametrize("row", TABLE_5[2:5], ids=lambda row: f"point-{row['point']}")
def test_the_verdict_is_by_distance(arm, row):
    # The largest component may be within the tolerance where the distance is not.
    loose = ar.solve(arm, ar.Target(position(row)), **PUBLISHED)
    distance = math.dist(arm.tip_pose(loose.q)[:3, 3], position(row))
    assert loose.position_error == pytest.approx(distance, abs=1e-12)
    assert loose.reached == (distance <= 1e-5)
    strict = ar.solve(arm, ar.Target(position(row)), **(PUBLISHED | {"exit": "distance"}))
    assert strict.reached
    assert math.dist(arm.tip_pose(strict.q)[:3, 3], position(row)) <= 1e-5


POSE_ROLES = ("both", "position", "orientation")


@pytest.mark.parametrize(
    "options",
    [
        {"exit": "largest"},
        {"roles": POSE_ROLES, "scale": 0.2},
        {"jump": "farthest", "cycles": 12},
        {"jump": "nearest", "roles": "both", "cycles": 12, "divisions": 20},
        {"ranges": (1.0, 0.1, 2.0), "growth": 1.5, "order": ("q2", "q0"), "cycles": 12},
    ],
)
def test_chain_and_matrix_take_the_same_steps(options):
    pytest.importorskip("sympy")
    pose = ar.load_robot("librergm3").tip_pose((0.4, 0.29, 2.5))
    whole = "roles" in options
    target = ar.Target.from_pose(pose) if whole else ar.Target(pose[:3, 3])
    runs = [
        ar.solve(
            ar.load_robot(name),
            target,
            "hierarchical",
            start=START,
            position_tol=1e-5,
            max_iterations=2000,
            trace=True,
            **options,
        )
        for name in ROBOTS
    ]
    first, second = (run.trace for run in runs)
    assert runs[0].status == runs[1].status
    assert len(first) == len(second) == min(runs[0].iterations, 2000) + 1
    for name in ("cycle", "divisions", "coordinate", "step", "kept"):
        np.testing.assert_array_equal(first.columns[name], second.columns[name], name)
    np.testing.assert_allclose(first.q, second.q, atol=1e-12)
    np.testing.assert_allclose(first.position_error, second.position_error, atol=1e-12)
    np.testing.assert_allclose(first.angle_error, second.angle_error, atol=1e-7)


def test_trace_is_a_log_of_iterations(arm):
    solution = ar.solve(arm, ar.Target(position(TABLE_5[2])), trace=True, **PUBLISHED)
    trace, columns = solution.trace, solution.trace.columns
    assert len(trace) == solution.iterations + 1
    np.testing.assert_array_equal(trace.q[0], START)
    np.testing.assert_array_equal(trace.q[-1], solution.q)
    error = abs(arm.tip_pose(trace.q)[:, :3, 3] - position(TABLE_5[2]))
    np.testing.assert_allclose(columns["largest_error"], error.max(axis=1), atol=1e-15)
    np.testing.assert_allclose(columns["mean_error"], error.mean(axis=1), atol=1e-15)
    # Where the search stood, the tip never went away again.
    stood = trace.position_error[columns["kept"] > 0]
    assert (np.diff(stood) <= 1e-15).all()
    # Rejected steps were no nearer.
    for row in np.flatnonzero((columns["kept"] == 0) & (columns["step"] != 0)):
        before = trace.position_error[:row][columns["kept"][:row] > 0][-1]
        assert trace.position_error[row] >= before - 1e-15


def test_count_of_a_phase(arm):
    """P + 5 where a coordinate moved up or not at all, m + 3 where it moved down."""
    solution = ar.solve(arm, ar.Target(position(TABLE_5[3])), trace=True, **PUBLISHED)
    columns = solution.trace.columns
    rows = list(zip(columns["cycle"], columns["coordinate"], columns["step"], columns["kept"], strict=True))[1:]
    ways = set()
    for _, phase in groupby(rows, key=lambda row: row[:2]):
        moves = [(step, kept) for _, _, step, kept in phase]
        kept = [step for step, kept in moves if kept and step]
        assert len({math.copysign(1, step) for step in kept}) <= 1
        down = bool(kept) and kept[0] < 0
        assert len(moves) == len(kept) + (3 if down else 5)
        ways.add("down" if down else "up" if kept else "neither")
    assert ways == {"up", "down", "neither"}


def test_divisions_grow_by_a_quarter(arm):
    trace = ar.solve(arm, ar.Target(position(TABLE_5[2])), trace=True, **PUBLISHED).trace
    seen = [int(n) for n, _ in groupby(trace.columns["divisions"])]
    assert seen[:4] == [100, 125, 156, 195]
    # int(1.25 N) stays where it is below four.
    small = ar.solve(arm, ar.Target(position(TABLE_5[2])), trace=True, divisions=1, cycles=6, **PUBLISHED).trace
    assert [int(n) for n, _ in groupby(small.columns["divisions"])] == [1, 2, 3, 4, 5, 6]


def test_steps_are_ranges_divided(arm):
    options = PUBLISHED | {"cycles": 1, "max_iterations": 500}
    target = ar.Target(position(TABLE_5[2]))
    for given in ({}, {"ranges": (1.0, 0.2, 3.0)}):
        columns = ar.solve(arm, target, trace=True, **options, **given).trace.columns
        spans = np.array(given.get("ranges", arm.upper - arm.lower))
        moved = columns["step"] != 0
        expected = spans[columns["coordinate"][moved].astype(int)] / 100
        np.testing.assert_allclose(abs(columns["step"][moved]), expected, rtol=1e-15)


def test_coordinates_that_are_not_in_the_order_stay(arm):
    solution = ar.solve(arm, ar.Target(position(TABLE_5[2])), "hierarchical", start=START, order=["q2"], trace=True)
    assert (solution.trace.q[:, :2] == START[:2]).all()
    assert solution.q[2] != START[2]


def test_batch_equals_singles(arm):
    positions = np.array([position(row) for row in TABLE_5[2:6]])
    batch = ar.solve_batch(arm, positions, **PUBLISHED)
    for i, place in enumerate(positions):
        single = ar.solve(arm, ar.Target(place), **PUBLISHED)
        np.testing.assert_array_equal(single.q, batch.q[i])
        assert single.status == batch.status[i]
        assert single.iterations == batch.iterations[i]


def test_an_exact_start_needs_no_iteration(arm):
    pose = arm.tip_pose(START)
    solution = ar.solve(arm, ar.Target.from_pose(pose), "hierarchical", start=START, trace=True)
    assert solution.reached
    assert solution.iterations == 0
    assert len(solution.trace) == 1


def test_limits_are_kept(arm):
    # The tip would have to go on beyond the upper end of q1.
    target = ar.Target((0.05, 0.0, 1.1 + 0.3 + 0.5))
    solution = ar.solve(arm, target, "hierarchical", start=START, trace=True, max_iterations=3000)
    assert not solution.reached
    assert (solution.trace.q >= arm.lower).all()
    assert (solution.trace.q <= arm.upper).all()
    assert solution.q[1] == pytest.approx(0.3, abs=1e-3)


def test_efforts_are_capped(arm):
    target = ar.Target(position(TABLE_5[1]))
    for most in (1, 7, 100):
        solution = ar.solve(arm, target, max_iterations=most, **PUBLISHED)
        assert solution.status == ar.Status.ITERATION_LIMIT
        assert solution.iterations == most
    cycle = ar.solve(arm, target, cycles=3, trace=True, **PUBLISHED)
    assert cycle.status == ar.Status.ITERATION_LIMIT
    assert set(cycle.trace.columns["cycle"]) == {0.0, 1.0, 2.0}


@pytest.mark.skipif("sys.platform == 'win32'", reason="no clock in kernels")
def test_time_is_capped(arm):
    solution = ar.solve(arm, ar.Target((0.05, 0.0, 2.0)), "hierarchical", max_time=1e-9, divisions=10**6)
    assert solution.status in (ar.Status.TIME_LIMIT, ar.Status.OUT_OF_REACH)
    assert solution.iterations < 100


def test_the_nearest_configuration_is_returned():
    # Orientation takes the last word in every cycle, so the end of a search need not be its best.
    arm = ar.load_robot("librergm3")
    pose = arm.tip_pose((0.4, 0.1, 2.0))
    pose[:3, :3] = pose[:3, :3] @ np.diag([-1.0, -1.0, 1.0])
    solution = ar.solve(
        arm,
        ar.Target.from_pose(pose),
        "hierarchical",
        start=START,
        roles=["position", "position", "orientation"],
        trace=True,
        cycles=12,
    )
    scores = np.maximum(solution.trace.position_error / 1e-6, solution.trace.angle_error / 1e-3)
    ends = np.flatnonzero(np.diff(solution.trace.columns["cycle"])).tolist()
    here = max(solution.position_error / 1e-6, solution.angle_error / 1e-3)
    assert here == pytest.approx(min(scores[0], *scores[ends]))


def test_a_search_with_a_continuous_joint_ends():
    arm = ar.Robot([ar.Revolute(lower=-math.inf, upper=math.inf), ar.Link((0.1, 0, 0)), ar.Prismatic(0.0, 0.1)])
    # Nothing turns the tip towards a target on the axis: every step changes nothing, and is kept once round.
    solution = ar.solve(arm, ar.Target((0.0, 0.0, 0.05)), "hierarchical", start=(0.3, 0.02), trace=True)
    assert not solution.reached
    columns = solution.trace.columns
    first = (columns["cycle"] == 0) & (columns["coordinate"] == 0) & (columns["step"] != 0)
    assert first.sum() <= 101
    around = ar.solve(arm, ar.Target((-0.1, 0.0, 0.05)), "hierarchical", start=(0.3, 0.02), position_tol=1e-4)
    assert around.reached


@pytest.mark.parametrize("name", ["three-section", "mixed-sections", "ur5-bending-tool"])
def test_sections_keep_their_limits(name):
    arm = ar.load_robot(name)
    pose = arm.tip_pose(arm.sample(1, seed=4)[0])
    for target in (ar.Target(pose[:3, 3]), ar.Target(pose[:3, 3], axis=pose[:3, 2])):
        solution = ar.solve(arm, target, "hierarchical", trace=True, max_iterations=800, jump="nearest", divisions=30)
        assert arm.within_limits(solution.trace.q, 0.0).all()
        assert solution.position_error < 0.5 * solution.trace.position_error[0]


def test_a_direction_passes_the_half_turn():
    arm = ar.Robot([ar.Section(0.1, 2.0)])
    goal = arm.tip_pose((1.0, -math.pi + 0.3))[:3, 3]
    solution = ar.solve(arm, ar.Target(goal), "hierarchical", start=(1.0, math.pi - 0.3), position_tol=1e-5, trace=True)
    assert solution.reached
    # The short way round, never through zero.
    assert (abs(solution.trace.q[:, 1]) > 2.0).all()


def jumps(solution, arm):
    """Rows of a trace at which a coordinate jumped: the configurations before and after, and the coordinate."""
    trace = solution.trace
    steps = (arm.upper - arm.lower)[:, None] / trace.columns["divisions"]
    for row in np.flatnonzero(trace.columns["kept"] > 0):
        k = int(trace.columns["coordinate"][row])
        if k >= 0 and abs(trace.columns["step"][row]) > 1.5 * steps[k, row]:
            yield trace.q[row - 1], trace.q[row], k


@pytest.mark.parametrize(
    ("jump", "role"), [("farthest", "position"), ("farthest", "orientation"), ("nearest", "orientation")]
)
def test_jumps_from_a_limit(arm, jump, role):
    # Turned past the end of q2, and beyond the end of q1: both are driven to their limits.
    pose = arm.tip_pose((2.0, 0.3, 2.6))
    turn = np.array([[math.cos(1.0), -math.sin(1.0), 0], [math.sin(1.0), math.cos(1.0), 0], [0, 0, 1]])
    pose[:3, :3] = pose[:3, :3] @ turn
    pose[2, 3] += 0.4
    target = ar.Target.from_pose(pose)
    solution = ar.solve(
        arm, target, "hierarchical", start=START, jump=jump, roles=role, cycles=4, divisions=40, trace=True
    )
    chosen = position_jump if role == "position" else orientation_jump
    found = list(jumps(solution, arm))
    assert found
    for before, after, k in found:
        np.testing.assert_allclose(after, chosen(arm, before, target, k, nearest=jump == "nearest"), atol=1e-12)
    # After a jump the steps are as long as at first.
    assert (solution.trace.columns["divisions"] == 40).sum() > len(found)


def test_the_nearest_jump_finds_the_other_end():
    arm = ar.Robot([ar.Revolute(lower=-2.9, upper=2.9), ar.Link((0.1, 0, 0)), ar.Prismatic(-0.1, 0.1)])
    # Turning on from 2.0 comes nearer until the limit; the target is on its other side.
    target = ar.Target(arm.tip_pose((-2.8, 0.01))[:3, 3])
    call = {"method": "hierarchical", "start": (2.0, 0.0), "position_tol": 1e-4, "max_iterations": 1500}
    assert not ar.solve(arm, target, **call).reached
    solution = ar.solve(arm, target, jump="nearest", trace=True, **call)
    assert solution.reached
    ((before, after, k),) = jumps(solution, arm)
    assert k == 0
    assert before[0] > 2.8
    np.testing.assert_array_equal(after, position_jump(arm, before, target, k, nearest=True))


def test_without_jump_nothing_jumps(arm):
    solution = ar.solve(arm, ar.Target((0.05, 0.0, 2.0)), "hierarchical", start=START, trace=True, max_iterations=2000)
    assert not list(jumps(solution, arm))


def test_roles_by_default():
    arms = {name: ar.load_robot(name) for name in ("puma-560", "librergm3", "three-section", "ur5-bending-tool")}
    for arm in arms.values():
        assert default_roles(arm, "position") == ("position",) * arm.dof
    for kind in ("axis", "rotation"):
        assert default_roles(arms["puma-560"], kind) == ("position",) * 3 + ("orientation",) * 3
        for name in ("librergm3", "three-section", "ur5-bending-tool"):
            assert default_roles(arms[name], kind) == ("both",) * arms[name].dof


def test_roles_decide_what_a_step_is_judged_by():
    arm = ar.load_robot("puma-560")
    target = ar.Target.from_pose(arm.tip_pose(arm.sample(1, seed=0)[0]))
    for role, error in (("position", "position_error"), ("orientation", "angle_error")):
        trace = ar.solve(arm, target, "hierarchical", roles=role, trace=True, max_iterations=600).trace
        assert (np.diff(getattr(trace, error)[trace.columns["kept"] > 0]) <= 1e-12).all()
    trace = ar.solve(arm, target, "hierarchical", roles="both", scale=0.3, trace=True, max_iterations=600).trace
    both = trace.position_error / 0.3 + trace.angle_error
    assert (np.diff(both[trace.columns["kept"] > 0]) <= 1e-12).all()


@pytest.mark.compiled
@pytest.mark.parametrize(("name", "share"), [("puma-560", 0.36), ("iiwa-14", 0.36)])
def test_success_of_one_start(name, share):
    """The claims of the docstring on poses, with a margin for random targets."""
    arm = ar.load_robot(name)
    poses = arm.tip_pose(arm.sample(200, seed=0))
    found = ar.solve_batch(
        arm, poses[:, :3, 3], rotations=poses[:, :3, :3], method="hierarchical", position_tol=1e-3, angle_tol=1e-2
    )
    assert share < found.reached.mean() < 0.65


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": "q0"}, "order = 'q0' is not accepted; give coordinates, each at most once: q0, q1, q2"),
        ({"order": []}, "order = [] is not accepted"),
        ({"order": ["q0", "q0"]}, "order = ['q0', 'q0'] is not accepted"),
        ({"order": ["q0", "q7"]}, "order[1] = 'q7' is not accepted; give a number from 0 to 2 or a name"),
        ({"order": [3]}, "order[0] = 3 is not accepted"),
        ({"order": [True]}, "order[0] = True is not accepted"),
        ({"order": 1}, "order = 1 is not accepted"),
        ({"roles": "reach"}, "roles = 'reach' is not accepted; give 'position', 'orientation' or 'both'"),
        ({"roles": ["position"]}, "roles = ['position'] is not accepted"),
        ({"roles": ["position", "x", "both"]}, "roles[1] = 'x' is not accepted"),
        ({"roles": 3}, "roles = 3 is not accepted"),
        ({"roles": "orientation"}, "give 'position': the target has no orientation"),
        ({"roles": "both"}, "give 'position': the target has no orientation"),
        ({"divisions": 0}, "divisions = 0 is not accepted"),
        ({"divisions": 2.5}, "divisions = 2.5 is not accepted"),
        ({"divisions": 10**12}, "divisions = 1000000000000 is not accepted"),
        ({"growth": 1.0}, "growth = 1.0 is not accepted; give a number above 1"),
        ({"growth": math.nan}, "growth = nan is not accepted"),
        ({"ranges": 1.0}, "ranges = 1.0 is not accepted; give 3 numbers above 0"),
        ({"ranges": [1.0, 1.0]}, "ranges = [1.0, 1.0] is not accepted"),
        ({"ranges": [1.0, 0.0, 1.0]}, "ranges[1] = 0.0 is not accepted"),
        ({"ranges": [1.0, math.inf, 1.0]}, "ranges[1] = inf is not accepted"),
        ({"jump": "away"}, "jump = 'away' is not accepted; give 'farthest' or 'nearest'"),
        ({"exit": "soon"}, "exit = 'soon' is not accepted; give 'distance' or 'largest'"),
        ({"cycles": 0}, "cycles = 0 is not accepted"),
        ({"scale": 0}, "scale = 0 is not accepted; give metres above 0"),
        ({"speed": 1}, "method 'hierarchical' has no option 'speed'"),
    ],
)
def test_options_that_are_refused(options, words):
    with pytest.raises(ar.ArcreachError) as caught:
        ar.solve(ar.load_robot("librergm3"), ar.Target((0.2, 0.0, 1.0)), "hierarchical", **options)
    assert words in str(caught.value)


@pytest.mark.compiled
def test_the_clock_of_a_matrix_starts_after_its_compilation():
    pytest.importorskip("sympy")
    fresh = pickle.loads(pickle.dumps(ar.load_robot("librergm3-matrix")))
    began = time.perf_counter()
    solution = ar.solve(fresh, ar.Target(position(TABLE_5[0])), "hierarchical", start=START, cycles=1)
    # Tens of steps against a compilation.
    assert solution.seconds < 0.5 * (time.perf_counter() - began)
    assert len(ar.solve_batch(fresh, np.empty((0, 3)), method="hierarchical")) == 0


def test_other_methods_need_a_chain():
    pytest.importorskip("sympy")
    arm = ar.load_robot("librergm3-matrix")
    for name, method in ar.methods().items():
        if not method.symbolic:
            with pytest.raises(ar.MethodError, match="it needs a chain of elements, but the robot"):
                ar.solve(arm, ar.Target((0.2, 0.0, 1.0)), name)


def test_a_matrix_with_poses_of_its_own(arm):
    # Every kind of target; the errors are those of the public forward kinematics.
    pose = arm.tip_pose((0.3, 0.05, 1.9))
    for target in (ar.Target(pose[:3, 3], axis=pose[:3, 2]), ar.Target.from_pose(pose)):
        solution = ar.solve(
            arm,
            target,
            "hierarchical",
            start=START,
            order=("q0", "q2", "q1"),
            position_tol=1e-4,
            angle_tol=1e-3,
            roles=("orientation", "position", "both"),
            max_iterations=1500,
        )
        reached = arm.tip_pose(solution.q)
        assert solution.position_error == pytest.approx(math.dist(reached[:3, 3], pose[:3, 3]), abs=1e-12)
        turn = math.acos(min(1.0, reached[:3, 2] @ pose[:3, 2]))
        if target.rotation is not None:
            turn = math.acos(min(1.0, 0.5 * (np.trace(reached[:3, :3].T @ pose[:3, :3]) - 1.0)))
        assert solution.angle_error == pytest.approx(turn, abs=1e-7)
        assert solution.reached == (solution.position_error <= 1e-4 and solution.angle_error <= 1e-3)
