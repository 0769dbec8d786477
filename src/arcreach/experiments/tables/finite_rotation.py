"""[FRD] chapter 4: an arm of eight joints, chains of ten to two hundred joints, and a path past a singularity."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.elements import Element, Link, Revolute
from arcreach.experiments.engine.comparison import Call, Case, Comparison
from arcreach.experiments.engine.experiment import Block, Columns, Settings, columns_of
from arcreach.experiments.engine.judge import ROTATION, judge_path
from arcreach.experiments.engine.store import import_polars
from arcreach.experiments.report import charts
from arcreach.experiments.report.parts import Drawing, Heading, Part, Table, Text
from arcreach.experiments.report.statistics import time_text
from arcreach.files import load_chain
from arcreach.ik.solve import solve
from arcreach.ik.target import Target
from arcreach.planning.motion.follow import follow
from arcreach.planning.motion.path import Path
from arcreach.robots.robot import Robot

JOINTS = (10, 20, 60, 100, 200)
POSITION_TOL, ANGLE_TOL = 1e-3, 1e-3
# The accuracy that the source claims for 32-bit numbers: 0.01 mm and 2 seconds of arc.
FINE = 1e-5, math.radians(2.0 / 3600.0)

PASSAGE = "singular passage"
# Metres between waypoints, and between the tip and the first axis at the closest waypoint.
STEP, BESIDE = 0.02, 0.05
PASSAGE_TOL = 1e-4, 1e-3
# Largest change of a joint in a step.
LARGEST = math.radians(2.5)
FOLLOWERS: dict[str, dict[str, Any]] = {
    "follow auto": {"method": "auto"},
    "follow finite-rotation": {"method": "finite-rotation"},
    # The published rule: the first joint stands still while the tip is nearer to its axis than 1.5 m.
    "follow finite-rotation (joint held)": {"method": "finite-rotation", "hold": {"shoulder-roll": 1.5}},
    "follow finite-rotation (small steps)": {"method": "finite-rotation", "max_step": LARGEST},
}
# Columns of the figure; the held joint looks like auto.
DRAWN = ("follow finite-rotation", "follow finite-rotation (small steps)", "follow auto")


def chain(joints: int) -> Robot:
    """Return a chain of 1 m whose joints turn about z and y in turn, by a quarter turn to each side."""
    elements: list[Element] = []
    for i in range(joints):
        axis = (0.0, 0.0, 1.0) if i % 2 == 0 else (0.0, 1.0, 0.0)
        elements += [Revolute(axis, -math.pi / 2, math.pi / 2), Link((0.0, 0.0, 1.0 / joints))]
    return Robot(elements, name=f"{joints} joints")


def cases() -> list[Case]:
    """Return the arm, the arm with the tolerance claimed for 32 bits, and the chains."""
    arm = load_chain("arm-8r", "the experiment")
    found = [Case("8R", arm, ROTATION, POSITION_TOL, ANGLE_TOL), Case("8R, 0.01 mm and 2″", arm, ROTATION, *FINE)]
    found += [Case(f"{n} joints", chain(n), ROTATION, POSITION_TOL, ANGLE_TOL, labels={"joints": n}) for n in JOINTS]
    return found


def pictures(run: Any) -> Iterator[Part]:
    """Yield time and success against the number of joints."""
    figure = charts.method_curves({"": run.by_label("joints")}, "joints", logarithmic=True)
    yield Drawing("finite-rotation-joints", figure, "Share reached, median time and median iterations of what was "
                  "reached, against the number of joints ([FRD] chapter 4: linear in time).")  # fmt: skip


def waypoints() -> Array:
    """Return poses (n, 4, 4) of one orientation along a line of 2 m that passes close to the first axis."""
    y = np.arange(-1.0, 1.0 + STEP / 2, STEP)
    poses = np.tile(np.eye(4), (len(y), 1, 1))
    poses[:, :3, 3] = np.stack([np.full_like(y, 8.0), y, np.full_like(y, BESIDE)], axis=1)
    return poses


def followed(method: str) -> Path:
    """Follow the waypoints by one of FOLLOWERS; all start at the same configuration."""
    robot, poses = load_chain("era-like", "the experiment"), waypoints()
    start = solve(robot, Target(poses[0, :3, 3], rotation=poses[0, :3, :3])).q
    position_tol, angle_tol = PASSAGE_TOL
    return follow(robot, poses, start=start, position_tol=position_tol, angle_tol=angle_tol, **FOLLOWERS[method])


@dataclass(frozen=True)
class FiniteRotation(Comparison):
    """A comparison, and a path past a singularity that is followed instead of solved target by target."""

    def method_labels(self, settings: Settings) -> tuple[str, ...]:
        """Return the methods of the comparison, then the followers of the path."""
        return (*super().method_labels(settings), *FOLLOWERS)

    def blocks(self, settings: Settings) -> list[Block]:
        """Return the blocks of the comparison, and one for each follower."""
        count = len(waypoints())
        paths = [Block(PASSAGE, method, 0, count) for method in FOLLOWERS if method in settings.methods]
        return [*super().blocks(settings), *paths]

    def rows(self, block: Block, settings: Settings) -> Columns:
        """Solve targets, or follow the path; a row of the path has the largest step of a joint on the way to it."""
        if block.case != PASSAGE:
            return super().rows(block, settings)
        path, judged, spans = judge_path(lambda: followed(block.method), waypoints(), ROTATION, *PASSAGE_TOL)
        largest = np.concatenate([[0.0], path.step_sizes])
        judged |= {
            "step": np.array([largest[span].max() for span in spans]),
            "inserted": np.array([span.stop - span.start - 1 for span in spans]),
        }
        return columns_of(self.name, block, settings, judged)

    def warm_up(self, block: Block, settings: Settings) -> None:
        """Solve two targets; the path is followed once before it is timed."""
        if block.case != PASSAGE:
            super().warm_up(block, settings)

    def parts(self, run: Any) -> Iterator[Part]:
        """Yield the figures of the comparison, then the path."""
        yield from super().parts(run)
        found = run.store.rows().filter(import_polars().col("case") == PASSAGE).collect()
        if len(found):
            yield from _passage(found)


def _passage(found: Any) -> Iterator[Part]:
    """Yield a table of the followers, and the joints along three of the paths."""
    yield Heading("Past a singular place", 3)
    yield Text(
        f"The tip of an arm of seven joints passes {1e3 * BESIDE:.0f} mm beside its first axis in steps of "
        f"{1e3 * STEP:.0f} mm. A method that turns the first joint with the tip turns it by up to "
        f"{math.degrees(math.atan2(STEP, BESIDE)):.1f}° in a step. Small steps are of {math.degrees(LARGEST):g}° at "
        "most; a joint that is held is the first, as the source has it."
    )
    lines = []
    for method in FOLLOWERS:
        own = found.filter(found["method"] == method)
        if len(own):
            lines.append((
                method, f"{int(own['reached'].sum())} of {len(own)}", str(int(own["inserted"].sum())),
                f"{math.degrees(float(own['step'].max())):.2f}°", f"{1e6 * float(own['position_error'].max()):.3g} µm",
                time_text(float(own["seconds"].sum())),
            ))  # fmt: skip
    columns = ("way", "waypoints reached", "points inserted", "largest step of a joint", "farthest off", "time")
    yield Table(columns, tuple(lines), "The passage, followed in several ways.", words=1)
    from arcreach.figures import joint_paths

    drawn = [method for method in DRAWN if method in set(found["method"])]
    if drawn:
        figure = joint_paths({method.removeprefix("follow "): followed(method) for method in drawn})
        yield Drawing("singular-passage", figure, "Joints along the passage, and the largest step below ([FRD] fig. 7)"
                      ".")  # fmt: skip


EXPERIMENT = FiniteRotation(
    name="finite-rotation",
    title="Finite rotations",
    source="[FRD] chapter 4",
    small=200,
    full=2_000,
    timed=50,
    law="each joint uniform between its limits; the whole pose within 1 mm and 1e-3 rad; each solve begins at a random "
    "configuration, the same for every method",
    differences=(
        "The source prints single solves and no shares, so nothing stands beside ours in the table.",
        "published turns the vectors of all links in place and drifts; corrected rebuilds them from the joints.",
        "float32 keeps its numbers in 32 bits and rebuilds them; whether it comes within 0.01 mm and 2 seconds of arc"
        " is a case of its own.",
        "The source prints no coordinates of its passage; ours has an arm like its own, and a line of our own.",
    ),
    make_cases=cases,
    calls=(
        Call("auto", "auto"),
        Call("corrected", "finite-rotation", "corrected"),
        Call("float32", "finite-rotation", "corrected", {"precision": "float32"}),
        Call("published", "finite-rotation", "published", most=100),
        Call("ccd", "ccd"),
    ),
    random_start=True,
    apart=tuple(FOLLOWERS),
    extras={"step": "Float64", "inserted": "Int64"},
    pictures=pictures,
)
