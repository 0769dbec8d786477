"""Past a singular place: an arm of seven joints whose tip passes close beside its first axis, followed in four ways."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.experiments.engine._polars import import_polars
from arcreach.experiments.engine.judge import ROTATION, verdict
from arcreach.experiments.report.parts import Drawing, Heading, Part, Table, Text
from arcreach.experiments.report.statistics import time_text
from arcreach.files.robots import load_robot
from arcreach.ik.solve import solve
from arcreach.ik.target import Target
from arcreach.planning.motion.follow import follow
from arcreach.planning.motion.path import Path
from arcreach.robots.robot import Robot

CASE = "singular passage"
# Metres from waypoint to waypoint, and from the axis where the tip is nearest.
STEP, BESIDE = 0.02, 0.05
POSITION_TOL, ANGLE_TOL = 1e-4, 1e-3
# The published rule: the first joint stands still while the tip is nearer to its axis than this.
HELD = {"shoulder-roll": 1.5}
# A box around every step: the largest change of a joint.
LARGEST = math.radians(2.5)
FOLLOWERS: dict[str, dict[str, Any]] = {
    "follow auto": {"method": "auto"},
    "follow finite-rotation": {"method": "finite-rotation"},
    "follow finite-rotation (joint held)": {"method": "finite-rotation", "hold": HELD},
    "follow finite-rotation (small steps)": {"method": "finite-rotation", "max_step": LARGEST},
}
# Columns of the figure: the published rule looks like the last.
DRAWN = ("follow finite-rotation", "follow finite-rotation (small steps)", "follow auto")


def waypoints() -> npt.NDArray[np.float64]:
    """Poses (n, 4, 4) along a line of 2 m, all turned alike."""
    y = np.arange(-1.0, 1.0 + STEP / 2, STEP)
    poses = np.tile(np.eye(4), (len(y), 1, 1))
    poses[:, :3, 3] = np.stack([np.full_like(y, 8.0), y, np.full_like(y, BESIDE)], axis=1)
    return poses


POINTS = len(waypoints())


def arm() -> Robot:
    """The arm of seven joints."""
    loaded = load_robot("era-like")
    assert isinstance(loaded, Robot)
    return loaded


def followed(method: str) -> Path:
    """The line, followed in one of the ways; all begin at the same configuration."""
    robot, poses = arm(), waypoints()
    start = solve(robot, Target(poses[0, :3, 3], rotation=poses[0, :3, :3])).q
    return follow(robot, poses, start=start, position_tol=POSITION_TOL, angle_tol=ANGLE_TOL, **FOLLOWERS[method])


def rows(method: str) -> dict[str, npt.NDArray[Any]]:
    """A row per waypoint: reached or not, and the largest step of a joint on the way to it."""
    # Once before, so that nothing is compiled while the clock runs.
    followed(method)
    path = followed(method)
    last = [int(np.flatnonzero(path.waypoint == k)[-1]) for k in range(POINTS)]
    judged = verdict(path.robot, path.q[last], waypoints(), ROTATION, POSITION_TOL, ANGLE_TOL, path.status[last])
    largest = np.concatenate([[0.0], path.step_sizes])
    before = [-1, *last[:-1]]
    return {
        **judged,
        "iterations": np.zeros(POINTS, np.int64),
        "seconds": np.full(POINTS, path.seconds / POINTS),
        "step": np.array([largest[low + 1 : high + 1].max() for low, high in zip(before, last, strict=True)]),
        "inserted": np.array([high - low - 1 for low, high in zip(before, last, strict=True)]),
    }


def parts(run: Any) -> Iterator[Part]:
    """What the ways came to, and three of them drawn."""
    polars = import_polars()
    found = run.store.rows().filter(polars.col("case") == CASE).collect()
    if not len(found):
        return
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
