import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from benchmarks.microcontroller import harness

import arcreach as ar
from arcreach.experiments.tables.finite_rotation import chain
from arcreach.kernels.chain.layout import AXIS, ROTATION

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")

QUARTER = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))
# Every kind of element and every kind of limit.
CHAINS = {
    "arm-8r": None,
    "extensible-sections": None,
    "joints": ar.Robot(
        [
            ar.Link((1.0, 2.0, 0.5), rotation=((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))),
            ar.Prismatic(0.0, 0.3, axis=(1.0, 0.0, 0.0)),
            ar.Revolute((0.0, 1.0, 0.0), -2.0, 2.0),
            ar.Parallelogram((0.3, 0.0, 0.1), (0.0, 1.0, 0.0), -1.0, 1.0),
            ar.Revolute((0.6, 0.0, 0.8), -np.inf, np.inf),
            ar.Link((0.02, 0.0, 0.2), rotation=QUARTER),
            ar.Revolute((1.0, 0.0, 0.0), -7.0, 7.0),
            ar.Link((0.0, 0.0, 0.1)),
        ]
    ),
    "sections": ar.Robot(
        [
            ar.Section(0.05, 1.5, stretch=0.02, twist=True),
            ar.Section(0.04, 3.0, length_weights=(1.0, 2.0), bend_weights=(2.0, 1.0)),
            ar.Section(0.03, 0.05),
            ar.Section(0.03, 1.2, twist=True),
            ar.Section(0.0, 1.0, stretch=0.05),
        ]
    ),
    "uncoupled": ar.Robot(
        [
            ar.Section(0.03, 1.5, stretch=0.02, coupled=False),
            ar.Section(0.03, 1.2, stretch=0.03, coupled=False, twist=True),
            ar.Section(0.0, 1.0, stretch=0.05),
        ]
    ),
}
PRECISIONS = ("float32", "float64")
# Tolerance of forward kinematics: a few units in the last place of numbers of size one.
ROUNDING = {"float32": 3e-6, "float64": 1e-13}


@cache
def folder_of(name, precision):
    import tempfile

    robot = CHAINS.get(name) or (chain(60) if name == "60 joints" else ar.load_robot(name))
    folder = Path(tempfile.mkdtemp(prefix="arcreach-c-"))
    ar.export_c(robot, folder, precision)
    return robot, folder


@cache
def solver_of(name, precision):
    robot, folder = folder_of(name, precision)
    return robot, ar.load_exported(folder)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", CHAINS)
def test_forward_kinematics_and_jacobian(name, precision):
    robot, solver = solver_of(name, precision)
    assert solver.precision == precision
    q = robot.sample(50, seed=0)
    q[0] = robot.neutral
    scale = 1.0 + robot.reach
    assert np.abs(solver.tip_pose(q) - robot.tip_pose(q)).max() < scale * ROUNDING[precision]
    assert np.abs(solver.jacobian(q) - robot.jacobian(q)).max() < scale * ROUNDING[precision]


def test_parallelograms_may_be_more_than_a_byte_has_rows_for(tmp_path):
    rng = np.random.default_rng(0)
    swings = [ar.Parallelogram(rng.normal(0.0, 0.01, 3), rng.normal(size=3), -1.0, 1.0) for _ in range(180)]
    robot = ar.Robot([*swings, *(ar.Prismatic(0.0, 0.01, axis=rng.normal(size=3)) for _ in range(20))])
    ar.export_c(robot, tmp_path, "float64")
    solver = ar.load_exported(tmp_path, ["gcc", *harness.STRICT])
    q = robot.sample(5, seed=0)
    assert np.abs(solver.tip_pose(q) - robot.tip_pose(q)).max() < ROUNDING["float64"] * robot.reach
    assert np.abs(solver.jacobian(q) - robot.jacobian(q)).max() < ROUNDING["float64"] * robot.reach


def tendons(offset=0.0, **fields):
    return [ar.Tendon(0.0045, offset + angle, **fields) for angle in (0.0, 2.1, 4.2)]


# Every routing, sub-arcs, sections of variable length, links and slides; the second has parallel tendons only.
ARCS = {"length_weights": (1.0, 2.0), "bend_weights": (2.0, 1.0)}
DRIVEN = {
    "routings": [
        ar.Prismatic(0.0, 0.1),
        ar.Section(0.06, 1.5, 0.02, tendons=[*tendons(rate=40.0), *tendons(0.3)], **ARCS),
        ar.Link((0.0, 0.0, 0.01), rotation=((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))),
        ar.Prismatic(0.0, 0.02, name="slide"),
        ar.Section(0.05, 1.5, tendons=[*tendons(0.5, discs=5), *tendons(0.8, discs=3, rate=-20.0)], **ARCS),
        ar.Section(0.05, 1.5, tendons=tendons(0.1, discs=4)),
    ],
    "parallel": [
        ar.Section(0.06, 1.5, tendons=tendons()),
        ar.Prismatic(0.0, 0.02),
        ar.Section(0.05, 1.5, 0.02, tendons=tendons(0.5, transmits="both"), **ARCS),
    ],
}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", DRIVEN)
def test_pulls_are_those_of_python(name, precision, tmp_path):
    robot = ar.Robot(DRIVEN[name], name)
    ar.export_c(robot, tmp_path, precision)
    solver = ar.load_exported(tmp_path, ["gcc", *harness.STRICT])
    q = robot.sample(200, seed=0)
    q[0] = robot.neutral
    assert np.abs(solver.pulls(q) - robot.pulls(q)).max() < ROUNDING[precision] * robot.reach
    assert solver.pulls(q[1]).shape == (len(robot.tendons),)
    if name == "routings":
        with pytest.raises(ar.RobotError, match="parallel to the backbone"):
            solver.from_pulls(robot.pulls(q))
        return
    # Pulls that fit together, and some that do not.
    pulls = robot.pulls(q) + np.random.default_rng(0).uniform(-1e-3, 1e-3, (200, 6)) * (np.arange(200) % 2)[:, None]
    found = np.stack([solver.from_pulls(row, joints) for row, joints in zip(pulls, q, strict=True)])
    wanted = np.stack([robot.from_pulls(row, q=joints).q for row, joints in zip(pulls, q, strict=True)])
    worst = np.abs(robot.tip_pose(found) - robot.tip_pose(wanted)).max()
    assert worst < {"float32": 2e-4, "float64": 1e-9}[precision]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("lengths", [(1.0, 0.0), (0.0, 1.0), (1.0, 0.0, 1.0)])
def test_tendons_pass_sub_arcs_without_length(lengths, precision, tmp_path):
    arcs = {"length_weights": lengths, "bend_weights": [1.0] * len(lengths)}
    # With four discs the middle of the section is at a disc.
    routes = [*tendons(rate=40.0), *tendons(0.3, discs=4), *tendons(0.6, discs=3, rate=-20.0)]
    robot = ar.Robot([ar.Section(0.06, 1.5, tendons=routes, **arcs)])
    ar.export_c(robot, tmp_path, precision)
    solver = ar.load_exported(tmp_path, ["gcc", *harness.STRICT])
    q = robot.sample(50, seed=0)
    q[0] = robot.neutral
    assert np.abs(solver.pulls(q) - robot.pulls(q)).max() < ROUNDING[precision] * robot.reach


def test_without_tendons_nothing_is_added(tmp_path):
    robot, folder = folder_of("three-section", "float32")
    assert not [path.name for path in (folder / "src").iterdir() if "tendon" in path.name or "pulls" in path.name]
    assert "route" not in (folder / "src" / "arcreach.c").read_text()
    with pytest.raises(ar.RobotError, match="needs tendons"):
        ar.load_exported(folder).pulls(robot.neutral)


@pytest.mark.parametrize("kind", ["position", "axis", "rotation"])
@pytest.mark.parametrize("name", CHAINS)
def test_double_precision_has_the_verdict_of_python(name, kind):
    robot, solver = solver_of(name, "float64")
    poses = robot.tip_pose(robot.sample(150, seed=1))
    # A third is moved: some of it stays in reach, some does not, some is provably out of it.
    poses[::3, :3, 3] += robot.moving_reach * np.random.default_rng(2).normal(0.0, 0.7, (50, 3))
    options = {"position_tol": 1e-6, "angle_tol": 1e-3}
    targets = ar.Targets.from_poses(poses, kind)
    ours = solver.solve_batch(targets, **options)
    theirs = ar.solve_batch(robot, targets, **options)
    # Rounding decides at which step a search without a solution ends.
    ended = [np.where(one.status == ar.Status.ITERATION_LIMIT, ar.Status.STALLED, one.status) for one in (ours, theirs)]
    assert np.array_equal(*ended)
    assert {ar.Status.REACHED, ar.Status.OUT_OF_REACH} <= set(ours.status.tolist())
    assert (ours.position_error[ours.reached] <= 1e-6).all()
    assert robot.within_limits(ours.q, 0.0).all()


@pytest.mark.parametrize("name", [*CHAINS, "rail-iiwa-14", "three-section", "ur5-bending-tool"])
def test_single_precision_reaches_a_hundredth_of_a_millimetre_and_two_arc_seconds(name):
    robot, solver = solver_of(name, "float32")
    tolerances = (max(1e-5, 1e-5 * robot.moving_reach), np.radians(2.0 / 3600.0))
    poses = robot.tip_pose(robot.sample(200, seed=3)).astype(np.float32).astype(float)
    found = solver.solve_batch(ar.Targets.from_poses(poses), position_tol=tolerances[0], angle_tol=tolerances[1])
    assert found.reached.all()
    # Judged in double precision.
    assert (found.position_error <= tolerances[0]).all()
    assert (found.angle_error <= tolerances[1]).all()
    assert robot.within_limits(found.q, 0.0).all()


@pytest.mark.parametrize(
    ("method", "name"),
    [("ccd", "rail-iiwa-14"), ("ccd", "joints"), ("finite-rotation", "puma-560"), ("hierarchical", "three-section")],
)
def test_other_methods_end_as_in_python(method, name, tmp_path):
    robot = CHAINS.get(name) or ar.load_robot(name)
    targets = ar.Targets.from_poses(robot.tip_pose(robot.sample(60, seed=5)), "axis")
    options = {"position_tol": 1e-3, "angle_tol": 1e-3}
    theirs = ar.solve_batch(robot, targets, method=method, **options)
    for precision in PRECISIONS:
        ar.export_c(robot, tmp_path, precision, method)
        solver = ar.load_exported(tmp_path, ["gcc", *harness.STRICT])
        ours = solver.solve_batch(targets, **options)
        same = ours.status == theirs.status
        # Rounding decides where single precision, which steps by comparing errors, gets stuck.
        assert same.all() if precision == "float64" else abs(ours.reached.mean() - theirs.reached.mean()) < 0.1
        assert (ours.position_error[ours.reached] <= 1e-3).all()
        assert (ours.angle_error[ours.reached] <= 1e-3).all()
        assert robot.within_limits(ours.q, 0.0).all()


def test_a_start_near_the_target_keeps_the_branch():
    robot, solver = solver_of("arm-8r", "float64")
    q = robot.sample(100, seed=4)
    poses = robot.tip_pose(robot.clip(q + 0.01))
    found = solver.solve_batch(ar.Targets.from_poses(poses), start=q, position_tol=1e-6, angle_tol=1e-3)
    assert found.reached.all()
    assert np.abs(found.q - q).max(axis=1).max() < 0.2
    assert found.iterations.max() < 20


def test_bad_input_is_refused_by_a_status():
    robot, solver = solver_of("arm-8r", "float32")
    good = ar.Target.from_pose(robot.tip_pose(robot.sample(1, seed=0)[0])).batch.packed[1][0]
    for column, value in ((9, np.nan), (10, np.inf), (11, 1e30), (0, np.nan), (4, 2.0), (8, np.inf)):
        row = good.copy()
        row[column] = value
        with pytest.raises(ar.TargetError, match="its target"):
            solver.solve_batch(ar.Targets.from_packed(ROTATION, row[None]))
    for mode in (AXIS, ROTATION):
        with pytest.raises(ar.TargetError, match="its target"):
            solver.solve_batch(ar.Targets.from_packed(mode, np.zeros((1, 12))))
    for options in ({"position_tol": 1e-9}, {"angle_tol": 1e-9}, {"max_steps": 0}, {"position_tol": np.nan}):
        with pytest.raises(ar.TargetError, match="tolerance"):
            solver.solve(good[9:], **options)
    with pytest.raises(ar.TargetError, match="its start"):
        solver.solve(good[9:], start=np.full(8, np.nan))


@pytest.mark.parametrize("option", [{"position_tol": -1.0}, {"angle_tol": -0.1}, {"max_steps": -1}])
def test_a_negative_option_is_no_default(option):
    _, solver = solver_of("arm-8r", "float32")
    with pytest.raises(ar.TargetError, match="tolerance or number of steps"):
        solver.solve([0.1, 0.1, 0.1], **option)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda solver: solver.tip_pose(np.zeros(7)), r"q = .* shape \(8,\) or \(n, 8\)"),
        (lambda solver: solver.tip_pose(np.zeros(16)), "q = "),
        (lambda solver: solver.jacobian(np.zeros((2, 9))), "q = "),
        (lambda solver: solver.solve([0.1, 0.1, 0.1], start=np.zeros(7)), "start = "),
        (lambda solver: solver.solve_batch(np.zeros((3, 3)), start=np.zeros((2, 8))), "2 rows for 3 targets"),
    ],
)
def test_arrays_of_another_length_never_reach_the_sources(call, words):
    _, solver = solver_of("arm-8r", "float32")
    with pytest.raises(ar.ConfigurationError, match=words):
        call(solver)


@pytest.mark.parametrize(("name", "precision"), [("sections", "float32"), ("joints", "float64")])
def test_stepping_and_sanitizers_with_hostile_targets(name, precision, tmp_path):
    """Byte by byte the same: optimised, and in steps of a budget with every check of the compiler on."""
    robot, folder = folder_of(name, precision)
    targets = tmp_path / "targets.h"
    rows = harness.target_rows(robot.tip_pose(robot.sample(100, seed=5)))
    harness.write_targets(targets, np.concatenate([rows, harness.hostile_rows(rows)]), AXIS, 1e-4, 1e-3, 2000)
    plain = harness.run_host(harness.build_host(folder, targets))
    flags = ("-O1", "-DBUDGET=3", *harness.SANITIZERS)
    assert harness.run_host(harness.build_host(folder, targets, flags=flags)).bits == plain.bits
    assert (plain.status[:100] == ar.Status.REACHED).all()
    assert set(plain.status[100:].tolist()) >= {-2, ar.Status.OUT_OF_REACH}


def test_clang_accepts_the_sources_and_agrees_bit_by_bit(tmp_path):
    pytest.importorskip("ziglang", reason="needs the package ziglang")
    robot, folder = folder_of("sections", "float32")
    harness.write_targets(
        tmp_path / "targets.h", harness.target_rows(robot.tip_pose(robot.sample(100, seed=6))), ROTATION, 1e-4, 1e-3
    )
    gcc = harness.run_host(harness.build_host(folder, tmp_path / "targets.h"))
    clang = (sys.executable, "-m", "ziglang", "cc")
    assert harness.run_host(harness.build_host(folder, tmp_path / "targets.h", clang)).bits == gcc.bits


@pytest.mark.skipif(bool(harness.missing_tools()), reason=f"not installed: {harness.missing_tools()}")
@pytest.mark.parametrize(
    ("name", "mode", "position_tol", "most"),
    [
        ("arm-8r", ROTATION, 1e-3, 30_000),
        ("60 joints", ROTATION, 1e-3, 120_000),
        ("three-section", AXIS, 1e-4, 20_000),
    ],
)
def test_emulated_cortex_m4(name, mode, position_tol, most, tmp_path):
    robot, folder = folder_of(name, "float32")
    targets = tmp_path / "targets.h"
    rows = harness.target_rows(robot.tip_pose(robot.sample(1000, seed=7)))
    harness.write_targets(targets, rows, mode, position_tol, 1e-3)
    solver, program = harness.build_m4(folder, targets)
    found = harness.emulate(program)
    assert found.bits == harness.run_host(harness.build_host(folder, targets)).bits
    assert (found.status == ar.Status.REACHED).all()
    assert np.median(found.instructions) <= most
    assert harness.forbidden_symbols(program) == []
    flash, memory = harness.sizes(solver, program)
    assert flash <= 12_000
    assert memory + found.stack <= 4096


@pytest.mark.parametrize("name", ["three-section", "extensible-sections", "mixed-sections", "rail-iiwa-14"])
def test_the_example_is_built_and_solves(tmp_path, name):
    _, folder = folder_of(name, "float32")
    sources = [folder / "src" / "arcreach.c", folder / "examples" / "solve.c"]
    command = ["gcc", *harness.STRICT, "-O2", f"-I{folder / 'src'}", *sources, "-lm", "-o", tmp_path / "solve"]
    subprocess.run(list(map(str, command)), check=True)
    printed = subprocess.run([tmp_path / "solve"], capture_output=True, text=True, check=True).stdout
    assert printed.startswith("status 0 after")
    assert printed.endswith("out of reach: status 4\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [({"precision": "float16"}, "give 'float32' or 'float64'"), ({"method": "fabrikx"}, "give auto, finite")],
)
def test_refused_options(options, words, tmp_path):
    with pytest.raises(ar.MethodError, match=words):
        ar.export_c(ar.load_robot("arm-8r"), tmp_path / "c", **options)
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("method", ["auto", "hierarchical"])
def test_a_chain_that_only_slides_is_built_without_warnings(method, tmp_path):
    ar.export_c(ar.Robot([ar.Prismatic(0.0, 1.0)]), tmp_path, method=method)
    solver = ar.load_exported(tmp_path, ["gcc", *harness.STRICT])
    assert solver.solve([0.0, 0.0, 0.3]).reached


def test_refused_robots_and_folders(tmp_path):
    long = ar.Robot([ar.Prismatic(0.0, 1e-4)] * 201)
    huge = ar.Robot([ar.Prismatic(0.0, 1e6)])
    wide = ar.Robot([ar.Revolute(lower=-1e5, upper=1e5), ar.Link((1.0, 0.0, 0.0))])
    for robot, words in (
        (long, "201 coordinates"),
        (huge, "reaches 1e"),
        (wide, "limit above"),
        ("ur5", "not a chain"),
    ):
        with pytest.raises(ar.RobotError, match=words):
            ar.export_c(robot, tmp_path / "c")
    with pytest.raises(ar.FileError, match="holds no exported solver"):
        ar.load_exported(tmp_path)
    with pytest.raises(ar.FileError, match="cannot be run"):
        ar.load_exported(folder_of("arm-8r", "float32")[1], compiler=["/no/such/compiler"])
