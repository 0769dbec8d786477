"""[FRD] chapter 4: an arm of eight joints, chains of up to two hundred, motions, and a path past a singularity."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcreach._extras import require
from arcreach._typing import Array
from arcreach.elements import Element, Link, Revolute
from arcreach.experiments.engine.comparison import Call, Case, Comparison
from arcreach.experiments.engine.experiment import Block, Columns, Settings, columns_of, generator
from arcreach.experiments.engine.judge import ROTATION, Judged, judge_path
from arcreach.experiments.report import charts
from arcreach.experiments.report.parts import Drawing, Heading, Part, Table, Text
from arcreach.experiments.report.statistics import Summary, time_text
from arcreach.files import load_chain
from arcreach.ik.solution import Solution
from arcreach.ik.solve import solve
from arcreach.ik.target import Target, Targets
from arcreach.planning.motion.follow import follow
from arcreach.planning.motion.path import Path
from arcreach.robots.robot import Robot

ARM = "8R"
JOINTS = (10, 20, 60, 100, 200)
OWN, JACOBIANS = "corrected", ("jacobian", "jacobian-transpose")
# Methods whose fitted lines are drawn; the others would flatten them.
FITTED = (OWN, "float32", "published", "jacobian")
POSITION_TOL, ANGLE_TOL = 1e-3, 1e-3
# The accuracy that the source claims for 32-bit numbers: 0.01 mm and 2 seconds of arc.
FINE = 1e-5, math.radians(2.0 / 3600.0)

PASSAGE = "singular passage"
# Metres between waypoints, and between the tip and the first axis at the closest waypoint.
STEP, BESIDE = 0.02, 0.05
PASSAGE_TOL = 1e-4, 1e-3
# Largest change of a joint in a step, in radians.
LARGEST = math.radians(2.5)
FOLLOWERS: dict[str, dict[str, Any]] = {
    "follow auto": {"method": "auto"},
    "follow finite-rotation": {"method": "finite-rotation"},
    # The published rule: the first joint is held while the tip is nearer to its axis than 1.5 m.
    "follow finite-rotation (joint held)": {"method": "finite-rotation", "hold": {"shoulder-roll": 1.5}},
    "follow finite-rotation (small steps)": {"method": "finite-rotation", "max_step": LARGEST},
}
# Motions from random configurations: along the x axis of the base, and in pitch, about the y axis of the tip.
ALONG_X, IN_PITCH = "motion along X", "motion in pitch"
MOTIONS, MOTION_STEPS = 12, 20
# Length in metres and angle in radians of a whole motion.
STROKE, PITCH = 0.1, math.radians(30.0)
MOVERS = ("follow auto", "follow finite-rotation")

# Table 1: position in millimetres and the angles phi, psi, theta in degrees. The source names no convention; psi is
# its pitch, so they are read as yaw, pitch and roll.
CONVENTION = "ZYX"
INITIAL = (-11.8, -498.9, -73.4), (239.782, 272.244, 239.270)
GIVEN = (100.0, -400.0, 0.0), (5.0, -50.0, 0.0)
OBTAINED = (99.5, -399.4, -0.3), (5.074, -50.491, -0.138)
TABLE_TOL = 1e-3, 1e-2
# Printed times in milliseconds of one solve by finite rotations, by a Jacobian method, and for an arm of 60 joints.
PRINTED_MS, PRINTED_JACOBIAN_MS = 128.0, 13_834.0
PRINTED_60_MS = 235.0

# Columns of the figure; the path with a held joint is left out, since it looks like that of auto.
DRAWN = ("follow finite-rotation", "follow finite-rotation (small steps)", "follow auto")


def chain(joints: int) -> Robot:
    """Return a chain of 1 m whose joints alternately turn about z and y, by a quarter turn to each side."""
    elements: list[Element] = []
    for i in range(joints):
        axis = (0.0, 0.0, 1.0) if i % 2 == 0 else (0.0, 1.0, 0.0)
        elements += [Revolute(axis, -math.pi / 2, math.pi / 2), Link((0.0, 0.0, 1.0 / joints))]
    return Robot(elements, name=f"{joints} joints")


def cases() -> list[Case]:
    """Return the arm, the arm with the tolerance claimed for 32 bits, and the chains."""
    arm = load_chain("arm-8r", "the experiment")
    found = [Case(ARM, arm, ROTATION, POSITION_TOL, ANGLE_TOL), Case("8R, 0.01 mm and 2″", arm, ROTATION, *FINE)]
    found += [Case(f"{n} joints", chain(n), ROTATION, POSITION_TOL, ANGLE_TOL, labels={"joints": n}) for n in JOINTS]
    return found


def pictures(run: Any) -> Iterator[Part]:
    """Yield success, time and iterations by number of joints, the ratio to Jacobian methods, and table 1."""
    figure = charts.method_curves({"": run.by_label("joints")}, "joints", logarithmic=True)
    yield Drawing(
        "finite-rotation-joints",
        figure,
        "Share reached, median time and median iterations of what was "
        "reached, against the number of joints ([FRD] chapter 4: linear in time).",
    )
    yield from _linear(run)
    yield from _jacobian(run)
    yield from _table_1()


def _linear(run: Any) -> Iterator[Part]:
    """Yield lines fitted to the median times against the number of joints."""
    curves = {method: points for method, points in run.by_label("joints").items() if _reached(points)}
    lines, rows = {}, []
    for method, points in curves.items():
        joints, times = np.array(_reached(points)).T
        if len(joints) < 3:
            continue
        slope, intercept = np.polyfit(joints, times, 1)
        lines[method] = (joints, times, intercept + slope * joints)
        spread = float(((times - times.mean()) ** 2).sum())
        explained = 1.0 - float(((times - lines[method][2]) ** 2).sum()) / spread if spread > 0.0 else 1.0
        rows.append(
            (
                method,
                time_text(intercept) if intercept > 0.0 else f"−{time_text(-intercept)}",
                time_text(slope),
                f"{explained:.3f}",
                time_text(intercept + 60.0 * slope),
            )
        )
    if not lines:
        return
    yield Table(
        ("method", "without joints", "per joint", "R²", "60 joints"),
        tuple(rows),
        "A line fitted to the median time of a solve against the number of joints; the source prints a line "
        "and "
        f"{PRINTED_60_MS:.0f} ms for 60 links on a microcontroller of 144 MHz.",
        text_columns=1,
    )
    drawn = {method: lines[method] for method in FITTED if method in lines}
    if drawn:
        yield Drawing(
            "finite-rotation-linear",
            charts.fitted_times(drawn, "joints"),
            "Median time of a solve against "
            "the number of joints, and the lines fitted to it ([FRD] conclusions, no. 8).",
        )


def _reached(points: list[tuple[float, Summary]]) -> list[tuple[float, float]]:
    return [(joints, one.median_time) for joints, one in points if one.reached and math.isfinite(one.median_time)]


def _jacobian(run: Any) -> Iterator[Part]:
    """Yield the verdict on the printed comparison with a Jacobian method."""
    found = {one.method: one for one in run.of_case(ARM) if one.reached and math.isfinite(one.median_time)}
    if OWN not in found or not any(method in found for method in JACOBIANS):
        return
    yield Heading("108 times as fast as a Jacobian", 3)
    rows = []
    for method in (OWN, *JACOBIANS):
        if method in found:
            ratio = found[method].median_time / found[OWN].median_time
            end = ("", "") if method == OWN else (f"{ratio:.2g}", _speed_verdict(ratio))
            rows.append((method, found[method].share_text, found[method].time_text, *end))
    columns = ("method", "reached (%)", "median time", "÷ finite rotations", "verdict")
    yield Table(
        columns,
        tuple(rows),
        f"Finite rotations ({OWN}) beside Jacobian methods, on the arm of eight joints"
        f" in this run. Printed: {PRINTED_MS:.0f} ms and {PRINTED_JACOBIAN_MS:.0f} ms for one solve, a ratio of"
        f" {PRINTED_JACOBIAN_MS / PRINTED_MS:.0f}; the source does not say which Jacobian method it ran.",
        text_columns=1,
        prose=True,
    )


def _speed_verdict(ratio: float) -> str:
    if ratio < 1.0:
        return "does not hold: the Jacobian method is faster"
    return "holds" if ratio >= 0.5 * PRINTED_JACOBIAN_MS / PRINTED_MS else "holds in direction, not in size"


def table_solve() -> Solution:
    """Solve the target of table 1 with a trace of every joint step, from a configuration at its initial pose."""
    arm = load_chain("arm-8r", "the experiment")
    start = solve(arm, _target(INITIAL))
    position_tol, angle_tol = TABLE_TOL
    return solve(
        arm,
        _target(GIVEN),
        "finite-rotation",
        start=start.q,
        position_tol=position_tol,
        angle_tol=angle_tol,
        trace=True,
        joint_steps=True,
    )


def _target(pose: tuple[tuple[float, ...], tuple[float, ...]]) -> Target:
    return Target.from_euler(np.array(pose[0]) * 1e-3, np.radians(pose[1]), CONVENTION)


def _table_1() -> Iterator[Part]:
    """Yield one solve with Euler angles, and the joints along its steps."""
    solution = table_solve()
    robot, trace = solution.robot, solution.trace
    assert isinstance(robot, Robot)
    assert trace is not None
    yield Heading("One solve with Euler angles", 3)
    rows = [
        ("initial, printed", *_pose_texts(*INITIAL)),
        ("initial", *_tip_texts(robot, trace.q[0])),
        ("given", *_pose_texts(*GIVEN)),
        ("obtained, printed", *_pose_texts(*OBTAINED)),
        ("obtained", *_tip_texts(robot, solution.q)),
    ]
    columns = ("pose", "X (mm)", "Y (mm)", "Z (mm)", "φ (°)", "ψ (°)", "θ (°)")
    macro = int(trace.columns["macro_iteration"][-1])
    end = "reached" if solution.reached else "not reached"
    yield Table(
        columns,
        tuple(rows),
        f"[FRD] table 1 with an arm of our own dimensions, which the source does not "
        f"print; angles are {CONVENTION}, which it does not name. The target is {end} within 1 mm and 0.01 rad "
        f"after {macro} macro-iterations and {len(trace) - 1} joint steps, in "
        f"{time_text(solution.seconds)}; printed is 9 ms on its microcontroller.",
        text_columns=1,
    )
    from arcreach.figures import joint_steps

    yield Drawing(
        "finite-rotation-joint-steps",
        joint_steps(solution),
        "Every joint step of this solve: the "
        "coordinates, and the three objectives; vertical lines are macro-iterations ([FRD] fig. 9).",
    )


def _pose_texts(position: tuple[float, ...], angles: tuple[float, ...]) -> tuple[str, ...]:
    return (*(f"{value:.1f}" for value in position), *(f"{value:.3f}" for value in angles))


def _tip_texts(robot: Robot, q: Array) -> tuple[str, ...]:
    pose = robot.tip_pose(q)
    return _pose_texts(tuple(1e3 * pose[:3, 3]), tuple(np.degrees(Target.from_pose(pose).euler(CONVENTION))))


def motion(case: str, k: int, settings: Settings) -> tuple[Array, Array]:
    """Return the start (dof,) and the poses (n, 4, 4) of motion k of a case; both cases have the same start."""
    arm = load_chain("arm-8r", "the experiment")
    start: Array = arm.sample(1, generator(settings, "finite-rotation", "motion", k))[0]
    share = np.linspace(0.0, 1.0, MOTION_STEPS + 1)
    poses = np.tile(arm.tip_pose(start), (MOTION_STEPS + 1, 1, 1))
    if case == ALONG_X:
        poses[:, 0, 3] += STROKE * share
    else:
        turned = Targets.from_euler(np.zeros((len(share), 3)), np.outer(PITCH * share, (0.0, 1.0, 0.0)), CONVENTION)
        assert turned.rotations is not None
        poses[:, :3, :3] = poses[:, :3, :3] @ turned.rotations
    return start, poses


def waypoints() -> Array:
    """Return poses (n, 4, 4) of one orientation along a line of 2 m that passes close to the first axis."""
    y = np.arange(-1.0, 1.0 + STEP / 2, STEP)
    poses = np.tile(np.eye(4), (len(y), 1, 1))
    poses[:, :3, 3] = np.stack([np.full_like(y, 8.0), y, np.full_like(y, BESIDE)], axis=1)
    return poses


def followed(method: str) -> Path:
    """Follow the waypoints by one of FOLLOWERS; all start at the same configuration."""
    robot, poses = load_chain("era-like", "the experiment"), waypoints()
    return _follow(robot, poses, solve(robot, Target(poses[0, :3, 3], rotation=poses[0, :3, :3])).q, method)


def _follow(robot: Robot, poses: Array, start: Array, method: str) -> Path:
    position_tol, angle_tol = PASSAGE_TOL
    return follow(robot, poses, start=start, position_tol=position_tol, angle_tol=angle_tol, **FOLLOWERS[method])


def _judged(move: Callable[[], Path], poses: Array) -> Judged:
    """Follow the waypoints `poses` (n, 4, 4) by calling `move`; return the columns of their rows."""
    path, judged, spans = judge_path(move, poses, ROTATION, *PASSAGE_TOL)
    largest = np.concatenate([[0.0], path.step_sizes])
    return judged | {
        "step": np.array([largest[span].max() for span in spans]),
        "inserted": np.array([span.stop - span.start - 1 for span in spans]),
    }


@dataclass(frozen=True)
class FiniteRotation(Comparison):
    """A comparison; its motions and its path past a singularity are followed instead of solved target by target."""

    def method_labels(self, settings: Settings) -> tuple[str, ...]:
        """Return the labels of the comparison, then those of `FOLLOWERS`."""
        return (*super().method_labels(settings), *FOLLOWERS)

    def blocks(self, settings: Settings) -> list[Block]:
        """Return the blocks of the comparison, and one per follower for the passage and for each kind of motion."""
        count = len(waypoints())
        paths = [Block(PASSAGE, method, 0, count) for method in FOLLOWERS if method in settings.methods]
        moves = [
            Block(case, method, 0, MOTIONS * (MOTION_STEPS + 1))
            for case in (ALONG_X, IN_PITCH)
            for method in MOVERS
            if method in settings.methods
        ]
        return [*super().blocks(settings), *paths, *moves]

    def rows(self, block: Block, settings: Settings) -> Columns:
        """Solve targets, or follow paths; the row of a waypoint has the largest joint step since the last one."""
        if block.case == PASSAGE:
            judged = _judged(lambda: followed(block.method), waypoints())
        elif block.case in (ALONG_X, IN_PITCH):
            parts = []
            for k in range(MOTIONS):
                start, poses = motion(block.case, k, settings)
                move = functools.partial(_follow, load_chain("arm-8r", "the experiment"), poses, start, block.method)
                parts.append(_judged(move, poses))
            judged = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        else:
            return super().rows(block, settings)
        return columns_of(self.name, block, settings, judged)

    def warm_up(self, block: Block, settings: Settings) -> None:
        """Solve two targets; paths need no warm-up, since `judge_path` follows each once before timing it."""
        if block.method not in FOLLOWERS:
            super().warm_up(block, settings)

    def parts(self, run: Any) -> Iterator[Part]:
        """Yield the figures of the comparison, then the motions and the path."""
        if run.methods:
            yield from super().parts(run)
        column = require("polars").col("case")
        moves = run.store.rows().filter(column.is_in((ALONG_X, IN_PITCH))).collect()
        if len(moves):
            yield from _motions(moves)
        found = run.store.rows().filter(column == PASSAGE).collect()
        if len(found):
            yield from _passage(found)


def _motions(found: Any) -> Iterator[Part]:
    """Yield how many motions every method completes."""
    yield Heading("Motion along X and in pitch", 3)
    rows = []
    for case in (ALONG_X, IN_PITCH):
        for method in MOVERS:
            own = found.filter((found["case"] == case) & (found["method"] == method)).sort("target")
            if len(own):
                reached = own["reached"].to_numpy().reshape(MOTIONS, MOTION_STEPS + 1)
                step = math.degrees(float(own["step"].max()))
                rows.append(
                    (
                        case,
                        method,
                        f"{int(reached.all(axis=1).sum())} of {MOTIONS}",
                        f"{int(reached.sum())} of {reached.size}",
                        f"{step:.1f}°",
                        time_text(float(own["seconds"].mean())),
                    )
                )
    columns = (
        "motion",
        "method",
        "paths completed",
        "waypoints reached",
        "largest step of a joint",
        "time per waypoint",
    )
    yield Table(
        columns,
        tuple(rows),
        f"The source's experiments 2 and 3, whose paths it does not print: from "
        f"{MOTIONS} random configurations of the arm of eight joints {1e3 * STROKE:.0f} mm along X, and "
        f"{math.degrees(PITCH):.0f}° in pitch, in {MOTION_STEPS} steps each. Some leave the workspace.",
    )


def _passage(found: Any) -> Iterator[Part]:
    """Yield a table of the followers, and the joints along three of the paths."""
    yield Heading("Past a singularity", 3)
    yield Text(
        f"The tip of an arm of seven joints passes {1e3 * BESIDE:.0f} mm beside its first axis in steps of "
        f"{1e3 * STEP:.0f} mm. A method that turns the first joint with the tip turns it by up to "
        f"{math.degrees(math.atan2(STEP, BESIDE)):.1f}° in a step. Small steps are of {math.degrees(LARGEST):g}° at "
        "most; the joint that is held is the first, as in the source."
    )
    lines = []
    for method in FOLLOWERS:
        own = found.filter(found["method"] == method)
        if len(own):
            lines.append(
                (
                    method,
                    f"{int(own['reached'].sum())} of {len(own)}",
                    str(int(own["inserted"].sum())),
                    f"{math.degrees(float(own['step'].max())):.2f}°",
                    f"{1e6 * float(own['position_error'].max()):.3g} µm",
                    time_text(float(own["seconds"].sum())),
                )
            )
    columns = ("method", "waypoints reached", "points inserted", "largest step of a joint", "farthest off", "time")
    yield Table(columns, tuple(lines), "The passage by several methods.", text_columns=1)
    from arcreach.figures import joint_paths

    drawn = [method for method in DRAWN if method in set(found["method"])]
    if drawn:
        figure = joint_paths({method.removeprefix("follow "): followed(method) for method in drawn})
        yield Drawing(
            "singular-passage", figure, "Joints along the passage, and the largest step below ([FRD] fig. 7)."
        )


EXPERIMENT = FiniteRotation(
    name="finite-rotation",
    title="Finite rotations",
    source="[FRD] chapter 4",
    small=200,
    full=2_000,
    count_printed=False,
    timed=50,
    law="each joint uniform between its limits; the whole pose within 1 mm and 1e-3 rad; each solve begins at a random "
    "configuration, the same for every method",
    differences=(
        "The source prints single solves and no shares, so the table has no printed numbers.",
        "The variant published rotates the vectors of all links in place and drifts; corrected rebuilds them from "
        "the joints.",
        "float32 stores its numbers in 32 bits and rebuilds them; a case of its own tests 0.01 mm and 2 seconds of "
        "arc.",
        "The source prints no coordinates of its passage; ours has a similar arm and a line of our own.",
    ),
    make_cases=cases,
    calls=(
        Call("auto", "auto"),
        Call("corrected", "finite-rotation", "corrected"),
        Call("float32", "finite-rotation", "corrected", {"precision": "float32"}),
        Call("published", "finite-rotation", "published", most=100),
        Call("ccd", "ccd"),
        Call("jacobian", "jacobian"),
        Call("jacobian-transpose", "jacobian-transpose", most=100),
    ),
    random_start=True,
    apart=tuple(FOLLOWERS),
    extras={"step": "Float64", "inserted": "Int64"},
    pictures=pictures,
)
